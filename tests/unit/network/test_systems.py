# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What programs are asked, and what their answers mean; real ones answer in tests/lab/test_network_systems.py."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._network import systems
from ansible_collections.metal3.baremetal.plugins.module_utils._network.systems import Result

BRIDGE = {"name": "prov", "kind": "bridge", "ports": ["eno2"], "addresses": ["172.22.0.1/24"]}
CARD = {"name": "eno2", "addresses": ["172.22.0.1/24"]}


class Programs:
    """Programs that answer by the longest beginning of their command line; others succeed without a word."""

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def __call__(self, command):
        self.asked.append(" ".join(command))
        for begin in sorted(self.answers, key=len, reverse=True):
            if self.asked[-1].startswith(begin):
                return self.answers[begin]
        return Result(0, "", "")


def found(monkeypatch, answers, programs=("ifup",)):
    monkeypatch.setattr(systems.shutil, "which", lambda name: name if name in programs else None)
    monkeypatch.setattr(systems.os.path, "exists", lambda path: True)
    return systems.find([{"ifname": "eno2", "ifindex": 2}], ["prov", "eno2"], Programs(answers))


@pytest.mark.parametrize(("answers", "owners"), [
    ({"nmcli": Result(0, "100 (connected)\n", "")}, ("network_manager",)),
    ({"nmcli": Result(0, "100 (connected (externally))\n", "")}, ()),
    ({"nmcli": Result(0, "70 (connecting (getting IP configuration))\n", "")}, ()),
    ({"ifquery --state eno2": Result(0, "eno2=eno2\n", "")}, ("ifupdown",)),
    ({"ifquery --state eno2": Result(0, "eno2=eno2\n", ""), "nmcli": Result(0, "100 (connected)\n", "")},
     ("ifupdown", "network_manager"))])
def test_owners_are_those_that_configure_an_interface_themselves(monkeypatch, answers, owners):
    assert found(monkeypatch, answers).owners == owners


def test_a_device_that_its_system_deletes_at_this_moment_is_gone():
    programs = Programs({"ip link": Result(1, "", 'Cannot find device "prov"')})
    systems.remove_device(BRIDGE, programs)
    assert programs.asked == ["ip link delete prov", "ip link show prov"]


def test_a_device_that_stays_is_an_error():
    with pytest.raises(systems.NetworkSystemError, match="ip link delete prov failed with code 2: not permitted"):
        systems.remove_device(BRIDGE, Programs({"ip link delete": Result(2, "", "not permitted")}))


@pytest.fixture
def known(tmp_path, monkeypatch):
    """The file that systemd-networkd has for the bridge, whose number in the kernel is 7."""
    (tmp_path / "kernel" / "prov").mkdir(parents=True)
    (tmp_path / "kernel" / "prov" / "ifindex").write_text("7\n")
    (tmp_path / "7").write_text("ADMIN_STATE=configured\n")
    monkeypatch.setattr(systems, "_KERNEL_LINKS", str(tmp_path / "kernel"))
    monkeypatch.setattr(systems, "_NETWORKD_LINKS", str(tmp_path))
    return tmp_path / "7"


def test_networkd_has_noticed_that_a_device_is_gone_before_it_is_asked_for_another(known):
    naps = []

    def sleep(seconds):
        naps.append(seconds)
        if len(naps) == 3:
            known.unlink()

    programs = Programs({})
    systems.remove_device(BRIDGE, programs, sleep)
    assert programs.asked == ["ip link delete prov"] and naps == [systems.POLL_SECONDS] * 3


def test_a_networkd_that_never_notices_is_an_error(known, monkeypatch):
    monkeypatch.setattr(systems, "PROGRAM_SECONDS", 0)
    with pytest.raises(systems.NetworkSystemError, match="systemd-networkd still has prov, 0 s after it was deleted"):
        systems.remove_device(BRIDGE, Programs({}), lambda seconds: None)


def test_networkd_forgets_the_number_of_a_vlan_only_when_it_is_started_again():
    vlan = {"name": "site100", "kind": "vlan", "ports": ["bond0"], "vlan": 101}
    restart = "systemctl restart systemd-networkd.service"
    programs = Programs({})
    systems.apply("networkd", vlan, programs, ["bond0"])
    systems.withdraw("networkd", vlan, programs)
    assert programs.asked == [restart, restart, "ip link delete site100"]
    programs = Programs({})
    systems.apply("networkd", vlan, programs)
    assert programs.asked == ["networkctl reload"]


def test_network_manager_brings_ports_after_the_bridge_which_would_let_go_of_them():
    programs = Programs({})
    systems.apply("network_manager", BRIDGE, programs)
    assert [command.rpartition(" ")[2] for command in programs.asked] == ["reload", "metal3-prov", "metal3-prov-eno2"]


def test_network_manager_brings_the_ports_of_a_bond_after_the_bond():
    """It is activated again as a port, and as itself when the bridge is gone."""
    network, programs = dict(BRIDGE, ports=["bond0", "eno2.7"]), Programs({})
    systems.apply("network_manager", network, programs, inner={"bond0": ["eno3", "eno4"], "eno2.7": []})
    assert [command.rpartition(" ")[2] for command in programs.asked] == [
        "reload", "metal3-prov", "metal3-prov-bond0", "metal3-prov-eno2.7", "metal3-bond0-eno3", "metal3-bond0-eno4"]
    programs = Programs({})
    systems.withdraw("network_manager", network, programs, {"bond0": ["eno3"], "eno2.7": []})
    assert programs.asked == ["nmcli connection reload", "ip link delete prov", *(
        f"nmcli --wait 60 connection up metal3-{name}" for name in ("bond0", "bond0-eno3", "eno2.7"))]
    programs = Programs({})
    systems.withdraw("networkd", network, programs, {"bond0": ["eno3"]})
    assert programs.asked == ["networkctl reload", "ip link delete prov"]


@pytest.mark.parametrize("network", [BRIDGE, CARD])
def test_ifupdown_is_forced_as_its_record_of_what_is_up_may_be_old(network):
    programs = Programs({})
    systems.apply("ifupdown", network, programs)
    assert programs.asked == [f"ifdown --force {network['name']}", f"ifup --force {network['name']}"]


def test_ifupdown_forgets_what_no_file_has_and_keeps_up_what_another_file_has():
    programs = Programs({"ifquery": Result(1, "", "unknown interface")})
    systems.withdraw("ifupdown", BRIDGE, programs)
    assert "ifdown --force prov" in programs.asked
    programs = Programs({})
    systems.withdraw("ifupdown", CARD, programs)
    assert programs.asked == ["ifquery eno2", "ip address delete 172.22.0.1/24 dev eno2"]
