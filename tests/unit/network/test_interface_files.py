# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network files: one system is chosen, and each has the same addresses in its own words."""
from __future__ import annotations

import configparser
import re

import pytest
import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._network import interface_files
from ansible_collections.metal3.baremetal.plugins.module_utils._network.interface_files import Found, Made

ADDRESSES = ["172.22.0.1/24", "fd00:22::1/64"]
BRIDGE = {"name": "br-prov", "kind": "bridge", "ports": ["eth1", "eth2"], "mtu": 9000, "addresses": ADDRESSES,
          "gateway": "172.22.0.254"}
VLAN = {"name": "eth1.100", "kind": "vlan", "ports": ["eth1"], "vlan": 100, "addresses": ADDRESSES}
BOND = {"name": "bond0", "kind": "bond", "ports": ["eth1", "eth2"], "bond_mode": "802.3ad", "addresses": ADDRESSES}
PLAIN = {"name": "eth1", "addresses": ADDRESSES}
SYSTEMS = ("netplan", "networkd", "network_manager", "ifupdown")


def written(system, network):
    return {file.path: file.content for file in interface_files.files(system, network)}


@pytest.mark.parametrize(("found", "system"), [
    (Found(networkd=True), "networkd"), (Found(network_manager=True, ifupdown=True), "network_manager"),
    (Found(ifupdown=True), "ifupdown"), (Found(networkd=True, netplan=True), "netplan"),
    (Found(networkd=True, network_manager=True, owners=("network_manager",)), "network_manager"),
    (Found(networkd=True, netplan=True, owners=("networkd",)), "netplan"),
    (Found(networkd=True, netplan=True, ifupdown=True, owners=("ifupdown",)), "ifupdown")])
def test_the_system_that_configures_the_machine_is_chosen(found, system):
    assert interface_files.chosen(found) == (system, "")


@pytest.mark.parametrize(("found", "text"), [
    (Found(), "none of netplan"), (Found(networkd=True, network_manager=True), "neither configures"),
    (Found(networkd=True, network_manager=True, owners=("network_manager", "networkd")),
     "NetworkManager and systemd-networkd, which configure"),
    (Found(networkd=True, netplan=True, owners=("ifupdown", "networkd")), "ifupdown and systemd-networkd")])
def test_none_is_chosen_when_that_would_be_a_guess(found, text):
    system, reason = interface_files.chosen(found)
    assert system == "" and text in reason


def parsed(content):
    # systemd repeats keys: only the sections are of interest here.
    reader = configparser.ConfigParser(strict=False, interpolation=None)
    reader.optionxform = str
    reader.read_string(content)
    return reader


def test_networkd_has_the_device_its_ports_and_its_addresses():
    files = written("networkd", BRIDGE)
    folder = "/etc/systemd/network/60-metal3-br-prov"
    assert sorted(files) == [folder + end for end in (".netdev", ".network", "@eth1.network", "@eth2.network")]
    assert dict(parsed(files[f"{folder}.netdev"])["NetDev"]) == {"Name": "br-prov", "Kind": "bridge"}
    assert parsed(files[f"{folder}@eth1.network"])["Network"]["Bridge"] == "br-prov"
    lines = files[f"{folder}.network"].splitlines()
    assert [line for line in lines if line.startswith(("Address=", "Gateway=", "MTUBytes="))] == [
        "MTUBytes=9000", "Address=172.22.0.1/24", "Address=fd00:22::1/64", "Gateway=172.22.0.254"]
    assert parsed(written("networkd", VLAN)["/etc/systemd/network/60-metal3-eth1.100.netdev"])["VLAN"]["Id"] == "100"
    assert parsed(written("networkd", BOND)["/etc/systemd/network/60-metal3-bond0.netdev"])["Bond"]["Mode"] == "802.3ad"


def test_networkd_adds_a_vlan_to_the_file_that_configures_its_port():
    # A second file for eth1 would replace the first, and with it the addresses by which the machine is reached.
    files = {file.path: file.content for file in interface_files.files(
        "networkd", VLAN, {"eth1": "/run/systemd/network/10-netplan-eth1.network"})}
    assert sorted(files) == [
        "/etc/systemd/network/10-netplan-eth1.network.d/60-metal3-eth1.100.conf",
        "/etc/systemd/network/60-metal3-eth1.100.netdev", "/etc/systemd/network/60-metal3-eth1.100.network"]
    added = parsed(files["/etc/systemd/network/10-netplan-eth1.network.d/60-metal3-eth1.100.conf"])
    assert {name: dict(added[name]) for name in added.sections()} == {"Network": {"VLAN": "eth1.100"}}


def test_network_manager_has_keyfiles_that_only_root_reads():
    files = interface_files.files("network_manager", BRIDGE)
    assert {file.mode for file in files} == {"0600"}
    main = parsed(files[0].content)
    assert files[0].path == "/etc/NetworkManager/system-connections/60-metal3-br-prov.nmconnection"
    assert dict(main["ipv4"]) == {"method": "manual", "address1": "172.22.0.1/24", "gateway": "172.22.0.254"}
    assert dict(main["ipv6"]) == {"method": "manual", "address1": "fd00:22::1/64"}
    port = parsed(files[1].content)["connection"]
    assert (port["master"], port["slave-type"]) == ("br-prov", "bridge")
    only4 = parsed(interface_files.files("network_manager", dict(PLAIN, addresses=ADDRESSES[:1]))[0].content)
    assert only4["ipv6"]["method"] == "disabled"
    vlan = parsed(interface_files.files("network_manager", VLAN)[0].content)["vlan"]
    assert (vlan["id"], vlan["parent"]) == ("100", "eth1")


def test_netplan_is_yaml_that_defines_what_it_names():
    ((path, content),) = written("netplan", BRIDGE).items()
    assert path == "/etc/netplan/60-metal3-br-prov.yaml"
    network = yaml.safe_load(content)["network"]
    assert network["ethernets"] == {"eth1": {}, "eth2": {}}
    bridge = network["bridges"]["br-prov"]
    assert (bridge["interfaces"], bridge["addresses"], bridge["mtu"]) == (["eth1", "eth2"], ADDRESSES, 9000)
    assert bridge["routes"] == [{"to": "default", "via": "172.22.0.254"}]
    vlan = yaml.safe_load(*written("netplan", VLAN).values())["network"]["vlans"]["eth1.100"]
    assert (vlan["id"], vlan["link"]) == (100, "eth1")
    bond = yaml.safe_load(*written("netplan", BOND).values())["network"]["bonds"]["bond0"]
    assert bond["parameters"] == {"mode": "802.3ad", "mii-monitor-interval": 100}


ON_BOND = {"name": "site100", "kind": "vlan", "ports": ["bond0"], "vlan": 100, "addresses": ADDRESSES}
OF_BOND = {"name": "br-prov", "kind": "bridge", "ports": ["bond0", "eth3"], "addresses": ADDRESSES}


MADE = {"bond0": Made("bond"), "bond0.7": Made("vlan", 7, "bond0"), "eth3.8": Made("vlan", 8, "eth3")}


@pytest.mark.parametrize(("network", "expected"), [
    (ON_BOND, {"bonds": {"bond0": {}}, "vlans": {"site100": None}}),
    (OF_BOND, {"bonds": {"bond0": {}}, "ethernets": {"eth3": {}}, "bridges": {"br-prov": None}}),
    (dict(OF_BOND, ports=["bond0.7", "eth3.8"]), {
        "bonds": {"bond0": {}}, "ethernets": {"eth3": {}}, "bridges": {"br-prov": None},
        "vlans": {"bond0.7": {"id": 7, "link": "bond0"}, "eth3.8": {"id": 8, "link": "eth3"}}}),
    (dict(ON_BOND, ports=["bond0.7"]), {
        "bonds": {"bond0": {}}, "vlans": {"bond0.7": {"id": 7, "link": "bond0"}, "site100": None}}),
], ids=["VLAN on a bond", "bridge of a bond", "bridge of VLANs", "VLAN on a VLAN"])
def test_netplan_has_each_port_as_the_device_that_it_is(network, expected):
    file, = interface_files.files("netplan", network, made=MADE)
    found = yaml.safe_load(file.content)["network"]
    assert found.pop("version") == 2
    assert {section: {name: None if name == network["name"] else value for name, value in devices.items()}
            for section, devices in found.items()} == expected


@pytest.mark.parametrize(("network", "line"), [(ON_BOND, "VLAN=site100"), (OF_BOND, "Bridge=br-prov")],
                         ids=["vlan", "bridge"])
def test_networkd_adds_to_the_file_of_a_bond_that_there_is(network, line):
    """Of two files for the bond only the first by its name would count."""
    files = {file.path: file.content for file in interface_files.files(
        "networkd", network, {"bond0": "/etc/systemd/network/60-metal3-bond0.network", "eth3": "/run/x.network"},
        MADE)}
    assert line in files[f"/etc/systemd/network/60-metal3-bond0.network.d/60-metal3-{network['name']}.conf"]
    assert not [path for path in files if "@bond0" in path]
    assert [path for path in files if "@eth3" in path] == [
        f"/etc/systemd/network/60-metal3-{network['name']}@eth3.network"] * ("eth3" in network["ports"])


def test_networkd_has_one_file_for_a_card_that_only_vlans_need():
    """As it stands when the card has it already, and when an earlier release gave the card to one of the VLANs."""
    shared = "/etc/systemd/network/60-metal3-@eth1.network"
    first = interface_files.files("networkd", VLAN)
    files = {file.path: file.content for file in first}
    assert sorted(files) == [
        shared, f"{shared}.d/60-metal3-eth1.100.conf", "/etc/systemd/network/60-metal3-eth1.100.netdev",
        "/etc/systemd/network/60-metal3-eth1.100.network"]
    assert parsed(files[shared])["Match"]["Name"] == "eth1" and "VLAN=" not in files[shared]
    for configured_by in (shared, "/etc/systemd/network/60-metal3-eth1.100@eth1.network"):
        assert interface_files.files("networkd", VLAN, {"eth1": configured_by}) == first


def test_networkd_adds_to_the_file_of_a_card_that_vlans_have_made():
    """It comes before each file of the card's own, which systemd-networkd would not read."""
    shared = "/etc/systemd/network/60-metal3-@eth1.network"
    plain = {file.path: file.content
             for file in interface_files.files("networkd", dict(PLAIN, mtu=9000), {"eth1": shared})}
    assert list(plain) == [f"{shared}.d/60-metal3-eth1.conf"]
    text = plain[f"{shared}.d/60-metal3-eth1.conf"]
    assert "[Match]" not in text and "MTUBytes=9000\n" in text and all(f"Address={own}\n" in text for own in ADDRESSES)
    # The file of the VLANs says no.
    assert "LinkLocalAddressing=ipv6\n" in text
    bridge = {file.path: file.content for file in interface_files.files("networkd", BRIDGE, {"eth1": shared})}
    assert "Bridge=br-prov\n" in bridge[f"{shared}.d/60-metal3-br-prov.conf"]
    assert "/etc/systemd/network/60-metal3-br-prov@eth1.network" not in bridge
    assert "/etc/systemd/network/60-metal3-br-prov@eth2.network" in bridge


def test_networkd_keeps_the_file_by_which_a_bridge_has_a_bond_of_somebody_else():
    first = interface_files.files("networkd", OF_BOND, {}, MADE)
    again = {"bond0": "/etc/systemd/network/60-metal3-br-prov@bond0.network"}
    assert again["bond0"] in [file.path for file in first]
    assert interface_files.files("networkd", OF_BOND, again, MADE) == first


def port_of(port, made):
    """Return NetworkManager's connection of a port of the bridge br-prov, by section."""
    files = interface_files.files("network_manager", dict(OF_BOND, ports=[port]), made=made)
    content = next(file.content for file in files if f"@{port}." in file.path)
    return {name: dict(section) for name, section in parsed(content).items() if name != "DEFAULT"}


def test_network_manager_has_each_port_as_the_device_that_it_is():
    """A connection of type ethernet is not activated on a bond or VLAN."""
    bond = port_of("bond0", {"bond0": Made("bond", mode="802.3ad")})
    assert bond["connection"].pop("uuid")
    assert bond == {
        "connection": {"id": "metal3-br-prov-bond0", "type": "bond", "interface-name": "bond0", "master": "br-prov",
                       "slave-type": "bridge", "autoconnect-priority": "1", "autoconnect-slaves": "1"},
        "bond": {"mode": "802.3ad", "miimon": "100"}}
    vlan = port_of("eth3.8", MADE)
    assert (vlan["connection"]["type"], vlan["connection"]["master"]) == ("vlan", "br-prov")
    assert "autoconnect-slaves" not in vlan["connection"]
    assert vlan["vlan"] == {"id": "8", "parent": "eth3", "interface-name": "eth3.8"}
    assert port_of("bond0", {"bond0": Made("bond")})["bond"]["mode"] == "active-backup"
    card = port_of("eth3", MADE)
    assert card["connection"]["type"] == "ethernet" and list(card) == ["connection"]
    assert "autoconnect-priority" not in card["connection"]


@pytest.mark.parametrize(("network", "made", "brings"), [
    (OF_BOND, MADE, True), (dict(OF_BOND, ports=["eth3.8"]), MADE, True),
    (dict(BOND, ports=["eth3.8"]), MADE, True),
    # Cards have the one connection.
    (BRIDGE, MADE, False), (BOND, MADE, False), (ON_BOND, MADE, False)])
def test_network_manager_brings_ports_that_have_a_connection_of_their_own(network, made, brings):
    """A bond whose bridge is not ready when NetworkManager starts is activated without it, and was never moved."""
    files = {file.path: file.content for file in interface_files.files("network_manager", network, made=made)}
    main = files[f"/etc/NetworkManager/system-connections/60-metal3-{network['name']}.nmconnection"]
    assert parsed(main)["connection"].get("autoconnect-slaves") == ("1" if brings else None)


BARE_VLAN, BARE_BOND = dict(VLAN, addresses=[]), dict(BOND, addresses=[])


@pytest.mark.parametrize(("system", "network", "wanted"), [
    ("networkd", BARE_VLAN, ["LinkLocalAddressing=no"]), ("networkd", BARE_BOND, ["LinkLocalAddressing=no"]),
    ("network_manager", BARE_VLAN, ["[ipv4]\nmethod=disabled", "[ipv6]\nmethod=disabled", "id=100"]),
    ("network_manager", BARE_BOND, ["[ipv4]\nmethod=disabled", "[ipv6]\nmethod=disabled", "mode=802.3ad"]),
    ("ifupdown", BARE_VLAN, ["auto eth1.100\niface eth1.100 inet manual\n    vlan-raw-device eth1\n    vlan-id 100\n"]),
    ("ifupdown", BARE_BOND, ["auto bond0\niface bond0 inet manual\n    bond-slaves eth1 eth2\n"])])
def test_what_is_there_for_others_has_no_address(system, network, wanted):
    content = "\n".join(written(system, network).values())
    assert [text for text in wanted if text not in content] == []
    assert "ddress" not in content.replace("LinkLocalAddressing", "")


@pytest.mark.parametrize(("network", "section"), [(BARE_VLAN, "vlans"), (BARE_BOND, "bonds")])
def test_netplan_has_no_address_of_what_is_there_for_others(network, section):
    """An empty list would be null to YAML, which netplan refuses."""
    device = yaml.safe_load(*written("netplan", network).values())["network"][section][network["name"]]
    assert "addresses" not in device and device["link-local"] == []


@pytest.mark.parametrize(("system", "line"), [
    ("networkd", "MIIMonitorSec=100ms"), ("network_manager", "miimon=100"), ("netplan", "mii-monitor-interval: 100"),
    ("ifupdown", "bond-miimon 100")])
def test_a_bond_sees_that_a_port_has_lost_its_carrier(system, line):
    assert line in "\n".join(written(system, BOND).values())


@pytest.mark.parametrize(("system", "parts"), [
    ("networkd", ["Kind=vlan", "Id=100", "Name=bond0", "VLAN=site100", "MTUBytes=1400"]),
    ("network_manager", ["type=vlan", "id=100", "parent=bond0", "mtu=1400"]),
    ("netplan", ['"bond0": {}', "id: 100", 'link: "bond0"', "mtu: 1400"]),
    ("ifupdown", ["vlan-raw-device bond0", "vlan-id 100", "mtu 1400"])])
def test_a_vlan_on_a_bond_by_each_system(system, parts):
    text = "\n".join(file.content for file in interface_files.files(system, dict(ON_BOND, mtu=1400), made=MADE))
    assert [part for part in parts if part not in text] == []


def test_ifupdown_brings_up_what_carries_a_vlan_before_it():
    """At boot it reads the files by their names."""
    for name, is_first in (("a100", True), ("site100", False)):
        file, = interface_files.files("ifupdown", dict(ON_BOND, name=name), {"bond0": ""}, MADE)
        assert file.content.startswith(f"{interface_files.HEADER}\nauto {'bond0' if is_first else name}\n")
        assert ("auto bond0" in file.content) is is_first and file.content.count("iface bond0") == 0
    file, = interface_files.files("ifupdown", dict(ON_BOND, name="a100"), {}, MADE)
    assert "auto bond0" not in file.content


def test_ifupdown_makes_the_device_once_and_names_its_file_so_that_it_is_read():
    ((path, content),) = written("ifupdown", VLAN).items()
    assert path == "/etc/network/interfaces.d/60-metal3-eth1_2e100"
    assert content.count("vlan-raw-device eth1") == 1
    assert [line for line in content.splitlines() if line.startswith(("auto", "iface"))] == [
        "auto eth1.100", "iface eth1.100 inet static", "iface eth1.100 inet6 static"]
    bridge = written("ifupdown", BRIDGE)["/etc/network/interfaces.d/60-metal3-br-prov"]
    assert "    bridge_ports eth1 eth2\n" in bridge and bridge.count("gateway 172.22.0.254") == 1


def test_each_interface_has_a_file_of_its_own_that_ifupdown_reads():
    names = ("a.b", "a_b", "a..b", "a__b", "a_2eb", "a-b", "a.-b", "ab", "A.b")
    paths = [written("ifupdown", dict(PLAIN, name=name)).popitem()[0] for name in names]
    assert len(set(paths)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", path.rpartition("/")[2]) for path in paths)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("network", [BRIDGE, VLAN, BOND, PLAIN], ids=lambda network: network["name"])
def test_every_system_has_all_addresses_and_writes_the_same_again(system, network):
    content = "\n".join(written(system, network).values())
    assert all(address in content for address in network["addresses"])
    assert written(system, network) == written(system, dict(network))


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("network", [BRIDGE, VLAN, BOND, PLAIN, ON_BOND, OF_BOND], ids=lambda network: network["name"])
def test_the_files_say_what_they_make(system, network):
    contents = {file.path: file.content for file in interface_files.files(
        system, network, {"bond0": "/run/systemd/network/10-bond0.network"} if system == "networkd" else {}, MADE)}
    assert interface_files.kind_in(contents, network["name"]) == network.get("kind", "ethernet")
    if system == "ifupdown":
        assert interface_files.ifupdown_addresses(contents.values()) == ADDRESSES
