# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of an interface on a machine in memory: what fails, or nobody confirms, is taken back.

The real one is tests/lab/test_provisioning_network.py.
"""
from __future__ import annotations

import json
import os
import re
import threading
import time
from pathlib import Path

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._network import interface_files, pending, service
from ansible_collections.metal3.baremetal.plugins.module_utils._network.service import NetworkError, NetworkService
from ansible_collections.metal3.baremetal.plugins.module_utils._network.systems import NetworkSystemError, Result

NETWORK = {"name": "prov", "kind": "bridge", "ports": ["eno2"], "addresses": ["172.22.0.1/24"]}
OPTIONS = {"system": "auto", "rollback_seconds": 0, "wait_timeout_seconds": 1, "confirm": None}


class Quiet:
    """A Progress that nobody reads."""

    def event(self, text):
        """Take a line."""


class Machine:
    """What programs answer; ``networkctl reload`` makes the bridge when its file is there."""

    def __init__(self, folder, works=True):
        self.folder, self.works, self.asked, self.bridge = folder, works, [], False

    def __call__(self, command):
        self.asked.append(command)
        if command[:2] == ["systemctl", "is-active"]:
            return Result(0 if "networkd" in command[-1] else 3, "", "")
        if command[:2] == ["networkctl", "reload"]:
            self.bridge = self.works and bool(list(self.folder.glob("60-metal3-prov.netdev")))
        if command[:3] == ["ip", "link", "delete"]:
            self.bridge = False
        if command[:3] == ["ip", "link", "show"]:
            return Result(0 if self.bridge else 1, "", "")
        if command[0] == "ip" and "show" in command:
            links = [{"ifname": "eno2", "ifindex": 2, "flags": ["UP"], "addr_info": [],
                      **({"master": "prov"} if self.bridge else {})}]
            if self.bridge:
                links.append({"ifname": "prov", "ifindex": 3, "flags": ["UP"], "linkinfo": {"info_kind": "bridge"},
                              "addr_info": [{"local": "172.22.0.1", "prefixlen": 24}]})
            return Result(0, json.dumps(links), "")
        return Result(0, "", "")


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Files of systemd-networkd go to a folder of the test."""
    network = tmp_path / "network"
    network.mkdir()
    real = interface_files.files
    monkeypatch.setattr(service, "files", lambda *arguments: [
        file._replace(path=file.path.replace("/etc/systemd/network", str(network))) for file in real(*arguments)])
    monkeypatch.setattr(service, "_FOLDERS", (str(network), f"{network}/*.d"))
    monkeypatch.setattr(service, "_system_of", lambda paths: "networkd" if paths else "")
    return network, str(tmp_path / "pending")


def run(folders, machine, check_mode=False, network=None, **options):
    return NetworkService(network or NETWORK, dict(OPTIONS, **options), check_mode, Quiet(), machine, folders[1])


@pytest.mark.parametrize(("folder", "ending"), [("network", ".network"), ("netplan", ".yaml"), ("interfaces.d", "")])
def test_files_of_another_interface_are_not_its_own(tmp_path, monkeypatch, folder, ending):
    place = tmp_path / folder
    place.mkdir()
    monkeypatch.setattr(service, "IFUPDOWN_FOLDER", str(tmp_path / "interfaces.d"))
    monkeypatch.setattr(service, "_FOLDERS", (str(place),))
    for interface in ("eth0_5", "eth0"):
        (place / f"60-metal3-{interface}{ending}").touch()
    found = NetworkService(dict(NETWORK, name="eth0.5"), OPTIONS, False, Quiet(), None, str(tmp_path))._own_files()
    assert found == []


@pytest.mark.parametrize(("owner", "other"), [("eth0.5", "eth0_5"), ("eth0_5", "eth0.5")])
def test_the_file_of_an_earlier_release_goes_with_the_interface_that_it_is_of(tmp_path, monkeypatch, owner, other):
    """It had "_" for a dot, so that its name does not say whose it is."""
    monkeypatch.setattr(service, "IFUPDOWN_FOLDER", str(tmp_path))
    monkeypatch.setattr(service, "_FOLDERS", (str(tmp_path),))
    old = tmp_path / "60-metal3-eth0_5"
    old.write_text(f"auto {other}\niface {other} inet manual\n\nauto {owner}\niface {owner} inet static\n"
                   "    address 192.0.2.1/24\n")
    (tmp_path / "60-metal3-eth0_2e5").touch()
    (tmp_path / "60-metal3-eth0_5f5").touch()
    found = dict((name, NetworkService(dict(NETWORK, name=name), OPTIONS, False, Quiet(), None, str(tmp_path))
                  ._own_files()) for name in (owner, other))
    new = {"eth0.5": str(tmp_path / "60-metal3-eth0_2e5"), "eth0_5": str(tmp_path / "60-metal3-eth0_5f5")}
    assert found == {owner: sorted([new[owner], str(old)]), other: [new[other]]}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_bridge_comes_once_and_goes_by_its_name(folders):
    machine = Machine(folders[0])
    predicted = run(folders, machine, check_mode=True).present()
    assert predicted["changed"] and names(folders[0]) == []
    made = run(folders, machine).present()
    assert made["changed"] and made["differences"] == ["interface prov does not exist",
                                                       "interface eno2 does not belong to prov"][:1]
    assert names(folders[0]) == ["60-metal3-prov.netdev", "60-metal3-prov.network", "60-metal3-prov@eno2.network"]
    assert [entry["after"] for entry in made["diff"]] == [entry["after"] for entry in predicted["diff"]]
    assert not run(folders, machine).present()["changed"]
    with pytest.raises(RefusedError, match="metal3_confirm=prov"):
        run(folders, machine).absent()
    assert run(folders, machine, check_mode=True).absent()["warnings"]
    assert run(folders, machine, confirm="prov").absent()["changed"] and not machine.bridge
    assert not run(folders, machine).absent()["changed"]


class Ending(Machine):
    """Has a program that fails, or a run that is killed there, once."""

    error = None

    def __call__(self, command):
        if command[:2] == ["networkctl", "reload"] and self.error:
            error, self.error = self.error, None
            raise error
        return super().__call__(command)


@pytest.mark.parametrize("error", [NetworkSystemError("no reload"), KeyboardInterrupt()], ids=["fails", "killed"])
def test_a_removal_that_ended_before_the_device_was_gone_is_brought_to_its_end(folders, error):
    machine = Ending(folders[0])
    run(folders, machine).present()
    machine.error = error
    with pytest.raises(type(error)):
        run(folders, machine, confirm="prov").absent()
    assert names(folders[0]) == [] and machine.bridge
    with pytest.raises(RefusedError, match="metal3_confirm=prov"):
        run(folders, machine).absent()
    assert run(folders, machine, check_mode=True, confirm="prov").absent()["changed"] and machine.bridge
    assert run(folders, machine, confirm="prov").absent()["changed"] and not machine.bridge
    assert not run(folders, machine, confirm="prov").absent()["changed"]


@pytest.mark.parametrize("again", ["described again", "machine started again"])
def test_what_is_of_that_name_later_is_not_what_was_being_removed(folders, monkeypatch, again):
    machine = Ending(folders[0])
    run(folders, machine).present()
    machine.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(folders, machine, confirm="prov").absent()
    if again == "described again":
        machine.bridge = False
        run(folders, machine).present()
        for path in folders[0].iterdir():
            path.unlink()
    else:
        monkeypatch.setattr(service, "_boot_id", lambda: "another start")
    assert not run(folders, machine, confirm="prov").absent()["changed"] and machine.bridge


def test_a_removal_takes_the_files_that_an_unconfirmed_change_leaves(folders):
    machine = Machine(folders[0])
    run(folders, machine, rollback_seconds=1).present()
    assert names(folders[0])
    # The machine takes the change back meanwhile, and with it the files.
    assert not run(folders, machine, confirm="prov").absent()["changed"]


class Stacked:
    """Programs of a machine with a bond, and what else is given; they do nothing."""

    def __init__(self, *links, system="networkd"):
        self.asked, self.system = [], system
        self.links = [{"ifname": name, "ifindex": index, "flags": ["UP"], "addr_info": [], **more}
                      for index, (name, more) in enumerate(links, 1)]

    def __call__(self, command):
        self.asked.append(command)
        if command[:2] == ["systemctl", "is-active"]:
            return Result(0 if self.system in command[-1] else 3, "", "")
        if command[0] == "ip" and "show" in command:
            return Result(0, json.dumps(self.links), "")
        return Result(0, "", "")


BOND = {"name": "bond0", "kind": "bond", "ports": ["eno2"], "addresses": []}
BOND_LINK = ("bond0", {"linkinfo": {"info_kind": "bond", "info_data": {"mode": "802.3ad"}}})
VLAN_LINK = ("site100", {"link": "bond0", "linkinfo": {"info_kind": "vlan", "info_data": {"id": 100}}})


@pytest.mark.parametrize(("links", "text"), [
    ((BOND_LINK, VLAN_LINK), r"network bond0: state: found absent, and site100 \(vlan on it\), expected absent for an "
                             r"interface that no other one needs; remove what is named first"),
    ((("bond0", {**BOND_LINK[1], "master": "prov"}),), r"absent, and prov \(which has it as a port\)")])
@pytest.mark.parametrize("check_mode", [False, True])
# The kind is left out by many who remove something.
@pytest.mark.parametrize("network", [BOND, {"name": "bond0", "addresses": []}])
def test_what_others_stand_on_is_not_removed(folders, links, text, check_mode, network):
    (folders[0] / "60-metal3-bond0.netdev").touch()
    machine = Stacked(*links)
    with pytest.raises(RefusedError, match=text):
        run(folders, machine, check_mode, network, confirm="bond0").absent()
    assert names(folders[0]) == ["60-metal3-bond0.netdev"]
    assert not [command for command in machine.asked if "show" not in command]


def test_all_that_keeps_from_a_removal_is_reported_at_once(folders):
    (folders[0] / "60-metal3-bond0.netdev").touch()
    with pytest.raises(RefusedError, match=r"(?s)2 problems.*site100.*metal3_confirm=bond0"):
        run(folders, Stacked(BOND_LINK, VLAN_LINK), network=BOND).absent()


MADE_BOND = ("60-metal3-bond0.netdev", "60-metal3-bond0.network", "60-metal3-bond0@eno2.network")


def described(folders, links, system="networkd", **options):
    """Give a bond the files of its description, and return a machine that has it."""
    for file in service.files("networkd", dict(BOND, **options)):
        path = folders[0] / os.path.basename(file.path)
        path.write_text(file.content)
        path.chmod(int(file.mode, 8))
    return Stacked(("eno2", {"master": "bond0"}), *links, system=system)


@pytest.mark.parametrize("check_mode", [False, True])
def test_an_interface_that_carries_vlans_is_not_made_again(folders, check_mode):
    """The kernel deletes them with it, and none is made again."""
    machine = described(folders, (BOND_LINK, VLAN_LINK), bond_mode="802.3ad")
    before = {path.name: path.read_text() for path in folders[0].iterdir()}
    with pytest.raises(RefusedError, match=(
            r"network bond0: state: found present, for which it is deleted and made again, and site100 \(vlan on it\), "
            "expected an interface that no other one needs meanwhile; remove what is named first, by the playbook "
            "provisioning_network with its name and provisioning_network_state=absent, run this one again, then")):
        run(folders, machine, check_mode, dict(BOND, bond_mode="balance-xor")).present()
    assert {path.name: path.read_text() for path in folders[0].iterdir()} == before
    assert not [command for command in machine.asked if command[0] == "networkctl" or "delete" in command]
    assert pending.read("bond0", folders[1]) is None


@pytest.mark.parametrize("links", [
    (BOND_LINK, ("eno2.7", {"link": "eno2", "linkinfo": {"info_kind": "vlan", "info_data": {"id": 7}}})),
    # What has it as a port gets it again by its own playbook, as the role's README says.
    (("bond0", {**BOND_LINK[1], "master": "prov"}),)])
def test_an_interface_that_carries_nothing_is_made_again(folders, links):
    machine = described(folders, links, bond_mode="802.3ad")
    run(folders, machine, network=dict(BOND, bond_mode="balance-xor")).present()
    assert ["ip", "link", "delete", "bond0"] in machine.asked


def test_what_leaves_the_interface_is_done_below_vlans_too(folders):
    """systemd-networkd configures an interface again for another address, and keeps it."""
    machine = described(folders, (BOND_LINK, VLAN_LINK), bond_mode="802.3ad")
    result = run(folders, machine, True, dict(BOND, bond_mode="802.3ad", addresses=["172.22.0.1/24"])).present()
    assert result["changed"]
    assert not run(folders, machine, True, dict(BOND, bond_mode="802.3ad")).present()["changed"]


def test_ifupdown_makes_an_interface_again_for_whatever_it_lacks(folders, monkeypatch):
    monkeypatch.setattr(service, "files", lambda *_arguments: [])
    down = ("bond0", {**BOND_LINK[1], "flags": []})
    for system, is_refused in (("ifupdown", True), ("networkd", False)):
        attempt = run(folders, Stacked(("eno2", {"master": "bond0"}), down, VLAN_LINK), True, BOND, system=system)
        if is_refused:
            with pytest.raises(RefusedError, match=r"site100 \(vlan on it\)"):
                attempt.present()
        else:
            assert attempt.present()["differences"] == ["interface bond0 is down"]


@pytest.mark.parametrize(("remade", "links", "is_deleted"), [
    (False, (BOND_LINK, VLAN_LINK), False), (False, (BOND_LINK,), True), (True, (BOND_LINK, VLAN_LINK), True)])
def test_a_change_that_is_taken_back_takes_no_vlan_along_that_it_has_left(folders, remade, links, is_deleted):
    machine = described(folders, links)
    paths = [str(folders[0] / name) for name in MADE_BOND]
    pending.begin("bond0", {"system": "networkd", "files": pending.snapshot(paths), "seconds": 60, "network": BOND,
                            "made": False, "remade": remade, "machine": "an earlier start"}, folders[1])
    (folders[0] / MADE_BOND[1]).write_text("half a change")
    assert not run(folders, machine, network=BOND).present()["changed"]
    assert (["ip", "link", "delete", "bond0"] in machine.asked) is is_deleted
    assert ["networkctl", "reload"] in machine.asked and "half a change" not in (folders[0] / MADE_BOND[1]).read_text()


def test_what_nothing_stands_on_is_removed(folders):
    described(folders, ())
    machine = Stacked(BOND_LINK, ("eno2", {"master": "bond0"}), ("eno2.7", {
        "link": "eno2", "linkinfo": {"info_kind": "vlan", "info_data": {"id": 7}}}))
    assert run(folders, machine, network=BOND, confirm="bond0").absent()["changed"] and names(folders[0]) == []
    assert ["ip", "link", "delete", "bond0"] in machine.asked
    # Of a card only files go.
    (folders[0] / "60-metal3-eno2.network").touch()
    assert run(folders, machine, network={"name": "eno2", "addresses": []}, confirm="eno2").absent()["changed"]


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize(("made", "given", "is_deleted"), [
    # Described as another one meanwhile, or not at all: the name alone is given on the command line.
    ("bond", {"kind": "ethernet", "ports": []}, True), ("bond", {}, True),
    ("ethernet", {"kind": "bridge", "ports": ["eno3"]}, False)])
def test_what_the_files_have_made_is_removed_whatever_is_described_by_now(folders, made, given, is_deleted, killed):
    for file in service.files("networkd", dict(BOND, name="old", kind=made, ports=["eno2"] if made == "bond" else [])):
        (folders[0] / os.path.basename(file.path)).write_text(file.content)
    machine = Ending(folders[0])
    network = {"name": "old", "addresses": ["172.22.0.1/24"], **given}
    if killed:
        machine.error = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            run(folders, machine, network=network, confirm="old").absent()
        assert names(folders[0]) == []
    assert run(folders, machine, network=network, confirm="old").absent()["changed"] and names(folders[0]) == []
    assert (["ip", "link", "delete", "old"] in machine.asked) is is_deleted


@pytest.mark.parametrize(("links", "warned"), [
    ((("eno2", {}),), True), ((("eno2", {}), BOND_LINK), True), ((("eno2", {}), BOND_LINK, VLAN_LINK), False)])
def test_an_interface_without_addresses_that_nothing_uses_is_warned_of(folders, links, warned):
    described(folders, ())
    result = run(folders, Stacked(*links), True, BOND).present()
    assert bool(result["warnings"]) == warned
    assert not warned or "network bond0: addresses: not set, and no other interface uses it" in result["warnings"][0]


OF_BOND = dict(NETWORK, ports=["eno2", "bond0"])


def test_network_manager_takes_the_bonds_of_this_collection_only(folders, monkeypatch):
    """Of two connections of one bond one alone is active, and a file of somebody else's is not changed."""
    monkeypatch.setattr(service, "files", lambda *_arguments: [])
    machine = Stacked(("eno2", {}), BOND_LINK, system="NetworkManager")
    with pytest.raises(RefusedError, match=r"network prov: ports\[1\]: found bond0, a bond of a connection that this "
                                           r"collection has not written, expected cards, VLANs, and bonds"):
        run(folders, machine, True, OF_BOND, system="network_manager").present()
    (folders[0] / "60-metal3-bond0.nmconnection").touch()
    assert run(folders, machine, True, OF_BOND, system="network_manager").present()["changed"]
    (folders[0] / "60-metal3-bond0.nmconnection").unlink()
    assert run(folders, machine, True, OF_BOND, system="networkd").present()["changed"]
    vlan = dict(NETWORK, ports=["site100"])
    assert run(folders, Stacked(BOND_LINK, VLAN_LINK), True, vlan, system="network_manager").present()["changed"]


def test_a_bond_has_its_ports_again_when_its_bridge_is_gone(folders, monkeypatch):
    monkeypatch.setattr(service, "_system_of", lambda paths: "network_manager")
    for name in ("bond0", "bond0@eno3", "prov", "prov@bond0"):
        (folders[0] / f"60-metal3-{name}.nmconnection").write_text("type=bridge\n" if name == "prov" else "")
    machine = Stacked(("eno2", {}), BOND_LINK, ("prov", {"linkinfo": {"info_kind": "bridge"}}))
    assert run(folders, machine, network=OF_BOND, confirm="prov").absent()["changed"]
    assert [command[-1] for command in machine.asked if command[0] == "nmcli"] == [
        "reload", "metal3-bond0", "metal3-bond0-eno3"]
    assert names(folders[0]) == ["60-metal3-bond0.nmconnection", "60-metal3-bond0@eno3.nmconnection"]


def test_what_does_not_come_is_taken_back(folders):
    machine = Machine(folders[0], works=False)
    with pytest.raises(NetworkError, match=r"interface prov does not exist.*what was before is back"):
        run(folders, machine, rollback_seconds=60).present()
    assert names(folders[0]) == [] and pending.read("prov", folders[1]) is None


def test_a_change_that_nobody_confirms_is_taken_back_by_the_machine(folders):
    machine = Machine(folders[0])
    assert run(folders, machine, rollback_seconds=1).present()["confirmation_needed"]
    until = time.monotonic() + 20
    while names(folders[0]) and time.monotonic() < until:
        time.sleep(0.05)
    assert names(folders[0]) == []
    machine.bridge = False
    with pytest.raises(NetworkError, match="was not confirmed within its time"):
        run(folders, machine).confirm()


MADE_BRIDGE = ["60-metal3-prov.netdev", "60-metal3-prov.network", "60-metal3-prov@eno2.network"]


@pytest.mark.parametrize(("act", "outcome", "files"), [
    ("absent", False, []), ("present", True, MADE_BRIDGE), ("confirm", "not confirmed within its time", [])])
def test_a_run_waits_until_a_change_is_taken_back_whole(folders, act, outcome, files):
    """Its record goes first: files and interface are still those of the change."""
    machine, found, heard = Machine(folders[0]), [], threading.Event()
    run(folders, machine, rollback_seconds=60).present()

    class Listening:
        def event(self, text):
            if "is being taken back" in text:
                heard.set()

    def other():
        service_of_other = run(folders, machine, confirm="prov")
        service_of_other.progress = Listening()
        try:
            found.append(getattr(service_of_other, act)()["changed"])
        except NetworkError as exc:
            found.append(outcome if str(outcome) in str(exc) else exc)

    thread = threading.Thread(target=other)

    def take_back():
        assert pending.end("prov", folders[1])
        thread.start()
        while thread.is_alive() and not heard.wait(0.01):
            pass
        for path in folders[0].iterdir():
            path.unlink()
        machine.bridge = False

    pending._guard("prov", 0, take_back, folders[1])
    thread.join()
    assert found == [outcome] and names(folders[0]) == files and os.listdir(folders[1]) == []


def test_a_confirmed_change_stays(folders):
    machine = Machine(folders[0])
    run(folders, machine, rollback_seconds=2).present()
    assert run(folders, machine).confirm()["changed"]
    # Longer than the machine waits.
    time.sleep(3)
    assert len(names(folders[0])) == 3 and not run(folders, machine).confirm()["changed"]


def test_of_two_runs_at_once_one_changes_nothing_and_the_other_one_is_confirmed(folders, monkeypatch):
    """The record of the second one would have been what the first one's watcher takes back."""
    machine, second = Machine(folders[0]), Machine(folders[0])
    change = service.NetworkService._change

    def begins(self, *arguments):
        monkeypatch.setattr(service.NetworkService, "_change", change)
        run(folders, machine, rollback_seconds=60).present()
        return change(self, *arguments)

    monkeypatch.setattr(service.NetworkService, "_change", begins)
    with pytest.raises(service.NetworkError, match="another run has begun to change it"):
        run(folders, second, network=dict(NETWORK, addresses=["172.22.9.1/24"]), rollback_seconds=60).present()
    assert not any("172.22.9.1" in (folders[0] / name).read_text() for name in names(folders[0]))
    assert run(folders, machine).confirm()["changed"] and os.listdir(folders[1]) == []


def test_the_next_run_takes_back_what_was_left_before_the_machine_was_started_again(folders, monkeypatch):
    machine = Machine(folders[0])
    pending.begin("prov", {"system": "networkd", "files": pending.snapshot([str(folders[0] / "60-metal3-prov.netdev")]),
                           "seconds": 60, "network": NETWORK, "made": True, "machine": "an earlier start"}, folders[1])
    (folders[0] / "60-metal3-prov.netdev").write_text("half a change")
    assert run(folders, machine).present()["changed"]
    assert "half a change" not in (folders[0] / "60-metal3-prov.netdev").read_text()
    assert ["networkctl", "reload"] in machine.asked and pending.read("prov", folders[1]) is None


def test_network_manager_has_the_ports_of_before_again_when_others_are_taken_back(folders, monkeypatch):
    """It knows no connection of a port that the files of before do not have: nmcli ends with an error."""
    monkeypatch.setattr(service, "files", lambda *arguments: [file._replace(
        path=str(folders[0] / os.path.basename(file.path))) for file in interface_files.files(*arguments)])
    monkeypatch.setattr(service, "_system_of", lambda paths: "network_manager" if paths else "")
    before = service.files("network_manager", dict(NETWORK, ports=["eno2", "eno3"]))
    for file in before:
        pending.put_back([{"path": file.path, "content": file.content, "mode": int(file.mode, 8)}])
    added = str(folders[0] / "60-metal3-prov@eno4.nmconnection")
    pending.begin("prov", {
        "system": "network_manager", "seconds": 60, "made": False, "remade": True, "machine": "an earlier start",
        "files": pending.snapshot([*(file.path for file in before), added]),
        "network": dict(NETWORK, ports=["eno2", "eno4"])}, folders[1])
    os.unlink(folders[0] / "60-metal3-prov@eno3.nmconnection")
    Path(added).write_text("id=metal3-prov-eno4\n")
    asked = []

    def programs(command):
        asked.append(command)
        if command[0] == "nmcli" and "up" in command and not any(
                f"id={command[-1]}\n" in path.read_text() for path in folders[0].iterdir()):
            return Result(10, "", f"Error: unknown connection '{command[-1]}'.")
        return machine(command)

    machine = Stacked(*((port, {"master": "prov"}) for port in ("eno2", "eno3")), (
        "prov", {"linkinfo": {"info_kind": "bridge"}, **OF_BEFORE}), system="NetworkManager")
    assert not run(folders, programs, network=dict(NETWORK, ports=["eno2", "eno3"])).present()["changed"]
    assert [command[-1] for command in asked if command[0] == "nmcli" and "up" in command] == [
        "metal3-prov", "metal3-prov-eno2", "metal3-prov-eno3"]


@pytest.mark.parametrize(("network", "text"), [
    (dict(NETWORK, ports=["eno7"]), "no interface eno7"), (dict(NETWORK, name="eno2", ports=["eno3"]), "a card, not a"),
    (dict(NETWORK, addresses=["172.22.0.0/24"]), "an address of a host")])
def test_what_does_not_fit_the_machine_is_refused(folders, network, text):
    with pytest.raises(RefusedError, match=text):
        run(folders, Machine(folders[0]), network=network).present()
    assert names(folders[0]) == []


def test_an_error_of_an_earlier_change_is_not_that_of_the_next_one(folders):
    machine = Machine(folders[0])
    run(folders, machine, rollback_seconds=60).present()
    with open(pending.error_path("prov", folders[1]), "w", encoding="utf-8") as stream:
        stream.write("of an earlier change")
    pending.end("prov", folders[1])
    with pytest.raises(service.NetworkError, match="of an earlier change"):
        run(folders, machine).confirm()
    run(folders, machine, confirm="prov").absent()
    run(folders, machine, rollback_seconds=60).present()
    assert run(folders, machine).confirm()["changed"] and not run(folders, machine).confirm()["changed"]


@pytest.mark.parametrize("act", ["absent", "confirm"])
def test_a_name_that_is_a_path_is_refused(folders, act):
    name = "../../tmp/x"
    with pytest.raises(RefusedError, match="name: found"):
        getattr(run(folders, Machine(folders[0]), network=dict(NETWORK, name=name), confirm=name), act)()


def test_a_change_that_cannot_be_taken_back_says_so(folders):
    machine = Machine(folders[0])
    refused = Result(1, "", "no daemon")

    def programs(command):
        return refused if command[0] == "networkctl" else machine(command)
    with pytest.raises(NetworkError, match=r"network prov: networkctl reload failed with code 1: no daemon; taking it "
                                           r"back failed, too: networkctl reload failed"):
        run(folders, programs, rollback_seconds=60).present()


def test_a_change_that_takes_longer_than_its_confirmation_says_so(folders):
    machine = Machine(folders[0], works=False)
    with pytest.raises(NetworkError, match="took longer than 1 s and has been taken back meanwhile; raise"):
        run(folders, machine, rollback_seconds=1, wait_timeout_seconds=4).present()
    assert names(folders[0]) == []


@pytest.mark.parametrize(("folder", "others", "stays"), [
    ("60-metal3-prov0.network.d", [], False), ("10-card.network.d", ["own.conf"], True), ("interfaces.d", [], True)])
def test_the_folder_of_a_drop_in_goes_with_the_last_one(tmp_path, folder, others, stays):
    for name in (*others, "60-metal3-site100.conf"):
        path = tmp_path / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    pending.put_back([{"path": str(path), "content": None, "mode": None}])
    assert not path.exists() and (tmp_path / folder).exists() == stays


def test_another_address_leaves_the_device_and_what_is_taken_back_gets_its_ports_again(folders):
    machine = Machine(folders[0])
    run(folders, machine).present()
    files = names(folders[0])
    machine.asked.clear()
    with pytest.raises(NetworkError, match="what was before is back"):
        run(folders, machine, network=dict(NETWORK, addresses=["172.23.0.1/24"]), rollback_seconds=60).present()
    assert [command for command in machine.asked
            if command[0] == "networkctl" or command[:3] == ["ip", "link", "delete"]] == [
        ["networkctl", "reload"], ["ip", "link", "delete", "prov"], ["networkctl", "reload"],
        ["networkctl", "reconfigure", "eno2"]]
    assert names(folders[0]) == files and machine.bridge


class Exact(Machine):
    """systemd-networkd, which configures an interface again only when its file is another one than it has read."""

    def __init__(self, folder):
        super().__init__(folder)
        self.read, self.has_address = None, True

    def __call__(self, command):
        if command[:2] == ["networkctl", "reload"]:
            found = (self.folder / "60-metal3-prov.network").stat().st_mtime_ns
            self.has_address = self.has_address or found != self.read
            self.read = found
        answer = super().__call__(command)
        if self.has_address or command[0] != "ip" or "address" not in command:
            return answer
        return Result(0, json.dumps([dict(link, addr_info=[]) for link in json.loads(answer.stdout)]), "")


def test_what_somebody_has_taken_from_an_interface_it_has_again(folders):
    """The files are as before, so that systemd-networkd would not look at them."""
    machine = Exact(folders[0])
    run(folders, machine).present()
    machine.asked.clear()
    machine.has_address = False
    result = run(folders, machine, rollback_seconds=60).present()
    assert result["changed"] and result["differences"] == ["interface prov lacks the address 172.22.0.1/24"]
    assert machine.has_address and ["ip", "link", "delete", "prov"] not in machine.asked
    assert run(folders, machine).confirm()["changed"] and not run(folders, machine).present()["changed"]


def test_a_device_without_one_of_its_ports_is_made_again(folders):
    machine = Machine(folders[0])
    run(folders, machine).present()
    machine.asked.clear()
    run(folders, machine, network=dict(NETWORK, ports=[])).present()
    assert ["ip", "link", "delete", "prov"] in machine.asked and machine.bridge
    assert names(folders[0]) == ["60-metal3-prov.netdev", "60-metal3-prov.network"]


CARRIED = {"name": "site100", "kind": "vlan", "ports": ["bond0"], "vlan": 100, "addresses": ["172.22.0.1/24"]}
WIDE_BOND = ("bond0", {**BOND_LINK[1], "mtu": 1500})


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize(("links", "changes", "text"), [
    ((WIDE_BOND,), {"mtu": 9000}, "mtu: found 9000, expected at most 1500, the MTU of bond0, which carries the VLAN; "
                                  "lower it, or give bond0 a larger one first"),
    ((WIDE_BOND, VLAN_LINK), {"name": "other"}, "vlan: found 100 on bond0, which site100 is already, expected a VLAN "
                                                "that no other interface of the machine is; name it site100, or"),
    ((), {}, "ports: found no interface bond0")])
def test_a_vlan_that_its_bond_cannot_carry_is_refused(folders, links, changes, text, check_mode):
    machine = Stacked(*links)
    with pytest.raises(RefusedError, match=text):
        run(folders, machine, check_mode, dict(CARRIED, **changes)).present()
    assert names(folders[0]) == [] and not [command for command in machine.asked if command[0] == "networkctl"]


def test_a_vlan_that_its_bond_carries_is_made(folders):
    assert run(folders, Stacked(WIDE_BOND, VLAN_LINK), True, dict(CARRIED, mtu=1500)).present()["changed"]
    assert run(folders, Stacked(WIDE_BOND), True, CARRIED).present()["changed"]


@pytest.mark.parametrize(("other", "given", "refused"), [
    ({}, {}, True), ({"address": "172.22.0.77/24"}, {}, True), ({"number": 10}, {}, False),
    ({}, {"virtual_router_id": 52}, False), ({"address": "172.22.1.77"}, {}, False),
    ({"address": "fd00::1"}, {}, False),
    # Another machine of this plane.
    ({"address": "172.22.0.2/24"}, {}, False),
    # It is sent to the peers alone.
    ({}, {"peers": ["172.22.0.12"]}, False)])
def test_the_virtual_router_of_another_one_on_the_network_is_refused(folders, other, given, refused):
    """The endpoint of a cluster that ends with .51 has that number by default, and so has a plane."""
    asked = run(folders, Machine(folders[0]), False, NETWORK, keepalived={
        "address": "172.22.0.2/24", "machines": ["first", "second"], "machine": "first", "virtual_router_id": 51,
        "peers": [], "check_ports": [6385], "others": [
            {"owner": "cluster metal3/prod", "address": "172.22.0.51", "number": 51, **other}], **given})
    if not refused:
        assert asked.present()["changed"]
        return
    with pytest.raises(RefusedError, match=r"keepalived\.virtual_router_id: found 51, which cluster metal3/prod has "
                                           r"for its address 172\.22\.0\.\d+ on the same network, expected a number"):
        asked.present()
    assert names(folders[0]) == []


@pytest.mark.parametrize(("network", "given", "fields"), [
    ({}, {"virtual_router_id": 300}, ["virtual_router_id"]),
    ({"mtu": 5}, {"machine": "third", "check_ports": [0]}, ["mtu", "machine", "check_ports[0]"]),
    ({"addresses": ["172.22.0.1"]}, {}, ["addresses[0]"]),
    ({"kind": "vlan", "vlan": 5, "addresses": [], "dhcp": None}, {}, ["own_address"]),
    ({}, {"address": "172.22.0.20/24"}, ["address"]), ({}, {"address": "172.22.0.90/24"}, ["address"]), ({}, {}, [])])
@pytest.mark.parametrize("check_mode", [False, True])
def test_mistakes_of_what_holds_the_address_are_refused_before_anything_changes(
        folders, network, given, fields, check_mode):
    described_so = {**NETWORK, "dhcp": {
        "ranges": [{"first": "172.22.0.10", "last": "172.22.0.50"}],
        "hosts": [{"mac": "00:5c:52:31:3a:01", "addresses": ["172.22.0.90"]}]}, **network}
    asked = run(folders, Machine(folders[0]), check_mode, described_so, keepalived={
        "address": "172.22.0.2/24", "machines": ["first", "second"], "machine": "first", "virtual_router_id": 51,
        "peers": [], "check_ports": [6385], **given})
    if not fields:
        assert asked.present()["changed"]
        return
    with pytest.raises(RefusedError) as caught:
        asked.present()
    assert [problem.field.removeprefix("keepalived.") for problem in caught.value.problems] == fields
    assert names(folders[0]) == []


def test_what_dhcp_would_lend_of_the_planes_addresses_is_refused_with_all_other_mistakes(folders):
    """What keepalived holds is reported with what it is to do, whoever else has it in the inventory."""
    described_so = {**NETWORK, "gateway": "172.22.0.254", "mtu": 5, "dhcp": {
        "ranges": [{"first": "172.22.0.2", "last": "172.22.0.254"}], "unknown_hosts": True}}
    asked = run(folders, Machine(folders[0]), False, described_so, keepalived={
        "address": "172.22.0.2/24", "machines": ["first"], "machine": "first", "virtual_router_id": 51, "peers": [],
        "check_ports": []}, taken=[{"owner": name, "address": f"172.22.0.{number}/24"} for name, number in (
            ("first", 1), ("second", 2), ("third", 3))])
    with pytest.raises(RefusedError) as caught:
        asked.present()
    assert [(problem.field, problem.expected) for problem in caught.value.problems] == [
        ("mtu", "a number of bytes from 1280 to 9216"),
        ("dhcp.ranges[0]", "a range without 172.22.0.254, the gateway's address"),
        ("dhcp.ranges[0]", "a range without 172.22.0.3, the address of third"),
        ("keepalived.address", "an address that dhcp.ranges[0] does not lend")]
    assert names(folders[0]) == []


class Trunk:
    """A card that nothing else configures; systemd-networkd makes the VLANs of the first file that matches it."""

    def __init__(self, folder):
        self.folder, self.made, self.addresses = folder, {}, []

    def port_file(self):
        return next((str(path) for path in sorted(self.folder.glob("*.network")) if "Name=eno2\n" in path.read_text()),
                    None)

    def __call__(self, command):
        if command[:2] == ["systemctl", "is-active"]:
            return Result(0 if "networkd" in command[-1] else 3, "", "")
        if command[0] == "networkctl" or command[:2] == ["systemctl", "restart"]:
            path = self.port_file()
            files = [] if path is None else [Path(path), *sorted(Path(f"{path}.d").glob("*.conf"))]
            self.made = {name: int(name[4:]) for file in files
                         for name in re.findall(r"VLAN=(site\d+)", file.read_text())}
            self.addresses = [text for file in files for text in re.findall(r"Address=(\S+)/24", file.read_text())]
        if command[:3] == ["ip", "link", "delete"]:
            self.made.pop(command[-1], None)
        if command[0] == "ip" and "address" in command:
            links = [{"ifname": "eno2", "ifindex": 2, "flags": ["UP"],
                      "addr_info": [{"local": text, "prefixlen": 24} for text in self.addresses]}]
            links += [{"ifname": name, "ifindex": number, "flags": ["UP"], "link": "eno2",
                       "linkinfo": {"info_kind": "vlan", "info_data": {"id": number}},
                       "addr_info": [{"local": f"172.22.{number}.1", "prefixlen": 24}]}
                      for name, number in self.made.items()]
            return Result(0, json.dumps(links), "")
        return Result(1 if "show" in command else 0, "", "")


def test_vlans_on_a_card_that_nothing_else_configures_stay_and_go_by_themselves(folders, monkeypatch):
    """The card's file was taken for somebody else's by the second run, and went with the first VLAN."""
    machine = Trunk(folders[0])
    monkeypatch.setattr(service.systems, "port_files", lambda _links, ports: {
        port: machine.port_file() for port in ports if machine.port_file()})

    def vlan(number, act="present"):
        return getattr(run(folders, machine, confirm=f"site{number}", network={
            "name": f"site{number}", "kind": "vlan", "ports": ["eno2"], "vlan": number,
            "addresses": [f"172.22.{number}.1/24"]}), act)()["changed"]

    assert vlan(10) and not vlan(10)
    assert vlan(20) and sorted(machine.made) == ["site10", "site20"]
    assert not vlan(20) and not vlan(10)
    assert vlan(10, "absent") and sorted(machine.made) == ["site20"]
    assert not vlan(20)

    def card(act="present"):
        return getattr(run(folders, machine, confirm="eno2", network={
            "name": "eno2", "kind": "ethernet", "ports": [], "addresses": ["172.22.0.1/24"]}), act)()["changed"]

    # Untagged, by the file that is there.
    assert card() and not card() and not vlan(20) and sorted(machine.made) == ["site20"]
    assert card("absent") and not card("absent") and not vlan(20) and sorted(machine.made) == ["site20"]
    assert card() and vlan(20, "absent") and not machine.made and not card()
    assert card("absent") and names(folders[0]) == []


def test_a_new_vlan_that_does_not_come_leaves_the_file_of_its_card_to_the_others(tmp_path):
    shared = tmp_path / "60-metal3-@eno2.network"
    (tmp_path / f"{shared.name}.d").mkdir()
    own, other = (tmp_path / f"{shared.name}.d" / f"60-metal3-site{number}.conf" for number in (10, 20))
    for path in (shared, own, other):
        path.write_text("")
    none = [{"path": str(path), "content": None, "mode": None} for path in (shared, own)]
    pending.put_back(none)
    assert shared.exists() and not own.exists() and other.exists()
    other.unlink()
    own.write_text("")
    pending.put_back(none)
    assert list(tmp_path.iterdir()) == []


OF_BEFORE = {"addr_info": [{"local": "172.22.0.1", "prefixlen": 24}]}


@pytest.mark.parametrize("check_mode", [False, True])
def test_an_address_that_another_interface_has_is_refused(folders, check_mode):
    """As that of before has when another name is described."""
    machine = Stacked(("eno1", OF_BEFORE), ("eno2", {}))
    with pytest.raises(RefusedError, match=r"network eno2: addresses\[0\]: found 172\.22\.0\.1/24, which interface "
                                           "eno1 has already.*provisioning_network_name=eno1"):
        run(folders, machine, check_mode, {"name": "eno2", "addresses": ["172.22.0.1/24"]}).present()
    assert names(folders[0]) == [] and not [command for command in machine.asked if command[0] == "networkctl"]


@pytest.mark.parametrize("link", [
    ("eno2", OF_BEFORE), ("eno3", dict(OF_BEFORE, master="prov")), ("prov", dict(
        OF_BEFORE, linkinfo={"info_kind": "bridge"})),
    ("dummy0", {"addr_info": [{"local": "172.22.0.1", "prefixlen": 32}]}),
    ("eno3", {"addr_info": [{"local": "172.22.0.2", "prefixlen": 24}]})])
def test_an_address_of_its_own_ports_and_one_that_is_announced_are_taken(folders, link):
    links = dict([("eno2", {}), link])
    assert run(folders, Stacked(*links.items()), True).present()["changed"]


class Routed(Stacked):
    """Has a default route, too."""

    def __call__(self, command):
        if command == ["ip", "-json", "-4", "route", "show", "default"]:
            return Result(0, json.dumps([{"dst": "default", "gateway": "192.0.2.1", "dev": "eno1"},
                                         {"dst": "default", "gateway": "172.22.0.254", "dev": "prov"}, 5]), "")
        return super().__call__(command)


def test_a_second_default_route_and_narrow_ports_are_warned_of(folders):
    machine = Routed(("eno2", {"mtu": 1500}), ("eno3", {"mtu": 9000}))
    wide = dict(NETWORK, ports=["eno2", "eno3"], gateway="172.22.0.254", mtu=9000)
    mtu, gateway = run(folders, machine, True, wide).present()["warnings"]
    assert mtu == ("network prov: mtu: found 9000, larger than that of eno2 (1500); larger frames are lost there: give "
                   "the ports that MTU, too")
    assert gateway == ("network prov: gateway: 172.22.0.254 is a second default route of the machine beside 192.0.2.1 "
                       "on eno1; which of them is used is up to their metrics: keep one")
    assert run(folders, machine, True, dict(NETWORK, ports=["eno2"])).present()["warnings"] == []


@pytest.mark.parametrize(("is_defined", "expected"), [(True, {"bond0": ""}), (False, {})])
def test_ifupdown_is_asked_which_ports_it_has(folders, monkeypatch, is_defined, expected):
    given = []
    monkeypatch.setattr(service, "files", lambda *arguments: given.append(arguments[2]) or [])

    class Defined(Stacked):
        def __call__(self, command):
            return Result(0 if is_defined else 1, "", "") if command[0] == "ifquery" else super().__call__(command)
    run(folders, Defined(WIDE_BOND), True, CARRIED, system="ifupdown").present()
    assert given == [expected]
