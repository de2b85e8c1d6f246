# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Links and networks of OpenStack's network data that cannot be as they are described."""
from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options import network_data

CARDS = [{"id": f"eno{number}", "type": "phy", "ethernet_mac_address": f"00:5c:52:00:00:0{number}", "mtu": 9000}
         for number in (1, 2)]
BOND = {"id": "bond0", "type": "bond", "bond_links": ["eno1", "eno2"], "bond_mode": "802.3ad", "mtu": 9000}
VLANS = [{"id": f"bond0.{number}", "type": "vlan", "vlan_link": "bond0", "vlan_id": number, "mtu": mtu}
         for number, mtu in ((100, None), (200, 9000))]
NETWORKS = [{"id": "a", "link": "bond0.100", "type": "ipv4", "ip_address": "192.0.2.5", "netmask": "255.255.255.0",
             "gateway": "192.0.2.1"},
            {"id": "b", "link": "bond0.200", "type": "ipv4", "ip_address": "198.51.100.5", "routes": [
                {"network": "203.0.113.0", "netmask": "255.255.255.0", "gateway": "198.51.100.1"}]},
            {"id": "c", "link": "bond0.100", "type": "ipv6", "ip_address": "2001:db8::5/64", "routes": [
                {"network": "::", "netmask": "::", "gateway": "2001:db8::1"}]}]
GOOD = {"links": [*CARDS, BOND, *VLANS], "networks": NETWORKS, "services": []}


def lines(data):
    return [str(problem) for problem in network_data.problems("host-data", "server-1", "network_data", data)]


def test_vlans_of_both_families_on_a_bond_are_no_problem():
    assert lines(GOOD) == []


@pytest.mark.parametrize("path, value, expected", [
    (("links", 3, "vlan_link"), "bond1", 'network_data.links[3].vlan_link: found "bond1", expected one of bond0, '
                                         'bond0.200, eno1, eno2'),
    (("links", 3, "vlan_link"), None, 'network_data.links[3].vlan_link: found "", expected one of bond0'),
    (("links", 2, "bond_links"), ["eno1", "eno9"], 'network_data.links[2].bond_links: found "eno9", expected one of'),
    (("links", 4, "mtu"), 9001, 'network_data.links[4].mtu: found 9001, expected at most 9000, the MTU of "bond0"'),
    (("links", 2, "mtu"), None, 'network_data.links[4].mtu: found 9000, expected at most 1500, the MTU of "bond0"'),
    (("links", 4, "mtu"), "9001", 'network_data.links[4].mtu: found 9001, expected at most 9000'),
    (("links", 0, "mtu"), 1500, 'network_data.links[2].mtu: found 9000, expected at most 1500, the MTU of "eno1"'),
    (("links", 4, "vlan_id"), 100, 'network_data.links[4]: found VLAN 100 on "bond0", expected another VLAN than '
                                   'network_data.links[3]'),
    (("links", 4, "id"), "bond0.100", 'network_data.links[4]: found link "bond0.100" twice, expected one description'),
    (("links", 2, "bond_links"), ["eno1", "bond0.100"], "expected a link that ends at a card"),
    (("networks", 1, "link"), "eno2", 'network_data.networks[1].link: found "eno2", a port of "bond0"'),
    (("networks", 1, "link"), "eno7", 'network_data.networks[1].link: found "eno7", expected one of bond0, '),
    (("networks", 1, "gateway"), "198.51.100.1", "networks[1].gateway: found a second default route for IPv4, "
                                                 "expected one for each family (network_data.networks[0].gateway)"),
    (("networks", 1, "routes", 0), {"network": "0.0.0.0", "netmask": "0.0.0.0", "gateway": "198.51.100.1"},
     "network_data.networks[1].routes[0]: found a second default route for IPv4"),
    (("networks", 1, "routes", 0), {"network": "0.0.0.0/0", "gateway": "198.51.100.1"},
     "network_data.networks[1].routes[0]: found a second default route for IPv4"),
    (("networks", 2, "gateway"), "2001:db8::2", "found a second default route for IPv6"),
])
def test_what_cannot_be_is_named(path, value, expected):
    data = copy.deepcopy(GOOD)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert any(expected in line for line in lines(data)), lines(data)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["bond0", "eno1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([
        "id", "type", "link", "links", "networks", "routes", "vlan_link", "bond_links", "mtu"]), inner, max_size=4),
    max_leaves=8)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(VALUES, st.sampled_from([(), ("links",), ("links", 2), ("links", 2, "bond_links"), ("networks", 1, "routes")]))
def test_a_document_of_any_shape_is_read(value, path):
    data = copy.deepcopy(GOOD)
    place = data
    for key in path[:-1]:
        place = place[key]
    if path:
        place[path[-1]] = value
    lines(data if path else value)
