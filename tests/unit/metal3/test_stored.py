# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as a plane of v1beta1 has them, in the shape of v1beta2, and back.

Upstream's own conversion judges it in ``tests/lab/test_plane_v1beta1.py``; here is what differs from it on purpose.
"""
from __future__ import annotations

import copy
import pathlib

import pytest
import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.conversion import stored

GOLDEN = pathlib.Path(__file__).parent.parent / "cluster" / "golden"
CORE, METAL3 = "cluster.x-k8s.io/v1beta1", "infrastructure.cluster.x-k8s.io/v1beta1"
ODD = (None, 0, True, "x", [], ["x"], [{}], {1: {2: None}}, {"conditions": "x", "v1beta2": [1]})


def obj(kind, status, spec=None, api_version=CORE):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec or {}, "status": status}


def condition(kind, status="True", **more):
    return dict({"type": kind, "status": status}, **more)


def status_of(*arguments, **options):
    return stored.newer(obj(*arguments, **options))["status"]


def test_a_control_plane_is_initialized_before_its_first_node_is_ready():
    """Cluster API 1.10 sets controlPlaneReady with the first Ready Node, which waits for the network add-on."""
    found = status_of("Cluster", {"controlPlaneReady": False, "conditions": [condition("ControlPlaneInitialized")]})
    assert found["initialization"] == {"controlPlaneInitialized": True}
    assert "initialization" not in status_of("Cluster", {"conditions": [condition("ControlPlaneInitialized", "False")]})
    assert status_of("Cluster", {"controlPlaneReady": True})["initialization"] == {"controlPlaneInitialized": True}


def test_conditions_of_v1beta2_win_over_those_of_before():
    found = status_of("Machine", {"conditions": [condition("Ready", "False")], "v1beta2": {
        "conditions": [condition("Ready")]}})
    assert found == {"conditions": [condition("Ready")],
                     "deprecated": {"v1beta1": {"conditions": [condition("Ready", "False")]}}}


def test_a_provider_without_conditions_of_v1beta2_has_those_of_before_under_the_newer_names():
    old = [condition("AssociateBMH", "False", severity="Info", reason="Waiting"), condition("Ready", "False")]
    found = status_of("Metal3Machine", {"conditions": old}, api_version=METAL3)
    assert found["conditions"] == [condition("AssociateBareMetalHost", "False", reason="Waiting"),
                                   condition("Ready", "False")]
    assert found["deprecated"]["v1beta1"]["conditions"] == old
    assert "conditions" not in status_of("Machine", {"conditions": old})


def test_numbers_of_machines_are_those_that_v1beta2_means():
    found = status_of("MachineDeployment", {
        "replicas": 3, "readyReplicas": 3, "updatedReplicas": 3, "unavailableReplicas": 0, "availableReplicas": 3,
        "v1beta2": {"readyReplicas": 1, "upToDateReplicas": 2, "availableReplicas": 0}})
    assert found == {"replicas": 3, "readyReplicas": 1, "upToDateReplicas": 2, "availableReplicas": 0, "deprecated": {
        "v1beta1": {"readyReplicas": 3, "updatedReplicas": 3, "unavailableReplicas": 0, "availableReplicas": 3}}}


def test_a_kind_without_rules_stays_as_it_is():
    given = obj("ClusterClass", {"conditions": []}, {"infrastructure": {"ref": {}}})
    assert stored.newer(copy.deepcopy(given)) == given


def test_what_is_read_in_the_newer_version_is_not_converted():
    given = obj("Machine", {"nodeRef": {"name": "n"}}, api_version="cluster.x-k8s.io/v1beta2")
    assert stored.newer(copy.deepcopy(given)) == given


@pytest.mark.parametrize("name", ["full", "small", "standalone", "upstream"])
def test_what_is_written_is_read_as_it_was_described(name):
    text = (GOLDEN / name / "objects.manifest").read_text(encoding="utf-8")
    items = [item for item in yaml.safe_load_all(text)
             if item["apiVersion"].endswith(".x-k8s.io/v1beta2")]
    assert len(items) > 6
    for item in items:
        written = stored.older(item, "v1beta1")
        assert written["apiVersion"].endswith("/v1beta1")
        assert meant(stored.newer(written)["spec"]) == meant(item["spec"]), item["kind"]


def meant(value):
    """Return a value without what is the same as nothing in one of the versions."""
    if isinstance(value, dict):
        found = dict((key, meant(entry)) for key, entry in value.items())
        return dict((key, entry) for key, entry in found.items() if entry not in (False, 0, "", {}, [])
                    and key not in ("ipAddressFromIPPool", "controlPlane"))
    return [meant(entry) for entry in value] if isinstance(value, list) else value


def test_selectors_are_written_with_the_values_that_the_older_definition_requires():
    item = obj("Metal3MachineTemplate", {}, {"template": {"spec": {"hostSelector": {"matchExpressions": [
        {"key": "gpu", "operator": "Exists"}]}}}}, "infrastructure.cluster.x-k8s.io/v1beta2")
    found = stored.older(item, "v1beta1")
    [expression] = found["spec"]["template"]["spec"]["hostSelector"]["matchExpressions"]
    assert expression["values"] == []


@pytest.mark.parametrize("kind, spec", [("ClusterClass", {}), ("Cluster", {"topology": {"version": "v1.33.1"}}),
                                        ("Metal3Data", {})])
def test_what_is_not_written_in_the_older_version_is_refused(kind, spec):
    with pytest.raises(ValueError, match="only written in v1beta2"):
        stored.older(obj(kind, {}, spec), "v1beta1")


@pytest.mark.parametrize("kind", sorted(stored.READ))
def test_odd_content_is_read_without_an_error(kind):
    """What a controller or a person has written is data: nothing of it ends a run."""
    for odd in ODD:
        for part in ("spec", "status"):
            given = obj(kind, {})
            given[part] = dict.fromkeys((
                "conditions", "v1beta2", "nodeRef", "failureDomains", "template", "topology", "renderedData", "indexes",
                "lastRemediation", "machineTemplate", "kubeadmConfigSpec", "bootstrap", "strategy",
                "hostSelector"), odd)
            stored.newer(copy.deepcopy(given))
