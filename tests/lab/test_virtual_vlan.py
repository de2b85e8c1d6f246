# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``ironic_vlan_interfaces``: the real agent makes a VLAN of that name, and one that it hears of by LLDP.

It needs the server that boots by virtual media, available; it is inspected twice.
"""
from __future__ import annotations

import lldp_switch
import pytest
import vlan_probe
from consoles import Console
from support import only
from virtual_site import BOOT_SECONDS, MEDIA, cards

pytestmark = pytest.mark.metal

NAMED, BY_LLDP = 100, 200


def nics(lab):
    """Return the names of the server's interfaces, as its host has them, with their MAC addresses."""
    return sorted((name, mac) for name, mac, _address in cards(lab.host(MEDIA)["status"]["hardware"]))


def inspect(lab):
    """Let the server's agent boot and inspect it: one that runs has the parameters of its own boot."""
    lab.remove_hosts(MEDIA)
    lab.playbook("enroll", *only(MEDIA), seconds=BOOT_SECONDS).ok()


@pytest.fixture(scope="module")
def card(lab):
    """The name that the agent has for the server's one card."""
    (name, _mac), = nics(lab)
    return name


@pytest.fixture(scope="module")
def inspected(lab, room, card):
    """What was printed while the server was inspected with both, and heard on the bridge since."""
    wanted = f"{card}.{NAMED},all"
    lab.playbook("install", "--tags", "ironic", extra={"ironic_vlan_interfaces": wanted}, seconds=900).ok()
    console = Console(room.server(MEDIA)["serial_log"])
    port = f"m3v{lab.figures['index']}-{lab.servers[MEDIA]['number']}n0"
    with lldp_switch.telling({port: [BY_LLDP]}), vlan_probe.hearing(lab.figures["bridge"]["name"]) as heard:
        inspect(lab)
        yield console.lines(), heard
    lab.playbook("install", "--tags", "ironic", seconds=900).ok()
    inspect(lab)
    assert [name for name, _mac in nics(lab)] == [card]


def test_the_agents_command_line_names_both(inspected, card):
    assert any(f"ipa-enable-vlan-interfaces={card}.{NAMED},all" in line for line in inspected[0])


@pytest.mark.parametrize("vlan", [NAMED, BY_LLDP])
def test_its_interface_is_in_the_hosts_hardware_and_in_ironics_inventory(lab, inspected, card, vlan):
    mac = lab.servers[MEDIA]["boot_mac"]
    assert (f"{card}.{vlan}", mac) in nics(lab)
    report = lab.ironic().get_node_inventory(lab.nodes()[MEDIA])["inventory"]["interfaces"]
    assert (f"{card}.{vlan}", mac) in [(interface["name"], interface["mac_address"]) for interface in report]


def test_nothing_else_is_made(lab, inspected, card):
    assert [name for name, _mac in nics(lab)] == [card, f"{card}.{NAMED}", f"{card}.{BY_LLDP}"]
    assert [port.address for port in lab.ironic().ports(node=lab.nodes()[MEDIA].id)] == [lab.servers[MEDIA]["boot_mac"]]


@pytest.mark.parametrize("vlan", [NAMED, BY_LLDP])
def test_it_sends_in_that_vlan(lab, inspected, vlan):
    """The agent's system asks for an address on each of its interfaces."""
    assert (vlan, lab.servers[MEDIA]["boot_mac"]) in inspected[1]
