# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters by ClusterClass: rendering, rules, and whole runs against a Cluster API in memory."""
from __future__ import annotations

import pytest
from fakes import clusters
from fakes.clusters import OTHER_IMAGE
from fakes.topology import TopologyPlane, add_users_class

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks.validation import check_description
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import objects as cluster_render
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.rollout import topology_owners
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.failures import failures
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import goals, topology
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.snapshot import Snapshot
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts.formats import moment

PARAMS = dict(clusters.PARAMS, topology=True)
LABEL = {"one": {"replicas": 3, "node_labels": {"example.org/a": "b"}}, "two": {"replicas": 1}}


@pytest.fixture
def plane():
    return TopologyPlane()


def run(plane, check_mode=False, reconcile=True, **changes):
    result = clusters.run(plane, check_mode, topology=changes.pop("topology", True), **changes)
    if not check_mode and reconcile:
        plane.reconcile()
    return result


def made(plane):
    """Return the plane with the cluster and its machines."""
    run(plane)
    for owner, number in (("c1-control-plane", 1), ("c1-one", 3), ("c1-two", 1)):
        plane.add_machines(owner, number)
    return plane


def objects(**changes):
    checked = check_description(dict(PARAMS, **changes))
    assert [str(line) for line in checked.mistakes + checked.problems] == []
    return dict((item["kind"], item) for item in checked.objects)


# Rendering


def test_every_template_is_one_of_the_class_or_named_by_one():
    found = check_description(PARAMS).objects
    made_class = next(item for item in found if item["kind"] == "ClusterClass")
    names = str(made_class["spec"])
    for item in found:
        if item["kind"] in ("Metal3MachineTemplate", "KubeadmConfigTemplate", "KubeadmControlPlaneTemplate",
                            "Metal3ClusterTemplate"):
            assert f"'{item['metadata']['name']}'" in names
    assert not [item for item in found if item["kind"] in ("KubeadmControlPlane", "MachineDeployment", "Metal3Cluster")]


@pytest.mark.parametrize("change", [
    {"image": OTHER_IMAGE}, {"control_plane": {"kubelet_extra_args": {"v": 5}}}, {"workers": LABEL},
    {"endpoint": {"host": "198.18.0.11", "holder": "none"}}, {"automated_cleaning_mode": "disabled"}])
def test_what_changes_templates_makes_another_class_that_the_cluster_names(change):
    before, after = objects(), objects(**change)
    assert before["ClusterClass"]["metadata"]["name"] != after["ClusterClass"]["metadata"]["name"]
    for found in (before, after):
        name = found["ClusterClass"]["metadata"]["name"]
        said = found["Cluster"]["spec"]["topology"]
        assert said["classRef"] == {"name": name}
        assert said["controlPlane"]["metadata"]["annotations"] == {topology.CLASS_ANNOTATION: name}


@pytest.mark.parametrize("change", [
    {"kubernetes_version": "v1.36.0"}, {"workers": {"one": {"replicas": 5}, "two": {"replicas": 1}}},
    {"workers": {"one": {"replicas": 3, "machine_labels": {"a": "b"}}, "two": {"replicas": 1}}},
    {"node_drain_timeout_seconds": 60}, {"workers": {"one": {"replicas": 3, "max_surge": 0, "max_unavailable": 1},
                                                     "two": {"replicas": 1}}},
    {"deletion_order": "oldest"}, {"min_ready_seconds": 5},
    {"health_check": {}, "remediation": {"max_in_flight": 1}}])
def test_what_the_topology_says_leaves_the_class(change):
    before, after = objects(), objects(**change)
    assert before["ClusterClass"] == after["ClusterClass"] and before["Cluster"] != after["Cluster"]


@pytest.mark.parametrize("change", [
    {"control_plane": {"remediation": {"max_retry": 3}}}, {"deletion_order": "oldest"}, {"min_ready_seconds": 5},
    {"health_check": {"unhealthy_machine_conditions": [
        {"type": "NodeHealthy", "status": "False", "timeout_seconds": 5}]}, "remediation": {"max_in_flight": 1}}],
    ids=["remediation", "deletion order", "minimum of seconds", "health check"])
def test_how_owners_replace_and_take_away_machines_replaces_none(change):
    before, after = ([topology_owners.rolling(item) for item in cluster_render.owners(cluster_description.read(
        dict(PARAMS, **more))[0])] for more in ({}, change))
    assert before == after and objects() != objects(**change)


def test_a_topology_has_what_pools_say_about_unhealthy_machines():
    topology_of = objects(health_check={"unhealthy_machine_conditions": [
        {"type": "NodeHealthy", "status": "False", "timeout_seconds": 5}]}, remediation={
            "max_in_flight": "20%", "max_retry": 3})["Cluster"]["spec"]["topology"]
    plane, pool = topology_of["controlPlane"], topology_of["workers"]["machineDeployments"][0]
    for group in (plane, pool):
        assert group["healthCheck"]["checks"]["unhealthyMachineConditions"] == [
            {"type": "NodeHealthy", "status": "False", "timeoutSeconds": 5}]
    assert pool["healthCheck"]["remediation"] == {"maxInFlight": "20%"} and "remediation" not in plane["healthCheck"]


# Rules


@pytest.mark.parametrize("changes, text", [
    ({"provider": "metalstack"}, "provider: found \"metalstack\", expected metal3 with topology or cluster_class"),
    ({"api_version": "v1beta1"}, "api_version: found \"v1beta1\", expected v1beta2"),
    ({"standalone_machines": {"a": {}}}, "standalone_machines: found a value, expected nothing with topology"),
    ({"workers": {"one": {"machine_name_template": "a-{{ .random }}"}}},
     "workers.one.machine_name_template: found a value, expected nothing for workers"),
    ({"workers": {"one": {"machine_class": "a"}}}, "workers.one.machine_class: found a value, expected nothing"),
    ({"control_plane": {"class_variables": {"a": 1}}}, "control_plane.class_variables: found a value"),
    ({"cluster_class": {"name": "k"}}, "image: found a value, expected nothing with cluster_class"),
    ({"cluster_class": {"name": "k"}, "topology": False}, "topology: found false, expected true, or nothing"),
    ({"cluster_class": {"name": "k"}}, "endpoint.holder"),
    ({"topology": False, "workers": {"one": {"class_variables": {}}}}, "workers.one.class_variables"),
    ({"remediation": {"max_in_flight": 1}}, "remediation.max_in_flight: found a value, expected nothing without "
     "health_check with topology"),
    ({"cluster_class": {"name": "k"}, "control_plane": {"remediation": {"max_retry": 1}}},
     "control_plane.remediation.max_retry: found a value, expected nothing with cluster_class"),
])
def test_options_that_do_not_go_together_are_refused(changes, text):
    params = dict(PARAMS, **changes)
    if text == "endpoint.holder":
        params["endpoint"] = {"host": "198.18.0.10", "holder": "keepalived"}
    assert text in "\n".join(map(str, check_description(params).problems))


def test_a_class_of_the_users_needs_neither_image_nor_endpoint():
    params = {"name": "c1", "kubernetes_version": "v1.35.4", "cluster_class": {"name": "k"}}
    checked = check_description(params)
    assert checked.problems == [] and [item["kind"] for item in checked.objects] == ["Cluster"]
    worse = check_description(dict(params, networks={"n": {"ipv4": {"mode": "dhcp"}}}, node_name="host")).problems
    assert [line.field for line in worse] == ["networks", "node_name"]


# Runs


def test_a_cluster_is_made_of_its_class_and_a_second_run_changes_nothing(plane):
    planned = run(plane, check_mode=True)
    assert planned["changed"] and ("Cluster", "c1") not in plane.objects
    result = run(plane)
    assert [(change["owner"], change["replicas_after"]) for change in result["changes"]] == [
        ("c1-control-plane", 1), ("c1-one", 3), ("c1-two", 1)]
    kinds = [kind for verb, kind, dummy in plane.stored]
    assert kinds.index("Metal3MachineTemplate") < kinds.index("ClusterClass") < kinds.index("Cluster")
    assert kinds.index("Cluster") < kinds.index("Metal3DataTemplate")
    writes = len(plane.stored)
    for check_mode in (True, False):
        again = run(plane, check_mode)
        assert again["changed"] is False and again["diff"] == [] and again["changes"] == []
    assert len(plane.stored) == writes


def test_what_cluster_api_has_copied_of_the_templates_is_not_taken_for_unused(plane):
    made(plane)
    copies = [name for name in plane.names("Metal3MachineTemplate") if "copy" in name]
    run(plane, image=OTHER_IMAGE, confirm="5")
    run(plane, image=OTHER_IMAGE)
    assert set(copies) <= set(plane.names("Metal3MachineTemplate"))


def test_the_switched_off_feature_is_explained(plane):
    plane.has_feature = False
    with pytest.raises(RefusedError, match="ClusterTopology, which is off; set capi_cluster_topology: true"):
        run(plane)
    assert plane.stored == []


def test_a_pool_grows_without_confirmation_and_shrinks_with_it(plane):
    made(plane)
    more = {"one": {"replicas": 4}, "two": {"replicas": 1}}
    result = run(plane, workers=more)
    assert result["changes"] == [{"owner": "c1-one", "kind": "MachineDeployment", "replicas_before": 3,
                                  "replicas_after": 4, "rolls": False, "reasons": [], "machines": []}]
    assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 4
    with pytest.raises(RefusedError, match="loses 1 machine out of these 3") as refused:
        run(plane, workers={"one": {"replicas": 2}, "two": {"replicas": 1}})
    assert "c1-one-0 on host host-of-c1-one-0" in str(refused.value)
    planned = run(plane, check_mode=True, workers={"one": {"replicas": 2}, "two": {"replicas": 1}})
    assert [loss["count"] for loss in planned["losses"]] == [1]
    run(plane, workers={"one": {"replicas": 2}, "two": {"replicas": 1}}, confirm="1")
    assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 2


def test_a_pool_that_goes_is_confirmed_with_its_machines_and_deleted_by_cluster_api(plane):
    made(plane)
    with pytest.raises(RefusedError, match="MachineDeployment c1-two is deleted with its 1 machine"):
        run(plane, workers={"one": {"replicas": 3}})
    result = run(plane, workers={"one": {"replicas": 3}}, confirm="1")
    assert result["removed"] == ["MachineDeployment c1-two"]
    assert ("DELETE", "MachineDeployment", "c1-two") not in plane.stored
    assert plane.names("MachineDeployment") == ["c1-one"]
    again = run(plane, workers={"one": {"replicas": 3}})
    assert [title.partition(" ")[0] for title in again["collected"]].count("ClusterClass") == 1
    assert run(plane, workers={"one": {"replicas": 3}})["changed"] is False


def test_pools_that_are_not_described_are_refused_rather_than_deleted(plane):
    made(plane)
    for changes in ({"workers": None}, {"workers": {"one": {"replicas": 3}}, "prune": False}):
        with pytest.raises(RefusedError, match=r"workers: found no description of .*two, expected every pool"):
            run(plane, **changes)
    run(plane, workers={}, confirm="4")
    assert plane.names("MachineDeployment") == []


@pytest.mark.parametrize("changes, owners", [
    ({"image": OTHER_IMAGE}, {"c1-control-plane": 1, "c1-one": 3, "c1-two": 1}),
    ({"kubernetes_version": "v1.36.0"}, {"c1-control-plane": 1, "c1-one": 3, "c1-two": 1}),
    ({"workers": LABEL}, {"c1-one": 3}),
    ({"workers": {"one": {"replicas": 3}, "two": {"replicas": 1, "image": OTHER_IMAGE}}}, {"c1-two": 1}),
    ({"control_plane": {"pre_commands": ["true"]}}, {"c1-control-plane": 1}),
    ({"control_plane": {"rollout_after": "2999-01-01T00:00:00Z"}}, {"c1-control-plane": 1}),
    ({"control_plane": {"max_surge": 1}}, {}),
    ({"machine_labels": {"a": "b"}}, {}),
])
def test_a_rollout_wants_the_number_of_the_machines_that_it_replaces(plane, changes, owners):
    made(plane)
    planned = run(plane, check_mode=True, **changes)
    assert dict((loss["owner"], loss["count"]) for loss in planned["losses"]) == owners
    assert owners == dict(
        (change["owner"], len(change["machines"])) for change in planned["changes"] if change["rolls"])
    if owners:
        stored = len(plane.stored)
        with pytest.raises(RefusedError, match=f"expected {sum(owners.values())}, the number of machines"):
            run(plane, **changes)
        assert len(plane.stored) == stored
        run(plane, confirm=str(sum(owners.values())), **changes)
    else:
        run(plane, **changes)
    run(plane, **changes)
    assert run(plane, **changes)["changed"] is False


def test_the_reason_of_a_rollout_is_the_option_that_changed(plane):
    made(plane)
    for changes, reason in (({"image": OTHER_IMAGE}, ["image"]), ({"workers": LABEL}, ["workers.one.node_labels"]),
                            ({"kubernetes_version": "v1.36.0"}, ["kubernetes_version"]),
                            ({"control_plane": {"pre_commands": ["true"]}}, ["control_plane.pre_commands"])):
        planned = run(plane, check_mode=True, **changes)
        found = set(tuple(change["reasons"]) for change in planned["changes"] if change["rolls"])
        assert found == {tuple(reason)}


def test_an_option_that_goes_is_noticed_although_nothing_is_in_its_place(plane):
    run(plane, control_plane={"pre_commands": ["true"]})
    plane.add_machines("c1-control-plane", 1)
    planned = run(plane, check_mode=True)
    assert dict((loss["owner"], loss["count"]) for loss in planned["losses"]) == {"c1-control-plane": 1}


def test_what_is_under_way_was_confirmed(plane):
    """Killed after the Cluster was written: control plane first, the pools wait for it."""
    made(plane)
    run(plane, reconcile=False, kubernetes_version="v1.36.0", image=OTHER_IMAGE, confirm="5")
    plane.reconcile(pending=("one", "two"))
    again = run(plane, reconcile=False, kubernetes_version="v1.36.0", image=OTHER_IMAGE)
    assert again["changes"] == [] and again["losses"] == [] and again["objects"] == []


def test_a_cluster_keeps_being_with_or_without_a_topology(plane):
    run(plane)
    with pytest.raises(RefusedError, match="topology: found no class, expected a topology, as the cluster has it"):
        clusters.run(plane)
    other = TopologyPlane()
    clusters.run(other)
    with pytest.raises(RefusedError, match="topology: found a class, expected no topology, for the cluster was made"):
        clusters.run(other, topology=True)


def test_numbers_left_out_stay_as_they_are(plane):
    made(plane)
    result = run(plane, workers={"one": {}, "two": {"replicas": 1}}, control_plane={})
    assert result["changed"] is False
    handed = {"one": {"autoscaler": {"min_size": 1, "max_size": 5}}, "two": {"replicas": 1}}
    result = run(plane, workers=handed)
    assert [(change["owner"], change["replicas_after"]) for change in result["changes"]] in ([], [("c1-one", 3)])
    assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 3
    plane.objects["MachineDeployment", "c1-one"]["spec"]["replicas"] = 5
    assert run(plane, workers=handed)["changed"] is False
    # Back without a number: the one that the autoscaler has chosen becomes the topology's.
    run(plane, workers={"one": {}, "two": {"replicas": 1}})
    assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 5


def test_an_autoscalers_range_counts_when_the_pool_is_handed_over_and_not_afterwards(plane):
    """So Cluster API does it (seen on a lab): a number that nobody says stays as it is."""
    made(plane)
    narrow = {"one": {"autoscaler": {"min_size": 1, "max_size": 2}}, "two": {"replicas": 1}}
    with pytest.raises(RefusedError, match="MachineDeployment c1-one loses 1 machine out of these 3"):
        run(plane, workers=narrow)
    run(plane, workers={"one": {"autoscaler": {"min_size": 1, "max_size": 5}}, "two": {"replicas": 1}})
    result = run(plane, workers=narrow)
    assert result["changed"] and result["losses"] == []
    assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 3
    for narrowed in (result, run(plane, workers=narrow)):
        warning, = [line for line in narrowed["warnings"] if "by autoscaler" in line]
        assert warning.startswith("MachineDeployment c1-one: found 3 machines, expected 1 to 2 by autoscaler")
    run(plane, workers={"one": {"replicas": 3}, "two": {"replicas": 1}})
    assert run(plane, workers=narrow, confirm="1")["losses"][0]["count"] == 1
    assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 2


def test_somebody_who_scales_meanwhile_is_not_undone_unasked(plane):
    """The Cluster is changed between plan and write: what was not checked is refused."""
    made(plane)

    def scale():
        pools = plane.spec("Cluster", "c1")["topology"]["workers"]["machineDeployments"]
        pools[0]["replicas"] = 5
        plane.spec("MachineDeployment", "c1-one")["replicas"] = 5
        plane.add_machines("c1-one", 5)
        plane.touch("Cluster", "c1")

    plane.meanwhile["Cluster", "c1"] = scale
    with pytest.raises(Exception, match="would now take more machines away"):
        run(plane, workers={"one": {"replicas": 3, "machine_labels": {"a": "b"}}, "two": {"replicas": 1}})
    assert plane.spec("Cluster", "c1")["topology"]["workers"]["machineDeployments"][0]["replicas"] == 5


def test_the_cluster_goes_with_its_classes_and_not_with_those_of_others(plane):
    made(plane)
    foreign = plane.add("cluster.x-k8s.io/v1beta2", "ClusterClass", "theirs", spec={})
    foreign["metadata"]["labels"] = {}
    result = clusters.service_of(plane, confirm="c1").absent()
    assert result["changed"] and result["warnings"] == []
    assert ("Cluster", "c1") not in plane.objects
    rest = clusters.service_of(plane, confirm="c1").absent()
    assert rest["changed"]
    for kind in ("ClusterClass", "KubeadmControlPlaneTemplate", "Metal3ClusterTemplate", "Metal3MachineTemplate",
                 "KubeadmConfigTemplate", "Metal3DataTemplate"):
        assert plane.names(kind) == (["theirs"] if kind == "ClusterClass" else [])
    assert clusters.service_of(plane, confirm="c1").absent()["changed"] is False


# A class of the user's


def of_class(plane, **changes):
    params = dict({"image": None, "endpoint": None, "cluster_class": {"name": "theirs", "variables": {"image": "a"}},
                   "workers": {"one": {"replicas": 2, "machine_class": "worker"}}}, **changes)
    return clusters.run(plane, **params)


@pytest.fixture
def theirs(plane):
    """A plane with a user's class, which is the collection's own of another cluster, and a cluster of it."""
    add_users_class(plane)
    return plane


def test_a_cluster_of_a_users_class_has_its_variables_and_leaves_the_class_alone(theirs):
    before = dict((key, dict(item)) for key, item in theirs.objects.items())
    result = of_class(theirs)
    said = theirs.spec("Cluster", "c1")["topology"]
    assert result["objects"] == [{"kind": "Cluster", "name": "c1", "action": "created"}]
    assert said["classRef"] == {"name": "theirs"} and said["variables"] == [{"name": "image", "value": "a"}]
    assert of_class(theirs)["changed"] is False
    clusters.service_of(theirs, confirm="c1").absent()
    assert dict((key, theirs.objects[key]) for key in before) == before


@pytest.mark.parametrize("changes, count", [
    ({"cluster_class": {"name": "theirs", "variables": {"image": "b"}}}, 3), ({"kubernetes_version": "v1.36.0"}, 3),
    ({"workers": {"one": {"replicas": 2, "machine_class": "worker", "class_variables": {"a": 1}}}}, 2),
    ({"workers": {"one": {"replicas": 1, "machine_class": "worker"}}}, 1), ({"workers": {}}, 2),
    ({"workers": {"one": {"autoscaler": {"min_size": 1, "max_size": 1}, "machine_class": "worker"}}}, 1),
    ({"workers": {"one": {"replicas": 2, "machine_class": "worker", "max_surge": 2}}}, 0),
    ({"workers": {"one": {"replicas": 2, "machine_class": "worker", "rollout_after": "2999-01-01T00:00:00Z"}}}, 2),
    ({"control_plane": {"rollout_after": "2999-01-01T00:00:00Z"}}, 1),
    ({"node_drain_timeout_seconds": 5}, 0)])
def test_what_may_replace_machines_of_a_users_class_counts_as_if_it_did(theirs, changes, count):
    of_class(theirs)
    theirs.reconcile()
    theirs.add_machines("c1-control-plane", 1)
    theirs.add_machines("c1-one", 2)
    losses = dict((loss["owner"], loss["count"]) for loss in clusters.run(theirs, check_mode=True, **dict(
        {"image": None, "endpoint": None, "cluster_class": {"name": "theirs", "variables": {"image": "a"}},
         "workers": {"one": {"replicas": 2, "machine_class": "worker"}}}, **changes))["losses"])
    assert sum(losses.values()) == count


def rename_pool(plane, name):
    """Give the pool of a user's class the name that Cluster API makes of its pattern, with the machines of it."""
    plane.add_machines("c1-one", 2)
    item = plane.objects.pop(("MachineDeployment", "c1-one"))
    item["metadata"]["name"] = name
    plane.objects["MachineDeployment", name] = item
    for position in range(2):
        plane.objects["Machine", f"c1-one-{position}"]["metadata"]["labels"].update(
            {"cluster.x-k8s.io/deployment-name": name})


@pytest.mark.parametrize("name", ["c1-one", "c1-one-x7k2p"])
def test_what_is_described_of_a_pool_counts_whatever_a_users_class_calls_it(theirs, name):
    """Its order of replacement, its drain and its health check, which the topology says."""
    worker = {"replicas": 2, "machine_class": "worker", "max_surge": 0, "max_unavailable": 2,
              "health_check": {"node_startup_timeout_seconds": 60}}
    of_class(theirs, workers={"one": worker})
    theirs.reconcile()
    theirs.add_machines("c1-control-plane", 1)
    rename_pool(theirs, name)
    planned = of_class(theirs, check_mode=True, workers={"one": dict(worker, class_variables={"a": 1})})
    (loss,) = planned["losses"]
    assert (loss["owner"], loss["cause"], loss["count"]) == (name, "replaced", 2)
    assert any(line.startswith(f"{name}: 2 new machines are begun at once (max_surge, max_unavailable), and 2 old ones "
                               "go before any") for line in planned["warnings"]), planned["warnings"]


@pytest.mark.parametrize("after, count", [(None, 0), ("2026-11-23T20:00:00Z", 0), ("2026-11-24T20:00:00Z", 1)])
def test_a_time_counts_for_a_users_class_by_the_age_of_the_machines(theirs, after, count):
    """As after rotate_certificates, with an inventory that has no time."""
    rotated = {"control_plane": {"rollout_after": "2026-11-23T20:00:00Z"}}
    of_class(theirs, **rotated)
    theirs.reconcile()
    theirs.objects["KubeadmControlPlane", "c1-control-plane"]["spec"]["rollout"] = {"after": "2026-11-23T20:00:00Z"}
    theirs.add_machines("c1-control-plane", 1)
    machine, = [item for (kind, _name), item in theirs.objects.items() if kind == "Machine"]
    machine["metadata"]["creationTimestamp"] = "2026-11-23T21:00:00Z"
    given = {"control_plane": {"rollout_after": after}} if after else {}
    planned = clusters.run(theirs, check_mode=True, **dict(
        {"image": None, "endpoint": None, "cluster_class": {"name": "theirs", "variables": {"image": "a"}},
         "workers": {"one": {"replicas": 2, "machine_class": "worker"}}}, **given))
    assert sum(loss["count"] for loss in planned["losses"]) == count
    assert planned["changed"] is (after != "2026-11-23T20:00:00Z")


def test_what_a_users_class_has_not_is_named_before_a_write(theirs):
    for changes, text in (
            ({"cluster_class": {"name": "nowhere"}}, "name: found metal3/nowhere, which is no ClusterClass"),
            ({"cluster_class": {"name": "theirs", "variables": {"imag": 1}}}, "cluster_class.variables.imag: found"),
            ({"control_plane": {"class_variables": {"size": 1}}}, "control_plane.class_variables.size"),
            ({"workers": {"one": {}}}, 'machine_class: found "one", expected one of worker, which ClusterClass')):
        with pytest.raises(RefusedError) as refused:
            of_class(theirs, **changes)
        assert text in str(refused.value)
    assert theirs.stored == []


# What is waited for


def state(plane):
    found = {}
    for (kind, dummy), item in plane.objects.items():
        found.setdefault(kind, []).append(item)
    return Snapshot(found, "c1")


def test_a_wait_ends_when_the_owners_follow_the_topology(plane):
    run(plane)
    cluster = plane.objects["Cluster", "c1"]
    cluster["status"]["initialization"] = {"controlPlaneInitialized": True}

    def missing():
        return goals.missing(state(plane), "nodes")

    assert missing() == "KubeadmControlPlane c1-control-plane has 0 machines, 0 of them nodes, of 1"
    cluster["metadata"]["generation"] += 1
    assert missing() == "the Cluster's topology is not observed yet"
    cluster["metadata"]["generation"] -= 1
    condition = cluster["status"]["conditions"][0]
    condition.update(status="False", message="Cluster is upgrading\n  * pool")
    assert missing() == "the Cluster's topology is not reconciled: Cluster is upgrading * pool"
    condition.update(status="True")
    for change in ({"replicas": 9}, {"template": {"spec": {"version": "v1.34.0"}}}):
        before = dict(plane.spec("MachineDeployment", "c1-one"))
        plane.spec("MachineDeployment", "c1-one").update(change)
        assert missing() == "MachineDeployment c1-one does not follow the topology yet"
        plane.objects["MachineDeployment", "c1-one"]["spec"] = before
    plane.objects["KubeadmControlPlane", "c1-control-plane"]["metadata"]["annotations"] = {}
    assert missing() == "KubeadmControlPlane c1-control-plane does not follow the topology yet"
    del plane.objects["MachineDeployment", "c1-two"]
    assert missing() == "pool two has no MachineDeployment yet"


def test_a_class_of_which_nothing_can_be_made_ends_the_wait(plane):
    run(plane, reconcile=False)
    cluster = plane.objects["Cluster", "c1"]
    cluster["status"] = {"conditions": [{
        "type": "TopologyReconciled", "status": "False", "reason": "ReconcileFailed", "message": "patch\n  fails",
        "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
    assert goals.missing(state(plane), "initialized") == "the Cluster's topology is not reconciled: patch fails"
    began = moment("2026-01-01T00:00:00Z")
    assert failures(state(plane), began + 30, 900) == []
    (failure,) = failures(state(plane), began + 90, 900)
    assert failure.subject == "Cluster c1" and "can't make it of its class: patch fails" in failure.cause
    plane.reconcile()
    cluster["status"]["conditions"][0].update(status="False", reason="ReconcileFailed", message="for a moment",
                                              lastTransitionTime="2026-01-01T00:00:00Z")
    assert failures(state(plane), began + 90, 900) == []


def test_a_plain_cluster_has_no_topology_to_wait_for():
    assert topology.missing({"metadata": {"generation": 2}, "spec": {}}, []) is None
