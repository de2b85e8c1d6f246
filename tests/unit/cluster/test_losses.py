# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What takes machines away wants their number repeated; what is not given stays; what others change is read again."""
from __future__ import annotations

import copy

import pytest
from fakes.clusters import IMAGE, OTHER_IMAGE, PARAMS, Plane, run, service_of

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.providers import provider_of
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.lifecycle import run as cluster_run
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting import service as cluster_wait
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.writing.writes import OWNER_KINDS
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_loop import Step
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

POOLS = {"one": {"replicas": 3}, "two": {"replicas": 1}}


@pytest.fixture
def plane():
    """A cluster of three control plane machines and four workers."""
    found = Plane()
    run(found, control_plane={"replicas": 3})
    for owner, number in (("c1-control-plane", 3), ("c1-one", 3), ("c1-two", 1)):
        found.add_members(owner, number)
    return found


def go(plane, check_mode=False, **arguments):
    return run(plane, check_mode, **dict({"control_plane": {"replicas": 3}}, **arguments))


def without(*names):
    """Return what to replace in the description so that options are not in it."""
    return dict((name, None) for name in names)


LOSSES = {
    "a pool goes": ({"workers": {"one": {"replicas": 3}}}, 1, [
        "MachineDeployment c1-two is deleted with its 1 machine: c1-two-0 on host host-of-c1-two-0"]),
    "all pools go": ({"workers": {}}, 4, ["c1-one is deleted with its 3 machines: c1-one-0 on host host-of-c1-one-0, ",
                                          "c1-two is deleted"]),
    "a pool is absent": ({"workers": dict(POOLS, two={"state": "absent"})}, 1, ["c1-two is deleted"]),
    "fewer workers": ({"workers": dict(POOLS, one={"replicas": 1})}, 2, [
        "MachineDeployment c1-one loses 2 machines out of these 3: c1-one-0 on host", "c1-one-2 on host"]),
    "no workers": ({"workers": dict(POOLS, one={"replicas": 0})}, 3, ["c1-one loses 3 machines: "]),
    "a smaller range": ({"workers": dict(POOLS, one={"autoscaler": {"min_size": 1, "max_size": 2}})}, 1, [
        "c1-one loses 1 machine out of these 3"]),
    "fewer control planes": ({"control_plane": {"replicas": 1}}, 2, ["KubeadmControlPlane c1-control-plane loses 2 "
                                                                     "machines out of these 3"]),
    "a rollout without surge": ({"workers": dict(POOLS, one={
        "replicas": 3, "max_surge": 0, "max_unavailable": 1, "image": OTHER_IMAGE})}, 3, [
            "MachineDeployment c1-one replaces its 3 machines, each before another has taken its place"]),
    "a rollout with fewer meanwhile": ({"workers": dict(POOLS, one={
        "replicas": 3, "max_unavailable": "50%", "image": OTHER_IMAGE})}, 3, ["c1-one replaces its 3 machines"]),
    "a control plane without surge": ({"control_plane": {"replicas": 3, "max_surge": "0", "image": OTHER_IMAGE}}, 3, [
        "KubeadmControlPlane c1-control-plane replaces its 3 machines"]),
}


@pytest.mark.parametrize("case", sorted(LOSSES))
def test_what_takes_machines_away_wants_their_number(plane, case):
    changes, number, texts = LOSSES[case]
    writes = len(plane.writes())
    for confirm in (None, "c1", str(number + 1), f"metal3/other:{number}", f"metal3/c1:{number + 1}"):
        with pytest.raises(RefusedError) as refused:
            go(plane, confirm=confirm, **changes)
        assert "confirm: %s, expected %d, the number of machines" % (
            f"found {confirm}" if confirm else "not set",
            number,
        ) in str(refused.value)
        for text in texts:
            assert text in str(refused.value)
    assert not [write for write in plane.writes()[writes:] if not write[3]]
    result = go(plane, confirm=str(number), **changes)
    assert result["changed"] and sum(loss["count"] for loss in result["losses"]) == number
    assert {machine["host"] for loss in result["losses"] for machine in loss["machines"]} <= {
        f"host-of-{name}" for name in plane.names("Machine")}


def test_a_plan_is_refused_as_the_run_would_be_and_writes_nothing(plane):
    """So a backup is begun only for a change that is confirmed; check mode says that it will be asked for."""
    changes, number, dummy = LOSSES["fewer control planes"]
    writes = len(plane.writes())
    with pytest.raises(RefusedError, match=f"expected {number}, the number of machines"):
        go(plane, check_mode=True, plan_only=True, **changes)
    planned = go(plane, check_mode=True, plan_only=True, confirm=str(number), **changes)
    assert sum(loss["count"] for loss in planned["losses"]) == number
    assert go(plane, check_mode=True, plan_only=True)["losses"] == []
    assert not [write for write in plane.writes()[writes:] if not write[3]]


def test_in_a_run_over_several_clusters_a_number_alone_does_not_count(plane):
    """It would confirm as many machines of each cluster as were meant of one."""
    changes, number, dummy = LOSSES["fewer control planes"]
    for confirm in (None, str(number), f"metal3/other:{number}", f"metal3/other:1,{number}"):
        with pytest.raises(RefusedError, match=f"set metal3_confirm=metal3/c1:{number} .*several clusters"):
            go(plane, confirm=confirm, confirm_by_name=True, **changes)
    assert go(plane, confirm=f"metal3/other:1, metal3/c1:{number}", confirm_by_name=True, **changes)["changed"]


@pytest.mark.parametrize("case", sorted(LOSSES))
def test_check_mode_names_the_machines_without_a_difference(plane, case):
    changes, number, texts = LOSSES[case]
    lines = [line for line in go(plane, check_mode=True, **changes)["warnings"] if "would be refused" in line]
    assert len(lines) == 1 and f"expected {number}, the number of machines" in str(lines[0])
    assert all(text in str(lines[0]) for text in texts)
    assert not [line for line in go(plane, check_mode=True, confirm=str(number), **changes)["warnings"]
                if "would be refused" in str(line)]


@pytest.mark.parametrize("changes", [
    {"workers": dict(POOLS, one={"replicas": 4})}, {"image": OTHER_IMAGE},
    {"workers": {"one": {"replicas": 3}, "two": {"replicas": 1}, "three": {"replicas": 2}}},
    {"workers": dict(POOLS, three={"state": "absent"})}])
def test_what_takes_none_away_wants_nothing(plane, changes):
    assert go(plane, **changes)["losses"] == []


def test_workers_that_are_not_given_stay_with_all_that_they_need(plane):
    """A pool without machines too, whose templates nothing else refers to."""
    go(plane, workers=dict(POOLS, empty={"replicas": 0, "health_check": {"enabled": True}}))
    before = dict((kind, plane.names(kind)) for kind in (
        "MachineDeployment", "Metal3MachineTemplate", "KubeadmConfigTemplate", "Metal3DataTemplate",
        "MachineHealthCheck"))
    assert before["MachineDeployment"] == ["c1-empty", "c1-one", "c1-two"]
    assert before["MachineHealthCheck"] == ["c1-empty"]
    result = go(plane, **without("workers"))
    assert result["changed"] is False and result["removed"] == result["collected"] == result["losses"] == []
    assert dict((kind, plane.names(kind)) for kind in before) == before
    warning, = [line for line in result["warnings"] if "workers: not set" in line]
    assert "c1-empty (0 machines), c1-one (3 machines), c1-two (1 machines)" in warning


def test_a_control_plane_without_replicas_keeps_its_machines(plane):
    assert run(plane)["changed"] is False
    assert run(plane, **without("control_plane"))["changed"] is False
    assert plane.spec("KubeadmControlPlane", "c1-control-plane")["replicas"] == 3
    run(plane, control_plane={"machine_labels": {"a": "b"}})
    assert plane.spec("KubeadmControlPlane", "c1-control-plane")["replicas"] == 3


def test_an_absent_pool_goes_although_nothing_is_pruned(plane):
    result = go(plane, prune=False, confirm="1", workers={"two": {"state": "absent"}})
    assert result["removed"] == ["MachineDeployment c1-two"]
    assert plane.names("MachineDeployment") == ["c1-one"]


def test_machines_that_are_going_already_are_not_counted(plane):
    plane.objects["Machine", "c1-one-0"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert go(plane, confirm="1", workers=dict(POOLS, one={"replicas": 1}))["losses"][0]["count"] == 1


def make_of_present_templates(plane, name, owner="c1-one"):
    """Let a machine be a node that was made of the templates which its pool has now."""
    spec = plane.spec("MachineDeployment", owner)["template"]["spec"]
    machine = plane.objects["Machine", name]
    machine["spec"].update(version=spec["version"], bootstrap={"configRef": {"name": name}})
    machine["status"] = {"nodeRef": {"name": name}}
    plane.add("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig", name, spec={})
    for kind, template in (("Metal3Machine", spec["infrastructureRef"]),
                           ("KubeadmConfig", spec["bootstrap"]["configRef"])):
        plane.objects[kind, name]["metadata"]["annotations"] = {"cluster.x-k8s.io/cloned-from-name": template["name"]}


def test_machines_that_are_replaced_and_others_that_are_too_many_are_counted_together(plane):
    """A rollout that is taken back half way, by a description of fewer machines."""
    for number in (0, 1):
        make_of_present_templates(plane, f"c1-one-{number}")
    go(plane, workers=dict(POOLS, one={"replicas": 3, "image": OTHER_IMAGE}), confirm="2")
    make_of_present_templates(plane, "c1-one-2")
    back = dict(POOLS, one={"replicas": 1})
    with pytest.raises(RefusedError, match="expected 2, the number of machines") as refused:
        go(plane, workers=back, confirm="1")
    for text in ("c1-one replaces its 1 machine, one after another, each when another has taken its place: c1-one-2 on",
                 "c1-one loses 1 machine out of these 2: c1-one-0 on host host-of-c1-one-0, c1-one-1 on host"):
        assert text in str(refused.value)
    # A controller that writes meanwhile takes nothing of what was confirmed away.
    plane.meanwhile["MachineDeployment", "c1-one"] = lambda: plane.touch("MachineDeployment", "c1-one")
    assert [loss["count"] for loss in go(plane, workers=back, confirm="2")["losses"]] == [1, 1]
    assert plane.conflicts == 1 and plane.spec("MachineDeployment", "c1-one")["replicas"] == 1


# What others do between reading and writing -------------------------------------------------------------------------

def test_a_status_that_is_written_meanwhile_is_no_reason_to_give_up(plane):
    plane.meanwhile["MachineDeployment", "c1-one"] = lambda: plane.touch("MachineDeployment", "c1-one")
    assert go(plane, workers=dict(POOLS, one={"replicas": 5}))["changed"] and plane.conflicts == 1
    assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 5


def test_a_status_that_is_written_while_the_write_is_tried_again_is_no_reason_to_give_up(plane, monkeypatch):
    """Controllers write in bursts: also between reading an object once more and trying its write."""
    apply, touched = plane.apply, []

    def restless(resource, namespace, body, dry_run=False, **arguments):
        if dry_run and plane.conflicts and len(touched) < 2 and body["metadata"]["name"] == "c1-one":
            touched.append(True)
            plane.touch("MachineDeployment", "c1-one")
        return apply(resource, namespace, body, dry_run=dry_run, **arguments)

    monkeypatch.setattr(plane, "apply", restless)
    plane.meanwhile["MachineDeployment", "c1-one"] = lambda: plane.touch("MachineDeployment", "c1-one")
    assert go(plane, workers=dict(POOLS, one={"replicas": 5}))["changed"]
    assert len(touched) == 2 and plane.spec("MachineDeployment", "c1-one")["replicas"] == 5


@pytest.mark.parametrize("confirm", [None, "2"])
def test_a_status_that_is_written_before_the_trial_is_no_loss_that_nobody_confirmed(plane, monkeypatch, confirm):
    """Controllers write it all the time; a trial stores nothing, so it rests on nothing."""
    apply, touched = plane.apply, []

    def meanwhile(resource, namespace, body, dry_run=False, **arguments):
        if dry_run and resource.kind == "MachineDeployment" and not touched:
            touched.append(body["metadata"]["name"])
            plane.touch("MachineDeployment", touched[0])
        return apply(resource, namespace, body, dry_run, **arguments)

    monkeypatch.setattr(plane, "apply", meanwhile)
    workers = dict(POOLS, one={"replicas": 1})
    if confirm:
        assert go(plane, workers=workers, confirm=confirm)["losses"][0]["count"] == 2
        assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 1
    else:
        with pytest.raises(RefusedError, match="confirm: not set, expected 2"):
            go(plane, workers=workers)
        assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 3
    assert touched == ["c1-one"]


def test_machines_that_come_meanwhile_are_not_taken_away_unasked(plane):
    """An autoscaler makes the pool larger just before it is written, or deleted."""
    def grow():
        plane.objects["MachineDeployment", "c1-one"]["spec"]["replicas"] = 5
        plane.add_members("c1-one", 5)
        plane.touch("MachineDeployment", "c1-one")

    for workers, confirm in ((dict(POOLS, one={"replicas": 3, "machine_labels": {"a": "b"}}), None),
                             (dict(POOLS, one={"replicas": 2}), "1"), ({"two": {"replicas": 1}}, "3")):
        plane.meanwhile["MachineDeployment", "c1-one"] = grow
        plane.objects["MachineDeployment", "c1-one"]["spec"]["replicas"] = 3
        plane.touch("MachineDeployment", "c1-one")
        for number in (3, 4):
            plane.objects.pop(("Machine", f"c1-one-{number}"), None)
        with pytest.raises(KubeError, match="changed by others since it was read, and would now take more machines"):
            go(plane, workers=workers, confirm=confirm)
        assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 5


def test_a_number_that_others_set_meanwhile_stays_when_none_is_given(plane):
    workers = dict(POOLS, one={"machine_labels": {"a": "b"}})

    def grow():
        plane.objects["MachineDeployment", "c1-one"]["spec"]["replicas"] = 5
        plane.touch("MachineDeployment", "c1-one")

    plane.meanwhile["MachineDeployment", "c1-one"] = grow
    go(plane, workers=workers)
    assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 5


def test_a_cluster_that_others_make_meanwhile_is_left_alone():
    plane = Plane()
    plane.meanwhile["Cluster", "c1"] = lambda: plane.add("cluster.x-k8s.io/v1beta2", "Cluster", "c1", spec={"a": "b"})
    with pytest.raises(KubeError, match="Cluster c1, which others have made"):
        run(plane)
    assert plane.spec("Cluster", "c1") == {"a": "b"} and plane.names("KubeadmControlPlane") == []


@pytest.mark.parametrize("given", [None, "c2"])
def test_a_teardown_that_is_not_confirmed_says_what_to_set(plane, given):
    with pytest.raises(RefusedError, match=r"expected the cluster's name; .* set metal3_confirm=c1 "):
        service_of(plane, confirm=given).absent()
    assert plane.names("Cluster") == ["c1"]


@pytest.mark.parametrize("given, is_confirmed", [
    ("c1", False), ("other/c1", False), ("metal3/c1", True), ("other/c1, metal3/c1", True)])
def test_a_teardown_of_clusters_that_may_share_a_name_is_confirmed_with_the_namespace(plane, given, is_confirmed):
    service = service_of(plane, confirm=given, confirm_by_name=True)
    if is_confirmed:
        assert service.absent()["changed"] and plane.names("Cluster") == []
        return
    with pytest.raises(RefusedError, match=r"expected the cluster's namespace and name; .* metal3_confirm=metal3/c1"):
        service.absent()
    assert plane.names("Cluster") == ["c1"]


def test_a_teardown_takes_the_namespace_with_the_name_in_any_case(plane):
    assert service_of(plane, confirm="metal3/c1").absent()["changed"]


def test_check_mode_of_a_teardown_asks_for_no_confirmation_and_says_what_a_run_would_ask_for(plane):
    result = service_of(plane, check_mode=True).absent()
    assert result["changed"] and plane.names("Cluster") == ["c1"]
    assert ["set metal3_confirm=c1" in line for line in result["warnings"]] == [True]


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_teardown_of_a_paused_cluster_which_would_never_end_is_refused(plane, check_mode):
    plane.objects["Cluster", "c1"]["spec"]["paused"] = True
    with pytest.raises(RefusedError, match=r"spec.paused: found true, .*; resume it"):
        service_of(plane, confirm="c1", check_mode=check_mode).absent()
    assert plane.names("Cluster") == ["c1"]


def test_a_teardown_is_refused_while_a_part_is_paused_that_cluster_api_would_not_delete(plane):
    control_plane = plane.objects["KubeadmControlPlane", "c1-control-plane"]
    control_plane["metadata"].setdefault("annotations", {})["cluster.x-k8s.io/paused"] = ""
    with pytest.raises(RefusedError, match=r"parts: found KubeadmControlPlane c1-control-plane, .*etcd_restore"):
        service_of(plane, confirm="c1").absent()
    assert plane.names("Cluster") == ["c1"]


def test_a_teardown_deletes_the_cluster_although_its_status_is_written_meanwhile(plane):
    """Its controllers write the status all the time; the deletion was given up and reported as done."""
    plane.meanwhile["Cluster", "c1"] = lambda: plane.touch("Cluster", "c1")
    service = service_of(plane, confirm="c1")
    assert service.absent()["changed"] and plane.conflicts == 1
    assert plane.names("Cluster") == [] and service.done["removed"] == ["Cluster c1"]


def test_a_teardown_refuses_a_cluster_that_was_paused_meanwhile(plane):
    def pause():
        plane.objects["Cluster", "c1"]["spec"]["paused"] = True
        plane.touch("Cluster", "c1")

    plane.meanwhile["Cluster", "c1"] = pause
    with pytest.raises(KubeError, match="paused"):
        service_of(plane, confirm="c1").absent()
    assert ("Cluster", "c1") in plane.objects and plane.conflicts == 1


def test_a_teardown_refuses_a_cluster_that_became_anothers_meanwhile(plane):
    def made_again():
        plane.objects["Cluster", "c1"]["metadata"]["uid"] = "another"
        plane.touch("Cluster", "c1")

    def taken_over():
        plane.objects["Cluster", "c1"]["metadata"]["labels"] = {}
        plane.touch("Cluster", "c1")

    for action, message in ((made_again, "found another object of this name"), (taken_over, "which others have")):
        plane.meanwhile["Cluster", "c1"] = action
        service = service_of(plane, confirm="c1")
        with pytest.raises(KubeError, match="Cluster (metal3/)?c1: .*" + message):
            service.absent()
        assert plane.names("Cluster") == ["c1"]
        assert service.done["changed"] is False and service.done["removed"] == []


def test_a_cluster_that_others_delete_meanwhile_is_deleted_once(plane):
    def going():
        plane.objects["Cluster", "c1"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        plane.touch("Cluster", "c1")

    plane.meanwhile["Cluster", "c1"] = going
    service = service_of(plane, confirm="c1")
    service.absent()
    assert plane.conflicts == 1 and plane.names("Cluster") == ["c1"]
    assert service.done["removed"] == ["Cluster c1"]


def test_a_template_that_changes_before_it_is_collected_stays_and_is_not_reported_as_collected(plane):
    (old,) = [name for name in plane.names("KubeadmConfigTemplate") if name.startswith("c1-one")]
    plane.meanwhile["KubeadmConfigTemplate", old] = lambda: plane.touch("KubeadmConfigTemplate", old)
    workers = dict(POOLS, one={"replicas": 3, "machine_labels": {"a": "b"}, "pre_commands": ["true"]})
    service = service_of(plane, workers=workers)
    result = service.present()
    title = "KubeadmConfigTemplate " + old
    assert old in plane.names("KubeadmConfigTemplate") and plane.conflicts == 1
    assert title not in result["collected"] + service.done["removed"] and result["unused"] == [title]
    again = go(plane, workers=workers)
    assert again["collected"] == [title] and again["unused"] == []


# Whose objects they are ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind, name, labels", [
    ("Cluster", "c1", {}), ("Metal3Cluster", "c1", {"cluster.x-k8s.io/cluster-name": "c1"}),
    ("MachineDeployment", "c1-one", {"app.kubernetes.io/managed-by": "Helm"})])
def test_objects_of_others_are_overwritten_only_by_name(plane, kind, name, labels):
    item = plane.objects[kind, name]
    item["metadata"]["labels"] = labels
    for adopt in (None, "c2"):
        with pytest.raises(RefusedError, match=f"adopt: found {kind} {name}, which others have made"):
            go(plane, adopt=adopt, image=IMAGE)
    assert plane.objects[kind, name]["metadata"]["labels"] == labels
    go(plane, adopt="c1")
    assert plane.objects[kind, name]["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "metal3.baremetal"
    assert go(plane)["changed"] is False


def test_a_cluster_of_others_is_not_deleted_without_being_adopted(plane):
    plane.objects["Cluster", "c1"]["metadata"]["labels"] = {}
    with pytest.raises(RefusedError, match="adopt: found Cluster c1"):
        service_of(plane, confirm="c1").absent()
    assert plane.names("Cluster") == ["c1"]
    assert service_of(plane, confirm="c1", adopt="c1").absent()["changed"]
    assert plane.names("Cluster") == []


def others_objects(plane):
    """Add what refers to cluster c1 and was made by others, and return it."""
    plane.add("ipam.metal3.io/v1alpha1", "IPPool", "by-hand", spec={"clusterName": "c1", "pools": []})
    plane.add("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3MachineTemplate", "theirs", spec={
        "template": {"spec": {}}})["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "c1"}
    return {("IPPool", "by-hand"), ("Metal3MachineTemplate", "theirs")}


def test_a_teardown_of_a_cluster_that_is_not_there_leaves_the_objects_of_others_alone():
    plane = Plane()
    others = others_objects(plane)
    own = plane.add("ipam.metal3.io/v1alpha1", "IPPool", "own", spec={"clusterName": "c1", "pools": []})
    own["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "metal3.baremetal"}
    service = service_of(plane, confirm="c1")
    result = service.absent()
    assert service.done["removed"] == ["IPPool own"] and set(plane.objects) == others
    assert ["Metal3MachineTemplate theirs, IPPool by-hand" in line for line in result["warnings"]] == [True]
    again = service_of(plane, confirm="c1").absent()
    assert again["changed"] is False and again["warnings"] == result["warnings"]
    assert service_of(plane, confirm="c1", adopt="c1").absent()["warnings"] == [] and not plane.objects


def test_a_teardown_sweeps_its_own_leftovers_only_and_does_not_wait_for_the_others(plane, monkeypatch):
    others, gone = others_objects(plane), []

    def steps(_client, resources, *dummy, **dummy2):
        """The garbage collector has taken what has a controller, but no template."""
        for key in [key for key in plane.objects if key[0] not in provider_of(None).template_kinds]:
            del plane.objects[key]
        for dummy in range(2):
            yield Step(dict((resource.kind, dict((key[1], copy.deepcopy(item)) for key, item in plane.objects.items()
                                                 if key[0] == resource.kind)) for resource in resources),
                       set(), None, None, True)
        gone.append("the wait did not end")

    monkeypatch.setattr(cluster_wait, "follow_kinds", steps)
    service = service_of(plane, confirm="c1", wait_for="available")
    result = service.absent()
    assert not gone and set(plane.objects) == others and len(service.done["removed"]) > 3
    assert ["IPPool by-hand" in line for line in result["warnings"]] == [True]


# What a run that fails says of what it has done ---------------------------------------------------------------------

def test_a_run_that_fails_after_writes_has_changed_something():
    plane = Plane()
    plane.failures["MachineDeployment", "c1-two"] = "no"
    service = service_of(plane)
    with pytest.raises(KubeError, match="nothing was written"):
        service.present()
    assert service.done == {"changed": False, "objects": [], "removed": [], "diff": []}
    del plane.failures["MachineDeployment", "c1-two"]
    plane.meanwhile["MachineDeployment", "c1-two"] = lambda: plane.failures.update(
        {("MachineDeployment", "c1-two"): "no"})
    with pytest.raises(KubeError, match="MachineDeployment c1-two: no"):
        service.present()
    written = [item["name"] for item in service.done["objects"] if item["kind"] in OWNER_KINDS]
    assert service.done["changed"] is True and written == ["c1-control-plane", "c1-one"]
    assert len(service.done["diff"]) == len(service.done["objects"]) > 3


def test_warnings_of_a_run_that_fails_are_not_lost(monkeypatch):
    """They may be the cause, so that a new cluster's are reported before the wait too."""
    events = []
    plane, endpoint = Plane(), {"host": "198.18.0.10"}
    service = service_of(plane, endpoint=endpoint)
    monkeypatch.setattr(service.progress, "event", events.append, raising=False)
    plane.meanwhile["KubeadmControlPlane", "c1-control-plane"] = lambda: plane.failures.update(
        {("KubeadmControlPlane", "c1-control-plane"): "no"})
    with pytest.raises(KubeError, match="c1-control-plane: no"):
        service.present()
    assert "endpoint.holder" in service.done["warnings"][0]
    assert events[0] == "warning: " + service.done["warnings"][0]


def test_the_pools_of_the_fixture_are_those_of_the_description():
    assert PARAMS["workers"] == POOLS


# A cluster that never came up ---------------------------------------------------------------------------------------

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}


@pytest.fixture
def unreachable(monkeypatch):
    """The workload cluster has a kubeconfig, and nobody answers at its endpoint."""
    class Silent:
        server = "https://192.0.2.100:6443"

        def __getattr__(self, name):
            def call(*_arguments, **_options):
                raise KubeError("no answer from https://192.0.2.100:6443", reason="Unreachable")
            return call

    monkeypatch.setattr(cluster_run, "workload_client", lambda *_arguments: Silent())


@pytest.mark.usefixtures("unreachable")
def test_check_mode_of_a_cluster_that_never_came_up(plane):
    """Its kubeconfig is there long before its API server: a correction is checked just then."""
    planned = go(plane, check_mode=True, manifests=[CONFIG_MAP])
    assert planned["manifests"] == [{"object": "ConfigMap default/a", "action": "created"}]
    applied = go(plane, manifests=[CONFIG_MAP])
    assert "manifests" not in applied
    assert [line for line in applied["warnings"] if "its manifests are not applied" in line]


@pytest.mark.usefixtures("unreachable")
def test_check_mode_of_a_cluster_that_does_not_answer_any_more(plane):
    plane.objects["Cluster", "c1"]["status"] = {"initialization": {"controlPlaneInitialized": True}}
    planned = go(plane, check_mode=True, manifests=[CONFIG_MAP])
    assert [line for line in planned["warnings"] if "does not answer: no answer from https://192.0.2.100:6443" in line]
    with pytest.raises(KubeError, match="no answer"):
        go(plane, manifests=[CONFIG_MAP])
