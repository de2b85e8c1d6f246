# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An endpoint among the addresses that DHCP lends: kept for the server that the control plane selects, or refused."""
from __future__ import annotations

import copy

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import preflight, reservation
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import snapshot as workflow_snapshot

PARAMS = {
    "name": "c1", "kubernetes_version": "v1.35.4", "endpoint": {"host": "198.18.3.2", "holder": "none"},
    "image": {"url": "https://x/a.raw", "checksum": "0" * 64},
    "networks": {"nodes": {"interface": "eth0", "ipv4": {"mode": "dhcp"}}},
    "control_plane": {"replicas": 1, "host_selector": {"endpoint": "kept"}}, "workers": {}}
MACS = {"a": "00:5c:52:01:00:10", "b": "00:5c:52:01:00:20"}
DHCP = {"ranges": [{"first": "198.18.3.1", "last": "198.18.3.9"}],
        # As people write them, and as the API server keeps them.
        "hosts": [{"mac": MACS["a"].upper(), "addresses": ["198.18.3.1"]},
                  {"mac": MACS["b"].upper(), "addresses": ["198.18.3.2", "fd00::2"]}, {"mac": "00:5c:52:01:00:30"}]}


def host(name, **labels):
    return {"kind": "BareMetalHost", "metadata": {"name": name, "namespace": "metal3", "labels": labels},
            "spec": {"bootMACAddress": MACS.get(name, "00:5c:52:01:00:99")},
            "status": {"provisioning": {"state": "available"}}}


HOSTS = [host("a"), host("b", endpoint="kept")]


def problems(hosts=None, hardware=None, **changes):
    lent = changes.pop("dhcp", DHCP)
    description, mistakes = cluster_description.read(dict(copy.deepcopy(PARAMS), **changes))
    assert mistakes == []
    return [str(line) for line in reservation.reservation_problems(
        description, HOSTS if hosts is None else hosts, hardware or {}, lent)]


@pytest.mark.parametrize("changes", [
    {}, {"dhcp": None}, {"dhcp": {"ranges": [], "hosts": []}}, {"endpoint": {"host": "198.18.3.2"}},
    {"endpoint": {"host": "fd00::2", "holder": "none"}},
    {"endpoint": {"host": "198.18.3.10", "holder": "keepalived"}}, {"endpoint": {"host": "c1.example.org"}},
    {"endpoint": {"host": "fd00::3", "holder": "none"}}])
def test_an_address_that_is_kept_for_the_machine_or_lent_to_nobody_is_good(changes):
    assert problems(**changes) == []


def test_a_host_is_known_by_any_of_its_cards():
    data = {"c": {"spec": {"hardware": {"nics": [{"mac": "00:5C:52:01:00:98"}, {"mac": MACS["b"].upper()}]}}}}
    assert problems([host("a"), host("c", endpoint="kept")], hardware=data) == []


def test_a_card_of_no_host_is_good_where_not_all_cards_are_known():
    """Only the one that a host boots from is known of an inventory."""
    description = cluster_description.read(copy.deepcopy(PARAMS))[0]
    hosts = [host("a", endpoint="kept")]
    assert [str(line).partition(", expected")[0] for line in reservation.reservation_problems(
        description, hosts, {}, DHCP)] == [
            f"cluster metal3/c1: endpoint.host: found 198.18.3.2, which DHCP keeps for {MACS['b']} (a card of no "
            "BareMetalHost here)"]
    assert reservation.reservation_problems(description, hosts, None, DHCP) == []


@pytest.mark.parametrize(("changes", "expected"), [
    ({"endpoint": {"host": "198.18.3.7", "holder": "none"}},
     "endpoint.host: found 198.18.3.7, which DHCP may lend to any server (range 198.18.3.1 to 198.18.3.9), expected an "
     "address that DHCP keeps for one server, or lends to nobody"),
    ({"endpoint": {"host": "198.18.3.7", "holder": "keepalived"}}, "expected an address that no server gets"),
    ({"endpoint": {"host": "198.18.3.2", "holder": "kube-vip"}},
     "found 198.18.3.2, which DHCP keeps for 00:5c:52:01:00:20, expected an address that no server gets"),
    ({"endpoint": {"host": "198.18.3.1", "holder": "none"}},
     "found 198.18.3.1, which DHCP keeps for 00:5c:52:01:00:10 (BareMetalHost a, which the control plane does not "
     "select), expected an address that DHCP keeps for a host that the control plane selects"),
    ({"hosts": [host("a", endpoint="kept")]}, "00:5c:52:01:00:20 (a card of no BareMetalHost here)"),
    ({"hosts": [host("a", endpoint="kept"), host("b", endpoint="kept")]},
     "control_plane.host_selector: found b and also a, expected b alone, for which DHCP keeps the endpoint's address "
     "198.18.3.2"),
    ({"control_plane": {"replicas": 3, "host_selector": {"endpoint": "kept"}}},
     "control_plane.replicas: found 3, expected 1, because DHCP keeps"),
    ({"dhcp": {"ranges": [{"first": "198.18.3", "last": "198.18.3.9"}], "hosts": []}},
     'dhcp.ranges[0].first: found "198.18.3", expected an IPv4 or IPv6 address'),
    ({"dhcp": {"hosts": [{"mac": MACS["a"], "addresses": ["x"]}]}}, "dhcp.hosts[0].addresses[0]: found \"x\""),
    ({"dhcp": {"hosts": [{"mac": "190:0"}]}}, "dhcp.hosts[0].mac: found \"190:0\", expected six pairs"),
], ids=["of a range", "virtual in a range", "virtual and kept", "of another host", "of no host", "two that match",
        "three machines", "range", "address", "mac"])
def test_another_is_named(changes, expected):
    found = problems(**changes)
    assert len(found) == 1 and expected in found[0], found


@pytest.mark.parametrize("pool, expected", [
    ({"start": "198.18.3.20", "end": "198.18.3.29"}, []),
    ({"start": "198.18.3.8", "end": "198.18.3.29"}, ["198.18.3.8 - 198.18.3.9, which DHCP may lend to any server"]),
    ({"start": "198.18.3.40", "end": "198.18.3.49"}, [f"198.18.3.44, which DHCP keeps for {MACS['a']}"]),
    ({"start": "198.18.3.50", "end": "198.18.3.59"}, [])])
def test_a_pool_has_no_address_that_dhcp_gives_to_other_servers(pool, expected):
    dhcp = {"ranges": [{"first": "198.18.3.1", "last": "198.18.3.9"}, {"first": "fd00::1", "last": "198.18.3.1"}],
            "hosts": [{"mac": MACS["a"].upper(), "addresses": ["198.18.3.44"]},
                      {"mac": MACS["b"], "addresses": ["198.18.3.55"]}]}
    networks = {"nodes": {"interface": "eth0", "ipv4": {
        "ranges": [pool], "prefix": 24, "pre_allocations": {"b-c1-nodes": "198.18.3.55"}}}}
    for endpoint in ("198.18.3.90", "c1.example.org"):
        assert [line.partition("found ")[2].partition(", expected")[0] for line in problems(
            dhcp=dhcp, networks=networks, endpoint={"host": endpoint})] == expected


def test_only_a_new_cluster_is_asked():
    cluster = {"kind": "Cluster", "metadata": {"name": "c1", "namespace": "metal3"}, "spec": {}}
    description = cluster_description.read(dict(PARAMS, endpoint={"host": "198.18.3.7", "holder": "none"}))[0]
    known = {"hosts": HOSTS, "hardware": {}, "pools": {}, "addresses": [], "claims": [], "clusters": [],
             "providers": {}, "served": None, "dhcp": DHCP}

    def about(objects):
        facts = preflight.Facts(snapshot=workflow_snapshot.Snapshot(objects, "c1"), **known)
        return [line for line in preflight.preflight_problems(description, facts) if "DHCP" in str(line)]

    assert len(about({})) == 1 and about({"Cluster": [cluster]}) == []


@pytest.mark.parametrize("stored, expected", [
    ([{"start": "198.18.3.20", "end": "198.18.3.29"}], ["198.18.3.8 - 198.18.3.9"]),
    ([{"start": "198.18.3.9", "end": "198.18.3.29"}], ["198.18.3.8 - 198.18.3.9"]),
    ([{"start": "198.18.3.8", "end": "198.18.3.29"}], []), (None, ["198.18.3.8 - 198.18.3.9"])])
def test_a_pool_of_a_cluster_that_is_there_gets_no_address_that_dhcp_lends(stored, expected):
    """As when it is made larger; what it has already, machines may have."""
    networks = {"nodes": {"interface": "eth0", "ipv4": {
        "ranges": [{"start": "198.18.3.8", "end": "198.18.3.29"}], "prefix": 24}}}
    description = cluster_description.read(dict(PARAMS, networks=networks, endpoint={"host": "198.18.3.90"}))[0]
    cluster = {"kind": "Cluster", "metadata": {"name": "c1", "namespace": "metal3"}, "spec": {}}
    pools = {} if stored is None else {"c1-nodes": {"metadata": {"name": "c1-nodes"}, "spec": {"pools": stored}}}
    facts = preflight.Facts(snapshot=workflow_snapshot.Snapshot({"Cluster": [cluster]}, "c1"), hosts=HOSTS, hardware={},
                            pools=pools, addresses=[], claims=[], clusters=[], providers={}, served=None, dhcp=DHCP)
    found = [str(line) for line in preflight.preflight_problems(description, facts) if "DHCP" in str(line)]
    assert [line.partition("found ")[2].partition(",")[0] for line in found] == expected
    wrong = dict(DHCP, ranges=[{"first": "nowhere", "last": "198.18.3.9"}])
    assert reservation.added_range_problems(description, pools, wrong) == []
