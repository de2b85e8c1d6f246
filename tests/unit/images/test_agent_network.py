# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the deploy agent's ramdisk makes of network data; `make test-metal` shows that it needs no DHCP then."""
from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "lab" / "agent_image" / "root" / "usr" / "local" / "lib" / "agent_network" / "network_data.py"
_SPEC = importlib.util.spec_from_file_location("agent_network_data", SCRIPT)
network_data = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(network_data)

NIC = {"id": "eno1", "type": "phy", "ethernet_mac_address": "00:5C:52:00:00:01"}
OTHER = {"id": "eno2", "type": "phy", "ethernet_mac_address": "00:5c:52:00:00:02"}
STATIC = {"id": "n", "link": "eno1", "type": "ipv4", "ip_address": "192.0.2.5", "netmask": "255.255.255.0"}


def files(links, networks=(), services=()):
    return network_data.files({"links": list(links), "networks": list(networks), "services": list(services)})


def test_a_static_address_with_gateway_route_and_dns_server():
    network = dict(STATIC, gateway="192.0.2.1", services=[{"type": "dns", "address": "192.0.2.2"}], routes=[
        {"network": "198.51.100.0", "netmask": "255.255.255.0", "gateway": "192.0.2.3"}])
    assert files([dict(NIC, mtu=9000)], [network], [{"type": "dns", "address": "2001:db8::53"}]) == {
        "05-eno1.network": (
            "[Match]\nMACAddress=00:5c:52:00:00:01\nKind=!*\n\n[Link]\nMTUBytes=9000\n\n"
            "[Network]\nAddress=192.0.2.5/24\nDNS=192.0.2.2\nDNS=2001:db8::53\nIPv6AcceptRA=no\n"
            "LinkLocalAddressing=no\n\n"
            "[Route]\nGateway=192.0.2.1\n\n[Route]\nDestination=198.51.100.0/24\nGateway=192.0.2.3\n")}


@pytest.mark.parametrize("kind, line", [
    ("ipv4_dhcp", "DHCP=ipv4"), ("ipv6_dhcp", "DHCP=ipv6"), ("ipv6_slaac", "IPv6AcceptRA=yes")])
def test_addresses_by_a_server(kind, line):
    text = files([NIC], [{"id": "n", "link": "eno1", "type": kind}])["05-eno1.network"]
    assert line in text.splitlines()
    assert ("IPv6AcceptRA=no" in text) is ("LinkLocalAddressing=no" in text) is (kind == "ipv4_dhcp")


def test_two_stacks_on_one_link():
    six = {"id": "six", "link": "eno1", "type": "ipv6", "ip_address": "2001:db8::5/64", "gateway": "2001:db8::1"}
    lines = files([NIC], [STATIC, six])["05-eno1.network"].splitlines()
    assert {"Address=192.0.2.5/24", "Address=2001:db8::5/64", "Gateway=2001:db8::1", "IPv6AcceptRA=no"} <= set(lines)
    assert "LinkLocalAddressing=no" not in lines


def test_a_vlan_on_a_bond():
    bond = {"id": "bond0", "type": "bond", "bond_mode": "active-backup", "bond_links": ["eno1", "eno2"],
            "ethernet_mac_address": "00:5c:52:00:00:01"}
    vlan = {"id": "bond0.7", "type": "vlan", "vlan_id": 7, "vlan_link": "bond0",
            "vlan_mac_address": "00:5c:52:00:00:01"}
    made = files([NIC, OTHER, bond, vlan], [dict(STATIC, link="bond0.7")])
    assert made["05-bond0.netdev"] == ("[NetDev]\nName=bond0\nKind=bond\nMACAddress=00:5c:52:00:00:01\n\n"
                                       "[Bond]\nMode=active-backup\nMIIMonitorSec=100ms\n")
    assert made["05-bond0.7.netdev"] == "[NetDev]\nName=bond0.7\nKind=vlan\n\n[VLAN]\nId=7\n"
    assert "Bond=bond0" in made["05-eno1.network"] and "Bond=bond0" in made["05-eno2.network"]
    assert "VLAN=bond0.7" in made["05-bond0.network"] and "Name=bond0\n" in made["05-bond0.network"]
    assert "Address=192.0.2.5/24" in made["05-bond0.7.network"]


@pytest.mark.parametrize("data, text", [
    ([], "found list, expected a mapping"),
    ({"links": [dict(NIC, id="a\n[Network]")]}, "link: id: found"),
    ({"links": [dict(NIC, id="../x")]}, "link: id: found"),
    ({"links": [dict(NIC, id="eno1\n")]}, "link: id: found"),
    ({"links": [dict(NIC, ethernet_mac_address="00:5c")]}, "link eno1: MAC address: found '00:5c'"),
    ({"links": [dict(NIC, type="infiniband")]}, "link eno1: found type 'infiniband'"),
    ({"links": [dict(NIC, mtu="9\n")]}, "link eno1: mtu: found"),
    ({"links": [{"id": "v", "type": "vlan", "vlan_id": 5000, "vlan_link": "v"}]}, "vlan_id: found 5000"),
    ({"links": [{"id": "v", "type": "vlan", "vlan_id": 5, "vlan_link": "eno9"}]}, "vlan_link: found 'eno9'"),
    ({"links": [dict(NIC, type="bond", bond_mode="lacp")]}, "found bond_mode 'lacp'"),
    ({"links": [NIC], "networks": [dict(STATIC, link="eno9")]}, "network n: link: found 'eno9', expected one of eno1"),
    ({"links": [NIC], "networks": [dict(STATIC, type="ipx")]}, "network n: found type 'ipx'"),
    ({"links": [NIC], "networks": [dict(STATIC, ip_address="192.0.2.5\nDNS=1")]}, "network n: found"),
    ({"links": [NIC], "networks": [dict(STATIC, gateway="gw")]}, "network n: found 'gw', expected an IP address"),
    ({"links": [NIC], "services": [{"type": "dns", "address": "x"}]}, "service dns: found 'x'"),
    # To Python the zone of an address may be any text.
    ({"links": [NIC], "services": [{"type": "dns", "address": "fe80::1%a\nDHCP=yes"}]}, "service dns: found"),
    ({"links": [NIC], "networks": [dict(STATIC, type="ipv6", gateway="fe80::1%a\nMetric=1")]}, "network n: found"),
    ({"links": [NIC], "networks": [dict(STATIC, type="ipv6", ip_address="fe80::1%a\nDNS=::1/64")]}, "network n: found"),
    ({"links": [NIC], "networks": [dict(STATIC, type="ipv6", ip_address="fe80::5%a\nDNS=::1", netmask="64")]},
     "network n: found"),
    ({"links": [NIC], "networks": [dict(STATIC, routes=[
        {"network": "fe80::%a\nMetric=1", "netmask": "64", "gateway": "192.0.2.3"}])]}, "network n: found"),
])
def test_what_is_no_network_data_is_refused(data, text):
    """Somebody else's text: nothing of it gets into a file unchecked."""
    with pytest.raises(network_data.NetworkDataError) as raised:
        network_data.files(data)
    assert text in str(raised.value)


def machine(monkeypatch, tmp_path, macs, documents):
    for number, mac in enumerate(macs):
        (tmp_path / "net" / f"eth{number}").mkdir(parents=True)
        (tmp_path / "net" / f"eth{number}" / "address").write_text(mac + "\n")
    for folder in ("built_in", "networkd"):
        (tmp_path / folder).mkdir()
    for number, document in enumerate(documents):
        (tmp_path / "built_in" / f"{number}.json").write_text(json.dumps(document))
    (tmp_path / "networkd" / network_data.DEFAULT).write_text("")
    for name, folder in (("INTERFACES", "net"), ("BUILT_IN", "built_in"), ("FOLDER", "networkd")):
        monkeypatch.setattr(network_data, name, str(tmp_path / folder))
    monkeypatch.setattr(network_data, "medium", lambda: None)
    return tmp_path / "networkd"


DOCUMENTS = [{"links": [dict(link, id=name)], "networks": []} for link, name in ((NIC, "first"), (OTHER, "second"))]


def test_the_ramdisk_s_own_data_for_this_machine_are_used(monkeypatch, tmp_path):
    folder = machine(monkeypatch, tmp_path, ["00:00:00:00:00:00", "00:5c:52:00:00:02"], DOCUMENTS)
    assert network_data.main() == 0
    assert [path.name for path in folder.iterdir()] == ["05-second.network"]


def test_the_file_of_the_module_bonding_is_no_interface(monkeypatch, tmp_path):
    """It is there with kernel_modules: [bonding]; the machine came up by DHCP, or not at all."""
    folder = machine(monkeypatch, tmp_path, ["00:5c:52:00:00:02"], DOCUMENTS)
    (tmp_path / "net" / "bonding_masters").write_text("bond0\n")
    assert network_data.main() == 0
    assert [path.name for path in folder.iterdir()] == ["05-second.network"]


def test_a_machine_that_nobody_describes_uses_dhcp(monkeypatch, tmp_path):
    folder = machine(monkeypatch, tmp_path, ["00:5c:52:00:00:99"], DOCUMENTS)
    assert network_data.main() == 0
    assert [path.name for path in folder.iterdir()] == [network_data.DEFAULT]


GIB = 1024 ** 3


@pytest.mark.parametrize("device, is_medium", [
    ({"path": "/dev/sr0", "type": "rom", "tran": "sata", "size": GIB}, True),
    ({"path": "/dev/sdb", "type": "disk", "tran": "usb", "size": GIB}, True),
    # Left by a system that ran on this machine.
    ({"path": "/dev/sda", "type": "disk", "tran": "sas", "size": GIB}, False),
    ({"path": "/dev/nvme0n1", "type": "disk", "tran": "nvme", "size": GIB}, False),
    ({"path": "/dev/vda", "type": "disk", "tran": None, "size": GIB}, False),
    ({"path": "/dev/sdc", "type": "disk", "tran": "usb", "size": 16 * GIB}, False),
    ({"path": "/dev/sdb1", "type": "part", "tran": "usb", "size": GIB}, False)])
def test_only_what_a_bmc_shows_is_the_boot_medium(monkeypatch, device, is_medium):
    listed = json.dumps({"blockdevices": [dict(device, label="config-2")]})
    monkeypatch.setattr(network_data.subprocess, "run", lambda *args, **kwargs: SimpleNamespace(stdout=listed))
    assert network_data.medium() == (device["path"] if is_medium else None)


def test_data_on_the_boot_medium_come_first(monkeypatch, tmp_path):
    folder = machine(monkeypatch, tmp_path, ["00:5c:52:00:00:02"], DOCUMENTS)
    monkeypatch.setattr(network_data, "on_medium", lambda: ("/dev/sr0", {"links": [dict(OTHER, id="host")]}))
    assert network_data.main() == 0
    assert [path.name for path in folder.iterdir()] == ["05-host.network"]
