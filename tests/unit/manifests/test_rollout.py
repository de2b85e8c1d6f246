# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether objects are rolled out, and why not."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.reconcile.plan import Entry
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._manifests import rollout
from ansible_collections.metal3.baremetal.plugins.module_utils._manifests.rollout_wait import RolloutError, RolloutWait
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN


def stored(kind, spec=None, generation=1, **status):
    status.setdefault("observedGeneration", generation)
    return {"kind": kind, "metadata": {"name": "a", "namespace": "n", "generation": 1},
            "spec": dict({"selector": {"matchLabels": {"app": "a"}}}, **(spec or {})), "status": status}


def certificate(generation, **ready):
    return {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "spec": {},
            "metadata": {"name": "a", "generation": generation},
            "status": {"conditions": [dict({"type": "Ready", "status": "True"}, **ready)]}}


DONE = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}


@pytest.mark.parametrize("obj, words", [
    (None, "it is not there"),
    (stored("Deployment", {"replicas": 2}, generation=0, **DONE), "not observed by its controller yet"),
    (stored("Deployment", {"replicas": 2}, updatedReplicas=1), "1 of 2 pods updated"),
    (stored("Deployment", {"replicas": 2}, **{**DONE, "replicas": 3}), "1 old pods are still there"),
    (stored("Deployment", {"replicas": 2}, **{**DONE, "availableReplicas": 1}), "1 of 2 pods available"),
    (stored("Deployment", {"replicas": 2}, **DONE), None),
    (stored("Deployment", {"replicas": 0}), None),
    (dict(stored("Deployment", {"replicas": 2}, **DONE), metadata={"deletionTimestamp": "t", "finalizers": ["a/b"]}),
     "it is being deleted since t, held by a/b"),
    (stored("DaemonSet", desiredNumberScheduled=2, updatedNumberScheduled=1), "1 of 2 pods updated"),
    (stored("DaemonSet", desiredNumberScheduled=2, updatedNumberScheduled=2, numberAvailable=1),
     "1 of 2 pods available"),
    (stored("DaemonSet", desiredNumberScheduled=2, updatedNumberScheduled=2, numberAvailable=2), None),
    (stored("StatefulSet", readyReplicas=0), "0 of 1 pods ready"),
    (stored("StatefulSet", readyReplicas=1, updateRevision="b", currentRevision="a"), "0 of 1 pods updated"),
    (stored("StatefulSet", readyReplicas=1, updateRevision="a", currentRevision="a"), None),
    (stored("Job"), "not complete"),
    (stored("Job", conditions=[{"type": "Complete", "status": "True"}]), None),
    (stored("CustomResourceDefinition"), "not established"),
    (stored("CustomResourceDefinition", conditions=[{"type": "Established", "status": "True"}]), None),
    (certificate(2, observedGeneration=1), "not observed by cert-manager yet"),
    (certificate(2, observedGeneration=2), None),
    (certificate(2), None),
    (certificate(2, observedGeneration=2, status="False", message="issuing"), "not ready issuing"),
])
def test_what_is_missing(obj, words):
    assert rollout.missing(obj) == words


@pytest.mark.parametrize("obj, words", [
    (None, None),
    (stored("Deployment", conditions=[{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
                                       "message": "timed  out"}]), "ProgressDeadlineExceeded: timed out"),
    (stored("Deployment", conditions=[{"type": "Progressing", "status": "True", "reason": "A"}]), None),
    (stored("Job", conditions=[{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]),
     "BackoffLimitExceeded: "),
    (stored("CustomResourceDefinition", conditions=[
        {"type": "NamesAccepted", "status": "False", "reason": "PluralConflict", "message": "taken"}]),
     "PluralConflict: taken"),
])
def test_what_will_not_be(obj, words):
    assert rollout.failure(obj) == words


def refused(message, kind="Deployment"):
    return stored(kind, conditions=[{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
                                     "message": f'pods "a-1" is forbidden: {message}'}])


@pytest.mark.parametrize("obj, step", [
    (refused('violates PodSecurity "restricted:latest": privileged'), "set pod_security to a level that the pod keeps"),
    (refused("no PriorityClass with name p was found"), "create the PriorityClass, or correct priority_class"),
    (refused("exceeded quota: q, requested: pods=1"), "lower the requests in resources"),
    (refused('error looking up service account n/a: serviceaccount "a" not found'),
     "read kubectl -n n describe replicasets"),
])
def test_what_admission_refuses_is_named_with_the_next_step(obj, step):
    text = rollout.refused(obj)
    assert text.startswith('FailedCreate: pods "a-1" is forbidden: ') and f"; {step}" in text


@pytest.mark.parametrize("obj", [
    None, stored("Deployment", **DONE), refused("x", "StatefulSet"),
    stored("Deployment", conditions=[{"type": "ReplicaFailure", "status": "False"}])])
def test_pods_that_nobody_refuses(obj):
    assert rollout.refused(obj) is None


def pod(waiting=None, running=None, ready=False, scheduled=True, last=None, ended=None):
    conditions = [{"type": "PodScheduled", "status": str(scheduled), "reason": "Unschedulable", "message": "no node"}]
    state = {"waiting": waiting} if waiting else {"running": running or {}} if running is not None else {}
    state = {"terminated": ended} if ended else state
    return {"metadata": {"name": "a-1", "namespace": "n", "labels": {"app": "a"}},
            "status": {"conditions": conditions, "containerStatuses": [
                {"name": "c", "state": state, "ready": ready, "lastState": {"terminated": last} if last else {}}]}}


@pytest.mark.parametrize("what, trouble", [
    (pod(scheduled=False), ("Unschedulable", "Unschedulable: no node")),
    (pod({"reason": "ContainerCreating"}), None),
    (pod({"reason": "ImagePullBackOff", "message": "no such image"}),
     ("ImagePullBackOff", "ImagePullBackOff: container c: no such image")),
    (pod({"reason": "CrashLoopBackOff"}, last={"exitCode": 3, "reason": "Error"}),
     ("CrashLoopBackOff", "CrashLoopBackOff: container c: no message; it ended with exit code 3 (Error)")),
    (pod({"reason": "CrashLoopBackOff", "message": "back-off"}, last={
        "exitCode": 2, "reason": "Error", "message": "Usage:\n  --a\nunknown flag: https://u:p@a/\n\n"}),
     ("CrashLoopBackOff", "CrashLoopBackOff: container c: back-off; it ended with exit code 2 (Error): "
      "unknown flag: https://(hidden)@a/")),
    (pod(ended={"exitCode": 1, "reason": "Error", "message": "a\n" + 400 * "x" + " unknown gate"}),
     ("Error", f"Error: container c has ended; it ended with exit code 1 (Error): {149 * 'x'}...{135 * 'x'}"
      " unknown gate")),
    (pod(ended={"exitCode": 0, "reason": "Completed"}), None),
    (pod(running={"startedAt": "now"}, last={"exitCode": 1, "reason": "Error"}),
     ("NotReady", "NotReady: container c runs and is not ready; it ended with exit code 1 (Error)")),
    (pod(running={"startedAt": "now"}), ("NotReady", "NotReady: container c runs and is not ready")),
    (pod(running={"startedAt": "now"}, ready=True), None),
])
def test_what_keeps_a_pod(what, trouble):
    assert rollout.pod_trouble(what) == trouble


@pytest.mark.parametrize("reason, message, step", [
    ("ImagePullBackOff", "quay.io/a:v1: not found", "put the image into the registry, or correct its name or tag"),
    ("ErrImagePull", "dial tcp 192.0.2.1:443: connect: connection refused", "make the nodes reach the registry"),
    ("ErrImagePull", "x509: certificate signed by unknown authority", "give the nodes the authority"),
    ("ErrImagePull", "pull access denied", "pull_secrets"),
    ("Unschedulable", "0/2 nodes: 2 Insufficient memory.", "lower the request for memory in resources"),
    ("Unschedulable", "1 node(s) didn't match Pod's node affinity/selector.", "correct node_selector or affinity"),
    ("Unschedulable", "1 node(s) had untolerated taint {a: b}.", "set tolerations"),
    ("Unschedulable", "1 node(s) didn't have free ports", "end what uses the node's port"),
    ("CrashLoopBackOff", "", "read kubectl -n n logs a-1 --all-containers --previous"),
    ("Unschedulable", "1 Insufficient cpu, 1 node(s) had untolerated taint {a: b}, 1 didn't match Pod's node "
     "affinity/selector.", "lower the request for cpu in resources, or add a node that has as much free; correct "
     "node_selector or affinity, or label a node; set tolerations, or remove the taint"),
    ("CrashLoopBackOff", "unknown flag: --a", "correct arguments or feature_gates"),
    ("Error", "unrecognized feature gate: A", "correct arguments or feature_gates"),
    ("Error", "", "read kubectl -n n logs a-1 --all-containers"),
    ("Unschedulable", "other", "read kubectl -n n describe pod a-1"),
])
def test_next_steps(reason, message, step):
    assert step in rollout.next_step(pod(), reason, message)


class Server:
    """Answers LISTs with a sequence of states, the last of them for ever; an error is raised."""

    server = "https://server"

    def __init__(self, *states):
        self.states = list(states)
        self.now = 0.0

    def list(self, resource, _namespace, _label_selector=None):
        state = self.states[0]
        if isinstance(state, KubeError):
            raise state
        return [item for item in state if (resource.kind == "Pod") is ("kind" not in item)], "1"

    def sleep(self, seconds):
        self.now += seconds
        if len(self.states) > 1:
            self.states.pop(0)


def wait(server, timeout_seconds=300):
    entry = Entry(KNOWN["Deployment"], "n", "a", "create", {}, None, {}, {})
    return RolloutWait(server, [entry], Progress(None), lambda: server.now, server.sleep).until(timeout_seconds)


def test_wait_ends_when_all_is_rolled_out_through_an_outage():
    begun = stored("Deployment", {"replicas": 2}, updatedReplicas=1)
    done = stored("Deployment", {"replicas": 2}, **DONE)
    assert wait(Server([begun], KubeError("refused"), [done])) == 2.0


def test_wait_names_the_pods_reason_when_it_gives_up():
    stuck = [stored("Deployment", {"replicas": 2}, updatedReplicas=1),
             pod({"reason": "ImagePullBackOff", "message": "no such image"})]
    server = Server(stuck)
    with pytest.raises(RolloutError, match=r"can't be rolled out:\n- Deployment n/a: 1 of 2 pods updated; pod a-1: "
                                           r"ImagePullBackOff: container c: no such image; read kubectl -n n describe"):
        wait(server)
    assert server.now == 60


def crashing(restarts):
    found = pod({"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}, last={"exitCode": 1, "reason": "Error"})
    found["status"]["containerStatuses"][0]["restartCount"] = restarts
    return [stored("Deployment", {"replicas": 2}, updatedReplicas=1), found]


def test_a_container_that_ended_before_the_wait_is_waited_for_until_it_is_started_again():
    done = stored("Deployment", {"replicas": 2}, **DONE)
    assert wait(Server(*[crashing(6)] * 250, [done])) == 250.0


@pytest.mark.parametrize("before, started_at", [(0, 1), (6, 100)])
def test_a_container_that_ends_again_during_the_wait_ends_it(before, started_at):
    server = Server(*[crashing(before)] * started_at, crashing(before + 1))
    with pytest.raises(RolloutError, match=r"can't be rolled out:\n- Deployment n/a: .*back-off 5m0s; it ended with"):
        wait(server)
    assert server.now == max(60, started_at)


def test_wait_ends_when_no_pod_is_let_in_for_a_minute():
    server = Server([refused("violates PodSecurity")])
    with pytest.raises(RolloutError, match=r"can't be rolled out:\n- Deployment n/a: 0 of 1 pods updated; "
                                           r'FailedCreate: pods "a-1" is forbidden: violates PodSecurity; set pod'):
        wait(server)
    assert server.now == 60


def test_wait_goes_on_when_a_pod_is_let_in_in_time():
    done = stored("Deployment", updatedReplicas=1, availableReplicas=1)
    assert wait(Server([refused("serviceaccount not found")], [refused("serviceaccount not found")], [done])) == 2.0


def test_wait_ends_at_once_when_waiting_can_not_help():
    server = Server([stored("Deployment", {"replicas": 2}), pod({"reason": "InvalidImageName"})])
    with pytest.raises(RolloutError, match="InvalidImageName"):
        wait(server)
    assert server.now == 0


def test_wait_tells_the_last_state_when_time_is_up():
    with pytest.raises(RolloutError, match=r"not rolled out within 5 s:\n- Deployment n/a: 0 of 2 pods updated"):
        wait(Server([stored("Deployment", {"replicas": 2})]), 5)


def test_wait_does_not_hide_a_refusal():
    with pytest.raises(KubeError, match="forbidden"):
        wait(Server(KubeError("forbidden", 403)))
