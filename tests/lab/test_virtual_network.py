# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook provisioning_network over ssh on a kernel that has bonds and VLANs: a virtual server's, by networkd.

It needs the server with several cards, available; it gets the lab's node image, and is available again afterwards. The
same for bridges and DHCP on machines in namespaces: test_provisioning_network.py.
"""
from __future__ import annotations

import functools
import ipaddress
import json
import subprocess

import bmc_system
import pytest
import sushy
import vlan_probe
from support import eventually, only
from virtual_site import BOOT_SECONDS, HTTP, in_system, inventory_arguments

pytestmark = pytest.mark.metal

BOND, VLAN, BRIDGE = "plane0", "site100", "provision0"
VLAN_ID = 100
# In the lab's range of addresses, of which no lab has the end: who asks, and the machine.
ADDRESSES = {BOND: ("198.19.254.1/24", "198.19.254.2/24"), VLAN: ("198.19.255.1/24", "198.19.255.2/24"),
             BRIDGE: ("198.19.253.1/24", "198.19.253.2/24")}
# What a system that boots may be waited for.
NOT_YET = (AssertionError, KeyError, subprocess.TimeoutExpired)
# An emulated processor's: modules take seconds each.
RUN_SECONDS = 900
PATIENCE = {"provisioning_network_rollback_seconds": 300, "provisioning_network_wait_timeout_seconds": 90}


@pytest.fixture(scope="module")
def ssh(lab, tmp_path_factory):
    """A function that runs a command in the server's system and returns what it prints."""
    arguments = inventory_arguments(tmp_path_factory.mktemp("network"), {HTTP: {}})
    lab.playbook("provision", *arguments, *only(HTTP), seconds=BOOT_SECONDS).ok()
    lab.playbook("metal", *arguments, *only(HTTP), "--tags", "metal", seconds=BOOT_SECONDS).ok()
    yield functools.partial(in_system, lab, HTTP)
    lab.playbook("deprovision_hosts", *arguments, *only(HTTP), "-e", "metal3_confirm=1", seconds=BOOT_SECONDS).ok()
    assert lab.state(HTTP) == "available"


@pytest.fixture(scope="module")
def links(ssh):
    """A function that returns the machine's interfaces by name."""
    return lambda: dict((link["ifname"], link) for link in json.loads(ssh("ip -json -details address")))


@pytest.fixture(scope="module")
def cards(lab, links):
    """The names of two cards that nothing uses."""
    macs = [nic["mac"] for nic in lab.servers[HTTP]["nics"][1:3]]
    return [name for mac in macs for name, link in links().items() if link["address"] == mac]


@pytest.fixture(scope="module")
def described(cards):
    """The variables of a bond of both, of a VLAN on it, and of a bridge whose port the VLAN is."""
    return {
        BOND: {"provisioning_network_kind": "bond", "provisioning_network_ports": cards,
               "provisioning_network_bond_mode": "active-backup"},
        VLAN: {"provisioning_network_kind": "vlan", "provisioning_network_ports": [BOND],
               "provisioning_network_vlan": VLAN_ID},
        BRIDGE: {"provisioning_network_kind": "bridge", "provisioning_network_ports": [VLAN]}}


@pytest.fixture(scope="module")
def play(lab, described, tmp_path_factory):
    """A function that runs the playbook for the machine as the plane's, and one of the networks."""
    folder, secrets = tmp_path_factory.mktemp("plane"), lab.dir / "secrets" / "ssh"
    machine = {
        "ansible_host": lab.servers[HTTP]["nics"][0]["address"], "ansible_user": "root", "ansible_pipelining": True,
        "ansible_python_interpreter": "/usr/bin/python3",
        "ansible_ssh_private_key_file": str(secrets / "user_key"),
        "ansible_ssh_common_args": "-o IdentitiesOnly=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile="
                                   f"{secrets / 'known_hosts'}"}

    def run(name, *arguments, **changes):
        inventory = folder / f"{name}.json"
        variables = {**described[name], "provisioning_network_name": name,
                     "provisioning_network_addresses": [ADDRESSES[name][1]], **changes}
        inventory.write_text(json.dumps({"management": {"hosts": {"boot": {**machine, **PATIENCE, **variables}}}}))
        return lab.playbook("provisioning_network", *arguments, inventory=inventory, seconds=RUN_SECONDS)

    return run


@pytest.fixture(scope="module")
def own_files(ssh):
    """A function that returns what is on the machine of the collection's, folders too."""
    return lambda: sorted(ssh("find /etc /var/lib -name '*metal3*'").split())


@pytest.fixture(scope="module")
def before(links, cards, own_files):
    """How the machine was: names of its interfaces, its addresses, files of the collection."""
    return state(links(), own_files())


def state(links, files):
    """Return what is to be as before: interfaces with their masters and IPv4 addresses, and files."""
    return [(name, link.get("master"), [entry["local"] for entry in link["addr_info"] if entry["family"] == "inet"])
            for name, link in sorted(links.items())], [path for path in files if "60-metal3" in path]


def answers(lab, name):
    """Return whether the machine answers from the wire, by tagged frames in the VLAN."""
    asking, asked = (ipaddress.ip_interface(address).ip for address in ADDRESSES[name])
    return vlan_probe.ask(lab.figures["bridge"]["name"], None if name == BOND else VLAN_ID, asking, asked, 60)


def is_made(lab, links, cards):
    """Check that the machine has both, with their links and addresses, and answers by both."""
    found = links()
    bond, vlan = found[BOND], found[VLAN]
    data = bond["linkinfo"]["info_data"]
    # Else it would not see that a cable is pulled.
    assert (data["mode"], data["miimon"]) == ("active-backup", 100)
    assert [found[card]["master"] for card in cards] == [BOND] * 2
    assert (vlan["linkinfo"]["info_kind"], vlan["linkinfo"]["info_data"]["id"], vlan["link"]) == ("vlan", VLAN_ID, BOND)
    for name, link in ((BOND, bond), (VLAN, vlan)):
        assert [f"{entry['local']}/{entry['prefixlen']}" for entry in link["addr_info"] if entry["family"] == "inet"] \
            == [ADDRESSES[name][1]]
        assert answers(lab, name), f"{name} does not answer"
    return True


def test_check_mode_shows_the_files_and_makes_nothing(play, links, own_files, before):
    run = play(BOND, "--check", "--diff").ok()
    assert run.changed() and f"60-metal3-{BOND}.netdev" in run.output and "Mode=active-backup" in run.output
    assert state(links(), own_files()) == before


def test_a_vlan_on_a_bond_that_is_not_there_yet_is_named(play, links, own_files, before):
    play(VLAN).failed(f"no interface {BOND}")
    assert state(links(), own_files()) == before


@pytest.fixture(scope="module")
def made(play, before):
    """The bond, and then the VLAN on it."""
    play(BOND).ok()
    play(VLAN).ok()


def test_a_vlan_on_a_bond_comes_and_answers(lab, links, cards, made):
    is_made(lab, links, cards)


@pytest.mark.parametrize("name", [VLAN, BOND])
def test_a_second_run_changes_nothing(play, made, name):
    assert play(name, "--diff").ok().changed() == 0


def test_a_bond_that_carries_a_vlan_is_not_made_again(lab, play, links, cards, made):
    """The kernel would delete the VLAN with it."""
    for arguments in (["--check"], []):
        play(BOND, *arguments, provisioning_network_bond_mode="balance-xor").failed(f"{VLAN} (vlan on it)")
    is_made(lab, links, cards)


def test_check_mode_shows_another_vlan_and_changes_nothing(lab, play, links, cards, made):
    run = play(VLAN, "--check", "--diff", provisioning_network_vlan=VLAN_ID + 1).ok()
    assert run.changed() and f"-Id={VLAN_ID}" in run.output and f"+Id={VLAN_ID + 1}" in run.output
    is_made(lab, links, cards)


def test_both_are_there_after_a_restart_of_the_machine(lab, ssh, links, cards, made):
    boot = "cat /proc/sys/kernel/random/boot_id"
    was = ssh(f"sync && {boot}")
    bmc_system.system(lab, lab.servers[HTTP]).reset_system(sushy.RESET_TYPE_FORCE_RESTART)
    eventually(lambda: ssh(boot) != was, 900, "the system after a restart", 5, NOT_YET)
    eventually(lambda: is_made(lab, links, cards), 120, "both, with their addresses", 2, NOT_YET)


def test_removal_asks_for_each_name_and_leaves_the_machine_as_it_was(lab, play, links, cards, own_files, made, before):
    gone = {"provisioning_network_state": "absent"}
    play(VLAN, **gone).failed(f"metal3_confirm={VLAN}")
    is_made(lab, links, cards)
    for name in (VLAN, BOND):
        play(name, "-e", f"metal3_confirm={name}", **gone).ok()
    assert state(links(), own_files()) == before
    assert play(VLAN, "-e", f"metal3_confirm={VLAN}", **gone).ok().changed() == 0


def test_a_vlan_gets_another_number_and_the_bond_keeps_its_links(lab, play, links, cards, made):
    """Made once more, for the test before has removed both."""
    other = VLAN_ID + 1
    for name in (BOND, VLAN):
        play(name).ok()
    play(VLAN, provisioning_network_vlan=other).ok()
    assert links()[VLAN]["linkinfo"]["info_data"]["id"] == other
    assert [links()[card]["master"] for card in cards] == [BOND] * 2
    asking, asked = (ipaddress.ip_interface(address).ip for address in ADDRESSES[VLAN])
    assert vlan_probe.ask(lab.figures["bridge"]["name"], other, asking, asked, 60) and answers(lab, BOND)
    assert not vlan_probe.ask(lab.figures["bridge"]["name"], VLAN_ID, asking, asked, 5)


@pytest.fixture(scope="module")
def bridged(play, made):
    """The VLAN without an address of its own, as a port of a bridge; both are gone afterwards."""
    play(BOND).ok()
    play(VLAN, provisioning_network_addresses=[]).ok()
    play(BRIDGE).ok()
    yield
    for name in (BRIDGE, VLAN):
        play(name, "-e", f"metal3_confirm={name}", provisioning_network_state="absent").ok()


def test_a_vlan_on_a_bond_is_the_port_of_a_bridge_that_answers_in_it(lab, links, bridged):
    found = links()
    assert found[BRIDGE]["linkinfo"]["info_kind"] == "bridge" and found[VLAN]["master"] == BRIDGE
    assert (found[VLAN]["link"], found[VLAN]["linkinfo"]["info_data"]["id"]) == (BOND, VLAN_ID)
    assert not [entry for entry in found[VLAN]["addr_info"] if entry["family"] == "inet"]
    assert answers(lab, BRIDGE), f"{BRIDGE} does not answer in the VLAN"


def test_a_second_run_changes_nothing_of_a_bridge_over_a_vlan(play, bridged):
    assert play(BRIDGE, "--diff").ok().changed() == 0
    assert play(VLAN, "--diff", provisioning_network_addresses=[]).ok().changed() == 0
