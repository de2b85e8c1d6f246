# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A description against hosts, pools and other clusters that are there."""
from __future__ import annotations

import copy

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import preflight as cluster_preflight
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import needs as cluster_needs
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import objects as cluster_render
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import snapshot as workflow_snapshot
from ansible_collections.metal3.baremetal.plugins.module_utils._common.addresses import virtual_router
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import pool as ipam_pool

PARAMS = {
    "name": "c1", "kubernetes_version": "v1.35.4", "endpoint": {"host": "198.18.0.10"},
    "image": {"url": "https://x/a.raw", "checksum": "0" * 64},
    "networks": {"prov": {"interface": "eth0", "ipv4": {
        "ranges": [{"start": "198.18.0.20", "end": "198.18.0.29"}], "prefix": 24, "gateway": "198.18.0.1"}}},
    "workers": {"one": {"replicas": 1}}}
SERVED = {"clusters.cluster.x-k8s.io": ["v1beta2"], "metal3clusters.infrastructure.cluster.x-k8s.io": ["v1beta2"]}


def host(name):
    return {"kind": "BareMetalHost", "metadata": {"name": name}, "spec": {}, "status": {
        "provisioning": {"state": "available"},
        "hardware": {"ramMebibytes": 8192, "nics": [{"name": "eth0"}], "storage": [{"sizeBytes": 10 ** 11}]}}}


def facts(objects=None, **changes):
    objects = objects or {}
    values = {"snapshot": workflow_snapshot.Snapshot(objects, "c1"), "hosts": [host("a"), host("b")], "hardware": {},
              "pools": {}, "addresses": [], "claims": [], "clusters": [], "providers": {}, "served": SERVED}
    return cluster_preflight.Facts(**dict(values, **changes))


def described(**changes):
    description, mistakes = cluster_description.read(dict(copy.deepcopy(PARAMS), **changes))
    assert mistakes == []
    return description


def problems(known, **changes):
    return cluster_preflight.preflight_problems(described(**changes), known)


def test_a_description_that_fits():
    assert problems(facts()) == []


def other_cluster(name, address, port=6443):
    return {"metadata": {"name": name, "namespace": "metal3"},
            "spec": {"controlPlaneEndpoint": {"host": address, "port": port}}}


def pool(name, **changes):
    return ipam_pool.render(dict({"name": name, "prefix": 24, "ranges": [
        {"start": "198.18.0.100", "end": "198.18.0.101"}]}, **changes), "metal3")


ADDRESS = {"kind": "IPAddress", "metadata": {"name": "x"}, "spec": {
    "address": "198.18.0.10", "pool": {"name": "p"}, "claim": {"name": "c"}}}


def test_an_infrastructure_by_another_name_is_known_as_the_clusters_own():
    """As Cluster API names it by a class of the user's."""
    own = other_cluster("c1-x7k2p", "198.18.0.10")
    own["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "c1"}
    assert problems(facts(clusters=[own])) == []


@pytest.mark.parametrize("known, words", [
    (facts(hosts=[host("a")]), "workers.one.host_selector: found 0 free of 1 hosts that match (a goes to control_plane "
     "of cluster metal3/c1), expected 1 available"),
    (facts(served={}), "no resource clusters.cluster.x-k8s.io"),
    (facts(clusters=[other_cluster("c2", "198.18.0.10")]), "the endpoint of cluster metal3/c2"),
    (facts(addresses=[ADDRESS]), "endpoint.host: found 198.18.0.10, which IPAddress x has"),
    (facts(pools={"p": pool("p", ranges=[{"start": "198.18.0.9", "end": "198.18.0.11"}])}), "in a range of pool p"),
    (facts(pools={"p": pool("p", ranges=[{"start": "198.18.0.29", "end": "198.18.0.40"}])}),
     "which is in ranges[0] of existing IPPool metal3/p too"),
    (facts(pools={"c1-prov": pool("c1-prov", name_prefix="other")}), "name_prefix: found \"c1-prov\", expected other"),
])
def test_what_does_not_fit_is_named(known, words):
    found = problems(known)
    assert any(words in str(line) for line in found), found


def test_an_endpoint_that_a_pool_keeps_free_is_good():
    reserved = pool("p", ranges=[{"start": "198.18.0.9", "end": "198.18.0.11"}],
                    pre_allocations={"endpoint": "198.18.0.10"})
    assert problems(facts(pools={"p": reserved})) == []


@pytest.mark.parametrize("address, kept, refused", [
    ("198.18.0.20", {}, True), ("198.18.0.29", {}, True), ("198.18.0.30", {}, False), ("api.example.org", {}, False),
    ("198.18.0.25", {"endpoint-of-c2": "198.18.0.25"}, False)])
def test_a_range_has_no_endpoint_of_another_cluster(address, kept, refused):
    """IPAM would give it to a machine."""
    networks = copy.deepcopy(PARAMS["networks"])
    networks["prov"]["ipv4"]["pre_allocations"] = kept
    elsewhere = other_cluster("c3", "198.18.0.21")
    elsewhere["metadata"]["namespace"] = "other"
    own = other_cluster("c1", "198.18.0.10")
    found = problems(facts(clusters=[other_cluster("c2", address), elsewhere, own]), networks=networks)
    assert [f"networks.prov.ipv4.ranges[0]: found {address}, the endpoint of cluster c2" in str(line)
            for line in found] == [True] * refused


def test_a_preallocation_is_for_a_host_that_there_is():
    networks = copy.deepcopy(PARAMS["networks"])
    networks["prov"]["ipv4"]["pre_allocations"] = {"a-c1-prov": "198.18.0.20", "c1-one-0-c1-prov": "198.18.0.21"}
    found = problems(facts(), networks=networks)
    assert len(found) == 1
    assert "networks.prov.ipv4.pre_allocations.c1-one-0-c1-prov: found \"c1-one-0-c1-prov\", expected c1-one-" in str(
        found[0]
    )
    hosts = [host("a"), host("b"), host("c1-one-0")]
    assert problems(facts(hosts=hosts), networks=networks) == []


def test_a_pool_that_is_there_must_be_there_and_have_enough():
    networks = {"prov": {"interface": "eth0", "ipv4": {"pool": "shared"}}}
    assert "found \"shared\", expected one of no pools" in str(problems(facts(), networks=networks)[0])
    assert problems(facts(pools={"shared": pool("shared")}), networks=networks) == []
    taken = copy.deepcopy(ADDRESS)
    taken["spec"].update(address="198.18.0.100", pool={"name": "shared"})
    found = problems(facts(pools={"shared": pool("shared")}, addresses=[taken]), networks=networks)
    assert "shared with 1 free addresses, expected at least 2" in str(found[0])


STORAGE = {"key": "storage", "apiGroup": "ipam.metal3.io", "kind": "IPPool", "name": "shared"}


@pytest.mark.parametrize("options, field", [
    ({"metadata": {"ipAddressesFromPool": [STORAGE]}}, "metadata"),
    ({"metadata": {"prefixesFromPool": [STORAGE], "gatewaysFromPool": [dict(STORAGE, key="gateway")]}}, "metadata"),
    ({"network_data": {"services": {"dnsFromIPPool": "shared"}}}, "network_data"),
    ({"network_data": {"networks": {"ipv4DHCP": [{"id": "prov", "link": "eth0", "routes": [
        {"network": "0.0.0.0", "prefix": 0, "gateway": {"fromIPPool": "shared"}}]}]}}}, "network_data"),
    ({"network_data": {"networks": {"ipv4": [{"id": "b", "link": "b", "fromPoolRef": dict(STORAGE)}]}}},
     "network_data"),
    # Of another provider's pools nobody knows the addresses.
    ({"metadata": {"ipAddressesFromPool": [dict(STORAGE, kind="InClusterIPPool",
                                                apiGroup="ipam.cluster.x-k8s.io")]}}, None)])
def test_addresses_that_only_meta_data_or_network_data_take_are_counted(options, field):
    """CAPM3 takes one of each pool for each machine; the machine that found none never came."""
    assert [f'{field}: found "shared", expected one of no pools' in str(line)
            for line in problems(facts(), **options)] == ([True] if field else [])
    assert problems(facts(pools={"shared": pool("shared")}), **options) == []
    taken = copy.deepcopy(ADDRESS)
    taken["spec"].update(address="198.18.0.100", pool={"name": "shared"})
    found = problems(facts(pools={"shared": pool("shared")}, addresses=[taken]), **options)
    assert [f"{field}: found shared with 1 free addresses, expected at least 2" in str(line) for line in found] == (
        [True] if field else [])


def test_a_pool_that_is_named_several_times_gives_each_machine_one_address():
    networks = {name: {"interface": name, "ipv4": {"pool": "shared"}} for name in ("eth0", "eth1")}
    cards = [host("a"), host("b")]
    for item in cards:
        item["status"]["hardware"]["nics"].append({"name": "eth1"})
    assert problems(facts(hosts=cards, pools={"shared": pool("shared")}), networks=networks, node_ip_network="eth0",
                    metadata={"prefixesFromPool": [STORAGE]}) == []


@pytest.mark.parametrize("kept, taken, free", [
    ({"a-shared": "198.18.0.100", "b-shared": "198.18.0.101"}, False, None),
    ({"a-shared": "198.18.0.100", "b-shared": "198.18.0.101"}, True, 1),
    ({"a-shared": "198.18.0.100"}, False, None),
    ({"z-shared": "198.18.0.100", "endpoint": "198.18.0.101"}, False, 0),
    ({"a-other": "198.18.0.100", "b-shared": "198.18.0.200"}, False, 1),
])
def test_addresses_that_a_pool_keeps_for_the_hosts_of_the_machines_are_free(kept, taken, free):
    networks = {"prov": {"interface": "eth0", "ipv4": {"pool": "shared"}}}
    address = copy.deepcopy(ADDRESS)
    address["spec"].update(address="198.18.0.100", pool={"name": "shared"})
    found = problems(facts(pools={"shared": pool("shared", pre_allocations=kept)},
                           addresses=[address] if taken else []), networks=networks)
    assert [f"shared with {free} free addresses" in str(line) for line in found] == ([] if free is None else [True])


@pytest.mark.parametrize("family, settings, changes, words", [
    ("ipv6", {}, {}, "networks.prov.ipv6.pool: found shared with addresses of IPv4, expected a pool"),
    ("ipv4", {"default_route": True}, {}, "networks.prov.ipv4.pool: found shared with addresses without a gateway"),
    ("ipv4", {"default_route": True}, {"gateway": "198.18.0.1"}, None), ("ipv4", {}, {}, None)])
def test_a_pool_that_is_there_fits_the_network(family, settings, changes, words):
    networks = {"prov": {"interface": "eth0", family: dict(settings, pool="shared")}}
    found = problems(facts(pools={"shared": pool("shared", **changes)}), networks=networks)
    assert [words in str(line) for line in found] == ([True] if words else [])


def going(obj):
    obj["metadata"].update(deletionTimestamp="2026-11-25T20:00:00Z", finalizers=["ippool.ipam.metal3.io"])
    return obj


def test_a_pool_that_is_being_deleted_is_none_for_new_machines():
    text = ("which is being deleted since 2026-11-25T20:00:00Z, held by ippool.ipam.metal3.io, "
            "expected a pool that stays")
    networks = {"prov": {"interface": "eth0", "ipv4": {"pool": "shared"}}}
    shared = facts(pools={"shared": going(pool("shared"))})
    found, = problems(shared, networks=networks)
    assert f"networks.prov.ipv4.pool: found pool shared, {text}" in str(found)
    # It stays for the machines that there are.
    assert cluster_preflight._pools("cluster metal3/c1", described(networks=networks), shared, []) == []


def existing():
    """A cluster whose worker has its host, while its control plane machine still waits for one."""
    labels = {"cluster.x-k8s.io/cluster-name": "c1"}
    return {
        "Cluster": [{"kind": "Cluster", "metadata": {"name": "c1"}, "spec": {
            "infrastructureRef": {"name": "c1"}, "controlPlaneRef": {"name": "c1-control-plane"}}}],
        "Metal3Cluster": [dict(other_cluster("c1", "198.18.0.10"), kind="Metal3Cluster")],
        "KubeadmControlPlane": [{"kind": "KubeadmControlPlane", "metadata": {"name": "c1-control-plane"},
                                 "spec": {"replicas": 1, "version": "v1.35.4"}}],
        "MachineDeployment": [{"kind": "MachineDeployment", "spec": {"replicas": 1},
                               "metadata": {"name": "c1-one", "labels": labels}}],
        "Machine": [{"kind": "Machine", "spec": {"infrastructureRef": {"name": "w"}}, "metadata": {
            "name": "w", "labels": dict(labels, **{"cluster.x-k8s.io/deployment-name": "c1-one"})}}],
        "Metal3Machine": [{"kind": "Metal3Machine", "spec": {}, "metadata": {
            "name": "w", "annotations": {"metal3.io/BareMetalHost": "metal3/b"}}}],
        "BareMetalHost": [host("a"), host("b")]}


def test_hosts_that_machines_have_already_are_not_asked_for_again():
    known = facts(existing())
    wanted = [cluster_preflight.hosts_wanted(group, known.snapshot)
              for group in described().groups]
    assert wanted == [1, 0]


def test_clusters_of_the_same_run_count():
    """By what they still need: the machines that they have already have their hosts."""
    given = cluster_needs.needs(dict(copy.deepcopy(PARAMS), name="c2", endpoint={"host": "198.18.0.11"}, networks={}))
    needs = cluster_needs.of_parameter(given)
    known = facts(neighbours=[(needs, workflow_snapshot.Snapshot({}, "c2"))])
    assert "cluster metal3/c2: control_plane.host_selector: found 0 free of 2 hosts that match" in str(
        problems(known)[0]
    )
    assert problems(known._replace(hosts=[host(name) for name in "abcd"])) == []
    elsewhere = needs._replace(namespace="other")
    assert problems(facts(neighbours=[(elsewhere, workflow_snapshot.Snapshot({}, "c2"))])) == []
    itself = cluster_needs.of_parameter(dict(given, name="c1"))
    assert problems(facts(neighbours=[(itself, workflow_snapshot.Snapshot({}, "c1"))])) == []
    there = existing()
    there["Metal3Machine"][0]["metadata"]["annotations"]["metal3.io/BareMetalHost"] = "metal3/z"
    there["BareMetalHost"].append(host("z"))
    theirs = cluster_needs.of_parameter(dict(given, name="c1"))
    rows = cluster_preflight.neighbours_wanted(described(name="c2"), facts(
        neighbours=[(theirs, workflow_snapshot.Snapshot(there, "c1"))]))
    assert [(group.name, count) for _needs, group, count in rows] == [("control-plane", 1), ("one", 0)]


def beside(name, **changes):
    """Return the cluster of a name as one that is made in the same run."""
    given = cluster_needs.needs(dict(copy.deepcopy(PARAMS), name=name, **changes))
    return cluster_needs.of_parameter(given), workflow_snapshot.Snapshot({}, name)


@pytest.mark.parametrize("endpoint, namespace, refused", [
    ({"host": "198.18.0.10"}, "metal3", True), ({"host": "198.18.0.10"}, "other", True),
    ({"host": "198.18.0.11"}, "metal3", False), ({"host": "198.18.0.10", "port": 443}, "metal3", False)])
def test_clusters_of_the_same_run_have_endpoints_of_their_own(endpoint, namespace, refused):
    """Neither is stored yet, and machines of both would hold the address."""
    known = facts(hosts=[host(name) for name in "abcd"], neighbours=[
        beside("c2", namespace=namespace, networks={}, endpoint=endpoint)])
    found = [str(line) for line in problems(known)]
    assert ["endpoint: found 198.18.0.10:6443, the endpoint of cluster" in line for line in found] == [True] * refused
    # What is stored is not named twice.
    stored = dict(other_cluster("c2", endpoint["host"], endpoint.get("port", 6443)))
    stored["metadata"]["namespace"] = namespace
    assert len(problems(known._replace(clusters=[stored]))) == refused


@pytest.mark.parametrize("start, namespace, stored, words", [
    ("198.18.0.29", "metal3", None, "198.18.0.29 - 198.18.0.29, which is in ranges[0] of IPPool metal3/c2-prov of "
     "cluster metal3/c2 too"),
    ("198.18.0.29", "metal3", "198.18.0.29", "which is in ranges[0] of existing IPPool metal3/c2-prov too"),
    ("198.18.0.29", "metal3", "198.18.0.30", "of IPPool metal3/c2-prov of cluster metal3/c2 too"),
    ("198.18.0.30", "metal3", None, None), ("198.18.0.29", "other", None, None)])
def test_pools_that_clusters_of_the_same_run_make_have_no_address_in_common(start, namespace, stored, words):
    networks = copy.deepcopy(PARAMS["networks"])
    networks["prov"]["ipv4"]["ranges"] = [{"start": start, "end": "198.18.0.40"}]
    pools = {"c2-prov": pool("c2-prov", ranges=[{"start": stored, "end": "198.18.0.40"}])} if stored else {}
    known = facts(hosts=[host(name) for name in "abcd"], pools=pools, neighbours=[
        beside("c2", namespace=namespace, networks=networks, endpoint={"host": "198.18.0.11"})])
    found = [str(line) for line in problems(known)]
    assert [words in line for line in found] == ([True] if words else [])


def test_a_range_has_no_endpoint_of_a_cluster_of_the_same_run():
    known = facts(hosts=[host(name) for name in "abcd"], neighbours=[
        beside("c2", networks={}, endpoint={"host": "198.18.0.25"})])
    line, = problems(known)
    assert "networks.prov.ipv4.ranges[0]: found 198.18.0.25, the endpoint of cluster c2" in str(line)


@pytest.mark.parametrize("theirs, refused", [("2001:DB8:0::a", True), ("2001:db8::b", False)])
def test_endpoints_of_ipv6_are_compared_however_they_are_spelled(theirs, refused):
    known = facts(clusters=[other_cluster("c2", theirs)])
    found = problems(known, endpoint={"host": "2001:db8::a"})
    assert ["the endpoint of cluster metal3/c2" in str(line) for line in found] == ([True] if refused else [])
    kept = pool("p", ranges=[{"start": "2001:db8::a", "end": "2001:db8::f"}], prefix=64)
    kept["spec"]["preAllocations"] = {"endpoint": "2001:0db8::a"}
    assert problems(facts(pools={"p": kept}), endpoint={"host": "2001:db8::a"}) == []


@pytest.mark.parametrize("network, initialized, changes, words", [
    ({"pods": {"cidrBlocks": ["10.244.0.0/16"]}}, True, {"pod_cidrs": ["10.245.0.0/16"]},
     'pod_cidrs: found ["10.245.0.0/16"], expected ["10.244.0.0/16"], for a cluster keeps what it was made with'),
    ({"pods": {"cidrBlocks": ["10.244.0.0/16"]}}, True, {}, 'pod_cidrs: found ["192.168.0.0/18"]'),
    ({"services": {"cidrBlocks": ["10.96.0.0/16"]}}, True, {"service_cidrs": ["10.96.0.0/16", "fd00::/112"]},
     "service_cidrs: found"),
    ({"serviceDomain": "example.org"}, True, {}, 'service_domain: found "cluster.local", expected "example.org"'),
    ({"pods": {"cidrBlocks": ["FD00:1::/56"]}}, True, {"pod_cidrs": ["fd00:1:0::/56"]}, None),
    ({"pods": {"cidrBlocks": ["10.244.0.0/16"]}}, False, {"pod_cidrs": ["10.245.0.0/16"]}, None), ({}, True, {}, None)])
def test_a_cluster_keeps_the_networks_that_it_was_made_with(network, initialized, changes, words):
    there = existing()
    there["Cluster"][0]["spec"]["clusterNetwork"] = network
    there["Cluster"][0]["status"] = {"initialization": {"controlPlaneInitialized": initialized}}
    found = problems(facts(there), **changes)
    assert [words in str(line) for line in found] == ([True] if words else [])


SHARED = {"prov": {"interface": "eth0", "ipv4": {"pool": "shared"}}}


@pytest.mark.parametrize("last, kept, namespace, refused", [
    (2, {}, "metal3", True), (3, {}, "metal3", False), (2, {}, "other", False),
    (3, {"endpoint": "198.18.0.103"}, "metal3", True), (3, {"z-shared": "198.18.0.103"}, "metal3", False)])
def test_clusters_of_the_same_run_share_the_addresses_of_a_pool(last, kept, namespace, refused):
    """Two machines each; names of hosts may be those of the other cluster's."""
    given = cluster_needs.needs(dict(copy.deepcopy(PARAMS), name="c2", networks=SHARED, namespace=namespace,
                                     endpoint={"host": "198.18.0.11"}))
    shared = pool("shared", pre_allocations=kept, ranges=[{"start": "198.18.0.100", "end": f"198.18.0.10{last}"}])
    known = facts(hosts=[host(name) for name in "abcd"], pools={"shared": shared}, neighbours=[
        (cluster_needs.of_parameter(given), workflow_snapshot.Snapshot({}, "c2"))])
    found = [str(line) for line in problems(known, networks=SHARED)]
    assert [line.partition(": ")[2] for line in found] == ([
        "networks.prov.ipv4.pool: found shared with 3 free addresses, expected at least 4, of which other clusters of "
        "this run need 2; widen the pool's ranges"] if refused else [])


@pytest.mark.parametrize("number, refused", [(8, False), (9, True)])
def test_addresses_of_a_clusters_own_pool_that_others_have_are_not_free(number, refused):
    """Leaked ones, and those of claims by hand."""
    taken = [dict(copy.deepcopy(ADDRESS), metadata={"name": f"x{at}"}) for at in range(number)]
    for at, item in enumerate(taken):
        item["spec"].update(address=f"198.18.0.{20 + at}", pool={"name": "c1-prov"}, claim={"name": f"gone-{at}"})
    own = pool("c1-prov", ranges=[{"start": "198.18.0.20", "end": "198.18.0.29"}])
    found = problems(facts(pools={"c1-prov": own}, addresses=taken))
    assert ["networks.prov.ipv4.ranges: found c1-prov with 1 free addresses, expected at least 2" in str(line)
            for line in found] == ([True] if refused else [])


HELD = {"host": "198.18.0.10", "holder": "keepalived"}
WIDE = {"prov": {"interface": "eth0", "ipv4": {
    "ranges": [{"start": "198.18.0.20", "end": "198.18.0.29"}], "prefix": 23, "gateway": "198.18.0.1"}}}


def plane_of(cluster, **endpoint):
    """Return the KubeadmControlPlane that a cluster is given."""
    description = described(name=cluster, networks=WIDE, endpoint=dict(HELD, **endpoint))
    plane, = (item for item in cluster_render.render(description) if item["kind"] == "KubeadmControlPlane")
    return plane


@pytest.mark.parametrize("theirs, mine, number", [
    ({"host": "198.18.1.10"}, {}, 10), ({"host": "198.18.1.11", "virtual_router_id": 10}, {}, 10),
    ({"host": "198.18.1.11"}, {}, None), ({"host": "198.18.1.10"}, {"virtual_router_id": 9}, None),
    ({"host": "198.18.1.10"}, {"holder": "kube-vip"}, None), ({"host": "198.18.2.10"}, {}, None)])
@pytest.mark.parametrize("stored", [True, False])
def test_clusters_on_one_network_need_virtual_routers_of_their_own(theirs, mine, number, stored):
    """By default the number is the last one of the address, which two endpoints on a network above /24 may share."""
    if stored:
        known = facts({"KubeadmControlPlane": [plane_of("c2", **theirs)]})
        owner = "KubeadmControlPlane c2-control-plane"
    else:
        given = cluster_needs.needs(dict(
            copy.deepcopy(PARAMS), name="c2", namespace="other", endpoint=dict(HELD, **theirs)))
        known = facts(neighbours=[(cluster_needs.of_parameter(given), workflow_snapshot.Snapshot({}, "c2"))])
        owner = "cluster other/c2"
    found = [str(line) for line in problems(known, networks=WIDE, endpoint=dict(HELD, **mine))]
    assert [line.partition(", expected")[0] for line in found] == ([
        f"cluster metal3/c1: endpoint.virtual_router_id: found {number}, which {owner} has for its address "
        f"{theirs['host']} on the same network"] if number else [])


@pytest.mark.parametrize("theirs, mine, number", [
    ({"address": "198.18.1.2/23"}, {}, 10), ({"address": "198.18.1.2"}, {}, 10),
    ({"address": "198.18.0.10"}, {}, None),
    ({"address": "198.18.1.2/23", "number": 51}, {}, None), ({"address": "198.18.2.2/24"}, {}, None),
    ({"address": "2001:db8::2/64"}, {}, None), ({"address": "198.18.1.2/23"}, {"holder": "kube-vip"}, None),
    ({"address": "198.18.0.2/24", "number": 51}, {"virtual_router_id": 51}, 51), ({"address": "no"}, {}, None)])
def test_a_new_endpoint_has_no_virtual_router_of_a_plane_on_its_network(theirs, mine, number):
    """The machines of both would hear each other: none, or two at once, would hold an address."""
    routers = [dict({"owner": "the plane of bastion", "number": 10}, **theirs)]
    known = facts(routers=virtual_router.others_of(routers))
    found = [line.actual for line in problems(known, networks=WIDE, endpoint=dict(HELD, **mine))
             if line.field == "endpoint.virtual_router_id"]
    assert found == ([f"{number}, which the plane of bastion has for its address "
                      f"{theirs['address'].partition('/')[0]} on the same network"] if number else [])


@pytest.mark.parametrize(("theirs", "holder", "is_found"), [
    ("198.18.0.10/23", "keepalived", True), ("198.18.0.10", "kube-vip", True), ("198.18.0.11/23", "keepalived", False),
    # A load balancer may run on the machines of the plane.
    ("198.18.0.10/23", "none", False)])
def test_a_new_endpoint_is_no_address_that_the_machines_of_a_plane_hold(theirs, holder, is_found):
    known = facts(routers=virtual_router.others_of(
        [{"owner": "the plane of bastion", "number": 51, "address": theirs}]))
    found = [line for line in problems(known, networks=WIDE, endpoint=dict(HELD, holder=holder))
             if line.field == "endpoint.host"]
    assert [(line.actual, line.expected) for line in found] == ([
        ("198.18.0.10, which the plane of bastion holds", "an address of its own")] if is_found else [])


def test_a_cluster_that_has_its_virtual_router_already_keeps_it():
    objects = existing()
    objects["KubeadmControlPlane"] = [plane_of("c1"), plane_of("c2", host="198.18.1.10")]
    known = facts(objects, routers=virtual_router.others_of(
        [{"owner": "the plane of bastion", "address": "198.18.1.2/23", "number": 10}]))
    found = cluster_preflight.preflight_problems(described(networks=WIDE, endpoint=HELD), known)
    assert not [line for line in found if line.field == "endpoint.virtual_router_id"]


@pytest.mark.parametrize("content", [
    None, 7, "", "virtual_router_id 10", "virtual_router_id 10\nvirtual_ipaddress { x/1",
    "virtual_router_id 10\n virtual_ipaddress {\n 1.2/24\n}"])
def test_a_file_of_somebody_elses_keepalived_is_not_compared(content):
    plane = plane_of("c2", host="198.18.1.10")
    plane["spec"]["kubeadmConfigSpec"]["files"] = ["x", {"path": "/etc/keepalived/keepalived.conf", "content": content}]
    assert problems(facts({"KubeadmControlPlane": [plane]}), networks=WIDE, endpoint=HELD) == []


def test_needs_hold_nothing_but_what_others_may_take_too():
    params = dict(copy.deepcopy(PARAMS), host_selector={"rack": "r1"}, files=[{"path": "/a", "content": "hidden"}],
                  workers={"one": {"replicas": 2, "host_selector": {"size": "s"}}, "two": {"attached_networks": []}})
    needs = cluster_needs.needs(params)
    assert needs == {"name": "c1", "namespace": "metal3", "endpoint": {"host": "198.18.0.10", "port": 6443},
                     "own_pools": [{"name": "c1-prov", "ranges": [{"start": "198.18.0.20", "end": "198.18.0.29"}]}],
                     "groups": [
        {"role": "control-plane", "name": "control-plane", "host_selector": {"rack": "r1"}, "pools": ["c1-prov"]},
        {"role": "worker", "name": "one", "replicas": 2, "host_selector": {"rack": "r1", "size": "s"},
         "pools": ["c1-prov"]},
        {"role": "worker", "name": "two", "host_selector": {"rack": "r1"}, "pools": []}]}
    assert cluster_needs.needs(dict(params, workers={"one": {"replics": 2}})) is None
    assert ArgumentSpecValidator(cluster_needs.needs_options()).validate(needs).error_messages == []


@pytest.mark.parametrize("least, wanted", [(1, 0), (2, 1), (9, 4)])
def test_what_an_autoscaler_asks_for_beyond_its_fewest_is_no_reason_to_refuse(least, wanted):
    objects = existing()
    objects["MachineDeployment"][0]["spec"]["replicas"] = 5
    workers = {"one": {"autoscaler": {"min_size": least, "max_size": 9}}}
    group = next(item for item in described(workers=workers).groups if item.name == "one")
    assert cluster_preflight.hosts_wanted(group, facts(objects).snapshot) == wanted


@pytest.mark.parametrize("selector, wanted", [({}, 0), ({"rack": "elsewhere"}, 1)])
def test_the_host_of_a_machine_that_leaves_will_be_free(selector, wanted):
    objects = existing()
    objects["Machine"][0]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    workers = {"one": {"replicas": 1, "host_selector": selector}}
    group = next(item for item in described(workers=workers).groups if item.name == "one")
    assert cluster_preflight.hosts_wanted(group, facts(objects).snapshot) == wanted


def test_a_cluster_keeps_its_endpoint_and_is_upgraded_step_by_step():
    assert "for a cluster keeps its endpoint" in str(problems(facts(existing()), endpoint={"host": "198.18.0.11"})[0])
    assert "does not downgrade" in str(problems(facts(existing()), kubernetes_version="v1.34.0")[0])


def test_a_rollout_without_a_spare_host_is_warned_of():
    busy = [dict(host("a"), spec={"consumerRef": {"kind": "Metal3Machine", "name": "w"}})]
    warnings = cluster_preflight.rollout_warnings(described(), facts(hosts=busy), ["c1-one"])
    assert len(warnings) == 1 and "c1-one makes a new machine before it takes an old one away" in warnings[0]
    assert cluster_preflight.rollout_warnings(described(), facts(), ["c1-one"]) == []
    assert cluster_preflight.rollout_warnings(described(), facts(hosts=busy), []) == []


@pytest.mark.parametrize("last, changes, words", [
    (1, {}, "c1-one makes 1 new machine before it takes an old one away, and pool shared has 0 free addresses, of 1 "
     "that are needed"),
    (2, {}, None), (2, {"max_surge": 2}, "pool shared has 1 free address, of 2 that are needed"),
    (1, {"max_surge": 0, "max_unavailable": 1}, None), (1, {"attached_networks": []}, None)])
def test_a_rollout_without_a_spare_address_is_warned_of(last, changes, words):
    """Also of a pool that other clusters take addresses from."""
    taken = [dict(copy.deepcopy(ADDRESS), metadata={"name": f"x{number}"}) for number in range(2)]
    for number, item in enumerate(taken):
        item["spec"].update(address=f"198.18.0.10{number}", pool={"name": "shared"}, claim={"name": f"c{number}"})
    shared = pool("shared", ranges=[{"start": "198.18.0.100", "end": f"198.18.0.10{last}"}])
    description = described(networks=SHARED, control_plane={"attached_networks": []},
                            workers={"one": dict({"replicas": 1}, **changes)})
    known = facts(existing(), pools={"shared": shared}, addresses=taken)
    found = cluster_preflight.rollout_warnings(description, known, ["c1-one"])
    assert [words in line for line in found] == ([True] if words else [])
    assert cluster_preflight.rollout_warnings(description, known, ["c1-control-plane"]) == []


def test_addresses_of_a_clusters_own_pool_that_others_have_are_not_spare():
    taken = [dict(copy.deepcopy(ADDRESS), metadata={"name": f"x{at}"}) for at in range(9)]
    for at, item in enumerate(taken):
        item["spec"].update(address=f"198.18.0.{20 + at}", pool={"name": "c1-prov"}, claim={"name": f"gone-{at}"})
    own = pool("c1-prov", ranges=[{"start": "198.18.0.20", "end": "198.18.0.29"}])
    known = facts(existing(), pools={"c1-prov": own}, addresses=taken)
    # Its control plane machine has none yet.
    line, = cluster_preflight.rollout_warnings(described(), known, ["c1-one"])
    assert "pool c1-prov has 1 free address, of 2 that are needed" in line


@pytest.mark.parametrize("version, refused", [("v1.34.2", True), ("v1.35.1", False)])
def test_a_control_plane_machine_that_an_upgrade_has_not_reached_is_upgraded_first(version, refused):
    """Cluster API looks at the version that the KubeadmControlPlane says."""
    there = existing()
    there["Machine"].append({"kind": "Machine", "spec": {"infrastructureRef": {"name": "p"}, "version": version},
                             "metadata": {"name": "p", "labels": {"cluster.x-k8s.io/cluster-name": "c1",
                                                                  "cluster.x-k8s.io/control-plane": ""}}})
    lines = [str(line) for line in problems(facts(there), kubernetes_version="v1.36.1")]
    found = [line for line in lines if "kubernetes_version" in line]
    assert ["after v1.34.2, the oldest version of Machine p" in line for line in found] == ([True] if refused else [])
