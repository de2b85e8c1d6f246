# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that were free when a backup was taken and are nodes since."""
from __future__ import annotations

import pytest
from fakes.planes import obj

from ansible_collections.metal3.baremetal.plugins.module_utils._move.nodes import since as nodes_since
from ansible_collections.metal3.baremetal.plugins.module_utils._move.nodes.since import NodeNow

BEFORE, TAKEN, AFTER = "2026-11-23T11:00:00Z", "2026-11-23T12:00:00Z", "2026-11-23T13:00:00Z"
INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io/v1beta2"
USED = NodeNow(BEFORE, "metal3://metal3/used/m3")


def host(name, consumer=None):
    reference = {"kind": "Metal3Machine", "name": consumer} if consumer else None
    return obj("metal3.io/v1alpha1", "BareMetalHost", name, spec={"consumerRef": reference})


def backup(node="n", cluster="c"):
    """A cluster with one machine, of whose host it is a Node, and two free hosts."""
    machine = obj("cluster.x-k8s.io/v1beta2", "Machine", "m", spec={"clusterName": cluster},
                  status={"nodeRef": {"name": node} if node else None})
    return [host("used", "m3"), host("free"), host("other"), machine,
            obj("cluster.x-k8s.io/v1beta2", "Cluster", cluster, spec={}),
            obj(INFRASTRUCTURE, "Metal3Machine", "m3", ("Machine", "m"), spec={}),
            obj("metal3.io/v1alpha1", "HardwareData", "free", spec={"hardware": {"nics": [
                {"mac": "00:5c:52:31:3a:02", "ip": "192.0.2.42"}, {"mac": "00:5c:52:31:3a:03"}]}})]


def found(nodes, objects=None, present=()):
    return nodes_since.since(objects or backup(), {"c": nodes}, TAKEN, present)


def test_nothing_has_become_of_hosts_whose_cluster_is_as_it_was():
    result = found({"n": USED})
    assert result.joined == {} and result.unknown == "" and result.members["used"].joined_at == BEFORE


@pytest.mark.parametrize("provider_id", ["", "metal3://metal3/used/m3"])
def test_whether_a_node_that_has_joined_again_is_linked_is_known(provider_id):
    assert found({"n": NodeNow(AFTER, provider_id)}).members["used"].is_linked is bool(provider_id)


@pytest.mark.parametrize("node", [
    NodeNow(AFTER, "metal3://metal3/free/m4"), NodeNow(AFTER, "metal3://uid-BareMetalHost-free"),
    NodeNow(AFTER, "", "uid-BareMetalHost-free"), NodeNow(AFTER, "metal3://metal3/free/m4", "uid-BareMetalHost-other"),
    # The clocks of two machines differ.
    NodeNow(BEFORE, "metal3://metal3/free/m4")])
def test_a_host_that_has_become_a_node_since_is_named_by_it(node):
    result = found({"n": USED, "new": node})
    assert result.joined == {
        "free": "it is the Node new of the cluster c by now, which it was not when the backup was taken"}
    assert result.unknown == ""


def test_a_node_whose_machine_was_replaced_on_another_host_is_found_by_its_host():
    """Names of Nodes may be numbers that go on to the next machine."""
    result = found({"n": NodeNow(AFTER, "metal3://metal3/free/m4")})
    assert list(result.joined) == ["free"] and result.members["used"].joined_at == AFTER


def test_a_host_that_is_the_node_of_another_machine_by_now_is_named():
    assert list(found({"n2": NodeNow(AFTER, "metal3://metal3/used/m5")}).joined) == ["used"]


@pytest.mark.parametrize("provider, joined", [("metal3://metal3/used/m3", []), ("metal3://metal3/used/m9", ["used"])])
def test_a_machine_that_had_not_named_its_node_yet_is_the_same_one(provider, joined):
    assert list(found({"n": NodeNow(AFTER, provider)}, backup(node=None)).joined) == joined


@pytest.mark.parametrize("node, words", [
    (NodeNow(AFTER), "the Node new of the cluster c has joined since (2026-11-23T13:00:00Z) and does not say on which"),
    (NodeNow(AFTER, "metal3://metal3/bought-since/m4"), "has the providerID metal3://metal3/bought-since/m4, of no"),
    (NodeNow(AFTER, "k3s://new"), "has the providerID k3s://new"), (NodeNow(""), "does not say on which host"),
    (NodeNow(AFTER, "metal3://a/b/c/d", "x"), "of no host of the backup")])
def test_a_node_that_names_no_host_of_the_backup_may_be_on_any_that_was_free(node, words):
    result = found({"n": USED, "new": node})
    assert result.joined == {} and words in result.unknown


def test_a_node_that_was_there_before_is_on_none_that_was_free():
    assert found({"n": USED, "old": NodeNow(BEFORE)}).unknown == ""


def test_an_address_names_a_host_and_clears_no_other_one():
    """DHCP may have lent it to another server since."""
    result = found({"n": USED, "new": NodeNow(AFTER, addresses=frozenset(("192.0.2.42", "192.0.2.9")))})
    assert list(result.joined) == ["free"] and "has the address 192.0.2.42" in result.joined["free"]
    assert "the Node new" in result.unknown


def test_a_cluster_that_does_not_answer_may_have_any_that_was_free():
    assert "the API server of the cluster c does not answer" in found(None).unknown
    assert "the API server of the cluster c does not answer" in nodes_since.since(backup(), {}, TAKEN).unknown


def test_a_node_whose_machine_the_plane_has_is_on_the_host_that_it_says():
    present = [host("third", "m7"), obj("cluster.x-k8s.io/v1beta2", "Machine", "m6", spec={"clusterName": "c"}, status={
        "nodeRef": {"name": "new"}}), obj(INFRASTRUCTURE, "Metal3Machine", "m7", ("Machine", "m6"), spec={})]
    assert found({"n": USED, "new": NodeNow(AFTER)}, present=present).unknown == ""
    assert found({"n": USED, "newer": NodeNow(AFTER)}, present=present).unknown


def test_clusters_that_the_plane_has_got_since_count():
    nodes = {"c": {"n": USED}, "later": {"x": NodeNow(AFTER, "metal3://metal3/free/m4")}, "silent": None}
    result = nodes_since.since(backup(), nodes, TAKEN)
    assert list(result.joined) == ["free"] and result.unknown == ""


@pytest.mark.parametrize("node", [
    {}, {"spec": {"providerID": 7}}, {"spec": "x", "status": {"addresses": "x"}},
    {"status": {"addresses": [{"type": 1}]}}])
def test_what_a_cluster_says_may_have_any_shape(node):
    assert nodes_since.node_now(dict(node, metadata={"name": "n", "creationTimestamp": AFTER})) == NodeNow(AFTER)


def test_a_node_is_read_as_its_api_server_returns_it():
    node = {"metadata": {"name": "n", "creationTimestamp": AFTER, "labels": {"metal3.io/uuid": "u"}},
            "spec": {"providerID": "metal3://metal3/h/m"}, "status": {"addresses": [
                {"type": "Hostname", "address": "n"}, {"type": "InternalIP", "address": "192.0.2.9"}]}}
    assert nodes_since.node_now(node) == NodeNow(AFTER, "metal3://metal3/h/m", "u", frozenset(("192.0.2.9",)))
