# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``verify``: whether all of a cluster runs after its machines were replaced."""
from __future__ import annotations

import pytest
from fakes.clock import Clock
from fakes.clusters import OTHER_IMAGE, Plane, run, service_of

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.lifecycle import run as cluster_run
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.lifecycle import verifying
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import WaitFailedError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

VERSION = "v1.35.4"


def node(name, version=VERSION, ready="True", **condition):
    return {"metadata": {"name": name}, "status": {
        "nodeInfo": {"kubeletVersion": version}, "conditions": [dict({"type": "Ready", "status": ready}, **condition)]}}


def pod(name, ready="True", phase="Running", waiting=None, **metadata):
    metadata = dict({"name": name, "namespace": "kube-system"}, **metadata)
    return {"metadata": metadata, "spec": {"nodeName": "n"}, "status": {
        "phase": phase, "conditions": [{"type": "Ready", "status": ready}],
        "containerStatuses": [{"state": {"waiting": {"reason": waiting}}}] if waiting else []}}


class Cluster:
    """The workload cluster: what its API server lists; None in place of nodes when it does not answer."""

    def __init__(self):
        self.nodes = [node("c1-one-0"), node("c1-one-1")]
        self.pods = [pod("coredns"), pod("job", ready="False", phase="Succeeded")]
        self.looks = 0
        self.later = {}

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        if resource.kind == "Node":
            self.looks += 1
            for name, value in self.later.pop(self.looks, {}).items():
                setattr(self, name, value)
        if self.nodes is None:
            raise KubeError("no answer", reason="Unreachable")
        return {"Node": self.nodes, "Pod": [item for item in self.pods if namespace == "kube-system"]}.get(
            resource.kind, []), "1"


@pytest.fixture
def workload(monkeypatch):
    found = Cluster()
    monkeypatch.setattr(cluster_run, "workload_client", lambda *dummy: found)
    return found


@pytest.fixture
def plane():
    found = Plane()
    run(found)
    found.add_members("c1-one", 2)
    for position in range(2):
        found.make_ready(f"c1-one-{position}")
        found.objects["Machine", f"c1-one-{position}"]["spec"]["version"] = VERSION
    return found


class Wait:
    """The wait for the cluster, of which no time is left."""

    def __init__(self):
        self.clock = Clock()

    @staticmethod
    def remaining_seconds():
        return 1


def verified(plane):
    service, wait = service_of(plane), Wait()
    service.sleep = wait.clock.sleep
    verifying.verify(service, wait)
    return service.progress.lines


def test_a_cluster_of_which_all_runs_is_asked_once(plane, workload):
    verified(plane)
    assert workload.looks == 1


WRONG = {
    "a kubelet of before": ({"nodes": [node("c1-one-0", "v1.34.7"), node("c1-one-1")]}, [
        "Machine c1-one-0: Node c1-one-0: found kubelet v1.34.7, expected v1.35.4"]),
    "a node that is not ready": ({"nodes": [
        node("c1-one-0", ready="False", message="CNI is missing"), node("c1-one-1")]}, [
        "Machine c1-one-0: Node c1-one-0 is not Ready (CNI is missing)"]),
    "a node that is not there": ({"nodes": [node("c1-one-0")]}, ["Machine c1-one-1: found no Node c1-one-1"]),
    "an image that cannot be pulled": ({"pods": [pod("kube-proxy-1", ready="False", waiting="ImagePullBackOff")]}, [
        "pod kube-system/kube-proxy-1 on node n is not Ready (ImagePullBackOff)"]),
    "a pod without a node": ({"pods": [dict(pod("dns", ready="False", phase="Pending"), spec={})]}, [
        "pod kube-system/dns is not Ready (Pending)"]),
    "both": ({"nodes": [node("c1-one-0")], "pods": [pod("dns", ready="False")]}, [
        "found no Node c1-one-1", "pod kube-system/dns on node n is not Ready (Running)"]),
    "no answer": ({"nodes": None}, ["its API server does not answer: no answer"])}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_what_does_not_run_is_waited_for_and_then_named(plane, workload, case):
    """For two minutes at least, however late the machines came."""
    state, texts = WRONG[case]
    good = dict((name, getattr(workload, name)) for name in state)
    workload.later = {1: state}
    with pytest.raises(WaitFailedError) as failed:
        verified(plane)
    assert "cluster metal3/c1 is available, and after 2 min not all of it runs" in str(failed.value)
    assert all(text in str(failed.value) for text in texts) and "cluster_verify" in str(failed.value)
    workload.looks, workload.later = 0, {1: state, 4: good}
    verified(plane)
    assert workload.looks == 4


def test_a_failed_pod_counts_unless_a_controller_makes_another(plane, workload):
    """Such as one that the kubelet has evicted; what a Node owns is the kubelet's own."""
    evicted = {"ready": "False", "phase": "Failed"}
    workload.pods.append(pod("evicted", **evicted, ownerReferences=[{"kind": "ReplicaSet", "name": "dns"}]))
    verified(plane)
    assert workload.looks == 1
    workload.pods += [pod("etcd-n", **evicted, ownerReferences=[{"kind": "Node", "name": "n"}]), pod("bare", **evicted)]
    with pytest.raises(WaitFailedError) as failed:
        verified(plane)
    assert "pod kube-system/etcd-n on node n is not Ready (Failed)" in str(failed.value)
    assert "pod kube-system/bare" in str(failed.value) and "evicted" not in str(failed.value)


def test_what_goes_does_not_count(plane, workload):
    plane.objects["Machine", "c1-one-1"]["metadata"]["deletionTimestamp"] = "2026-11-29T08:00:00Z"
    workload.nodes = [node("c1-one-0")]
    workload.pods = [pod("old", ready="False", deletionTimestamp="2026-11-29T08:00:00Z")]
    verified(plane)


def test_more_than_a_screen_is_shortened(plane, workload):
    workload.pods = [pod(f"p{number:02d}", ready="False") for number in range(20)]
    with pytest.raises(WaitFailedError) as failed:
        verified(plane)
    assert "p07" in str(failed.value) and "p08" not in str(failed.value) and "- and 12 more" in str(failed.value)


def test_pods_that_do_not_run_before_are_named_where_machines_are_replaced(plane, workload):
    workload.pods.append(pod("broken", ready="False", waiting="CrashLoopBackOff"))
    changed = {"workers": {"one": {"replicas": 3, "image": OTHER_IMAGE}, "two": {"replicas": 1}}, "check_mode": True}

    def named(**options):
        return [line for line in run(plane, **options)["warnings"] if str(line).startswith("pod ")]

    assert named(verify=True, **changed) == [
        "pod kube-system/broken on node n is not Ready (CrashLoopBackOff): unless it is by then, the verification "
        "after the change will fail; look at it first"]
    assert not named(verify=False, **changed) and not named(verify=True, check_mode=True)
    workload.nodes = None
    assert any("whether the pods of kube-system are Ready is not checked: no answer" in line
               for line in run(plane, verify=True, **changed)["warnings"])
