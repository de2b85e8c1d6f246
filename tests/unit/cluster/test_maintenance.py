# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that leave their cluster for a while: what is refused, evicted, waited for, and taken away again."""
from __future__ import annotations

import re

import pytest
from fakes.clock import Clock
from fakes.killed import each_kill
from fakes.kubernetes import Server
from fakes.maintenance import HOST, NODE, Workload, go, plane_of
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.maintenance import drain, node
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.maintenance.waiting import (
    STAY,
    DrainError,
    until,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions.action_rules import Identity, identity_of
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions.action_service import HostActionService
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions.actions import Request
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import lock as host_lock
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

SKIP = "cluster.x-k8s.io/skip-remediation"


@pytest.fixture
def workload():
    return Workload()


@pytest.fixture
def plane():
    """A cluster of one control plane machine and three workers, all of them Ready on hosts that are on."""
    return plane_of()


def annotations(plane, kind, name):
    """Return the annotations of an object but for the times of a maintenance."""
    found = plane.objects[kind, name]["metadata"].get("annotations") or {}
    return dict((key, value) for key, value in found.items()
                if key not in (host_annotations.MAINTENANCE_BEGUN, host_annotations.MAINTENANCE_TOOK))


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
    stored = plane.objects["BareMetalHost", HOST]
    since = host_annotations.of(stored)[host_annotations.MAINTENANCE_BEGUN]
    assert since and result["checked"] == [dict(identity_of(stored)._asdict(), name=HOST, maintained=since)]
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


@pytest.mark.parametrize("before", [{}, {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"},
                                    {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "false", "a": "b"}])
@pytest.mark.parametrize("spec", [{}, {"unschedulable": True}])
def test_no_autoscaler_takes_a_node_that_is_empty_because_it_was_drained(plane, workload, before, spec):
    """Its machine would be deleted, and the server wiped, while somebody works on it."""
    node = workload.objects["Node", NODE]
    node["metadata"]["annotations"], node["spec"] = dict(before), dict(spec)
    go(plane, workload, check_mode=True)
    assert workload.objects["Node", NODE]["metadata"]["annotations"] == before
    go(plane, workload)
    found = workload.objects["Node", NODE]["metadata"]["annotations"]
    assert found["cluster-autoscaler.kubernetes.io/scale-down-disabled"] == "true"
    assert not go(plane, workload)["changed"]
    go(plane, workload, "returned")
    assert workload.objects["Node", NODE]["metadata"]["annotations"] == before
    assert workload.objects["Node", NODE]["spec"] == spec
    assert not go(plane, workload, "returned")["changed"]


def new():
    """Return a plane and a cluster of which no host is maintained, with pods on the first host's node."""
    servers = plane_of(), Workload()
    servers[1].add_pod("web")
    servers[1].add_pod("proxy", "DaemonSet")
    return servers


def taken_out(*servers):
    go(*servers)


def brought_back(*servers):
    go(*servers, "returned")


def drained():
    """Return them with a host that was taken out."""
    servers = new()
    taken_out(*servers)
    return servers


def test_a_host_that_a_killed_run_has_not_taken_out_is_taken_out_by_the_next_one():
    """The mark at the host comes first, then its Machine's, its node's, and the pods."""
    assert each_kill(new, taken_out) == 4


def test_a_host_that_a_killed_run_has_not_brought_back_is_brought_back_by_the_next_one():
    assert each_kill(drained, brought_back) == 3


def test_a_host_that_a_killed_run_has_begun_to_take_out_comes_back():
    """Whatever of it was done; pods that were evicted are somewhere else."""
    def out_and_back(*servers):
        taken_out(*servers)
        brought_back(*servers)

    def without_web():
        servers = new()
        del servers[1].objects["Pod", "web"]
        return servers

    assert each_kill(without_web, taken_out, brought_back, out_and_back) == 3


def test_a_host_that_a_killed_run_has_begun_to_bring_back_is_taken_out_again():
    assert each_kill(drained, brought_back, taken_out, lambda *servers: None) == 3


def reboot(plane, checked, then=lambda: None):
    """Reboot the host as one that was drained; ``then`` is done just before the write."""
    plane.meanwhile["BareMetalHost", HOST] = then
    found = dict((item["name"], Identity(item["uid"], item["consumer"], item["maintained"])) for item in checked)
    return HostActionService(plane, [Request(HOST, "reboot", now="2026-01-01T00:00:00Z", once=True)], {
        "namespace": "metal3", "force_hosts": [HOST], "confirm": HOST, "confirm_among": [], "wait": False,
        "wait_timeout_seconds": 0, "error_limit": 1}, False, Reports(), sleep=lambda _seconds: None,
        checked=found).run()["hosts"][0]["error"]


@pytest.mark.parametrize("joins", [True, False], ids=["begun-by-the-other-run", "begun-by-this-run"])
@pytest.mark.parametrize("again", [True, False], ids=["drained-again", "given-back"])
def test_a_host_that_another_run_gives_back_is_not_rebooted_undrained(plane, workload, joins, again):
    """Two runs work on one host; pods come to its node again as soon as one of them has ended."""
    stored = plane.objects["BareMetalHost", HOST]
    stored["status"]["provisioning"] = {"state": "provisioned"}
    if joins:
        go(plane, workload)
    mine = go(plane, workload)["checked"]
    assert reboot(plane, mine) == ""
    for key in ("reboot.metal3.io", host_annotations.REBOOT_BEGUN):
        del stored["metadata"]["annotations"][key]

    def give_back():
        go(plane, workload, "returned")
        if again:
            go(plane, workload)
            stored["metadata"]["annotations"][host_annotations.MAINTENANCE_BEGUN] = "2026-01-02T00:00:00Z"
        plane.version += 1
        stored["metadata"]["resourceVersion"] = str(plane.version)

    assert "a host that another run has given back, or maintains since" in reboot(plane, mine, give_back)
    with pytest.raises(RefusedError, match="expected the maintenance for which it was drained"):
        reboot(plane, mine)
    assert "reboot.metal3.io" not in annotations(plane, "BareMetalHost", HOST)


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
        f"confirm):\n    {HOST} (node {NODE} of cluster c1): evicts no pod"]
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


def test_a_host_whose_machine_is_gone_by_force_loses_its_mark_too(plane, workload):
    """It was left out without a word, and counted as being maintained for ever."""
    go(plane, workload)
    del plane.objects["Machine", NODE]
    result = go(plane, workload, "returned")
    assert result["changed"] and [facts["name"] for facts in result["hosts"]] == [HOST]
    assert annotations(plane, "BareMetalHost", HOST) == {}
    with pytest.raises(RefusedError, match="which no Machine owns"):
        go(plane, workload)


def test_refused_credentials_end_no_wait_when_they_were_accepted_in_between():
    """An API server that has just started refuses everybody for a moment, and each of a control plane starts once."""
    clock = Clock()

    def read():
        if clock.now in (0, 70):
            raise KubeError("Unauthorized", 401)
        return {"h1": "" if clock.now > 100 else "node n1 to be Ready"}

    assert until("Ready", ["h1"], read, lambda text: text, 900, Reports(), clock, clock.sleep, "") is None
    with pytest.raises(KubeError):
        until("Ready", ["h1"], refused, lambda text: text, 900, Reports(), clock, clock.sleep, "")


def refused():
    raise KubeError("Unauthorized", 401)


def test_a_server_that_is_off_does_not_come_back(plane, workload):
    go(plane, workload)
    plane.objects["BareMetalHost", HOST]["status"]["poweredOn"] = False
    plane.objects["BareMetalHost", HOST]["spec"]["online"] = False
    with pytest.raises(RefusedError, match="found a server that is off, expected one that is on"):
        go(plane, workload, "returned")


@pytest.mark.parametrize("annotation, status, text", [
    ({"reboot.metal3.io": ""}, {}, "the reboot that its annotation reboot.metal3.io asks for"),
    ({}, {"operationalStatus": "servicing"}, "the end of its service by Ironic"),
    ({}, {"poweredOn": False}, "the operator to switch it on"),
], ids=["asked for", "served", "going on"])
def test_a_server_that_is_about_to_be_rebooted_does_not_come_back(plane, workload, annotation, status, text):
    """Its node is Ready, and its kubelet alive, until it goes down."""
    go(plane, workload)
    host = plane.objects["BareMetalHost", HOST]
    host["spec"]["online"] = True
    host["metadata"]["annotations"].update(annotation)
    before = dict(host["status"])
    host["status"].update(status)
    with pytest.raises(DrainError, match=f"{HOST}.*{text}"):
        go(plane, workload, "returned")
    assert workload.objects["Node", NODE]["spec"] == {"unschedulable": True}
    for key in annotation:
        del plane.objects["BareMetalHost", HOST]["metadata"]["annotations"][key]
    plane.objects["BareMetalHost", HOST]["status"] = before
    assert go(plane, workload, "returned")["changed"]


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


PLANE_HOST, PLANE_NODE = "host-of-c1-control-plane-0", "c1-control-plane-0"


def etcd(ready):
    return {"apiVersion": "v1", "kind": "Pod", "spec": {"nodeName": PLANE_NODE}, "metadata": {
        "name": "etcd-" + PLANE_NODE, "namespace": "kube-system", "uid": "e", "labels": {"tier": "control-plane"},
        "annotations": {"kubernetes.io/config.mirror": "x"}},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}}


def test_a_control_plane_machine_is_back_when_its_etcd_and_cluster_api_say_so(plane, workload):
    """Before, the next machine of its control plane would be refused, or go beside it."""
    machine = plane.objects["Machine", PLANE_NODE]
    machine["status"]["conditions"][0].update(status="False", message="etcd member is not healthy")
    workload.objects["Pod", "etcd"] = etcd("False")
    lines = []

    def heal():
        lines.append((workload.objects["Pod", "etcd"]["status"]["conditions"][0]["status"],
                      machine["status"]["conditions"][0]["status"]))
        if len(lines) > 4:
            machine["status"]["conditions"][0]["status"] = "True"
        elif len(lines) > 2:
            workload.objects["Pod", "etcd"] = etcd("True")

    workload.objects["Node", PLANE_NODE].update(spec={"unschedulable": True})
    workload.objects["Node", PLANE_NODE]["metadata"]["annotations"] = {"metal3.baremetal/cordoned": "true"}
    assert go(plane, workload, "returned", hosts=[PLANE_HOST], then=heal)["seconds"] >= 25
    assert workload.objects["Node", PLANE_NODE]["spec"] == {}


@pytest.mark.parametrize("ready, text", [
    ("False", "etcd-c1-control-plane-0 to be Ready"),
    ("True", "Cluster API to find Machine c1-control-plane-0 healthy: etcd member is not healthy"),
], ids=["etcd", "Cluster API"])
def test_a_control_plane_machine_that_stays_unhealthy_is_given_back_and_named(plane, workload, ready, text):
    plane.objects["Machine", PLANE_NODE]["status"]["conditions"][0].update(
        status="False", message="etcd member is not healthy")
    workload.objects["Pod", "etcd"] = etcd(ready)
    plane.objects["BareMetalHost", PLANE_HOST]["metadata"]["annotations"] = {"metal3.baremetal/maintenance": "fan"}
    with pytest.raises(DrainError, match=f"not healthy within 1 min:\n- {PLANE_HOST}: waits for {text}\nThe hosts are "
                                         "back in their cluster"):
        go(plane, workload, "returned", hosts=[PLANE_HOST])
    assert annotations(plane, "BareMetalHost", PLANE_HOST) == {}


def test_nobody_looks_at_the_machines_of_a_paused_cluster(plane, workload):
    plane.objects["Machine", PLANE_NODE]["status"]["conditions"][0]["status"] = "False"
    plane.objects["Cluster", "c1"]["spec"]["paused"] = True
    workload.objects["Pod", "etcd"] = etcd("True")
    assert go(plane, workload, "returned", hosts=[PLANE_HOST])["seconds"] < 25


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


def begin_deletion(plane):
    plane.objects["BareMetalHost", HOST]["metadata"].update(
        deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["baremetalhost.metal3.io"])


@pytest.mark.parametrize("change, text", [
    (forget, "found no such BareMetalHost any more; look for who has deleted it"),
    (begin_deletion, "it is being deleted since 2026-01-01T00:00:00Z, held by baremetalhost.metal3.io")])
def test_a_host_that_is_deleted_is_not_waited_for_to_be_back_as_others_are(plane, workload, change, text):
    """Its node does not come: what the wait said at its end was that it waits for the node."""
    other = "host-of-c1-one-1"
    go(plane, workload, hosts=[HOST, other], confirm="2")
    for name in (NODE, "c1-one-1"):
        workload.objects["Node", name]["status"]["conditions"][0]["status"] = "False"
    pauses = []

    def then():
        pauses.append(len(pauses))
        if len(pauses) == 1:
            change(plane)
        if len(pauses) == 3:
            workload.objects["Node", "c1-one-1"]["status"]["conditions"][0]["status"] = "True"

    with pytest.raises(DrainError) as caught:
        go(plane, workload, "returned", hosts=[HOST, other], then=then)
    assert str(caught.value) == (
        f"changed by others while the hosts were waited for to be Ready:\n- {HOST}: {text}; Machine c1-one-0 loses its "
        "server: replace it (playbook machine_action, machine_action=replace), so that its owner makes another one on "
        f"a free host\n{STAY}")
    assert caught.value.late == [HOST] and len(pauses) < 5
    assert [workload.objects["Node", name]["spec"] for name in (NODE, "c1-one-1")] == [{"unschedulable": True}, {}]


def use(plane):
    plane.objects["BareMetalHost", HOST]["spec"]["consumerRef"] = {
        "kind": "Metal3Machine", "namespace": "metal3", "name": "c1-one-1"}


@pytest.mark.parametrize("change, text", [
    (enrol_anew, "hosts: found another BareMetalHost of this name, expected the one that was checked"),
    (use, "hosts: found a host in use by Metal3Machine metal3/c1-one-1, expected Metal3Machine /c1-one-0, its consumer "
          "when it was checked"),
    (lambda plane: plane.objects["BareMetalHost", HOST]["spec"].pop("consumerRef"),
     "hosts: found a host without consumer, expected Metal3Machine")])
def test_what_a_host_has_got_since_its_maintenance_was_confirmed_is_not_drained(plane, workload, change, text):
    """Rounds before it may have taken hours, and what it has by then was never counted."""
    planned = go(plane, workload, "planned", confirm=None)
    assert [item["name"] for item in planned["checked"]] == [HOST] and planned["checked"][0]["maintained"] is None
    change(plane)
    writes = len(plane.stored)
    with pytest.raises(RefusedError, match=re.escape(text)):
        go(plane, workload, checked=planned["checked"])
    assert len(plane.stored) == writes and workload.evicted == []


def test_a_host_that_is_what_was_planned_is_drained(plane, workload):
    planned = go(plane, workload, "planned", confirm=None)
    assert go(plane, workload, checked=planned["checked"])["changed"]


@BY_OTHERS
def test_the_node_of_another_machine_does_not_bring_a_host_back(plane, workload, change, text):
    """Nodes are waited for by name, which the Node of another Machine may have."""
    go(plane, workload)
    with pytest.raises(DrainError, match=f"waited for to be Ready:\n- {HOST}: {text}"):
        go(plane, workload, "returned", then=lambda: change(plane))
    assert workload.objects["Node", NODE]["spec"] == {"unschedulable": True}
