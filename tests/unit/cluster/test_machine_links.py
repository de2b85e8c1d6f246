# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bond that carries VLANs: what CAPM3 gets of it, what cannot be, and what cloud-init calls the devices."""
from __future__ import annotations

import copy

import pytest
from fakes.options import with_change

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import validation
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import reader
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import network

POOL = {"ranges": [{"start": "198.18.0.20", "end": "198.18.0.99"}], "prefix": 24, "gateway": "198.18.0.1"}
GOOD = {
    "name": "c1", "kubernetes_version": "v1.35.4", "endpoint": {"host": "198.18.0.10"},
    "image": {"url": "https://x/a.raw", "checksum": "0" * 64}, "control_plane": {"replicas": 1},
    "workers": {"a": {"replicas": 1}},
    "networks": {
        "ports": {"bond": {"mode": "802.3ad", "interfaces": ["eno1", "eno2"]}, "mtu": 9000},
        "nodes": {"vlan": {"id": 100, "network": "ports"}, "ipv4": POOL},
        "storage": {"vlan": {"id": 200, "network": "ports"}, "mtu": 9000, "ipv4": {
            "ranges": [{"start": "203.0.113.20", "end": "203.0.113.99"}], "prefix": 24}}}}


def changed(path, value):
    return with_change(GOOD, path, value)


def described(params):
    description, mistakes = reader.read(params)
    assert mistakes == []
    return description


def lines(params):
    return [str(line).partition(": ")[2] for line in validation.description_problems(described(params))]


def test_a_bond_that_carries_vlans_is_rendered():
    description = described(GOOD)
    assert lines(GOOD) == []
    data = network.network_data(description, description.groups[0])
    assert [entry["id"] for entry in data["links"]["ethernets"]] == ["eno1", "eno2"]
    bond, = data["links"]["bonds"]
    assert (bond["id"], bond["bondLinks"], bond["mtu"]) == ("bond-ports", ["eno1", "eno2"], 9000)
    assert [(entry["id"], entry["vlanID"], entry["vlanLink"], entry["mtu"]) for entry in data["links"]["vlans"]] == [
        ("bond-ports.100", 100, "bond-ports", 1500), ("bond-ports.200", 200, "bond-ports", 9000)]
    assert all(entry["macAddress"] == {"fromHostInterface": "eno1"} for entry in [bond, *data["links"]["vlans"]])
    assert [(entry["link"], [route["prefix"] for route in entry.get("routes", [])])
            for entry in data["networks"]["ipv4"]] == [("bond-ports.100", [0]), ("bond-ports.200", [])]


def two_of_a_vlan(**workers):
    """The control plane has a card, the workers have a bond; both are on VLAN 100 and share its pool."""
    shared = {"ipv4": {"pool": "shared"}}
    params = copy.deepcopy(GOOD)
    params["networks"] = {
        "card": {"interface": "eno1"}, "ports": {"bond": {"mode": "802.3ad", "interfaces": ["eno2", "eno3"]}},
        "single": dict(shared, vlan={"id": 100, "network": "card"}),
        "double": dict(shared, vlan={"id": 100, "network": "ports"})}
    params["control_plane"]["attached_networks"] = ["single"]
    params["workers"]["a"].update({"attached_networks": ["double"]}, **workers)
    return params


def test_groups_of_machines_may_have_one_vlan_and_one_pool_on_different_links():
    assert lines(two_of_a_vlan()) == []


def test_a_machine_has_one_vlan_of_a_number_and_one_address_of_a_pool():
    found = lines(two_of_a_vlan(attached_networks=["single", "double"]))
    assert [line.partition(", expected")[0] for line in found] == [
        "networks.single: found VLAN 100 twice", "networks.single.ipv4.pool: found shared, as in networks.double.ipv4"]


def test_what_carries_a_vlan_of_a_vlan_comes_along():
    params = changed("networks/inner", {"vlan": {"id": 7, "network": "nodes"}})
    params["workers"]["a"]["attached_networks"] = ["inner"]
    description = described(params)
    assert network.attached(description, description.groups[1]) == ["inner", "nodes", "ports"]
    assert lines(params) == []


OVERLAY = "workers/a/network_data"


@pytest.mark.parametrize("path, value, expected", [
    ("networks/ports/mtu", 1500, ['networks.storage.mtu: found 9000, expected at most 1500, the MTU of "bond-ports" '
                                  'below it; lower it, or raise the other']),
    ("networks/storage/ipv4/gateway", "203.0.113.1", [
        "networks.storage.ipv4.default_route: found a second default route for IPv4, expected one for each family "
        "(networks.nodes.ipv4.default_route); set default_route to false for one of them, or attach the machines to "
        "one of them alone"]),
    ("networks/storage/ipv4/routes", [{"network": "0.0.0.0", "prefix": 0, "gateway": {"string": "203.0.113.1"}}], [
        "networks.storage.ipv4.default_route: found a second default route for IPv4, expected one for each family "
        "(networks.nodes.ipv4.default_route); set default_route to false for one of them, or attach the machines to "
        "one of them alone"]),
    ("networks/other", {"interface": "eno2", "ipv4": {"mode": "dhcp"}, "mtu": 9000}, [
        'networks.other.ipv4: found "eno2", a port of "bond-ports", expected a link that is no port of a bond; name '
        'bond-ports, or take the port out of it']),
    ("networks/other", {"bond": {"mode": "802.3ad", "interfaces": ["eno2", "eno3"]}, "mtu": 9000}, [
        'networks.ports.bond.interfaces: found "eno2", a port of "bond-other", expected a port of one bond; remove it '
        'from one of them']),
    (OVERLAY, {"links": {"vlans": [{"id": "v", "vlanID": 5, "vlanLink": "eno9"}]}}, [
        'workers.a.network_data.links.vlans[0].vlanLink: found "eno9", expected one of bond-ports, eno1, eno2; correct '
        'it, or describe that link',
        'networks.nodes.ipv4: found "bond-ports.100", expected one of bond-ports, eno1, eno2, v; correct it, or '
        'describe that link',
        'networks.storage.ipv4: found "bond-ports.200", expected one of bond-ports, eno1, eno2, v; correct it, or '
        'describe that link']),
    (OVERLAY, {"networks": {"ipv6": [{"id": "n", "link": "nothing"}]}}, [
        'workers.a.network_data.networks.ipv6[0].link: found "nothing", expected one of bond-ports, bond-ports.100, '
        'bond-ports.200, eno1, eno2; correct it, or describe that link']),
    ("networks/ports/link_name", "bond 0", [
        'networks.ports.link_name: found "bond 0", expected at most 15 letters, digits, dots, dashes and underscores '
        'that begin with a letter (CAPM3 CRD); choose another name']),
])
def test_what_cannot_be_is_reported_before_anything_is_written(path, value, expected):
    assert lines(changed(path, value)) == expected


def test_two_networks_of_one_card_describe_it_alike():
    params = changed("networks/one", {"interface": "eno5", "mtu": 9000, "ipv4": {"mode": "dhcp"}})
    params["networks"]["two"] = {"interface": "eno5", "ipv6": {"mode": "slaac"}}
    assert lines(params) == ["networks.two.mtu: found 1500, expected 9000, as networks.one has for the same interface "
                             "eno5; give both the same one"]


def test_groups_on_different_networks_may_each_have_a_default_route():
    params = changed("networks/storage/ipv4/gateway", "203.0.113.1")
    params["control_plane"]["attached_networks"] = ["nodes"]
    params["workers"]["a"]["attached_networks"] = ["storage"]
    assert lines(params) == []


def test_devices_have_the_names_that_cloud_init_gives():
    """It counts bonds without a name, and names a VLAN after what carries it."""
    params = changed("networks/second", {"bond": {"mode": "802.3ad", "interfaces": ["eno3", "eno4"]},
                                         "link_name": "uplink"})
    params["networks"]["tagged"] = {"vlan": {"id": 5, "network": "second"}, "link_name": "ignored"}
    description = described(params)
    assert network.device_names(description, description.groups[0]) == {
        "ports": "bond0", "nodes": "bond0.100", "storage": "bond0.200", "second": "uplink", "tagged": "uplink.5"}
    params["endpoint"] = {"host": "198.18.0.10", "holder": "keepalived", "interface": "bond0.100"}
    assert lines(params) == []
