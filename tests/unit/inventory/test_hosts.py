# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""BareMetalHosts, Machines and nodes as inventory hosts."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.documents import object_shape
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import table as host_table
from ansible_collections.metal3.baremetal.plugins.module_utils._inventory import hosts as inventory_hosts

UID = "2fe169ef-3757-415f-b705-10ed66a9a541"


def bmh(name="a", namespace="metal3", state="available", consumer=None, labels=None):
    spec = {"online": True, "consumerRef": consumer} if consumer else {"online": True}
    return {"metadata": {"name": name, "namespace": namespace, "labels": labels or {}}, "spec": spec,
            "status": {"provisioning": {"state": state, "ID": UID}, "hardware": {"nics": [
                {"name": "eno1", "mac": "00:5c:52:00:00:10", "ip": "192.0.2.5"},
                {"name": "eno1", "mac": "00:5c:52:00:00:10", "ip": "2001:db8::5"},
                {"name": "eno2", "mac": "00:5c:52:00:00:11"},
                {"name": "eno3", "mac": "00:5c:52:00:00:12", "ip": "192.0.2.5"}]}}}


def machine(**status):
    return {
        "metadata": {"name": "c-1", "namespace": "metal3", "labels": {
            "cluster.x-k8s.io/cluster-name": "c", "cluster.x-k8s.io/control-plane": ""}},
        "spec": {"clusterName": "c", "version": "v1.35.4", "providerID": "metal3://metal3/a/c-1",
                 "infrastructureRef": {"kind": "Metal3Machine", "name": "c-1-infra"}},
        "status": status}


def test_a_host_has_the_facts_of_the_module_and_its_addresses_once():
    facts = inventory_hosts.host_facts(bmh())
    summary = host_table.summary(bmh())
    assert summary["name"] and dict((key, facts[key]) for key in summary) == summary
    assert (facts["kind"], facts["addresses"]) == ("host", ["192.0.2.5", "2001:db8::5"])


def test_the_cluster_is_named_while_a_machine_has_the_host():
    labels = {"cluster.x-k8s.io/cluster-name": "c"}
    used = bmh(consumer={"kind": "Metal3Machine", "namespace": "metal3", "name": "c-1"}, labels=labels)
    assert inventory_hosts.host_facts(used)["cluster"] == "c"
    # CAPM3 was stopped before it took the label away.
    assert inventory_hosts.host_facts(bmh(labels=labels))["cluster"] == ""


def test_hosts_whose_cluster_the_machine_must_tell():
    consumer = {"kind": "Metal3Machine", "namespace": "metal3", "name": "c-1"}
    hosts = [inventory_hosts.host_facts(item) for item in (
        bmh("labelled", consumer=consumer, labels={"cluster.x-k8s.io/cluster-name": "c"}), bmh("free"),
        bmh("anew", consumer=dict(consumer, name="c-2")), bmh("other", consumer=dict(consumer, kind="HostClaim")))]
    assert inventory_hosts.without_cluster(hosts) == {("metal3", "c-2"): hosts[2]}


def test_hosts_that_nobody_has_looked_at_are_new():
    fresh = {"metadata": {"name": "n"}, "spec": {}}
    assert inventory_hosts.in_states([fresh, bmh()], ["new"]) == [fresh]
    assert inventory_hosts.in_states([fresh, bmh()], []) == [fresh, bmh()]
    assert inventory_hosts.host_facts(fresh)["addresses"] == []


def test_a_machine_is_listed_with_its_host_and_addresses():
    infra = {("metal3", "c-1-infra"): {"metadata": {"annotations": {"metal3.io/BareMetalHost": "metal3/a"}}}}
    facts = inventory_hosts.machine_facts(machine(
        phase="Running", nodeRef={"name": "node-1"}, conditions=[{"type": "Ready", "status": "True"}],
        addresses=[{"type": "Hostname", "address": "node-1"}, {"type": "InternalDNS", "address": "node-1.x"},
                   {"type": "InternalIP", "address": "192.0.2.5"}, {"type": "InternalIP", "address": "192.0.2.5"}]),
        infra)
    assert (facts["host_namespace"], facts["host"], facts["node"], facts["hostname"]) == (
        "metal3", "a", "node-1", "node-1")
    assert (facts["addresses"], facts["cluster"], facts["control_plane"], facts["ready"]) == (
        ["192.0.2.5"], "c", True, True)


def test_a_machine_without_a_host_yet():
    facts = inventory_hosts.machine_facts(machine(), {})
    assert (facts["host"], facts["node"], facts["addresses"], facts["ready"]) == ("", "", [], False)


def test_a_node_belongs_to_the_host_that_it_was_made_for():
    hosts = [inventory_hosts.host_facts(bmh())]
    nodes = [inventory_hosts.node_facts({"uuid": UID, "name": "metal3~a", "power_state": "power on"}),
             inventory_hosts.node_facts({"uuid": "other", "name": None})]
    left = inventory_hosts.with_nodes(hosts, nodes)
    assert hosts[0]["node"]["power_state"] == "power on"
    assert [(node["name"], node["host"]) for node in left] == [("other", "")]
    assert inventory_hosts.owner_of({"name": "metal3~a"}) == ("metal3", "a")


def test_nothing_that_could_hold_a_secret_is_asked_of_ironic():
    assert not {"driver_info", "driver_internal_info", "instance_info", "extra"} & set(inventory_hosts.NODE_FIELDS)


def test_names_are_sorted_and_of_two_namespaces_distinguished():
    facts = [inventory_hosts.host_facts(bmh("b")), inventory_hosts.host_facts(bmh("a")),
             inventory_hosts.host_facts(bmh("a", "other"))]
    assert [entry.name for entry in inventory_hosts.entries(facts[:2])] == ["a", "b"]
    with pytest.raises(inventory_hosts.NameClash, match="a: found host metal3/a and host other/a"):
        inventory_hosts.entries(facts)
    assert [entry.name for entry in inventory_hosts.entries(facts, "name_namespace")] == [
        "a.metal3", "a.other", "b.metal3"]


def test_a_namespace_does_not_steer_the_terminal():
    """Ansible prints why it could not read an inventory as it is."""
    facts = [inventory_hosts.host_facts(bmh("a")), inventory_hosts.host_facts(bmh("a", "other\x1b[2J"))]
    with pytest.raises(inventory_hosts.NameClash, match=r"a: found host metal3/a and host other\\x1b\[2J/a, expected"):
        inventory_hosts.entries(facts)


@pytest.mark.parametrize("zone", ["%1", "%1 -oProxyCommand=id", "%"])
def test_an_address_with_a_zone_is_none(zone):
    address = "fe80::1" + zone
    assert object_shape.is_address("fe80::1") and not object_shape.is_address(address)
    status = {"hardware": {"nics": [{"ip": "fe80::1"}, {"ip": address}]}}
    facts = inventory_hosts.host_facts(
        {"metadata": {"name": "h1", "namespace": "metal3"}, "spec": {}, "status": status})
    assert facts["addresses"] == ["fe80::1"]
