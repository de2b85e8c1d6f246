# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The provisioning network on machines of NetworkManager, netplan and ifupdown, set up over ssh. Needs root.

The same for systemd-networkd alone, with DHCP: test_provisioning_network.py.
"""
from __future__ import annotations

from pathlib import Path

import pytest
from network_machine import ADDRESS, CARD, PORT, Machine
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._network import interface_files

pytestmark = pytest.mark.plane

SYSTEMS = ("network_manager", "netplan", "ifupdown")
OWN, OTHER = "172.22.0.1/24", "172.23.0.1/24"
# What nobody confirms is kept, where a test does not say otherwise.
BRIDGE = {"name": "prov", "kind": "bridge", "ports": [PORT], "addresses": [OWN], "rollback_seconds": 0,
          "wait_timeout_seconds": 120}
BRIDGE_OF_BOTH = BRIDGE | {"ports": [CARD, PORT]}
# The card by which the machine is reached becomes a port.
CUT_OFF = dict(BRIDGE, name="cut", ports=[CARD], addresses=["203.0.113.5/24"], rollback_seconds=40)
BOND = {"name": "bond7", "kind": "bond", "ports": [PORT], "bond_mode": "active-backup", "addresses": [OWN],
        "wait_timeout_seconds": 5}
FILES = {
    "network_manager": ["/etc/NetworkManager/system-connections/60-metal3-prov.nmconnection",
                        f"/etc/NetworkManager/system-connections/60-metal3-prov@{PORT}.nmconnection"],
    "netplan": ["/etc/netplan/60-metal3-prov.yaml"], "ifupdown": ["/etc/network/interfaces.d/60-metal3-prov"]}


@pytest.fixture(scope="module", params=SYSTEMS)
def system(request):
    return request.param


@pytest.fixture(scope="module")
def machine(system, tmp_path_factory):
    """The machine of a system, reached by ssh through the card that the system configures."""
    with Machine(tmp_path_factory.mktemp(system), system) as found:
        found.start()
        found.until_reached()
        yield found


def is_made(machine, address=OWN):
    """Check that the machine has the bridge with its port and that address alone."""
    links = machine.links()
    assert (links["prov"]["linkinfo"]["info_kind"], links[PORT]["master"]) == ("bridge", "prov")
    assert machine.addresses("prov") == [address] and machine.addresses(CARD) == [f"{ADDRESS}/24"]
    assert machine.reached()


def is_gone(machine, name="prov", port=PORT):
    links = machine.links()
    assert name not in links and "master" not in links[port]
    assert [path for path in machine.own_files() if name in path] == []


def unchanged_after(machine, **options):
    """Run the module a second time."""
    result = machine.module(**options)
    return result["changed"] is False and "msg" not in result


def test_of_two_systems_the_one_that_configures_the_interface_is_used_and_never_both(tmp_path):
    # Before the others: machines of one process have one name.
    with Machine(tmp_path, "networkd", "network_manager") as mixed:
        mixed.start()
        mixed.until_reached()
        state = mixed.run("nmcli", "-g", "GENERAL.STATE", "device", "show", CARD).stdout
        assert "externally" in state, state
        assert mixed.module("--check", name=CARD, addresses=[f"{ADDRESS}/24", OWN])["system"] == "networkd"
        message = mixed.module(**BRIDGE)["msg"]
        assert "systemd-networkd and NetworkManager, both running, and neither configures" in message
        mixed.run("nmcli", "connection", "add", "type", "ethernet", "ifname", PORT, "ip4", OTHER)
        eventually(lambda: OTHER in mixed.addresses(PORT), 60, "NetworkManager configures the port")
        assert mixed.module("--check", **BRIDGE)["system"] == "network_manager"
        message = mixed.module(**BRIDGE_OF_BOTH)["msg"]
        assert "NetworkManager and systemd-networkd, which configure interfaces of it" in message
        assert mixed.own_files() == [] and "prov" not in mixed.links() and mixed.reached()


def test_check_mode_writes_nothing(machine, system):
    result = machine.module("--check", **BRIDGE)
    assert result["changed"] and result["system"] == system
    assert sorted(result["files"]) == sorted(FILES[system])
    is_gone(machine)


def test_a_bond_is_made_or_taken_back_on_a_kernel_without_bonds(machine):
    """Kernels of small virtual machines have no bonds: then each system fails in its way."""
    able = machine.has_kind("bond")
    result = machine.module(**BOND, rollback_seconds=0)
    if able:
        link = machine.links()["bond7"]
        assert link["linkinfo"]["info_data"]["mode"] == "active-backup" and machine.addresses("bond7") == [OWN]
        assert machine.module(**BOND, state="absent", confirm="bond7")["changed"]
    else:
        assert "network bond7: " in result["msg"] and "what was before is back" in result["msg"]
    is_gone(machine, "bond7")
    assert machine.reached()


@pytest.mark.parametrize(("network", "expected"), [
    ({"name": "bond7", "kind": "bond", "ports": [PORT], "bond_mode": "802.3ad", "addresses": [OWN]},
     {"network_manager": "mode=802.3ad", "netplan": "Mode=802.3ad", "ifupdown": "bond-mode: 802.3ad"}),
    ({"name": "v100", "kind": "vlan", "ports": [PORT], "vlan": 100, "addresses": [OWN]},
     {"network_manager": "100", "netplan": "Id=100", "ifupdown": "vlan-id: 100"}),
    ({"name": "v101", "kind": "vlan", "ports": [PORT], "vlan": 101, "addresses": []},
     {"network_manager": "101", "netplan": "Id=101", "ifupdown": "vlan-id: 101"})], ids=["bond", "vlan", "no address"])
def test_the_program_of_the_system_reads_bonds_and_vlans(machine, system, network, expected):
    name, folder = network["name"], "/run/reading"
    for file in interface_files.files(system, network):
        # NetworkManager has no other folder for what it reads.
        path = file.path if system == "network_manager" else folder + file.path
        machine.run("mkdir", "-p", str(Path(path).parent))
        machine.run("install", "-m", file.mode, "/dev/stdin", path, text=file.content)
    commands = {
        "network_manager": ["sh", "-c", f"nmcli connection reload && nmcli -g bond.options,vlan.id,ipv4.addresses "
                                        f"connection show metal3-{name}"],
        "netplan": ["sh", "-c", f"netplan generate --root-dir {folder} && cat {folder}/run/systemd/network/*"],
        "ifupdown": ["sh", "-c", f"ifquery -i {folder}/etc/network/interfaces.d/60-metal3-{name} {name}"]}
    try:
        answer = machine.run(*commands[system]).stdout
    finally:
        machine.run("sh", "-c", f"rm -rf {folder} /etc/NetworkManager/system-connections/60-metal3-{name}*")
        if system == "network_manager":
            machine.run("nmcli", "connection", "reload")
    assert expected[system] in answer
    assert (OWN.partition("/")[0] in answer) == bool(network["addresses"])


@pytest.mark.parametrize("system", ["network_manager"], indirect=True, scope="module")
@pytest.mark.parametrize(("port", "made", "expected"), [
    ("bond7", interface_files.Made("bond", mode="802.3ad"), ["bond", "prov", "bridge", "mode=802.3ad,miimon=100"]),
    ("v100", interface_files.Made("vlan", 100, PORT), ["vlan", "prov", "bridge", "100", PORT])])
def test_network_manager_reads_ports_that_are_no_cards(machine, system, port, made, expected):
    """It alone has a file for each port, and refuses one of which the type has not the section that it needs."""
    try:
        for file in interface_files.files(system, BRIDGE | {"ports": [port]}, made={port: made}):
            machine.run("install", "-m", file.mode, "/dev/stdin", file.path, text=file.content)
        answer = machine.run("sh", "-c", "nmcli connection reload && nmcli -g connection.type,connection.master,"
                             "connection.slave-type,bond.options,vlan.id,vlan.parent connection show "
                             f"metal3-prov-{port}").stdout
        brings = machine.run("nmcli", "-g", "connection.autoconnect-slaves", "connection", "show", "metal3-prov").stdout
    finally:
        machine.run("sh", "-c", "rm -f /etc/NetworkManager/system-connections/60-metal3-prov*")
        machine.run("nmcli", "connection", "reload")
    assert answer.split() == expected
    assert brings.strip() in ("1", "yes", "1 (yes)")


def test_the_bridge_is_made_and_a_second_run_changes_nothing(machine, system):
    made = machine.module(**dict(BRIDGE, rollback_seconds=600))
    assert made["changed"] and made["confirmation_needed"]
    assert machine.module(**BRIDGE, state="confirmed")["changed"]
    is_made(machine)
    assert sorted(machine.own_files()) == sorted(FILES[system])
    assert unchanged_after(machine, **BRIDGE)
    is_made(machine)


def test_a_change_that_cuts_the_machine_off_is_taken_back(machine):
    """Its answer comes once the machine is reached again, or is lost, or says that applying it took too long."""
    result = machine.module(**CUT_OFF)
    assert result.get("confirmation_needed") or result.get("unreachable") or "meanwhile" in result["msg"], result
    eventually(lambda: "cut" not in machine.links(), 120, "the machine takes the change back")
    machine.until_reached()
    is_gone(machine, "cut", CARD)
    is_made(machine)


def test_another_address_takes_the_place_of_the_first_and_stays_over_a_restart(machine):
    assert machine.module(**dict(BRIDGE, addresses=[OTHER]))["changed"]
    is_made(machine, OTHER)
    machine.power_off()
    machine.start()
    machine.until_reached()
    eventually(lambda: "prov" in machine.links() and OTHER in machine.addresses("prov"), 60, "the bridge is back")
    is_made(machine, OTHER)


def test_the_bridge_is_removed_by_its_name_and_made_again(machine):
    assert "metal3_confirm=prov" in machine.module(**BRIDGE, state="absent")["msg"]
    assert machine.module(**BRIDGE, state="absent", confirm="prov")["changed"]
    is_gone(machine)
    assert machine.reached() and unchanged_after(machine, **BRIDGE, state="absent", confirm="prov")
    assert machine.module(**BRIDGE)["changed"]
    is_made(machine)
