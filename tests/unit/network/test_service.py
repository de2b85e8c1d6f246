# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of an interface on a machine in memory: what fails, or nobody confirms, is taken back.

The real one is tests/lab/test_provisioning_network.py.
"""
from __future__ import annotations

import json
import time

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._network import interface_files, pending, service
from ansible_collections.metal3.baremetal.plugins.module_utils._network.service import NetworkError, NetworkService
from ansible_collections.metal3.baremetal.plugins.module_utils._network.systems import Result

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
    monkeypatch.setattr(service, "_INTERFACES", str(tmp_path / "interfaces.d"))
    monkeypatch.setattr(service, "_FOLDERS", (str(place),))
    for interface in ("eth0_5", "eth0"):
        (place / f"60-metal3-{interface}{ending}").touch()
    found = NetworkService(dict(NETWORK, name="eth0.5"), OPTIONS, False, Quiet(), None, str(tmp_path))._own_files()
    assert found == []


@pytest.mark.parametrize(("owner", "other"), [("eth0.5", "eth0_5"), ("eth0_5", "eth0.5")])
def test_the_file_of_an_earlier_release_goes_with_the_interface_that_it_is_of(tmp_path, monkeypatch, owner, other):
    """It had "_" for a dot, so that its name does not say whose it is."""
    monkeypatch.setattr(service, "_INTERFACES", str(tmp_path))
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


def test_a_confirmed_change_stays(folders):
    machine = Machine(folders[0])
    run(folders, machine, rollback_seconds=2).present()
    assert run(folders, machine).confirm()["changed"]
    # Longer than the machine waits.
    time.sleep(3)
    assert len(names(folders[0])) == 3 and not run(folders, machine).confirm()["changed"]


def test_the_next_run_takes_back_what_was_left_before_the_machine_was_started_again(folders, monkeypatch):
    machine = Machine(folders[0])
    pending.begin("prov", {"system": "networkd", "files": pending.snapshot([str(folders[0] / "60-metal3-prov.netdev")]),
                           "seconds": 60, "network": NETWORK, "made": True, "machine": "an earlier start"}, folders[1])
    (folders[0] / "60-metal3-prov.netdev").write_text("half a change")
    assert run(folders, machine).present()["changed"]
    assert "half a change" not in (folders[0] / "60-metal3-prov.netdev").read_text()
    assert ["networkctl", "reload"] in machine.asked and pending.read("prov", folders[1]) is None


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


def test_a_device_without_one_of_its_ports_is_made_again(folders):
    machine = Machine(folders[0])
    run(folders, machine).present()
    machine.asked.clear()
    run(folders, machine, network=dict(NETWORK, ports=[])).present()
    assert ["ip", "link", "delete", "prov"] in machine.asked and machine.bridge
    assert names(folders[0]) == ["60-metal3-prov.netdev", "60-metal3-prov.network"]
