# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the way of a rollout, or makes it cost more than its machines; pure.

What a rollout then does is Cluster API's to decide, so these are warnings; they are part of what the user confirms.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..._common.texts.formats import duration
from ..interruption.budgets import budget_lines, end_of_drain
from ..interruption.machines import boot_seconds, unready, unready_line
from ..workflow.topology import groups_of, topology_of

Object = Mapping[str, Any]

# Options that say what is written to the disks.
_IMAGES = ("image", "metalstack_image")


def gate_warnings(description: Any, snapshot: Any, owners: Iterable[str]) -> list[str]:
    """Return what the stored objects of a cluster say against a rollout.

    :param description: a ClusterDescription
    :param snapshot: a workflow Snapshot of the present state
    :param owners: names of the KubeadmControlPlanes and MachineDeployments whose machines would be replaced
    """
    owners = sorted(owners)
    if not owners:
        return []
    return _unready(snapshot, owners) + _short_checks(description, snapshot, owners)


def _unready(snapshot, owners):
    """Name the nodes that are not ready: a rollout takes others away beside them."""
    result = []
    for step in unready(snapshot):
        effect = f"{', '.join(owners)} would take further machines away beside it"
        if step["role"] == "control-plane" and step["owner"] in owners:
            # Cluster API, KubeadmControlPlane's scale.go (preflightChecks).
            effect = f"KubeadmControlPlane {step['owner']} replaces none while one of its machines is not healthy"
        result.append(unready_line(step, effect))
    return result


def _short_checks(description, snapshot, owners):
    """Name the health checks that end before the slowest machine of the cluster had become a node."""
    slowest = max(((seconds, machine["metadata"]["name"]) for machine in snapshot.mine("Machine")
                   for seconds in [boot_seconds(snapshot, machine)] if seconds), default=None)
    result = []
    for owner, group in groups_of(description, snapshot.owners()).items():
        check = group.get("health_check")
        if not slowest or owner not in owners or not check or not check["enabled"]:
            continue
        limit = check["node_startup_timeout_seconds"]
        # 0 switches the check off (Cluster API, MachineHealthCheck).
        if limit and limit < slowest[0]:
            result.append(
                f"{owner}: health_check.node_startup_timeout_seconds is {limit}, but Machine {slowest[1]} took "
                f"{duration(slowest[0])} to become a node: new machines would be deleted before they are nodes; set it "
                f"to twice that, {int(2 * slowest[0])}")
    return result


def image_warnings(description: Any, changes: Iterable[Mapping[str, Any]], snapshot: Any, option: str) -> list[str]:
    """Return a line for each owner whose machines get another Kubernetes version, and nothing that brings it.

    kubelet and kubeadm of a node are those of its image, unless commands or files of the description install them.

    :param description: a ClusterDescription
    :param changes: those of ``rollout.preview`` that replace machines
    :param snapshot: a workflow Snapshot of the present state
    :param option: what messages call ``kubernetes_version``
    """
    groups = groups_of(description, snapshot.owners())
    return [f"{change['owner']} keeps its image, and {option} is {description.kubernetes_version} now: kubelet and "
            "kubeadm are those of the image, so that the new machines are of that version only if it has them; "
            "describe an image of the version" for change in changes if change["reasons"] == [option]
            and any(groups[change["owner"]].get(name) for name in _IMAGES if change["owner"] in groups)]


def at_once_warnings(description: Any, changes: Iterable[Mapping[str, Any]], snapshot: Any,
                     in_turn: bool) -> list[str]:
    """Return what is begun before the first new machine has shown that it becomes ready.

    :param description: a ClusterDescription
    :param changes: those of ``rollout.preview`` that replace machines
    :param snapshot: a workflow Snapshot of the present state
    :param in_turn: whether the run lets pools begin one after another: it waits, and no upgrade is under way
    """
    changes = list(changes)
    groups = groups_of(description, snapshot.owners())
    found = [_at_once(groups[change["owner"]], change) for change in changes if change["owner"] in groups]
    topology = topology_of(snapshot.cluster)
    if len(changes) > 1 and topology and not in_turn and topology.get("version") == description.kubernetes_version:
        names = ", ".join(sorted(change["owner"] for change in changes))
        found.append(f"{names} replace machines at the same time: of a cluster with a topology Cluster API puts only "
                     "another Kubernetes version in an order, and this run nothing: wait_for is none, or an upgrade is "
                     "under way")
    return [line for line in found if line]


def _at_once(group: Any, change: Mapping[str, Any]) -> str | None:
    replicas = change["replicas_after"] or 0
    unavailable = _number(group.get("max_unavailable"), 0, replicas, math.floor)
    surge = _number(group.get("max_surge"), 1, replicas, math.ceil)
    number = min(surge + unavailable, replicas)
    if number <= 1 or group.is_control_plane:
        return None
    return (f"{change['owner']}: {number} new machines are begun at once (max_surge, max_unavailable), and "
            f"{min(unavailable, replicas)} old ones go before any of them is ready: when it does not boot, it stops "
            "only then; for one at a time set max_surge to 1 and leave max_unavailable out, or max_surge 0 with "
            "max_unavailable 1")


def _number(value: Any, default: int, replicas: int, rounded: Callable[[float], int]) -> int:
    """Return a number of machines, of a percentage as Cluster API rounds it (``mdutil.ResolveFenceposts``)."""
    text = str(default if value is None else value)
    try:
        return rounded(int(text[:-1]) * replicas / 100) if text.endswith("%") else int(text)
    except ValueError:
        return default


def budget_warnings(description: Any, owners: Iterable[str], budgets: Iterable[Object],
                    pods: Iterable[Object], stored: Iterable[Object] = ()) -> list[str]:
    """Return a warning for each PodDisruptionBudget that lets no pod go from the nodes that would be drained.

    :param description: a ClusterDescription
    :param owners: names of the owners whose machines would go
    :param budgets: PodDisruptionBudgets of the workload cluster
    :param pods: pods on the nodes that would go
    :param stored: the cluster's owners of machines
    """
    # A pool that goes is not described any more.
    names = set(owners)
    limits = [group.get("node_drain_timeout_seconds")
              for owner, group in groups_of(description, stored).items() if owner in names]
    return budget_lines(budgets, pods, end_of_drain(limits))
