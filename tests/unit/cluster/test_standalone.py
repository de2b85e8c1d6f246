# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that nothing owns: made, kept as they were made, counted when they go."""
from __future__ import annotations

import pytest
from fakes.clusters import OTHER_IMAGE, Plane, run

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks.preflight import hosts_wanted
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks.validation import check_description
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.machines import actions
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render.objects import render
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.failures import failures
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import goals, tree
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.snapshot import Snapshot
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.steps import machine_steps
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError

DB = {"db": {"node_labels": {"example.org/use": "db"}}}
PARTS = ("Metal3Machine", "KubeadmConfig", "Machine")


@pytest.fixture
def plane():
    """A cluster with one standalone machine, as Cluster API has taken it up."""
    found = Plane()
    run(found, standalone_machines=DB)
    take_up(found, "c1-db")
    return found


def take_up(plane, name):
    """Do what Cluster API and CAPM3 do: owners, a host, a node."""
    for kind in ("Metal3Machine", "KubeadmConfig"):
        plane.objects[kind, name]["metadata"]["ownerReferences"] = [{"kind": "Machine", "name": name}]
    plane.add("metal3.io/v1alpha1", "BareMetalHost", "host-of-" + name, spec={
        "consumerRef": {"kind": "Metal3Machine", "name": name}, "image": {"url": "a"}})
    plane.objects["Machine", name]["status"] = {
        "nodeRef": {"name": name}, "conditions": [{"type": "Available", "status": "True"}]}


def snapshot(plane):
    objects = {}
    for (kind, _name), item in plane.objects.items():
        objects.setdefault(kind, []).append(item)
    return Snapshot(objects, "c1")


def described(**options):
    found, mistakes = cluster_description.read(dict({
        "name": "c1", "kubernetes_version": "v1.35.4", "endpoint": {"host": "198.18.0.10", "holder": "none"},
        "image": {"url": "https://x/a.raw", "checksum": "0" * 64}}, **options))
    assert mistakes == []
    return found


def test_it_is_previewed():
    plane = Plane()
    run(plane)
    result = run(plane, check_mode=True, standalone_machines=DB)
    assert result["changes"] == [{"owner": "c1-db", "kind": "Machine", "replicas_before": 0, "replicas_after": 1,
                                  "rolls": False, "reasons": [], "machines": []}]
    assert ("Machine", "c1-db") not in plane.objects


def test_it_is_made_with_what_it_refers_to(plane):
    machine = plane.objects["Machine", "c1-db"]
    assert machine["spec"]["infrastructureRef"]["name"] == machine["spec"]["bootstrap"]["configRef"]["name"] == "c1-db"
    assert all((kind, "c1-db") in plane.objects for kind in PARTS)
    data = plane.spec("Metal3Machine", "c1-db")["dataTemplate"]["name"]
    assert ("Metal3DataTemplate", data) in plane.objects
    assert "ownerReferences" not in machine["metadata"]


def test_a_second_run_changes_nothing_and_nothing_is_collected(plane):
    result = run(plane, standalone_machines=DB)
    assert result["changed"] is False and result["unused"] == [] and result["warnings"] == []


@pytest.mark.parametrize("change", [{"image": OTHER_IMAGE}, {"kubernetes_version": "v1.36.1"},
                                    {"standalone_machines": {"db": {"node_labels": {"example.org/use": "other"}}}}])
def test_another_description_is_a_warning_and_changes_no_machine(plane, change):
    before = dict((kind, plane.spec(kind, "c1-db")) for kind in PARTS)
    result = run(plane, **{"standalone_machines": DB, "confirm": "9", **change})
    assert dict((kind, plane.spec(kind, "c1-db")) for kind in PARTS) == before
    assert [line for line in result["warnings"] if "Machine c1-db was made of another description" in line]
    assert not [item for item in result["objects"] if item["name"].startswith("c1-db")]
    # Its data template is still in use.
    assert ("Metal3DataTemplate", before["Metal3Machine"]["dataTemplate"]["name"]) in plane.objects


@pytest.mark.parametrize("given", [{"db": {"state": "absent"}}, {}])
def test_it_goes_by_name_after_its_number_was_repeated(plane, given):
    with pytest.raises(RefusedError, match="expected 1, the number of machines") as refused:
        run(plane, standalone_machines=given)
    assert "Machine c1-db is deleted with its 1 machine: c1-db on host host-of-c1-db" in str(refused.value)
    assert ("Machine", "c1-db") in plane.objects
    result = run(plane, standalone_machines=given, confirm="1")
    assert result["removed"] == ["Machine c1-db"] and ("Machine", "c1-db") not in plane.objects
    assert result["losses"][0]["count"] == 1


def test_without_the_option_it_stays(plane):
    result = run(plane)
    assert result["changed"] is False and ("Machine", "c1-db") in plane.objects and result["unused"] == []


def test_without_prune_only_the_named_one_goes(plane):
    run(plane, standalone_machines={}, prune=False)
    assert ("Machine", "c1-db") in plane.objects
    run(plane, standalone_machines={"db": {"state": "absent"}}, prune=False, confirm="1")
    assert ("Machine", "c1-db") not in plane.objects


def test_what_a_killed_run_has_left_is_taken_up_or_away():
    plane = Plane()
    run(plane, standalone_machines=DB)
    del plane.objects["Machine", "c1-db"]
    result = run(plane, standalone_machines=DB)
    assert [item["kind"] for item in result["objects"]] == ["Machine"]
    del plane.objects["Machine", "c1-db"]
    result = run(plane, standalone_machines={})
    assert sorted(result["removed"]) == ["KubeadmConfig c1-db", "Metal3Machine c1-db"]


def test_machines_of_pools_are_not_taken_for_standalone_ones(plane):
    plane.add_members("c1-one", 2)
    assert run(plane, standalone_machines=DB)["removed"] == []
    found = snapshot(plane)
    assert [owner["metadata"]["name"] for owner in found.owners()][-1] == "c1-db"
    assert actions.problems("replace", ["c1-db"], found, "cluster metal3/c1")[0].hint.startswith("a standalone Machine")


def test_the_wait_and_the_tree_know_it(plane):
    found = snapshot(plane)
    step, = [step for step in machine_steps(found) if step["machine"] == "c1-db"]
    assert step["host"] == "host-of-c1-db" and step["owner"] == "c1-db" and step["role"] == "worker"
    assert "Machine c1-db" in " ".join(tree.lines(tree.tree(found)))
    machine = plane.objects["Machine", "c1-db"]
    assert goals.missing_of(found, "Machine", "c1-db", "available") is None
    machine["status"]["conditions"][0]["status"] = "False"
    assert goals.missing_of(found, "Machine", "c1-db", "available") == "Machine c1-db is not Available"
    assert goals.missing_of(found, "Machine", "c1-db", "nodes") is None
    del machine["status"]["nodeRef"]
    assert goals.missing_of(found, "Machine", "c1-db", "nodes") == "Machine c1-db is no node"
    machine["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert goals.missing_of(found, "Machine", "c1-db", "nodes") == "Machine c1-db is being deleted"
    # One that goes is not waited for as one that is yet to be made.
    assert len([step for step in machine_steps(found) if step["owner"] == "c1-db"]) == 1


def test_one_that_is_being_deleted_is_refused_unless_it_is_to_be_absent(plane):
    plane.objects["Machine", "c1-db"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    with pytest.raises(RefusedError, match="Machine metal3/c1-db: found an object that is being deleted since 2026"):
        run(plane, standalone_machines=DB)
    # Its number was confirmed by who has deleted it.
    gone = {"db": dict(DB["db"], state="absent")}
    assert run(plane, standalone_machines=gone, confirm="1")["warnings"] == []


def test_it_wants_a_host_until_it_has_one(plane):
    group = described(standalone_machines=DB).groups[-1]
    found = snapshot(plane)
    assert hosts_wanted(group, found) == 0
    del plane.objects["BareMetalHost", "host-of-c1-db"]
    assert hosts_wanted(group, snapshot(plane)) == 1
    del plane.objects["Machine", "c1-db"]
    assert hosts_wanted(group, snapshot(plane)) == 1


def test_what_is_for_owners_is_not_of_it_and_not_inherited():
    options = {"max_surge": 0, "node_reuse": True, "health_check": {}, "rollout_after": "2026-01-01T00:00:00Z",
               "control_plane": {"replicas": 3}, "standalone_machines": {"db": {}}}
    kinds = [item["kind"] for item in render(described(**options)) if item["metadata"]["name"].startswith("c1-db")]
    assert kinds == ["Metal3DataTemplate", "Metal3Machine", "KubeadmConfig", "Machine"]
    for option in ("replicas", "max_surge", "node_reuse", "health_check", "autoscaler", "machine_name_template"):
        mistakes = cluster_description.read({"name": "c1", "standalone_machines": {"db": {option: 1}}})[1]
        assert [item.field for item in mistakes] == [f"standalone_machines.db.{option}"]


@pytest.mark.parametrize("changes, field, text", [
    ({"workers": {"db": {"replicas": 1}}}, "standalone_machines.db", "the name of a pool of workers too"),
    ({"workers": {"db": {"state": "absent"}}}, "standalone_machines.db", "the name of a pool of workers too"),
    ({"standalone_machines": {"db": {"machine_labels": {"cluster.x-k8s.io/deployment-name": "c1-one"}}}},
     "standalone_machines.db.machine_labels", "deployment-name"),
    ({"standalone_machines": {"control-plane": {}}}, "standalone_machines.control-plane", "control-plane"),
    ({"standalone_machines": {"A_b": {}}}, "standalone_machines.A_b", "A_b"),
    ({"standalone_machines": {"db": {"failure_domain": "x"}}, "failure_domains": [{"name": "y"}]},
     "standalone_machines.db.failure_domain", "x")])
def test_mistakes_are_refused(changes, field, text):
    params = dict({"name": "c1", "kubernetes_version": "v1.35.4", "standalone_machines": DB,
                   "endpoint": {"host": "198.18.0.10", "holder": "none"},
                   "image": {"url": "https://x/a.raw", "checksum": "0" * 64}}, **changes)
    found = check_description(params)
    assert [(item.field, text in str(item.actual)) for item in found.mistakes + found.problems] == [(field, True)]


def test_its_labels_are_not_those_of_another_cluster():
    labels = {"cluster.x-k8s.io/cluster-name": "c2", "app.kubernetes.io/managed-by": "me", "use": "db"}
    machine, = [item for item in render(described(standalone_machines={"db": {"machine_labels": labels}}))
                if item["kind"] == "Machine"]
    assert machine["metadata"]["labels"] == {"cluster.x-k8s.io/cluster-name": "c1", "use": "db",
                                             "app.kubernetes.io/managed-by": "metal3.baremetal"}


def test_metal_stack_has_no_place_for_it():
    found = check_description({"name": "c1", "provider": "metalstack", "standalone_machines": DB})
    assert "standalone_machines" in [item.field for item in found.problems]


GONE = {"type": "NodeHealthy", "status": "False", "reason": "NodeDeleted",
        "lastTransitionTime": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize("status", [
    {"deprecated": {"v1beta1": {"failureReason": "CreateError", "failureMessage": "no"}}},
    {"conditions": [{"type": "NodeHealthy", "status": "Unknown", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
     "initialization": {"infrastructureProvisioned": True}},
    {"nodeRef": {"name": "c1-db"}, "initialization": {"infrastructureProvisioned": True}, "conditions": [GONE]},
], ids=["failed", "no node", "node deleted"])
def test_nobody_makes_another_one_when_it_is_deleted(plane, status):
    """What is said of a machine that does not come: its deletion alone would only lose it."""
    plane.objects["Machine", "c1-db"].update(status=status)
    plane.objects["Machine", "c1-db"]["spec"]["bootstrap"]["dataSecretName"] = "c1-db"
    plane.objects["Machine", "c1-db"]["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    plane.objects["BareMetalHost", "host-of-c1-db"]["status"] = {"provisioning": {"state": "provisioned"}}
    plane.spec("Metal3Machine", "c1-db").pop("dataTemplate")
    cluster = plane.objects["Cluster", "c1"]
    cluster["status"] = {"initialization": {"infrastructureProvisioned": True, "controlPlaneInitialized": True}}
    plane.objects["Metal3Cluster", "c1"].update(status={"initialization": {"provisioned": True}})
    for key in (("Metal3Cluster", "c1"), ("KubeadmControlPlane", "c1-control-plane")):
        plane.objects[key]["metadata"]["ownerReferences"] = [{"kind": "Cluster", "name": "c1"}]
    failure, = [item for item in failures(snapshot(plane), 2e9, 900) if item.subject == "Machine c1-db"]
    assert "standalone_machines by state: absent" in failure.next_step and "its owner" not in failure.next_step
