# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others' files of ifupdown define: a second stanza for an interface would be merged with the collection's."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._network import ifupdown_text, service, systems
from ansible_collections.metal3.baremetal.plugins.module_utils._network.service import NetworkService

TEXT = """\
# iface eno9 inet dhcp
source /etc/network/interfaces.d/*
  source-directory more
auto lo eno2
iface lo inet loopback
allow-hotplug eno2
iface eno2 inet \\
    static
    address 192.0.2.1/24
iface eno3 inet manual
# nothing else

iface eno4 inet manual
    mtu 9000
mapping eno5
    script /bin/true
iface eno6 inherits eno2
iface
"""


def test_stanzas_and_other_files_are_read_as_ifupdown_reads_them():
    found = ifupdown_text.read(TEXT)
    assert [tuple(stanza) for stanza in found.stanzas] == [
        ("lo", "loopback", ()), ("eno2", "static", ("address",)), ("eno3", "manual", ()), ("eno4", "manual", ("mtu",)),
        ("eno6", "eno2", ())]
    assert found.sources == ["/etc/network/interfaces.d/*"] and found.folders == ["more"]


@pytest.fixture
def interfaces(tmp_path, monkeypatch):
    """Return a function that writes a file of ifupdown; the first one is read by the system itself."""
    monkeypatch.setattr(systems, "_INTERFACES", str(tmp_path / "interfaces"))

    def write(name, text):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    write("interfaces", "source interfaces.d/*\nsource-directory more\nsource nothing-there\n")
    return write


def test_each_file_that_ifupdown_reads_is_looked_at_but_for_the_collections(interfaces, tmp_path):
    interfaces("interfaces.d/eno2", "iface eno2 inet dhcp\niface eno2 inet6 auto\nsource ../interfaces\n")
    interfaces("interfaces.d/60-metal3-eno2", "iface eno2 inet static\n    address 172.22.0.1/24\n")
    interfaces("more/bonds", "iface bond0 inet manual\n    bond-slaves eno3\n")
    interfaces("more/read.not", "iface eno4 inet dhcp\n")
    interfaces("more/bare", "iface eno5 inet manual\n")
    folder = str(tmp_path)
    assert systems.ifupdown_definitions("bond0", ["eno2", "eno4", "eno5"]) == {
        "eno2": f"{folder}/interfaces.d/eno2", "bond0": f"{folder}/more/bonds"}


class Quiet:
    """A Progress that nobody reads."""

    def event(self, text):
        """Take a line."""


def machine(command):
    if command[0] == "ip" and "show" in command:
        return systems.Result(0, '[{"ifname": "eno2", "ifindex": 2, "flags": ["UP"], "addr_info": []}]', "")
    return systems.Result(0, "", "")


@pytest.mark.parametrize(("network", "defined", "field"), [
    ({"name": "eno2"}, "eno2 inet dhcp", "name"), ({"name": "eno2"}, "eno2 inet manual", ""),
    ({"name": "eno2"}, "eno3 inet dhcp", ""),
    # Neither gives it addresses nor makes it.
    ({"name": "eno2"}, "eno2 inet manual\n    mtu 9000\n    up ip link set eno2 txqueuelen 5000", ""),
    ({"name": "eno2"}, "eno2 inet manual\n    bond-master bond0", "name"),
    ({"name": "prov", "kind": "bridge", "ports": ["eno2"]}, "eno2 inet manual\n    mtu 9000", ""),
    ({"name": "prov", "kind": "bridge", "ports": ["eno2"]}, "eno2 inet manual\n    bond_master bond0", "ports[0]"),
    # Which makes a port that is no card: without it there would be none.
    ({"name": "prov", "kind": "bridge", "ports": ["eno2"]}, "eno2 inet manual\n    bond-slaves eno3 eno4", ""),
    ({"name": "prov", "kind": "bridge", "ports": ["eno2"]}, "eno2 inet dhcp", "ports[0]"),
    ({"name": "prov", "kind": "bridge", "ports": ["eno2"]}, "prov inet static\n    bridge_ports eno3", "name"),
    # A card below a VLAN may have addresses of its own: there is no stanza for it.
    ({"name": "eno2.5", "kind": "vlan", "vlan": 5, "ports": ["eno2"]}, "eno2 inet dhcp", "")])
def test_an_interface_that_others_define_is_refused_before_anything_is_changed(
        interfaces, tmp_path, monkeypatch, network, defined, field):
    interfaces("interfaces.d/site", f"iface {defined}\n")
    monkeypatch.setattr(service, "_FOLDERS", ())
    run = NetworkService(dict(network, addresses=["172.22.0.1/24"]), {
        "system": "ifupdown", "rollback_seconds": 0, "wait_timeout_seconds": 1, "confirm": None}, True, Quiet(),
        machine, str(tmp_path / "pending"))
    if not field:
        assert run.present()["changed"]
        return
    with pytest.raises(RefusedError) as caught:
        run.present()
    (problem,) = caught.value.problems
    assert problem.field == field
    assert problem.actual == f"{defined.split()[0]}, which {tmp_path}/interfaces.d/site defines"
