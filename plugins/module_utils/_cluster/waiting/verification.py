# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a cluster does not run as it should when machines were replaced: nodes, and pods of kube-system; pure.

Cluster API calls a machine available whose node is Ready; it knows neither the kubelet's version nor pods of workers.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.texts.plain_text import plain
from ..._kube.objects.conditions import condition, is_true
from ..._kube.objects.finalizers import is_going
from ..workflow.snapshot import Snapshot, node_name

NAMESPACE = "kube-system"


def node_lines(snapshot: Snapshot, nodes: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line for each Machine whose node is missing, not Ready or of another version than the Machine.

    :param snapshot: a Snapshot of the cluster
    :param nodes: the Nodes of the cluster itself
    """
    known = dict((node["metadata"]["name"], node) for node in nodes)
    lines = []
    for machine in snapshot.mine("Machine"):
        name, title = node_name(machine), f"Machine {machine['metadata']['name']}"
        wanted = (machine.get("spec") or {}).get("version")
        if is_going(machine):
            continue
        node = known.get(name or "")
        if node is None:
            lines.append(f"{title}: found no Node {name}" if name else f"{title}: is no node")
            continue
        found = ((node.get("status") or {}).get("nodeInfo") or {}).get("kubeletVersion")
        if wanted and found != wanted:
            lines.append(f"{title}: Node {name}: found kubelet {found}, expected {wanted}")
        if not is_true(node, "Ready"):
            lines.append(f"{title}: Node {name} is not Ready{_why(node)}")
    return lines


def pod_lines(pods: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line for each pod that is neither Ready nor at its end.

    :param pods: those of :data:`NAMESPACE`
    """
    lines = []
    for pod in sorted(pods, key=lambda item: item["metadata"]["name"]):
        status = pod.get("status") or {}
        if is_going(pod) or status.get("phase") == "Succeeded" or is_true(pod, "Ready") or _is_replaced(pod, status):
            continue
        node = (pod.get("spec") or {}).get("nodeName")
        lines.append(f"pod {NAMESPACE}/{pod['metadata']['name']}{f' on node {node}' if node else ''} is not Ready"
                     f"{_reason(status) or _why(pod)}")
    return lines


def _is_replaced(pod: Mapping[str, Any], status: Mapping[str, Any]) -> bool:
    """Return whether a pod has failed in whose place a controller makes another one; a Node makes none of its own."""
    owners = pod["metadata"].get("ownerReferences") or []
    return status.get("phase") == "Failed" and any(owner.get("kind") != "Node" for owner in owners)


def _reason(status: Mapping[str, Any]) -> str:
    """Return why a container of a pod does not run, such as ImagePullBackOff."""
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        waiting = ((container.get("state") or {}).get("waiting") or {}).get("reason")
        if waiting and waiting != "PodInitializing":
            return f" ({plain(str(waiting))})"
    return ""


def _why(item: Mapping[str, Any]) -> str:
    found = condition(item, "Ready")
    text = found.get("message") or found.get("reason") or (item.get("status") or {}).get("phase")
    return f" ({plain(str(text))})" if text else ""
