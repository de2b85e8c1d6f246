# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that leave their cluster for a while: what is refused, evicted, waited for, and taken away again."""
from __future__ import annotations

import copy

import pytest
from fakes.clusters import Plane, run
from fakes.kubernetes import Server

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.maintenance import drain, node
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.maintenance.service import (
    DrainError,
    MaintenanceService,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host import lock as host_lock
from ansible_collections.metal3.baremetal.plugins.module_utils._host.action_rules import identity_of
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.errors import KubeError

HOST = "host-of-c1-one-0"
NODE = "c1-one-0"
SKIP = "cluster.x-k8s.io/skip-remediation"


class Workload(Server):
    """The cluster's own API server: a node, pods, budgets as refusals, and a kubelet's lease."""

    def __init__(self):
        super().__init__()
        self.refusals, self.evicted, self.beats = {}, [], 0
        for name in ("c1-one-0", "c1-one-1", "c1-control-plane-0"):
            self.objects["Node", name] = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": name},
                                          "spec": {}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}

    def add_pod(self, name, owner="ReplicaSet", **parts):
        owners = [{"kind": owner, "name": "o", "controller": True}] if owner else []
        self.objects["Pod", name] = dict({
            "apiVersion": "v1", "kind": "Pod", "spec": {"nodeName": NODE}, "status": {"phase": "Running"},
            "metadata": {"name": name, "namespace": "default", "uid": "uid-" + name, "ownerReferences": owners}},
            **parts)

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        items, version = super().list(resource, namespace, label_selector)
        name = (field_selector or "").partition("spec.nodeName=")[2]
        return [item for item in items if not name or item["spec"].get("nodeName") == name], version

    def get(self, resource, namespace, name):
        if resource.kind == "Lease":
            self.beats += 1
            return {"spec": {"renewTime": f"beat {self.beats}"}}
        return super().get(resource, namespace, name)

    def patch(self, resource, namespace, name, body, content_type=None, subresource=None, dry_run=False, checked=None):
        stored = self.objects[resource.kind, name]
        changed = merged(stored, body)
        if not dry_run:
            self.objects[resource.kind, name] = changed
        return copy.deepcopy(changed)

    def request(self, method, path, query=None, body=None, **dummy):
        name = body["metadata"]["name"]
        assert method == "POST" and path == f"/api/v1/namespaces/default/pods/{name}/eviction"
        assert body["deleteOptions"]["preconditions"]["uid"] == "uid-" + name
        if self.refusals.get(name):
            raise KubeError(self.refusals[name].pop(), 429)
        self.evicted.append(name)
        del self.objects["Pod", name]


def merged(obj, patch):
    result = copy.deepcopy(obj)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key) or {}, value) if isinstance(value, dict) else value
    return result


@pytest.fixture
def workload():
    return Workload()


@pytest.fixture
def plane():
    """A cluster of one control plane machine and three workers, all of them Ready on hosts that are on."""
    found = Plane()
    run(found)
    for owner, number in (("c1-control-plane", 1), ("c1-one", 3)):
        found.add_members(owner, number)
        for position in range(number):
            name = f"{owner}-{position}"
            found.make_ready(name)
            found.objects["Metal3Machine", name]["metadata"]["ownerReferences"] = [{"kind": "Machine", "name": name}]
            found.objects["BareMetalHost", "host-of-" + name]["status"] = {"poweredOn": True}
    return found


def go(plane, workload, state="drained", hosts=(HOST,), check_mode=False, then=lambda: None, **more):
    """Run the service; ``then`` is called at each pause."""
    params = dict({"namespace": "metal3", "hosts": list(hosts), "state": state, "reason": "fan", "confirm": "1",
                   "confirm_among": [], "allow_bare_pods": False, "allow_local_data": False,
                   "wait_timeout_seconds": 60}, **more)
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds
        then()

    return MaintenanceService(plane, params, check_mode, Progress(), lambda: now[0], sleep,
                              lambda *dummy: workload).run()


def annotations(plane, kind, name):
    return plane.objects[kind, name]["metadata"].get("annotations") or {}


def test_a_host_leaves_and_comes_back(plane, workload):
    for name, owner in (("web", "ReplicaSet"), ("proxy", "DaemonSet"), ("elsewhere", "ReplicaSet")):
        workload.add_pod(name, owner)
    workload.objects["Pod", "elsewhere"]["spec"]["nodeName"] = "c1-one-1"
    workload.add_pod("etcd", None)
    workload.objects["Pod", "etcd"]["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    workload.add_pod("ended", None, status={"phase": "Succeeded"})
    workload.refusals["web"] = ["Cannot evict pod as it would violate the pod's disruption budget."] * 2
    planned = go(plane, workload, check_mode=True, confirm=None)
    assert f"hosts whose pods are evicted: {HOST} (node {NODE}" in "".join(planned["warnings"])
    assert planned["changed"] and workload.evicted == [] and annotations(plane, "BareMetalHost", HOST) == {}
    result = go(plane, workload)
    assert result["hosts"] == [{"name": HOST, "cluster": "c1", "node": NODE, "machine": "c1-one-0"}]
    assert result["checked"] == [dict(identity_of(plane.objects["BareMetalHost", HOST])._asdict(), name=HOST)]
    assert result["checked"][0]["uid"] and result["checked"][0]["consumer"].startswith("Metal3Machine ")
    assert workload.evicted == ["web"] and result["seconds"] >= 10
    assert [entry["after_header"] for entry in result["diff"]] == [
        f"BareMetalHost metal3/{HOST}", "Machine metal3/c1-one-0", f"Node {NODE}"]
    assert annotations(plane, "BareMetalHost", HOST) == {"metal3.baremetal/maintenance": "fan"}
    assert annotations(plane, "Machine", "c1-one-0") == {SKIP: "metal3.baremetal"}
    assert workload.objects["Node", NODE]["spec"] == {"unschedulable": True}
    assert not result["warnings"]
    assert not go(plane, workload, confirm=None)["changed"], "nothing is left to confirm"
    assert go(plane, workload, "returned")["changed"]
    assert annotations(plane, "BareMetalHost", HOST) == {} == annotations(plane, "Machine", "c1-one-0")
    assert workload.objects["Node", NODE]["spec"] == {}
    assert not go(plane, workload, "returned")["changed"]


def test_a_reboot_that_was_begun_is_of_one_maintenance(plane, workload):
    begun = {"metal3.baremetal/reboot-begun": "2026-01-01T00:00:00Z"}
    plane.objects["BareMetalHost", HOST]["metadata"]["annotations"] = dict(begun)
    go(plane, workload)
    assert annotations(plane, "BareMetalHost", HOST) == {"metal3.baremetal/maintenance": "fan"}
    plane.objects["BareMetalHost", HOST]["metadata"]["annotations"].update(begun)
    go(plane, workload, reason="disk")
    assert annotations(plane, "BareMetalHost", HOST) == dict(begun, **{"metal3.baremetal/maintenance": "disk"})
    # Somebody has given the node back by hand.
    workload.objects["Node", NODE]["spec"] = {}
    go(plane, workload, reason="disk")
    assert annotations(plane, "BareMetalHost", HOST) == {"metal3.baremetal/maintenance": "disk"}
    plane.objects["BareMetalHost", HOST]["metadata"]["annotations"].update(begun)
    go(plane, workload, "returned")
    assert annotations(plane, "BareMetalHost", HOST) == {}


def test_what_others_have_set_stays(plane, workload):
    plane.objects["Machine", "c1-one-0"]["metadata"]["annotations"] = {SKIP: ""}
    workload.objects["Node", NODE]["spec"] = {"unschedulable": True}
    go(plane, workload)
    go(plane, workload, "returned")
    assert annotations(plane, "Machine", "c1-one-0") == {SKIP: ""}
    assert workload.objects["Node", NODE]["spec"] == {"unschedulable": True}


def test_what_would_be_lost_is_refused_all_at_once(plane, workload):
    workload.add_pod("bare", None)
    workload.add_pod("cache", spec={"nodeName": NODE, "volumes": [{"name": "c", "emptyDir": {}}]})
    with pytest.raises(RefusedError) as refused:
        go(plane, workload, confirm=None)
    text = str(refused.value)
    assert "allow_bare_pods: found pods without a controller: default/bare" in text
    assert "allow_local_data: found pods with emptyDir volumes: default/cache" in text
    assert f"expected 1, the number of hosts whose pods are evicted: {HOST} (node {NODE} of cluster c1)" in text
    assert annotations(plane, "BareMetalHost", HOST) == {}
    go(plane, workload, allow_bare_pods=True, allow_local_data=True)
    assert sorted(workload.evicted) == ["bare", "cache"]


def test_check_mode_warns_that_a_confirmation_is_missing(plane, workload):
    asked = go(plane, workload, check_mode=True, confirm="3")
    assert asked["warnings"] == [
        'without check mode this would be refused: namespace metal3: confirm: found 3, expected 1, the number of hosts '
        f"whose pods are evicted: {HOST} (node {NODE} of cluster c1); to continue set metal3_confirm=1 (module option "
        "confirm)"]
    assert asked["changed"] and annotations(plane, "BareMetalHost", HOST) == {}
    assert go(plane, workload, check_mode=True)["warnings"] == []
    assert go(plane, workload, "returned", check_mode=True)["warnings"] == []


def test_a_budget_that_never_allows_it_is_named_at_the_end(plane, workload):
    workload.add_pod("web")
    workload.refusals["web"] = ["would violate the disruption budget"] * 100
    with pytest.raises(DrainError, match=f"not drained within 1 min:\n- {HOST}: waits for the eviction of default/web "
                                         r"\(would violate the disruption budget\)"):
        go(plane, workload)
    assert annotations(plane, "BareMetalHost", HOST), "a later run takes it up"


def test_hosts_that_can_not_leave(plane, workload):
    plane.add("metal3.io/v1alpha1", "BareMetalHost", "mine", spec={"consumerRef": {"kind": "Other", "name": "o"}})
    del plane.objects["Machine", "c1-one-1"]["status"]
    with pytest.raises(RefusedError) as refused:
        go(plane, workload, hosts=["mine", "none", "host-of-c1-one-1", HOST, HOST], confirm="5")
    text = str(refused.value)
    for part in ("metal3/mine: spec.consumerRef: found Other o", "metal3/none: hosts: found no such BareMetalHost",
                 "found Machine c1-one-1, which is no Node yet", f"{HOST}: hosts: found named twice"):
        assert part in text, text
    with pytest.raises(RefusedError, match="c1-control-plane-0 of a control plane with 0 other healthy machines of 1"):
        go(plane, workload, hosts=["host-of-c1-control-plane-0"])


def test_a_host_without_a_cluster_is_marked_only(plane, workload):
    plane.add("metal3.io/v1alpha1", "BareMetalHost", "free", spec={}, status={"poweredOn": False})
    assert go(plane, workload, hosts=["free"], confirm=None)["hosts"][0]["node"] is None
    assert annotations(plane, "BareMetalHost", "free") == {"metal3.baremetal/maintenance": "fan"}
    go(plane, workload, "returned", hosts=["free"])
    assert annotations(plane, "BareMetalHost", "free") == {}


def test_a_server_that_is_off_does_not_come_back(plane, workload):
    go(plane, workload)
    plane.objects["BareMetalHost", HOST]["status"]["poweredOn"] = False
    with pytest.raises(RefusedError, match="found a server that is off, expected one that is on"):
        go(plane, workload, "returned")


@pytest.mark.parametrize("silent, text", [(True, "a sign of life of the kubelet of node c1-one-0, after beat 1"),
                                          (False, "node c1-one-0 to be Ready")], ids=["silent", "not ready"])
def test_a_node_that_is_not_back_stays_cordoned(plane, workload, silent, text):
    """A silent kubelet's node is Ready until the control plane has noticed."""
    go(plane, workload)
    if silent:
        workload.get = lambda resource, namespace, name: {"spec": {"renewTime": "beat 1"}} \
            if resource.kind == "Lease" else Server.get(workload, resource, namespace, name)
    else:
        workload.objects["Node", NODE]["status"]["conditions"][0]["status"] = "False"
    with pytest.raises(DrainError, match=f"not Ready within 1 min:\n- {HOST}: waits for {text}"):
        go(plane, workload, "returned")
    assert workload.objects["Node", NODE]["spec"] == {"unschedulable": True}


def test_the_pods_that_come_meanwhile_are_not_waited_for():
    pods = [{"metadata": {"uid": "a", "namespace": "d", "name": "a", "deletionTimestamp": "x"}},
            {"metadata": {"uid": "b", "namespace": "d", "name": "b"}}]
    assert drain.left(pods, {"a": "a"}) == pods[:1]
    assert drain.waits_for(pods, {}) == "the end of d/a; the eviction of d/b (not evicted yet)"


def test_a_patch_shows_what_was_there():
    machine = {"metadata": {"annotations": {SKIP: "metal3.baremetal", "other": "1"}}}
    assert node.before(machine, node.give_back(machine)) == {"metadata": {"annotations": {SKIP: "metal3.baremetal"}}}


class Busy(Workload):
    """Schedules a pod on the node in the moment before it is cordoned."""

    def __init__(self, owner):
        super().__init__()
        self.owner = owner

    def patch(self, resource, namespace, name, body, *arguments, dry_run=False, **more):
        if resource.kind == "Node" and not dry_run:
            self.add_pod("late", self.owner)
        return super().patch(resource, namespace, name, body, *arguments, dry_run=dry_run, **more)


def test_a_pod_that_comes_before_the_node_is_cordoned_is_evicted(plane):
    workload = Busy("ReplicaSet")
    go(plane, workload)
    assert workload.evicted == ["late"]


def test_a_pod_that_would_be_lost_and_comes_before_the_node_is_cordoned_ends_the_run(plane):
    workload = Busy(None)
    with pytest.raises(DrainError, match=r"(?s)allow_bare_pods: found pods .*: default/late.*nodes cordoned"):
        go(plane, workload)
    assert workload.evicted == []
    go(plane, workload, allow_bare_pods=True)
    assert workload.evicted == ["late"]


def test_a_locked_host_is_not_taken_out(plane, workload):
    lock = host_lock.value("RMA 4711", "2999-01-01T00:00:00Z")
    plane.objects["BareMetalHost", HOST]["metadata"]["annotations"] = {host_lock.LOCKED: lock}
    with pytest.raises(RefusedError, match=r'hosts: found host .* locked until 2999-01-01T00:00:00Z: "RMA 4711"'):
        go(plane, workload)
    assert annotations(plane, "BareMetalHost", HOST) == {host_lock.LOCKED: lock}


def test_a_mark_makes_up_for_no_confirmation(plane, workload):
    """Whoever may annotate a host, or a drain of last week, had its pods evicted without a number."""
    workload.add_pod("web")
    for name in (HOST, "host-of-c1-one-1"):
        plane.objects["BareMetalHost", name]["metadata"]["annotations"] = {host_annotations.MAINTENANCE: "fan"}
    for confirm in (None, "2"):
        with pytest.raises(RefusedError, match=rf"expected 1, the number of hosts whose pods are evicted: {HOST} "):
            go(plane, workload, confirm=confirm)
    # A node that takes pods is interrupted, too.
    del workload.objects["Pod", "web"]
    with pytest.raises(RefusedError, match="expected 1"):
        go(plane, workload, confirm=None)
    assert workload.evicted == [] and workload.objects["Node", NODE]["spec"] == {}
    assert go(plane, workload)["changed"]


def test_where_only_names_count_they_are_asked_for(plane, workload):
    with pytest.raises(RefusedError, match=rf"expected the names of the hosts whose pods are evicted: {HOST} .*; to "
                                           rf"continue set metal3_confirm={HOST},other: the play has several batches"):
        go(plane, workload, confirm="1", confirm_among=[HOST, "other"])


def test_a_run_that_is_taken_up_repeats_its_number_or_names_what_is_left(plane, workload):
    hosts = (HOST, "host-of-c1-one-1")
    for confirm in ("2", "1", "host-of-c1-one-1", ",".join(hosts)):
        for number in range(2):
            workload.objects["Node", f"c1-one-{number}"]["spec"] = {}
        workload.objects["Node", NODE]["spec"] = {"unschedulable": True}
        go(plane, workload, hosts=hosts, confirm=confirm)
        assert workload.objects["Node", "c1-one-1"]["spec"] == {"unschedulable": True}
    workload.add_pod("going")
    workload.objects["Pod", "going"]["metadata"]["deletionTimestamp"] = "t"
    with pytest.raises(DrainError, match="the end of default/going"):
        go(plane, workload, hosts=hosts, confirm=None)


def free(plane):
    """Do what a scale-down does: the Machine is gone, and its host is nobody's."""
    for kind in ("Machine", "Metal3Machine"):
        plane.objects.pop((kind, "c1-one-0"), None)
    plane.objects["BareMetalHost", HOST]["spec"].pop("consumerRef", None)


def make_anew(plane):
    plane.objects["Machine", "c1-one-0"]["metadata"]["uid"] = "another"


def enrol_anew(plane):
    plane.objects["BareMetalHost", HOST]["metadata"]["uid"] = "another"


def forget(plane):
    plane.objects.pop(("BareMetalHost", HOST), None)


BY_OTHERS = pytest.mark.parametrize("change, text", [
    (free, "found no Machine on it by now, expected the one of before"),
    (make_anew, "found Machine c1-one-0 on it by now, expected the one of before"),
    (enrol_anew, "found another BareMetalHost of this name, expected the one of before"),
    (forget, "found no such BareMetalHost any more")])


@BY_OTHERS
def test_a_host_whose_machine_goes_during_the_drain_is_not_drained(plane, workload, change, text):
    """Its pods went with its Node, and what has the host by then was never looked at."""
    workload.add_pod("web")
    workload.refusals["web"] = ["would violate the disruption budget"]
    with pytest.raises(DrainError, match=f"waited for to be drained:\n- {HOST}: {text}"):
        go(plane, workload, then=lambda: change(plane))


@BY_OTHERS
def test_the_node_of_another_machine_does_not_bring_a_host_back(plane, workload, change, text):
    """Nodes are waited for by name, which the Node of another Machine may have."""
    go(plane, workload)
    with pytest.raises(DrainError, match=f"waited for to be Ready:\n- {HOST}: {text}"):
        go(plane, workload, "returned", then=lambda: change(plane))
    assert workload.objects["Node", NODE]["spec"] == {"unschedulable": True}
