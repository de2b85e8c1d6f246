# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions are read of whatever others have written in their place."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.manifests import resource_set
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd import control_plane
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import finalizers
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects.conditions import (
    condition,
    conditions,
    is_true,
    older_conditions,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.pods import short_pod
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import operated, renewal
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import provider

READY = {"type": "Ready", "status": "True", "reason": "Ok", "message": "well", "lastTransitionTime":
         "2026-11-28T10:00:00Z", "observedGeneration": 2, "severity": "Info"}
NO_STATUS = [None, "text", 5, True, [READY]]
NO_LIST = [None, "Ready", 5, True, READY]
NO_CONDITION = [None, "Ready", 5, [READY], True]


def with_status(status):
    return {"apiVersion": "v1", "kind": "Cluster", "status": status,
            "metadata": {"name": "c1", "generation": 1, "deletionTimestamp": "2026-11-28T10:00:00Z"}}


def objects_without():
    """Return objects of which none has a condition that can be read."""
    return [None, {}, *map(with_status, NO_STATUS), *(with_status({"conditions": value}) for value in NO_LIST),
            with_status({"conditions": NO_CONDITION}), with_status({"conditions": [{"type": ["Ready"], "status": {}}]})]


@pytest.mark.parametrize("obj", objects_without())
def test_what_is_no_condition_is_none(obj):
    assert condition(obj, "Ready") == {}
    assert not is_true(obj, "Ready")
    assert older_conditions(obj) == []
    assert all(entry.get("type") is None for entry in conditions(obj))


def test_conditions_beside_others_texts_are_read():
    obj = with_status({"conditions": [*NO_CONDITION, {"type": 5}, READY],
                       "deprecated": {"v1beta1": {"conditions": ["Ready", READY]}}})
    assert condition(obj, "Ready") == READY
    assert is_true(obj, "Ready")
    assert conditions(obj) == [{}, READY]
    assert older_conditions(obj) == [READY]


@pytest.mark.parametrize("deprecated", [
    None, "v1beta1", [READY], {"v1beta1": [READY]}, {"v1beta1": {"conditions": {}}}])
def test_no_older_conditions(deprecated):
    assert older_conditions(with_status({"deprecated": deprecated})) == []


@pytest.mark.parametrize("field", ["status", "reason", "message", "lastTransitionTime", "observedGeneration"])
@pytest.mark.parametrize("value", [None, ["True"], {"True": 1}, True])
def test_a_field_of_another_type_is_left_out(field, value):
    found = condition(with_status({"conditions": [dict(READY, **{field: value})]}), "Ready")
    assert found == {key: READY[key] for key in READY if key != field}


@pytest.mark.parametrize("obj", objects_without()[1:])
def test_what_rests_on_conditions_says_that_there_are_none(obj):
    """All of them read status by conditions.py; what else they need is there."""
    obj = dict(with_status(None), **obj)
    namespace = dict(obj, kind="Namespace")
    assert finalizers.deletion_of(namespace) == "being deleted since 2026-11-28T10:00:00Z, held by nothing"
    assert resource_set.complaint(obj) == ""
    assert not control_plane.is_initialized(obj)
    assert [entry for entry in control_plane.uninitialized(obj, "now")["status"]["conditions"] if "type" in entry] == []
    assert not operated.not_ready(obj)
    assert not operated.failing(obj)
    assert operated.verdict_on(obj, 0, 0).cause == "the operator has not looked at it"
    assert [entry for entry in renewal.due(obj, "now")["status"]["conditions"] if "type" in entry] == [{
        "type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "lastTransitionTime": "now",
        "message": "Certificate re-issuance manually triggered", "observedGeneration": 1}]
    assert provider.establishment_fault(obj) == "no conditions yet"


@pytest.mark.parametrize("entries", [*NO_LIST, NO_CONDITION, [{"status": "False", "message": ["no node"]}]])
def test_a_pod_without_readable_conditions_is_named_by_its_phase(entries):
    assert short_pod.waits_for({"status": {"phase": "Pending", "conditions": entries}}) == "Pending"


@pytest.mark.parametrize("name", [["c1-manifests-applyonce"], {}, None, 5])
def test_a_binding_of_another_form_has_applied_nothing(name):
    desired = resource_set.objects("metal3", "c1", "ApplyOnce", [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}])
    bundle = f"ConfigMap {desired[0]['metadata']['name']}"
    applied = [{"kind": name, "name": name, "applied": True}]
    binding = {"spec": {"bindings": [{"clusterResourceSetName": name, "resources": []}, {
        "clusterResourceSetName": "c1-manifests-applyonce", "resources": applied}]}}
    assert resource_set.unapplied(binding, desired) == [bundle]
