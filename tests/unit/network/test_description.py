# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A description of a provisioning network: all mistakes at once, and none in what is right."""
from __future__ import annotations

import pytest
from fakes.options import with_value

from ansible_collections.metal3.baremetal.plugins.module_utils._network import description, lending

GOOD = {
    "name": "br-prov", "kind": "bridge", "ports": ["eth1"], "mtu": 1500,
    "addresses": ["172.22.0.1/24", "fd00:22::1/64"],
    "gateway": "172.22.0.254",
    "dhcp": {
        "ranges": [{"first": "172.22.0.10", "last": "172.22.0.99"}, {"first": "fd00:22::10", "last": "fd00:22::99"},
                   {"first": "10.9.0.10", "last": "10.9.0.20", "network": "10.9.0.0/24", "router": "10.9.0.1"}],
        "hosts": [{"name": "rack1-01", "mac": "00:5c:52:31:3a:01", "addresses": ["172.22.0.11", "fd00:22::11"]},
                  {"name": "rack1-02", "mac": "00:5c:52:31:3a:02", "addresses": []}],
        "dns_servers": ["172.22.0.253"], "ntp_servers": ["172.22.0.1"], "lease_seconds": 600,
        "tftp_root": "/var/lib/metal3/tftp", "loaders": {"x86_64": "shim/shimx64.efi"},
        "ipxe_script_url": "http://172.22.0.1:6180/boot.ipxe"}}


def changed(path, value):
    return with_value(GOOD, path, value)


def test_a_right_description_has_no_problem():
    assert description.problems(GOOD) == []


CASES = {
    "an interface's name with a slash": (("name",), "a/b", "name"),
    "an interface's name with a line break": (("name",), "br\nport=53", "name"),
    "an interface's name that is too long": (("name",), "a" * 16, "name"),
    "a bridge that is its own port": (("ports",), ["br-prov"], "ports[0]"),
    "a VLAN of a bridge": (("vlan",), 5, "vlan"),
    "a bond's mode of a bridge": (("bond_mode",), "802.3ad", "bond_mode"),
    "a small MTU": (("mtu",), 576, "mtu"),
    "an address without its network": (("addresses", 0), "172.22.0.1", "addresses[0]"),
    "the address of the network": (("addresses", 0), "172.22.0.0/24", "addresses[0]"),
    "a gateway elsewhere": (("gateway",), "10.0.0.1", "gateway"),
    "a range elsewhere": (("dhcp", "ranges", 0, "first"), "10.0.0.1", "dhcp.ranges[0].first"),
    "a range backwards": (("dhcp", "ranges", 0, "last"), "172.22.0.2", "dhcp.ranges[0].last"),
    "a range with the machine's address": (("dhcp", "ranges", 0, "first"), "172.22.0.1", "dhcp.ranges[0]"),
    "a range with the gateway": (("gateway",), "172.22.0.50", "dhcp.ranges[0]"),
    "a range of IPv6 with the gateway": (("gateway",), "fd00:22::50", "dhcp.ranges[1]"),
    "a range with its router": (("dhcp", "ranges", 2, "router"), "10.9.0.15", "dhcp.ranges[2]"),
    "a range with another one's router": (("dhcp", "ranges", 0), {
        "first": "172.22.0.10", "last": "172.22.0.99", "router": "172.22.0.60"}, "dhcp.ranges[0]"),
    "a range with a name server": (("dhcp", "dns_servers"), ["172.22.0.253", "172.22.0.99"], "dhcp.ranges[0]"),
    "a range of IPv6 with a name server": (("dhcp", "dns_servers"), ["fd00:22::53"], "dhcp.ranges[1]"),
    "a range with a time server": (("dhcp", "ntp_servers"), ["10.9.0.10"], "dhcp.ranges[2]"),
    "a host's address that is the gateway's": (("dhcp", "hosts", 1, "addresses"), ["172.22.0.254"],
                                               "dhcp.hosts[1].addresses[0]"),
    "a host's address that is a router's": (("dhcp", "hosts", 1, "addresses"), ["10.9.0.1"],
                                            "dhcp.hosts[1].addresses[0]"),
    "a relayed range out of its network": (("dhcp", "ranges", 2, "last"), "10.9.1.1", "dhcp.ranges[2]"),
    "a router out of the relayed network": (("dhcp", "ranges", 2, "router"), "10.8.0.1", "dhcp.ranges[2].router"),
    "a MAC address of a group": (("dhcp", "hosts", 0, "mac"), "01:5c:52:31:3a:01", "dhcp.hosts[0].mac"),
    "a host without a MAC address": (("dhcp", "hosts", 0, "mac"), None, "dhcp.hosts[0].mac"),
    "a MAC address twice": (("dhcp", "hosts", 1, "mac"), "00:5C:52:31:3A:01", "dhcp.hosts[1].mac"),
    "a host's address elsewhere": (("dhcp", "hosts", 0, "addresses"), ["10.7.0.1"], "dhcp.hosts[0].addresses[0]"),
    "an address twice": (("dhcp", "hosts", 1, "addresses"), ["172.22.0.11"], "dhcp.hosts[1].addresses[0]"),
    "a host's name with a comma": (("dhcp", "hosts", 0, "name"), "a,ignore", "dhcp.hosts[0].name"),
    "no hosts, and unknown ones ignored": (("dhcp", "hosts"), [], "dhcp.hosts"),
    "a name server by name": (("dhcp", "dns_servers"), ["ns.example"], "dhcp.dns_servers[0]"),
    "a zone with a line break in an address": (("addresses", 1), "fd00:22::1%x\nport=53/64", "addresses[1]"),
    "a zone with a line break in a gateway": (("gateway",), "fd00:22::5%x\nBridge=br0", "gateway"),
    "a zone with a line break in a router": (("dhcp", "ranges", 2, "router"), "fd00:22::5%x\ndhcp-script=/a",
                                             "dhcp.ranges[2].router"),
    "a zone with a line break in a name server": (("dhcp", "dns_servers"), ["fd00:22::53%x\nenable-tftp"],
                                                  "dhcp.dns_servers[0]"),
    "a wide network of IPv6 behind a relay": (("dhcp", "ranges", 2), {
        "first": "fd00:9::10", "last": "fd00:9::20", "network": "fd00:9::/48"}, "dhcp.ranges[2]"),
    "a wide network of IPv6": (("addresses", 1), "fd00:22::1/56", "dhcp.ranges[1]"),
    "a short lease": (("dhcp", "lease_seconds"), 10, "dhcp.lease_seconds"),
    "a loader above the root": (("dhcp", "loaders"), {"bios": "../shadow"}, "dhcp.loaders.bios"),
    "a script by TFTP": (("dhcp", "ipxe_script_url"), "tftp://172.22.0.1/a", "dhcp.ipxe_script_url"),
    "a root with a step upwards": (("dhcp", "tftp_root"), "/var/lib/../tftp", "dhcp.tftp_root"),
    "a root with a line break": (("dhcp", "tftp_root"), "/var/lib\nport=53", "dhcp.tftp_root"),
    "loaders and no folder": (("dhcp", "tftp_root"), None, "dhcp.tftp_root"),
}


@pytest.mark.parametrize("case", CASES)
def test_one_mistake_is_one_problem_of_its_field(case):
    path, value, field = CASES[case]
    assert [problem.field for problem in description.problems(changed(path, value))] == [field]


VLAN = {"name": "eth1.100", "kind": "vlan", "ports": ["eth1"], "vlan": 100, "addresses": []}
BOND = {"name": "bond0", "kind": "bond", "ports": ["eth1"], "addresses": []}


@pytest.mark.parametrize("network", [VLAN, BOND, {**VLAN, "addresses": None}])
def test_what_may_be_there_for_others_needs_no_address(network):
    assert description.problems(network) == []


@pytest.mark.parametrize(("network", "hint"), [
    ({**VLAN, "dhcp": GOOD["dhcp"]}, "set it, or remove gateway and dhcp from a vlan that needs none"),
    ({**BOND, "gateway": "172.22.0.254"}, "set it, or remove gateway and dhcp from a bond that needs none"),
    ({"name": "br-prov", "kind": "bridge", "addresses": []}, "set it"), ({"name": "eth1", "addresses": []}, "set it")])
def test_what_is_used_itself_needs_an_address(network, hint):
    found, *_more = description.problems(network)
    assert (found.field, found.actual, found.hint) == ("addresses", None, hint)


def test_the_root_may_be_below_a_hidden_folder():
    """As that of the lab's virtual servers is: ``~/.local/state``."""
    assert description.problems(changed(("dhcp", "tftp_root"), "/root/.local/state/..lab/tftp")) == []


def test_all_mistakes_are_reported_at_once():
    network = changed(("dhcp", "lease_seconds"), 1)
    network.update(kind="vlan", ports=["eth0", "eth1"], gateway="no address")
    assert [problem.field for problem in description.problems(network)] == [
        "ports", "vlan", "gateway", "dhcp.lease_seconds"]


def test_overlapping_networks_and_ranges_are_refused():
    network = changed(("addresses",), ["172.22.0.1/24", "172.22.0.2/16", "fd00:22::1/64"])
    assert [problem.field for problem in description.problems(network)] == ["addresses[1]"]
    ranges = [{"first": "172.22.0.10", "last": "172.22.0.20"}, {"first": "172.22.0.20", "last": "172.22.0.30"},
              {"first": "fd00:22::10", "last": "fd00:22::99"}]
    found = description.problems(changed(("dhcp", "ranges"), ranges))
    assert [(problem.field, problem.expected) for problem in found] == [
        ("dhcp.ranges[1]", "a range that does not overlap 172.22.0.10 to 172.22.0.20")]


def test_what_others_have_is_refused_for_each_range_with_its_name_and_whose_it_is():
    network = changed(("gateway",), "172.22.0.50")
    network["dhcp"]["dns_servers"] = ["172.22.0.50", "172.22.0.60", "fd00:22::99"]
    assert [(problem.field, problem.actual, problem.expected) for problem in description.problems(network)] == [
        ("dhcp.ranges[0]", '"172.22.0.10 to 172.22.0.99"', "a range without 172.22.0.50, the gateway's address"),
        ("dhcp.ranges[0]", '"172.22.0.10 to 172.22.0.99"',
         "a range without 172.22.0.60, the address of dns_servers[1]"),
        ("dhcp.ranges[1]", '"fd00:22::10 to fd00:22::99"',
         "a range without fd00:22::99, the address of dns_servers[2]")]


def test_a_server_of_the_network_may_serve_names_at_the_address_that_is_kept_for_it():
    """dnsmasq lends nobody else an address of a range that it keeps."""
    assert description.problems(changed(("dhcp", "dns_servers"), ["172.22.0.11", "172.22.0.1"])) == []


TAKEN = [{"owner": "machine second", "address": "172.22.0.12/24"}, {"owner": "Ironic", "address": "fd00:22:0::11"},
         {"owner": "machine first", "address": "172.22.0.1/24"}, {"owner": "elsewhere", "address": "172.23.0.12"},
         {"owner": "odd", "address": "no address"}]


def test_what_machines_of_the_plane_have_is_lent_to_nobody_and_kept_for_nobody():
    assert [(problem.field, problem.actual, problem.expected) for problem in lending.problems(GOOD, TAKEN)] == [
        ("dhcp.ranges[0]", '"172.22.0.10 to 172.22.0.99"',
         "a range without 172.22.0.12, the address of machine second"),
        ("dhcp.hosts[0].addresses[1]", '"fd00:22::11"', "an address that is not the address of Ironic"),
        ("dhcp.ranges[1]", '"fd00:22::10 to fd00:22::99"', "a range without fd00:22::11, the address of Ironic")]
    assert lending.problems({"name": "prov", "addresses": ["172.22.0.1/24"], "dhcp": None}, TAKEN) == []
    kept = [dict(TAKEN[1], may_be_kept=True)]
    assert lending.problems(GOOD, kept) == [] and lending.problems(changed(("dhcp", "hosts"), []), kept)
    # What is no address is refused by the rules of the description.
    assert lending.problems(changed(("dhcp", "ranges", 0, "first"), "x"), TAKEN[:1]) == []
