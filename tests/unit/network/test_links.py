# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a machine lacks of a description, by what iproute2 lists."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._network import links
from ansible_collections.metal3.baremetal.plugins.module_utils._network.interface_files import Made

ADDRESS = {"local": "172.22.0.1", "prefixlen": 24}
BRIDGE = {"name": "prov", "kind": "bridge", "ports": ["eno2"], "addresses": ["172.22.0.1/24"]}
VLAN = {"name": "eno2.100", "kind": "vlan", "ports": ["eno2"], "vlan": 100, "addresses": ["172.22.0.1/24"]}


def card(name, **more):
    return dict({"ifname": name, "flags": ["UP"], "mtu": 1500, "addr_info": []}, **more)


def device(name, kind, data=None, **more):
    return card(name, linkinfo={"info_kind": kind, "info_data": data or {}}, addr_info=[ADDRESS], **more)


@pytest.mark.parametrize(("network", "found", "lacking"), [
    (BRIDGE, [], ["interface prov does not exist"]),
    (BRIDGE, [device("prov", "bridge"), card("eno2", master="prov")], []),
    (BRIDGE, [device("prov", "bridge"), card("eno2")], ["interface eno2 does not belong to prov"]),
    (BRIDGE, [device("prov", "dummy"), card("eno2", master="prov")], ["interface prov is of kind dummy, not a bridge"]),
    (BRIDGE, [device("prov", "bridge", flags=[]), card("eno2", master="prov")], ["interface prov is down"]),
    (BRIDGE, [dict(device("prov", "bridge"), addr_info=[]), card("eno2", master="prov")],
     ["interface prov lacks the address 172.22.0.1/24"]),
    (dict(BRIDGE, mtu=9000), [device("prov", "bridge"), card("eno2", master="prov")],
     ["interface prov has an MTU of 1500 bytes, not 9000"]),
    (VLAN, [device("eno2.100", "vlan", {"id": 100}, link="eno2"), card("eno2")], []),
    (VLAN, [device("eno2.100", "vlan", {"id": 7}, link="eno2"), card("eno2")],
     ["interface eno2.100 carries VLAN 7, not 100"]),
    (VLAN, [device("eno2.100", "vlan", {"id": 100}, link="eno3"), card("eno2")],
     ["VLAN eno2.100 is on eno3, not on eno2"]),
], ids=["missing", "there", "port", "kind", "down", "address", "mtu", "vlan", "vlan number", "vlan port"])
def test_what_is_missing_is_named(network, found, lacking):
    assert links.differences(network, found) == lacking


def test_what_the_machine_must_have_already():
    assert links.missing_interfaces(BRIDGE, [card("eno1")]) == ["eno2"]
    assert links.missing_interfaces({"name": "eno2"}, [card("eno1")]) == ["eno2"]
    assert links.missing_interfaces(BRIDGE, [card("eno2")]) == []
    assert links.conflicting_kind(BRIDGE, [card("prov")]) == "interface prov is a card, not a bridge"
    assert links.conflicting_kind({"name": "prov"}, [card("prov")]) == ""


def test_interfaces_that_are_no_cards_are_known():
    found = [card("eno1"), device("plane0", "bond"), device("wire0", "veth"),
             device("site100", "vlan", {"id": 100}, link="plane0"), device("away", "vlan", {"id": 7})]
    assert links.made_devices(found) == {"plane0": Made("bond"), "site100": Made("vlan", 100, "plane0")}
    bond = device("plane0", "bond", {"mode": "802.3ad", "miimon": 100})
    assert links.made_devices([bond]) == {"plane0": Made("bond", mode="802.3ad")}


@pytest.mark.parametrize(("found", "expected"), [
    ([device("site100", "vlan", {"id": 100}, link="plane0"), device("tap0", "macvlan", link="plane0")],
     ["site100 (vlan on it)", "tap0 (macvlan on it)"]),
    ([device("plane0", "bond", master="prov")], ["prov (which has it as a port)"]),
    ([card("eno1", master="plane0"), device("wire0", "veth", link="plane0"), device("site7", "vlan", link="eno1")], []),
], ids=["on it", "port", "its own ports and others"])
def test_what_would_lose_an_interface_is_named(found, expected):
    assert links.standing_on("plane0", found) == expected
    assert links.carried_by("plane0", found) == [text for text in expected if text.endswith("on it)")]
