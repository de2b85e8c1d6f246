# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects by which Cluster API brings manifests into a cluster."""
from __future__ import annotations

import base64
import copy
import json

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.manifests import resource_set

CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "own"}, "data": {"k": "eA=="}}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "own"}}
LABELS = {"cluster.x-k8s.io/cluster-name": "prod", "app.kubernetes.io/managed-by": "metal3.baremetal",
          "metal3.baremetal/resource-set": "prod"}


def made(manifests, strategy="Reconcile"):
    return resource_set.objects("metal3", "prod", strategy, manifests)


def contents(bundle):
    """Return the objects of a ConfigMap or Secret in the order in which Cluster API applies them."""
    texts = [bundle["data"][key] for key in sorted(bundle["data"])]
    return [json.loads(base64.b64decode(text) if bundle["kind"] == "Secret" else text) for text in texts]


def test_the_objects_are_those_that_cluster_api_takes():
    config, secret, found = made([CONFIG, SECRET, NAMESPACE])
    assert [item["kind"] for item in (config, secret, found)] == ["ConfigMap", "Secret", "ClusterResourceSet"]
    assert contents(config) == [NAMESPACE, dict(CONFIG, metadata={"name": "c", "namespace": "default"})]
    assert contents(secret) == [SECRET] and secret["type"] == "addons.cluster.x-k8s.io/resource-set"
    # Nothing of a Secret is where those who may read ConfigMaps see it.
    assert "eA==" not in json.dumps(config)
    assert found == {
        "apiVersion": "addons.cluster.x-k8s.io/v1beta2", "kind": "ClusterResourceSet",
        "metadata": {"name": "prod-manifests-reconcile", "namespace": "metal3", "labels": LABELS},
        "spec": {"clusterSelector": {"matchLabels": {"cluster.x-k8s.io/cluster-name": "prod"}}, "strategy": "Reconcile",
                 "resources": [{"kind": "ConfigMap", "name": config["metadata"]["name"]},
                               {"kind": "Secret", "name": secret["metadata"]["name"]}]}}
    assert config["metadata"] == {"name": config["metadata"]["name"], "namespace": "metal3", "labels": LABELS}


def test_the_same_content_has_the_same_name_and_another_strategy_another():
    first, again = made([CONFIG, SECRET]), made(copy.deepcopy([CONFIG, SECRET]))
    assert first == again
    changed = made([dict(CONFIG, data={"a": "c"}), SECRET])
    assert [item["metadata"]["name"] for item in changed[1:]] == [item["metadata"]["name"] for item in first[1:]]
    assert changed[0]["metadata"]["name"] != first[0]["metadata"]["name"]
    assert made([CONFIG], "ApplyOnce")[-1]["metadata"]["name"] == "prod-manifests-applyonce"


@pytest.mark.parametrize(("strategy", "manifests"), [("none", [CONFIG]), ("Reconcile", [])])
def test_without_a_strategy_or_manifests_there_is_nothing(strategy, manifests):
    assert made(manifests, strategy) == []


@pytest.mark.parametrize(("item", "namespace"), [
    ({"apiVersion": "apps/v1", "kind": "DaemonSet"}, "default"), ({"apiVersion": "batch/v1", "kind": "Job"}, "default"),
    ({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}, None),
    ({"apiVersion": "example.org/v1", "kind": "Widget"}, "default"),
    ({"apiVersion": "example.org/v1", "kind": "Wide"}, None), ({"apiVersion": "other.org/v1", "kind": "Widget"}, None),
    # Of another group than the kind of that name in a table.
    ({"apiVersion": "serving.example.org/v1", "kind": "Service"}, None)])
def test_what_names_no_namespace_and_is_in_one_goes_to_default(item, namespace):
    definitions = [{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                    "metadata": {"name": kind.lower()},
                    "spec": {"group": "example.org", "names": {"kind": kind}, "scope": scope}}
                   for kind, scope in (("Widget", "Namespaced"), ("Wide", "Cluster"))]
    found = [entry for bundle in made([dict(item, metadata={"name": "x"}), *definitions])[:-1]
             for entry in contents(bundle) if entry["metadata"]["name"] == "x"]
    assert [entry["metadata"].get("namespace") for entry in found] == [namespace]


def test_what_has_no_room_in_one_config_map_is_in_several_in_its_order():
    items = [dict(CONFIG, metadata={"name": f"c{number}"}, data={"a": "x" * 300 * 1024}) for number in range(5)]
    *bundles, found = made(items)
    assert [len(contents(bundle)) for bundle in bundles] == [2, 2, 1]
    assert [entry["metadata"]["name"] for bundle in bundles for entry in contents(bundle)] == [
        f"c{number}" for number in range(5)]
    assert [entry["name"] for entry in found["spec"]["resources"]] == [item["metadata"]["name"] for item in bundles]
    problem, = resource_set.problems("cluster metal3/prod", [dict(CONFIG, data={"a": "x" * 900 * 1024}), SECRET])
    assert problem.code == "manifest-too-large" and "ConfigMap c of" in problem.actual


def test_what_is_not_described_any_more_is_named_unless_it_goes():
    before, after = made([CONFIG, SECRET], "ApplyOnce"), made([CONFIG])
    kept = before[0]
    assert resource_set.undescribed(before, after) == before[1:]
    assert resource_set.undescribed(before, []) == before and kept in after
    going = dict(before[-1], metadata=dict(before[-1]["metadata"], deletionTimestamp="2026-11-28T10:00:00Z"))
    assert resource_set.undescribed([going], []) == []


def binding(desired, applied=True, owner=None):
    return {"spec": {"bindings": [{"clusterResourceSetName": owner or desired[-1]["metadata"]["name"], "resources": [
        {"kind": item["kind"], "name": item["metadata"]["name"], "applied": applied} for item in desired[:-1]]}]}}


def test_applied_is_what_the_binding_says_of_this_content():
    desired = made([CONFIG, SECRET])
    names = [f"{item['kind']} {item['metadata']['name']}" for item in desired[:-1]]
    assert resource_set.unapplied(binding(desired), desired) == []
    for found in (None, {}, {"spec": {"bindings": "x"}}, binding(desired, applied=False),
                  binding(desired, owner="prod-manifests-applyonce"), binding(made([NAMESPACE]), owner="x")):
        assert resource_set.unapplied(found, desired) == names
    assert resource_set.unapplied(binding(made([CONFIG])), desired) == names[1:]


@pytest.mark.parametrize(("conditions", "text"), [
    ([{"type": "ResourcesApplied", "status": "False", "message": "a\nb"}], "a b"),
    ([{"type": "ResourcesApplied", "status": "False", "reason": "NotApplied"}], "NotApplied"),
    ([{"type": "ResourcesApplied", "status": "True", "message": "a"}], ""), ([7], ""), (None, "")])
def test_what_cluster_api_complains_of(conditions, text):
    assert resource_set.complaint({"status": {"conditions": conditions}}) == text
    assert resource_set.complaint(None) == ""
