# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said before hosts leave their cluster, and which of them may leave together."""
from __future__ import annotations

import pytest
from fakes.maintenance import BEGAN_AT, HOST, NODE, Workload, go, plane_of
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.maintenance import node, waves
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.maintenance.waiting import DrainError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts.formats import timestamp
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

OTHER, THIRD = "host-of-c1-one-1", "host-of-c1-one-2"
PLANES = [f"host-of-c1-control-plane-{number}" for number in range(3)]


@pytest.fixture
def workload():
    return Workload()


@pytest.fixture
def plane():
    """Three machines of the control plane and three workers, all of them Ready."""
    return plane_of(control_plane=3)


def plan(plane, workload, *hosts, **more):
    return go(plane, workload, "planned", hosts or (HOST,), **more)


def mark(plane, host, **more):
    plane.objects["BareMetalHost", host]["metadata"]["annotations"] = dict(
        {host_annotations.MAINTENANCE: "fan"}, **more)


def unready(plane, name):
    plane.objects["Machine", name]["status"]["conditions"] = [
        {"type": "Ready", "status": "False", "message": "kubelet is silent"}]


def test_a_plan_names_the_pods_budgets_and_others_that_are_not_ready_and_writes_nothing(plane, workload):
    for number in range(10):
        workload.add_pod(f"web-{number}")
        workload.objects["Pod", f"web-{number}"]["metadata"]["labels"] = {"app": "web"}
    workload.objects["PodDisruptionBudget", "web"] = {
        "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}}, "status": {"disruptionsAllowed": 0}}
    unready(plane, "c1-one-1")
    mark(plane, THIRD)
    mark(plane, HOST, **{host_annotations.MAINTENANCE_TOOK: "252"})
    writes, reports = len(plane.writes()), Reports()
    planned = plan(plane, workload, confirm=None, reports=reports)
    listed = ", ".join(f"default/web-{number}" for number in range(8))
    assert planned["outlook"] == [
        f"{HOST} (node {NODE} of cluster c1): evicts 10 pods: {listed}, and 2 more",
        f"the last maintenance of a server took 4 min 12 s ({HOST})"] and set(planned["outlook"]) <= set(reports.lines)
    assert planned["warnings"] == [
        "PodDisruptionBudget default/web allows no disruption and holds web-0, web-1, web-2, web-3, web-4, and 5 more: "
        "the drain waits for it, and the run ends after 1 min; give it more replicas, or a smaller minAvailable",
        f"Machine c1-one-1 on host {OTHER} is not ready (kubelet is silent): others of cluster c1 go beside it; bring "
        "it back first, or delete the Machine for its owner to make another",
        f"{THIRD} is being maintained (fan): others of pool c1-one of cluster c1 go beside it"]
    assert planned["attention"] == planned["warnings"]
    assert planned["rounds"] == [[HOST]] and not planned["changed"] and len(plane.writes()) == writes
    # The same is what is asked with.
    mark(plane, HOST)
    with pytest.raises(RefusedError) as refused:
        go(plane, workload, confirm=None)
    said = [line.strip() for line in str(refused.value).splitlines()]
    assert planned["outlook"][0] in said and all(f"attention: {line}" in said for line in planned["warnings"])


def test_a_neighbour_is_known_by_what_it_is_and_not_by_the_words_of_its_reason(plane, workload):
    mark(plane, THIRD, **{host_annotations.MAINTENANCE: "its fan is not ready"})
    assert plan(plane, workload)["warnings"] == [
        f"{THIRD} is being maintained (its fan is not ready): others of pool c1-one of cluster c1 go beside it"]


def test_what_a_drain_would_lose_is_refused_by_the_plan(plane, workload):
    workload.add_pod("bare", None)
    with pytest.raises(RefusedError, match="allow_bare_pods: found pods without a controller: default/bare"):
        plan(plane, workload)


def test_budgets_that_can_not_be_read_are_said(plane, workload):
    listed = workload.list

    def refuse(resource, *arguments, **more):
        if resource.kind == "PodDisruptionBudget":
            raise KubeError("forbidden", 403)
        return listed(resource, *arguments, **more)

    workload.list = refuse
    assert plan(plane, workload)["warnings"] == [
        "cluster metal3/c1: whether disruption budgets keep nodes from being drained is not checked: forbidden"]


def test_how_long_a_maintenance_took_is_kept_for_the_next_one(plane, workload):
    plane.add("metal3.io/v1alpha1", "BareMetalHost", "free", spec={})
    go(plane, workload, hosts=["free", HOST])
    kept = plane.objects["BareMetalHost", "free"]["metadata"]["annotations"]
    assert kept[host_annotations.MAINTENANCE_BEGUN] == timestamp(BEGAN_AT)
    kept[host_annotations.MAINTENANCE_BEGUN] = timestamp(BEGAN_AT - 595)
    plane.objects["BareMetalHost", "free"]["status"] = {"poweredOn": True}
    go(plane, workload, "returned", hosts=["free", HOST])
    assert plane.objects["BareMetalHost", "free"]["metadata"]["annotations"] == {
        host_annotations.MAINTENANCE_TOOK: "600"}
    assert "the last maintenance of a server took 5 s to 10 min (free, host-of-c1-one-0)" in plan(
        plane, workload, THIRD)["outlook"]
    plane.objects["BareMetalHost", "free"]["metadata"]["annotations"] = {host_annotations.MAINTENANCE_TOOK: "a while"}
    assert not [line for line in plan(plane, workload, "free")["outlook"] if "a while" in line]


@pytest.mark.parametrize("limit, expected", [
    ("1", [[HOST, PLANES[0]], [OTHER, PLANES[1]], [THIRD]]), ("2", [[HOST, OTHER, PLANES[0]], [THIRD, PLANES[1]]]),
    ("67%", [[HOST, OTHER, PLANES[0]], [THIRD, PLANES[1]]]), ("10%", [[HOST, PLANES[0]], [OTHER, PLANES[1]], [THIRD]]),
    (None, [[HOST, OTHER, THIRD, PLANES[0]], [PLANES[1]]])])
def test_a_wave_has_as_many_rounds_as_its_pools_need(plane, workload, limit, expected):
    reports = Reports()
    planned = plan(plane, workload, HOST, OTHER, THIRD, *PLANES[:2], max_unavailable_per_pool=limit, reports=reports)
    assert [set(names) for names in planned["rounds"]] == [set(names) for names in expected]
    assert f"round 1 of {len(expected)}: {', '.join(planned['rounds'][0])}" in reports.lines


def test_more_of_a_pool_than_are_allowed_do_not_leave_together(plane, workload):
    refusal = (f"cluster metal3/c1: max_unavailable_per_pool: found {HOST}, {OTHER} to be away together, of pool "
               "c1-one, expected at most 1 unavailable at once; name fewer servers, or allow more "
               "(maintain_max_unavailable_per_pool=2; module option max_unavailable_per_pool)")
    for state, more in (("planned", {"stays_out": True}), ("drained", {"confirm": "2"})):
        with pytest.raises(RefusedError) as refused:
            go(plane, workload, state, hosts=[HOST, OTHER], max_unavailable_per_pool="1", **more)
        assert refusal in str(refused.value)
        go(plane, workload, state, hosts=[HOST, OTHER], max_unavailable_per_pool="2", check_mode=True, **more)
    assert workload.objects["Node", NODE]["spec"] == {}


def away_by_mark(plane):
    mark(plane, OTHER)
    return f"{OTHER} is being maintained (fan)"


def away_by_a_silent_kubelet(plane):
    unready(plane, "c1-one-1")
    return f"Machine c1-one-1 on host {OTHER} is not ready"


def away_by_its_deletion(plane):
    plane.objects["Machine", "c1-one-1"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return "Machine c1-one-1 is being deleted"


@pytest.mark.parametrize("change", [away_by_mark, away_by_a_silent_kubelet, away_by_its_deletion])
def test_what_is_away_already_counts(plane, workload, change):
    text = change(plane)
    for state in ("planned", "drained"):
        with pytest.raises(RefusedError) as refused:
            go(plane, workload, state, max_unavailable_per_pool="1")
        assert (f"found {text}, and {HOST} to go, of pool c1-one, expected at most 1 unavailable at once; bring the "
                "others back first (playbook maintain, return; playbook remediate), or allow more "
                "(maintain_max_unavailable_per_pool=2;") in str(refused.value)
    assert plan(plane, workload, max_unavailable_per_pool="2")["rounds"] == [[HOST]]
    # Itself it may be maintained, and those of other pools.
    if change is not away_by_its_deletion:
        assert plan(plane, workload, OTHER, max_unavailable_per_pool="1")["rounds"] == [[OTHER]]
    assert plan(plane, workload, PLANES[0], max_unavailable_per_pool="1")["rounds"] == [[PLANES[0]]]


def test_what_an_earlier_run_has_left_out_comes_first(plane, workload):
    """Also from a later batch, when it is of a pool that this batch takes hosts of."""
    mark(plane, THIRD)
    assert plan(plane, workload, HOST, THIRD, max_unavailable_per_pool="1")["rounds"] == [[THIRD], [HOST]]
    early = plan(plane, workload, HOST, later=[OTHER, THIRD], max_unavailable_per_pool="1")
    assert early["rounds"] == [[THIRD], [HOST]]
    assert plan(plane, workload, PLANES[0], later=[OTHER, THIRD])["rounds"] == [[PLANES[0]]]


def test_those_that_an_earlier_run_has_left_out_are_out_together(plane, workload):
    """What a round would refuse is refused by the plan: they are away, whether a round has them or not."""
    go(plane, workload, "drained", hosts=[HOST, OTHER], max_unavailable_per_pool="2", confirm="2")
    for state, hosts in (("planned", [HOST, OTHER, THIRD]), ("planned", [HOST, OTHER]), ("drained", [HOST])):
        with pytest.raises(RefusedError) as refused:
            go(plane, workload, state, hosts=hosts, max_unavailable_per_pool="1")
        if state == "planned":
            assert (f"found {HOST}, {OTHER} left out by an earlier run, of pool c1-one, expected at most 1 unavailable "
                    "at once; bring some of them back first (playbook maintain, return), or allow more "
                    "(maintain_max_unavailable_per_pool=2; module option") in str(refused.value)
    allowed = plan(plane, workload, HOST, OTHER, THIRD, max_unavailable_per_pool="2")["rounds"]
    assert [set(names) for names in allowed] == [{HOST, OTHER}, {THIRD}]
    go(plane, workload, "drained", hosts=[HOST, OTHER], max_unavailable_per_pool="2", confirm="2")
    mark(plane, THIRD)
    with pytest.raises(RefusedError) as refused:
        plan(plane, workload, HOST, OTHER, max_unavailable_per_pool="2")
    assert (f"found {THIRD} is being maintained (fan), and {HOST}, {OTHER} left out by an earlier run, of pool c1-one, "
            "expected at most 2 unavailable at once; bring some of them back first (playbook maintain, return; "
            "playbook remediate), or allow more (maintain_max_unavailable_per_pool=3;") in str(refused.value)


def test_machines_of_a_control_plane_that_stay_out_are_refused_together(plane, workload):
    with pytest.raises(RefusedError, match=r"found 2 machines of the control plane .*expected one at a time"):
        plan(plane, workload, *PLANES[:2], stays_out=True)


def test_each_machine_of_a_control_plane_needs_the_quorum_of_the_others(plane, workload):
    unready(plane, "c1-control-plane-2")
    with pytest.raises(RefusedError, match="c1-control-plane-0 of a control plane with 1 other healthy machines of 3"):
        plan(plane, workload, *PLANES)


@pytest.mark.parametrize("text", ["0", "x", "-1", "1.5", "%", ""])
def test_a_limit_is_a_number_or_a_percentage(plane, workload, text):
    with pytest.raises(RefusedError, match=f'max_unavailable_per_pool: found "{text}", expected a number from 1 on'):
        plan(plane, workload, max_unavailable_per_pool=text)


def test_a_percentage_is_of_the_pool_and_at_least_one():
    assert [waves.limit_of(text, 10) for text in ("25%", "1%", "100%", "3")] == [2, 1, 10, 3]
    assert waves.pool_of({"metadata": {"labels": {"cluster.x-k8s.io/cluster-name": "c1"}}}) is None


def test_a_worker_counts_until_cluster_api_finds_it_healthy(plane, workload):
    """Its node is Ready some seconds before; the next one of the pool would be refused."""
    looks = []

    def heal():
        looks.append(1)
        if len(looks) > 3:
            plane.objects["Machine", "c1-one-0"]["status"]["conditions"][0]["status"] = "True"

    go(plane, workload)
    unready(plane, "c1-one-0")
    assert go(plane, workload, "returned", max_unavailable_per_pool="1", then=heal)["seconds"] >= 20
    assert plan(plane, workload, OTHER, max_unavailable_per_pool="1")["rounds"] == [[OTHER]]
    unready(plane, "c1-one-0")
    with pytest.raises(DrainError, match="waits for Cluster API to find Machine c1-one-0 healthy: kubelet is silent"):
        go(plane, workload, "returned", max_unavailable_per_pool="1")


def test_those_that_are_ready_do_not_wait_for_one_that_is_not(plane, workload):
    go(plane, workload, hosts=[HOST, OTHER], confirm="2")
    workload.objects["Node", NODE]["status"]["conditions"][0]["status"] = "False"
    with pytest.raises(DrainError) as late:
        go(plane, workload, "returned", hosts=[HOST, OTHER])
    assert late.value.result()["late"] == [HOST]
    assert [entry["name"] for entry in late.value.result()["checked"]] == [HOST, OTHER]
    assert workload.objects["Node", NODE]["spec"] == {"unschedulable": True}
    assert workload.objects["Node", "c1-one-1"]["spec"] == {}


def test_of_a_control_plane_none_leaves_beside_one_that_another_run_has_drained(plane, workload):
    go(plane, workload, hosts=[PLANES[0]])
    for state in ("drained", "planned"):
        with pytest.raises(RefusedError, match=rf"{PLANES[0]} is being maintained \(fan\)"):
            go(plane, workload, state, hosts=[PLANES[1]])
    assert not plane.objects["BareMetalHost", PLANES[1]]["metadata"].get("annotations")
    # What a run before has left out is taken up, also with others after it.
    assert go(plane, workload, "planned", hosts=PLANES)["rounds"] == [[host] for host in PLANES]
    assert go(plane, workload, "planned", hosts=[PLANES[1]], later=[PLANES[0]])["rounds"] == [[PLANES[0]], [PLANES[1]]]
    go(plane, workload, hosts=[PLANES[0]])
    go(plane, workload, "returned", hosts=[PLANES[0]])
    go(plane, workload, hosts=[PLANES[1]])


@pytest.mark.parametrize("mine, theirs, limit", [
    (PLANES[0], PLANES[1], None), (HOST, OTHER, "1")], ids=["control-plane", "pool"])
def test_of_two_runs_at_once_one_goes_without_its_marks(plane, workload, mine, theirs, limit):
    """Each has looked before the other has marked its host."""
    plane.meanwhile["BareMetalHost", mine] = lambda: mark(plane, theirs)
    with pytest.raises(RefusedError, match=rf"{theirs} is being maintained \(fan\)"):
        go(plane, workload, hosts=[mine], max_unavailable_per_pool=limit)
    assert not plane.objects["BareMetalHost", mine]["metadata"].get("annotations")
    assert not any(item["spec"].get("unschedulable") for item in workload.objects.values() if item["kind"] == "Node")
    # A mark of a run before stays.
    mark(plane, mine)
    with pytest.raises(RefusedError):
        go(plane, workload, hosts=[mine], max_unavailable_per_pool=limit)
    assert plane.objects["BareMetalHost", mine]["metadata"]["annotations"] == {host_annotations.MAINTENANCE: "fan"}


def test_a_run_that_is_refused_leaves_the_mark_that_another_one_has_set_since():
    host = {"metadata": {"name": "h", "annotations": {}}}
    host["metadata"]["annotations"] = dict(node.hold(host, "fan", True, BEGAN_AT)["metadata"]["annotations"])
    for reason, now, taken in (("fan", BEGAN_AT, True), ("disk", BEGAN_AT, False), ("fan", BEGAN_AT + 1, False)):
        assert bool(node.unmark(host, reason, now)) is taken
