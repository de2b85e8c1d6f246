# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools of a cluster by ClusterClass are replaced one after another: each is held until those before it are done."""
from __future__ import annotations

import copy
import json

import pytest
from fakes.cluster_wait import Waits
from fakes.clusters import OTHER_IMAGE, PARAMS
from fakes.topology import TopologyPlane, add_users_class, ready_by_class, run_class

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.lifecycle import run as cluster_run
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.lifecycle import stopping
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.rollout import former
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import WaitFailedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import lock as host_lock
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

NOTE, PAUSED = "metal3.baremetal/rollout-stopped", "cluster.x-k8s.io/paused"
PLANE, ONE, TWO = (("KubeadmControlPlane", "c1-control-plane"), ("MachineDeployment", "c1-one"),
                   ("MachineDeployment", "c1-two"))
THIRD_IMAGE = dict(OTHER_IMAGE, url="https://x/c.raw")


class Killed(Exception):
    """The run was killed."""


@pytest.fixture
def plane(request, monkeypatch):
    """A cluster with five machines, all Ready; by a class of its own unless a test names another fixture."""
    if getattr(request, "param", None):
        return request.getfixturevalue(request.param)
    monkeypatch.setattr(cluster_run, "workload_client", lambda *dummy: None)
    found = ready_by_class()
    for name in found.names("Machine"):
        found.make_ready(name)
    found.follow()
    return found


@pytest.fixture
def waits(monkeypatch, plane):
    """What was waited for, each with the owners that were paused then, and whether Cluster API has changed them."""
    found = Waits(note=lambda name, _goal: (name, paused(plane)))
    monkeypatch.setattr(cluster_run, "ClusterWait", found)
    return found


def marks(plane, key):
    return plane.objects[key]["metadata"].get("annotations") or {}


def paused(plane):
    return [key[1] for key in (PLANE, ONE, TWO) if PAUSED in marks(plane, key)]


def held(plane, key):
    return json.loads(marks(plane, key)[NOTE]).get("held", False)


def class_of(plane):
    return plane.spec("Cluster", "c1")["topology"]["classRef"]["name"]


def old_machines_of(plane, owner, *names):
    """Let machines be those of before, and one of the owner come that does not become ready."""
    for name in names:
        plane.objects["Machine", name]["status"].setdefault("conditions", []).append(
            {"type": "UpToDate", "status": "False"})
    machine = plane.add("cluster.x-k8s.io/v1beta2", "Machine", f"{owner}-new", spec={
        "bootstrap": {}, "infrastructureRef": {"kind": "Metal3Machine", "name": f"{owner}-new"}})
    machine["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "c1", "cluster.x-k8s.io/deployment-name": owner}


def stopped_at_one(plane, waits, **options):
    waits.fails = "c1-one"
    waits.meanwhile = lambda: old_machines_of(plane, "c1-one", "c1-one-0", "c1-one-1", "c1-one-2", "c1-two-0")
    with pytest.raises(WaitFailedError) as failed:
        run_class(plane, image=OTHER_IMAGE, confirm="5", **options)
    waits.fails, waits.asked = None, []
    return str(failed.value)


def test_each_pool_begins_when_what_was_before_it_is_done(plane, waits):
    run_class(plane, image=OTHER_IMAGE, confirm="5")
    assert waits.asked == [("c1-control-plane", ["c1-one", "c1-two"]), ("c1-one", ["c1-two"]), ("available", [])]
    assert not any(NOTE in marks(plane, key) for key in (PLANE, ONE, TWO))


def test_pools_are_held_before_the_cluster_is_written(plane, waits):
    before = len(plane.stored)
    run_class(plane, image=OTHER_IMAGE, confirm="5")
    written = [entry for entry in plane.stored[before:] if entry[1] in ("Cluster", "MachineDeployment")]
    assert sorted(written[:2]) == [("PATCH", *ONE), ("PATCH", *TWO)]
    assert written[2:] == [("APPLY", "Cluster", "c1"), ("PATCH", *ONE), ("PATCH", *TWO)]


def test_a_pool_waits_for_another_when_the_control_plane_stays(plane, waits):
    workers = {"one": {"replicas": 3, "image": OTHER_IMAGE}, "two": {"replicas": 1, "image": OTHER_IMAGE}}
    run_class(plane, workers=workers, confirm="4")
    assert [entry for entry in waits.asked if entry[0] == "c1-one"] == [("c1-one", ["c1-two"])]


@pytest.mark.parametrize("options", [
    {"workers": {"one": {"replicas": 3, "image": OTHER_IMAGE}, "two": {"replicas": 1}}, "confirm": "3"},
    {"kubernetes_version": "v1.36.0", "image": OTHER_IMAGE, "confirm": "5"},
    {"workers": {"one": {"replicas": 4}, "two": {"replicas": 2}}}],
    ids=["one pool", "another version, which Cluster API puts in an order", "more machines"])
def test_nothing_is_held_otherwise(plane, waits, options):
    run_class(plane, **options)
    assert waits.asked == [("available", [])] and ("PATCH", *ONE) not in plane.stored


def test_a_pool_that_does_not_come_stops_and_the_next_one_is_not_begun(plane, waits):
    text = stopped_at_one(plane, waits)
    assert "not begun: MachineDeployment c1-two (paused until it is their turn)" in text
    assert "stopped: MachineDeployment c1-one is paused" in text and "run again with rollout=resume" in text
    assert paused(plane) == ["c1-one", "c1-two"] and [held(plane, ONE), held(plane, TWO)] == [False, True]
    with pytest.raises(RefusedError, match="MachineDeployment c1-one, whose rollout a run has stopped") as refused:
        run_class(plane, image=OTHER_IMAGE)
    assert "c1-two" not in str(refused.value) and paused(plane) == ["c1-one", "c1-two"]


def test_resume_goes_on_in_turn(plane, waits):
    stopped_at_one(plane, waits)
    run_class(plane, image=OTHER_IMAGE, rollout="resume")
    assert waits.asked == [("c1-control-plane", ["c1-one", "c1-two"]), ("c1-one", ["c1-two"]), ("available", [])]


def test_another_description_goes_on_in_turn_with_the_pool_that_was_not_begun(plane, waits):
    stopped_at_one(plane, waits)
    workers = {"one": {"replicas": 3, "image": THIRD_IMAGE}, "two": {"replicas": 1}}
    run_class(plane, image=OTHER_IMAGE, workers=workers, confirm="3")
    assert waits.asked == [("c1-control-plane", ["c1-one", "c1-two"]), ("c1-one", ["c1-two"]), ("available", [])]


def test_rollback_takes_the_class_of_before_and_holds_no_pool_any_more(plane, waits):
    was = class_of(plane)
    stopped_at_one(plane, waits)
    assert class_of(plane) != was
    result = run_class(plane, image=OTHER_IMAGE, rollout="rollback", confirm="5")
    assert class_of(plane) == was and paused(plane) == []
    assert [change["machines"] for change in result["changes"]] == [
        ["c1-one-0", "c1-one-1", "c1-one-2", "c1-one-new"], ["c1-two-0"], ["c1-control-plane-0"]]


def machine_sets(plane, *owners):
    """Give pools the MachineSets of their machines, which have the copies of templates that the pools name now."""
    for owner in owners:
        found = plane.add("cluster.x-k8s.io/v1beta2", "MachineSet", f"{owner}-set", spec={
            "clusterName": "c1", "replicas": 1, "template": {"spec": copy.deepcopy(
                plane.spec("MachineDeployment", owner)["template"]["spec"])}})
        found["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "c1",
                                       "cluster.x-k8s.io/deployment-name": owner}


def copies_named(plane, owner):
    machine = plane.spec("MachineDeployment", owner)["template"]["spec"]
    return machine["infrastructureRef"]["name"], machine["bootstrap"]["configRef"]["name"]


def test_pools_that_go_back_name_the_copies_of_which_their_machines_are(plane, waits):
    """Cluster API makes others of the same content, and a pool that names others replaces all machines."""
    machine_sets(plane, "c1-one", "c1-two")
    before = [copies_named(plane, owner) for owner in ("c1-one", "c1-two")]
    stopped_at_one(plane, waits)
    assert [copies_named(plane, owner) for owner in ("c1-one", "c1-two")] != before
    with pytest.raises(RefusedError, match="expected 1, the number of machines"):
        run_class(plane, image=OTHER_IMAGE, rollout="rollback", confirm="5")
    result = run_class(plane, image=OTHER_IMAGE, rollout="rollback", confirm="1")
    assert [copies_named(plane, owner) for owner in ("c1-one", "c1-two")] == before and paused(plane) == []
    assert [change["machines"] for change in result["changes"]] == [["c1-one-new"], [], ["c1-control-plane-0"]]
    # Cluster API keeps what is named and has the right content.
    plane.follow()
    assert [copies_named(plane, owner) for owner in ("c1-one", "c1-two")] == before


def test_a_rollback_that_was_killed_before_the_copies_were_named_is_finished_by_the_next_one(
        plane, waits, monkeypatch):
    machine_sets(plane, "c1-one", "c1-two")
    before = [copies_named(plane, owner) for owner in ("c1-one", "c1-two")]
    stopped_at_one(plane, waits)

    def killed(*_arguments):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(stopping, "name_copies", killed)
        with pytest.raises(Killed):
            run_class(plane, image=OTHER_IMAGE, rollout="rollback", confirm="1")
    assert paused(plane) == ["c1-one", "c1-two"]
    run_class(plane, image=OTHER_IMAGE, rollout="rollback", confirm="1")
    assert [copies_named(plane, owner) for owner in ("c1-one", "c1-two")] == before and paused(plane) == []


def test_copies_that_go_meanwhile_leave_the_pools_stopped(plane, waits, monkeypatch):
    """Machines that were counted as staying would be replaced."""
    machine_sets(plane, "c1-one", "c1-two")
    stopped_at_one(plane, waits)
    follow = plane.follow

    def lost():
        plane.objects.pop(("MachineSet", "c1-two-set"), None)
        follow()

    monkeypatch.setattr(plane, "follow", lost)
    with pytest.raises(WaitFailedError, match="copies of templates are gone of which machines of c1-two are"):
        run_class(plane, image=OTHER_IMAGE, rollout="rollback", confirm="1")
    assert paused(plane) == ["c1-one", "c1-two"]
    with pytest.raises(RefusedError, match=r"(?s)expected 1, the number of machines.*c1-two-0"):
        run_class(plane, image=OTHER_IMAGE, rollout="rollback")
    run_class(plane, image=OTHER_IMAGE, rollout="rollback", confirm="1")
    assert paused(plane) == []


def test_a_topology_goes_back_to_what_was_before_its_first_stop(plane, waits):
    """Whichever of its owners was stopped then."""
    def at_one():
        plane.follow()
        old_machines_of(plane, "c1-one", "c1-one-0", "c1-one-1", "c1-one-2")

    was, workers = class_of(plane), {"one": {"replicas": 3, "image": OTHER_IMAGE}, "two": {"replicas": 1}}
    waits.fails, waits.meanwhile = "available", at_one
    with pytest.raises(WaitFailedError):
        run_class(plane, workers=workers, confirm="3")
    assert paused(plane) == ["c1-one"]
    waits.fails = "c1-control-plane"
    waits.meanwhile = lambda: plane.objects["Machine", "c1-control-plane-0"]["status"]["conditions"].append(
        {"type": "UpToDate", "status": "False"})
    with pytest.raises(WaitFailedError):
        run_class(plane, image=THIRD_IMAGE, confirm="5")
    assert paused(plane) == ["c1-control-plane", "c1-one", "c1-two"]
    waits.fails = None
    run_class(plane, image=THIRD_IMAGE, rollout="rollback", confirm="5")
    assert class_of(plane) == was and paused(plane) == []


def test_a_rollback_releases_nothing_before_cluster_api_has_written_the_former_templates(plane, waits, monkeypatch):
    """Released before, a pool that was held would begin with what is taken back."""
    stopped_at_one(plane, waits)
    monkeypatch.setattr(plane, "follow", lambda: None)
    waits.fails, waits.meanwhile = "followed", lambda: None
    with pytest.raises(WaitFailedError):
        run_class(plane, image=OTHER_IMAGE, rollout="rollback", confirm="5")
    assert paused(plane) == ["c1-one", "c1-two"]
    result = run_class(plane, image=OTHER_IMAGE, rollout="rollback", wait_for="none", confirm="5")
    assert paused(plane) == ["c1-one", "c1-two"]
    assert any("c1-one, c1-two stay paused" in line and "rollout=rollback" in line for line in result["warnings"])


def test_no_pool_begins_before_cluster_api_has_written_the_class(plane, waits, monkeypatch):
    """All owners would look as if they were as described."""
    monkeypatch.setattr(plane, "follow", lambda: None)
    waits.fails = "followed"
    with pytest.raises(WaitFailedError, match="not begun: MachineDeployment c1-one, MachineDeployment c1-two"):
        run_class(plane, image=OTHER_IMAGE, confirm="5")
    assert paused(plane) == ["c1-one", "c1-two"] and held(plane, ONE)


def test_a_run_that_was_killed_is_continued_by_the_next_one(plane, waits, monkeypatch):
    def killed(*_arguments):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(waits, "until_rolled", killed)
        with pytest.raises(Killed):
            run_class(plane, image=OTHER_IMAGE, confirm="5")
    assert paused(plane) == ["c1-one", "c1-two"]
    run_class(plane, image=OTHER_IMAGE)
    assert waits.asked == [("c1-control-plane", ["c1-one", "c1-two"]), ("c1-one", ["c1-two"]), ("available", [])]


@pytest.mark.parametrize("rollout", ["resume", "described"])
def test_a_pool_that_a_killed_run_has_let_begin_is_done_before_the_next_one_begins(plane, waits, monkeypatch, rollout):
    stopped_at_one(plane, waits)

    def killed(kind, name, *_arguments):
        if name == "c1-one":
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(waits, "until_rolled", killed)
        with pytest.raises(Killed):
            run_class(plane, image=OTHER_IMAGE, rollout="resume")
    assert paused(plane) == ["c1-two"]
    waits.asked = []
    run_class(plane, image=OTHER_IMAGE, rollout=rollout)
    assert waits.asked == [("c1-control-plane", ["c1-two"]), ("c1-one", ["c1-two"]), ("available", [])]


@pytest.mark.parametrize("pools", [1, 2])
def test_pools_wait_for_the_control_plane_that_a_killed_run_has_begun(plane, waits, monkeypatch, pools):
    """A pool that was alone with it began beside it."""
    workers = {"one": {"replicas": 3}, "two": {"replicas": 1}}
    if pools == 1:
        # As it is: its templates name this image.
        workers["two"]["image"] = PARAMS["image"]

    def killed(*_arguments):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(waits, "until_rolled", killed)
        with pytest.raises(Killed):
            run_class(plane, image=OTHER_IMAGE, workers=workers, confirm=str(3 + pools))
    assert paused(plane) == ["c1-one", "c1-two"][:pools]
    run_class(plane, image=OTHER_IMAGE, workers=workers)
    assert waits.asked[0] == ("c1-control-plane", ["c1-one", "c1-two"][:pools]) and paused(plane) == []


def test_a_pool_that_somebody_has_paused_stays_so(plane, waits):
    marks(plane, TWO)[PAUSED] = "mine"
    run_class(plane, image=OTHER_IMAGE, confirm="5")
    assert marks(plane, TWO)[PAUSED] == "mine" and NOTE not in marks(plane, TWO)


def refuse_once(plane, monkeypatch, refused):
    """Let the API server refuse to store an object of a kind, which it took on trial."""
    due, apply = [refused], plane.apply

    def applied(resource, namespace, body, dry_run=False, **options):
        if resource.kind in due and not dry_run:
            due.clear()
            raise KubeError("no room", 422)
        return apply(resource, namespace, body, dry_run, **options)

    monkeypatch.setattr(plane, "apply", applied)


def test_pools_are_held_no_more_when_the_class_is_refused(plane, waits, monkeypatch):
    refuse_once(plane, monkeypatch, "ClusterClass")
    with pytest.raises(KubeError, match="no room"):
        run_class(plane, image=OTHER_IMAGE, confirm="5")
    assert paused(plane) == [] and ("PATCH", *ONE) in plane.stored


def test_pools_are_held_on_when_the_cluster_may_be_written(plane, waits, monkeypatch):
    """Without an answer it may have been; then they would all begin."""
    refuse_once(plane, monkeypatch, "Cluster")
    with pytest.raises(KubeError, match="paused until the next run: MachineDeployment c1-one, c1-two"):
        run_class(plane, image=OTHER_IMAGE, confirm="5")
    assert paused(plane) == ["c1-one", "c1-two"]
    run_class(plane, image=OTHER_IMAGE, confirm="5")
    assert paused(plane) == [] and len(waits.asked) == 3


def test_there_is_no_way_back_to_a_former_version(plane, waits):
    """Cluster API's webhook refuses a lower version, and without it its controller makes no plan of it."""
    def meanwhile():
        plane.follow()
        old_machines_of(plane, "c1-one", "c1-one-0", "c1-one-1", "c1-one-2")

    waits.fails, waits.meanwhile = "available", meanwhile
    with pytest.raises(WaitFailedError) as failed:
        run_class(plane, kubernetes_version="v1.36.0", image=OTHER_IMAGE, confirm="5")
    assert "no way back to the former Kubernetes version" in str(failed.value)
    assert "work with v1.36.0" in str(failed.value) and "rollback" not in str(failed.value)
    with pytest.raises(RefusedError) as refused:
        run_class(plane, kubernetes_version="v1.36.0", image=OTHER_IMAGE, rollout="rollback")
    assert "its topology has v1.36.0, and Cluster API takes no lower version, such as v1.35.4 of before" in str(
        refused.value)


# With a class of the user's: what the topology gives it is noted.


def theirs(image, size=1):
    return {"image": None, "endpoint": None, "cluster_class": {"name": "theirs", "variables": {"image": image}},
            "workers": {"one": {"replicas": 3, "machine_class": "worker", "class_variables": {"a": size}},
                        "two": {"replicas": 1, "machine_class": "worker"}}}


@pytest.fixture
def plane_of_theirs(monkeypatch):
    monkeypatch.setattr(cluster_run, "workload_client", lambda *dummy: None)
    found = TopologyPlane()
    add_users_class(found)
    found = ready_by_class(found, **theirs("a"))
    for name in found.names("Machine"):
        found.make_ready(name)
    found.follow()
    return found


@pytest.mark.parametrize("plane", ["plane_of_theirs"], indirect=True)
def test_a_users_class_goes_back_to_its_variables_of_before(plane, waits):
    waits.fails = "c1-one"
    waits.meanwhile = lambda: old_machines_of(plane, "c1-one", "c1-one-0", "c1-one-1", "c1-one-2", "c1-two-0")
    with pytest.raises(WaitFailedError, match="run again with rollout=rollback"):
        run_class(plane, confirm="5", **theirs("b", 2))
    assert waits.asked[0] == ("c1-control-plane", ["c1-one", "c1-two"])
    waits.fails = None
    topology = plane.spec("Cluster", "c1")["topology"]
    assert topology["variables"] == [{"name": "image", "value": "b"}]
    run_class(plane, rollout="rollback", confirm="5", **theirs("b", 2))
    topology = plane.spec("Cluster", "c1")["topology"]
    assert topology["variables"] == [{"name": "image", "value": "a"}] and paused(plane) == []
    assert topology["workers"]["machineDeployments"][0]["variables"] == {"overrides": [{"name": "a", "value": 1}]}


@pytest.mark.parametrize("noted", [
    "a", {}, {"classRef": "theirs"}, {"classRef": {"name": "theirs"}, "controlPlane": {}},
    {"classRef": {"name": "theirs"}, "controlPlane": {"metadata": {}}, "pools": {}},
    {"classRef": {"name": "theirs"}, "controlPlane": {}, "pools": {"one": "a"}},
    {"classRef": {"name": "theirs"}, "controlPlane": {}, "pools": {}, "version": "v1"}])
def test_what_is_no_topology_is_none_to_go_back_to(noted):
    """Anybody who may change the owner may have written it."""
    found = former.lacks("Cluster", {"version": "v1.35.4", "topology": noted}, {}, "v1.35.4")
    assert found == "what is noted of its topology is none"


def test_a_rollback_wants_the_number_of_the_machines_of_owners_that_were_done(plane, waits):
    """One topology is of all: the control plane, which had come, goes back with the pool that had not.

    And none of the machines of before stays: each copy of a template has a name of its own, by which owners compare.
    """
    stopped_at_one(plane, waits)
    with pytest.raises(RefusedError, match="expected 5, the number of machines that this deletes") as refused:
        run_class(plane, image=OTHER_IMAGE, rollout="rollback")
    assert "c1-control-plane replaces its 1 machine, one after another" in str(refused.value)
    assert paused(plane) == ["c1-one", "c1-two"]
    lock = host_lock.value("RMA 4711", "2999-01-01T00:00:00Z")
    plane.objects["BareMetalHost", "host-of-c1-control-plane-0"]["metadata"]["annotations"] = {host_lock.LOCKED: lock}
    with pytest.raises(RefusedError, match="RMA 4711"):
        run_class(plane, image=OTHER_IMAGE, rollout="rollback", confirm="5")


def test_a_rollback_asks_for_no_owner_whose_templates_stay(plane, waits):
    workers = {"one": {"replicas": 3, "image": OTHER_IMAGE}, "two": {"replicas": 1, "image": OTHER_IMAGE}}
    waits.fails, waits.meanwhile = "c1-one", lambda: old_machines_of(plane, "c1-one", "c1-one-0")
    with pytest.raises(WaitFailedError):
        run_class(plane, workers=workers, confirm="4")
    waits.fails = None
    result = run_class(plane, workers=workers, rollout="rollback", confirm="4")
    assert "c1-control-plane" not in [change["owner"] for change in result["changes"]]


@pytest.mark.parametrize("plane, theirs_of", [
    (None, lambda workers: {"image": OTHER_IMAGE, "workers": workers}),
    ("plane_of_theirs", lambda workers: dict(theirs("b", 2), workers=dict(
        (name, dict(pool, machine_class="worker")) for name, pool in workers.items())))],
    indirect=["plane"], ids=["own class", "user's class"])
@pytest.mark.parametrize("workers", [
    {"two": {"replicas": 1}}, {"one": {"replicas": 1}, "two": {"replicas": 0}}], ids=["pool", "numbers"])
def test_a_rollback_begins_nothing_that_was_described_since(plane, waits, theirs_of, workers):
    """A pool that is not described any more, or is to be smaller, would lose machines that nobody asked for."""
    waits.fails, waits.meanwhile = "c1-one", lambda: old_machines_of(
        plane, "c1-one", "c1-one-0", "c1-one-1", "c1-one-2", "c1-two-0")
    with pytest.raises(WaitFailedError):
        run_class(plane, confirm="5", **theirs_of({"one": {"replicas": 3}, "two": {"replicas": 1}}))
    waits.fails = None
    run_class(plane, rollout="rollback", confirm="5", **theirs_of(workers))
    pools = plane.spec("Cluster", "c1")["topology"]["workers"]["machineDeployments"]
    assert [(pool["name"], pool["replicas"]) for pool in pools] == [("one", 3), ("two", 1)]


@pytest.mark.parametrize("plane, options", [
    (None, {"image": OTHER_IMAGE}), ("plane_of_theirs", theirs("b", 2))],
    indirect=["plane"], ids=["own class", "user's class"])
def test_a_rollback_counts_again_when_the_cluster_has_changed_meanwhile(plane, waits, options):
    waits.fails, waits.meanwhile = "c1-one", lambda: old_machines_of(
        plane, "c1-one", "c1-one-0", "c1-one-1", "c1-one-2", "c1-two-0")
    with pytest.raises(WaitFailedError):
        run_class(plane, confirm="5", **options)
    waits.fails = None
    more = plane.objects["Machine", "c1-control-plane-0"]
    version = class_of(plane)

    def grows():
        plane.change("Cluster", "c1")
        plane.objects["Machine", "c1-control-plane-1"] = dict(more, metadata=dict(
            more["metadata"], name="c1-control-plane-1", uid="another"))

    plane.meanwhile["Cluster", "c1"] = grows
    with pytest.raises(KubeError, match=r"would now take more machines away: .*c1-control-plane"):
        run_class(plane, rollout="rollback", confirm="5", **options)
    assert class_of(plane) == version and paused(plane) == ["c1-one", "c1-two"]
    plane.meanwhile["Cluster", "c1"] = lambda: plane.change("Cluster", "c1")
    run_class(plane, rollout="rollback", confirm="6", **options)
    assert paused(plane) == []


def test_a_server_that_does_not_answer_for_a_moment_leaves_no_pool_paused(plane, waits, monkeypatch):
    """It is restarted with the control plane whose machines are being replaced, where that manages itself."""
    listed, due = plane.list, []

    def silent_once(resource, *arguments, **more):
        if due and resource.kind == "Machine":
            due.pop()
            raise KubeError("no answer", reason="Unreachable")
        return listed(resource, *arguments, **more)

    monkeypatch.setattr(plane, "list", silent_once)
    apply = plane.apply

    def applied(resource, namespace, body, dry_run=False, **options):
        if resource.kind == "Cluster" and not dry_run:
            due.extend([1, 1])
        return apply(resource, namespace, body, dry_run, **options)

    monkeypatch.setattr(plane, "apply", applied)
    run_class(plane, image=OTHER_IMAGE, confirm="5")
    assert not due and paused(plane) == []


def test_a_description_that_goes_back_replaces_also_the_machines_of_before(plane, waits):
    """Cluster API makes other copies of their templates, and compares names."""
    stopped_at_one(plane, waits)
    plane.objects["Machine", "c1-one-new"]["status"] = {}
    plane.follow()
    with pytest.raises(RefusedError, match="expected 5, the number of machines that this deletes") as refused:
        run_class(plane)
    assert "c1-one replaces its 3 machines" in str(refused.value)
