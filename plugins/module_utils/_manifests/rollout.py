# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an object is rolled out, and what keeps its pods from it; pure.

The rules are those of ``kubectl rollout status`` and of the conditions that the API documents.
"""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .._common.redaction.redaction import without_url_secrets
from .._common.texts.plain_text import shortened
from .._common.texts.text_table import shortened_in_the_middle
from .._kube.objects.conditions import condition, is_true
from .._kube.objects.finalizers import deletion_of

# What waiting does not put right.
DEFINITIVE_REASONS = ("InvalidImageName", "ErrImageNeverPull")
# What may pass, when a Secret or a registry comes late, and is a failure when it stays.
STUCK_REASONS = ("ErrImagePull", "ImagePullBackOff", "CrashLoopBackOff", "CreateContainerConfigError",
                 "CreateContainerError", "RunContainerError")
# The kubelet waits up to 5 min before it starts a container again: until then this is about a start of before.
LATE_REASON = "CrashLoopBackOff"


def _deployment(obj: dict[str, Any], status: dict[str, Any]) -> str | None:
    wanted = obj["spec"].get("replicas", 1)
    updated, available = status.get("updatedReplicas") or 0, status.get("availableReplicas") or 0
    if updated < wanted:
        return f"{updated} of {wanted} pods updated"
    if (status.get("replicas") or 0) > updated:
        return f"{status['replicas'] - updated} old pods are still there"
    return None if available >= wanted else f"{available} of {wanted} pods available"


def _daemon_set(_obj: dict[str, Any], status: dict[str, Any]) -> str | None:
    wanted = status.get("desiredNumberScheduled") or 0
    for field, text in (("updatedNumberScheduled", "updated"), ("numberAvailable", "available")):
        if (status.get(field) or 0) < wanted:
            return f"{status.get(field) or 0} of {wanted} pods {text}"
    return None


def _stateful_set(obj: dict[str, Any], status: dict[str, Any]) -> str | None:
    wanted = obj["spec"].get("replicas", 1)
    ready = status.get("readyReplicas") or 0
    if ready < wanted:
        return f"{ready} of {wanted} pods ready"
    if status.get("updateRevision") != status.get("currentRevision"):
        return f"{status.get('updatedReplicas') or 0} of {wanted} pods updated"
    return None


def _job(obj: dict[str, Any], _status: dict[str, Any]) -> str | None:
    return None if is_true(obj, "Complete") else "not complete"


def _definition(obj: dict[str, Any], _status: dict[str, Any]) -> str | None:
    return None if is_true(obj, "Established") else "not established"


def _certificate(obj: dict[str, Any], _status: dict[str, Any]) -> str | None:
    # Of cert-manager; other groups have a kind of this name too.
    if not obj["apiVersion"].startswith("cert-manager.io/"):
        return None
    entry = condition(obj, "Ready")
    # Of a changed one the condition says for a while what was true of the one before.
    if entry.get("observedGeneration", obj["metadata"].get("generation", 0)) < obj["metadata"].get("generation", 0):
        return "not observed by cert-manager yet"
    return None if entry.get("status") == "True" else " ".join(f"not ready {entry.get('message') or ''}".split())


_RULES = {"Deployment": _deployment, "DaemonSet": _daemon_set, "StatefulSet": _stateful_set, "Job": _job,
          "CustomResourceDefinition": _definition, "Certificate": _certificate}
KINDS = tuple(_RULES)
_OBSERVED = ("Deployment", "DaemonSet", "StatefulSet")
WITH_PODS = _OBSERVED + ("Job",)


def missing(obj: dict[str, Any] | None) -> str | None:
    """Return what an object lacks to be rolled out, in words, or None when it is.

    :param obj: an object of one of :data:`KINDS`, as stored; None when it is not there
    """
    if obj is None:
        return "it is not there"
    if deletion_of(obj):
        return f"it is {deletion_of(obj)}"
    status = obj.get("status") or {}
    # Jobs and definitions do not report which generation they were computed for.
    if obj["kind"] in _OBSERVED and (status.get("observedGeneration") or 0) < obj["metadata"].get("generation", 0):
        return "not observed by its controller yet"
    return _RULES[obj["kind"]](obj, status)


def failure(obj: dict[str, Any] | None) -> str | None:
    """Return why an object will not be rolled out, in words, or None when it may be.

    :param obj: as for :func:`missing`
    """
    if obj is None:
        return None
    for kind, bad, reason in (("Progressing", "False", "ProgressDeadlineExceeded"), ("Failed", "True", None),
                              ("NamesAccepted", "False", None)):
        entry = condition(obj, kind)
        if entry.get("status") == bad and reason in (None, entry.get("reason")):
            return f"{entry.get('reason') or kind}: {' '.join((entry.get('message') or '').split())}"
    return None


def refused(obj: dict[str, Any] | None) -> str | None:
    """Return why the API server lets no pod of a Deployment be made, and what to do about it; None when it does.

    It may pass: a service account or a PriorityClass comes late, a quota is free again.

    :param obj: as for :func:`missing`
    """
    entry = condition(obj, "ReplicaFailure")
    if obj is None or obj["kind"] != "Deployment" or entry.get("status") != "True":
        return None
    _reason, text = _with_message(entry.get("reason") or "ReplicaFailure", entry.get("message"))
    steps = [*_steps(_REFUSED, text), f"read kubectl -n {obj['metadata'].get('namespace')} describe replicasets"]
    return f"{text}; {steps[0]}"


def pod_trouble(pod: dict[str, Any]) -> tuple[str, str] | None:
    """Return ``(reason, text)`` of what keeps a pod from being ready, or None.

    :param pod: a Pod as stored
    :returns: ``reason`` as the kubelet or the scheduler gives it; ``text`` for users
    """
    status = pod.get("status") or {}
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return _with_message(scheduled.get("reason") or "Unschedulable", scheduled.get("message"))
    for container in (status.get("initContainerStatuses") or []) + (status.get("containerStatuses") or []):
        waiting = (container.get("state") or {}).get("waiting")
        if waiting and waiting.get("reason") not in (None, "PodInitializing", "ContainerCreating"):
            said = waiting.get("message") or "no message"
            return _with_message(waiting["reason"], f"container {container['name']}: {said}{_end(container)}")
        ended = (container.get("state") or {}).get("terminated") or {}
        if ended.get("exitCode"):
            # Before it is started again.
            return _with_message(ended.get("reason") or "Error", f"container {container['name']} has ended"
                                 + _end({"lastState": container["state"]}))
    for container in status.get("containerStatuses") or []:
        if (container.get("state") or {}).get("running") and not container.get("ready"):
            return _with_message("NotReady", f"container {container['name']} runs and is not ready{_end(container)}")
    return None


def restarts(pod: dict[str, Any]) -> int:
    """Return how often containers of a pod were started again.

    :param pod: a Pod as stored
    """
    status = pod.get("status") or {}
    return sum(container.get("restartCount") or 0 for container in (
        status.get("initContainerStatuses") or []) + (status.get("containerStatuses") or []))


# Characters of a log's last line: programs repeat what they were given, and say at the end what is wrong with it.
_LINE = 300
# The kubelet keeps 4096 bytes of a log; the status may have been written by others.
_READ = 4096


def _end(container: dict[str, Any]) -> str:
    """Return how a container has ended before, with the last line that the kubelet has kept of its log."""
    ended = (container.get("lastState") or {}).get("terminated") or {}
    if not ended:
        return ""
    said = [line for line in (ended.get("message") or "").splitlines() if line.strip()][-1:]
    return f"; it ended with exit code {ended.get('exitCode')} ({ended.get('reason')})" + "".join(
        ": " + shortened_in_the_middle(without_url_secrets(shortened(line, _READ)), _LINE) for line in said)


# What a registry's or the scheduler's message has → what to do about it; the first that fits.
_PULLED = (
    (r"x509|certificate", "give the nodes the authority of the registry's certificate"),
    (r"unauthorized|authorization failed|forbidden|denied|401|403",
     "name a Secret with the registry's login in pull_secrets"),
    (r"not found|manifest unknown", "put the image into the registry, or correct its name or tag"),
    (r"dial tcp|no such host|connection refused|timeout|timed out|deadline exceeded|no route|unreachable|EOF",
     "make the nodes reach the registry, or set another one by image_registry_mirror"))
_SCHEDULED = (
    (r"Insufficient ([\w./-]*\w)", r"lower the request for \1 in resources, or add a node that has as much free"),
    (r"affinity|selector", "correct node_selector or affinity, or label a node"),
    (r"taint", "set tolerations, or remove the taint"),
    (r"free ports", "end what uses the node's port, or choose another node by node_selector"))
_CRASHED = ((r"unknown (shorthand )?flag|invalid argument|unrecognized feature gate",
             "correct arguments or feature_gates"),)
# What the API server's admission says of a pod.
_REFUSED = (
    (r"PodSecurity", "set pod_security to a level that the pod keeps, or correct the label "
     "pod-security.kubernetes.io/enforce of its namespace"),
    (r"PriorityClass", "create the PriorityClass, or correct priority_class"),
    (r"quota", "lower the requests in resources, or raise the namespace's quota"))
_STEPS = {"ErrImagePull": _PULLED, "ImagePullBackOff": _PULLED, "Unschedulable": _SCHEDULED,
          "InvalidImageName": ((r"", "correct the image's name"),),
          "ErrImageNeverPull": ((r"", "set another image_pull_policy, or put the image onto the node"),),
          "CreateContainerConfigError": ((r"", "create what it names"),),
          "CrashLoopBackOff": _CRASHED, "Error": _CRASHED, "NotReady": _CRASHED}
# Each node has its own reason.
_ALL_APPLY = ("Unschedulable",)


def next_step(pod: dict[str, Any], reason: str, message: str) -> str:
    """Return what a user does about what keeps a pod from being ready, in the imperative.

    :param pod: a Pod as stored
    :param reason: from :func:`pod_trouble`
    :param message: from there, too
    """
    found = _steps(_STEPS.get(reason, ()), message)
    if found:
        return "; ".join(found if reason in _ALL_APPLY else found[:1])
    where = f"-n {pod['metadata'].get('namespace')}"
    if reason in ("CrashLoopBackOff", "Error", "NotReady", "RunContainerError"):
        previous = " --previous" if reason == "CrashLoopBackOff" else ""
        return f"read kubectl {where} logs {pod['metadata']['name']} --all-containers{previous}"
    return f"read kubectl {where} describe pod {pod['metadata']['name']}"


def _steps(table: Iterable[tuple[str, str]], message: str) -> list[str]:
    return [match.expand(step) for pattern, step in table for match in [re.search(pattern, message)] if match]


def _with_message(reason: str, message: str | None) -> tuple[str, str]:
    return reason, f"{reason}: {' '.join((message or 'no message').split())}"
