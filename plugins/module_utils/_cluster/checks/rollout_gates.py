# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the way of a rollout, or makes it cost more than its machines; pure.

What a rollout then does is Cluster API's to decide, so these are warnings; they are part of what the user confirms.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.formats import duration, moment
from ..._common.plain_text import few, plain
from ..._kube.conditions import condition
from ..._kube.finalizers import is_going
from ..workflow.steps import machine_steps

Object = Mapping[str, Any]

_LIMIT = 5


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
    found = [step for step in machine_steps(snapshot)
             if step["machine"] and step["node"] and not step["complete"] and not step["deleting"]]
    result = []
    for step in found:
        effect = f"{', '.join(owners)} would take further machines away beside it"
        if step["role"] == "control-plane" and step["owner"] in owners:
            # Cluster API, KubeadmControlPlane's scale.go (preflightChecks).
            effect = f"KubeadmControlPlane {step['owner']} replaces none while one of its machines is not healthy"
        result.append(f"Machine {step['machine']} on host {step['host']} is not ready ({step['waits_for']}): {effect}; "
                      "bring it back first, or delete the Machine for its owner to make another")
    return result


def _short_checks(description, snapshot, owners):
    """Name the health checks that end before the slowest machine of the cluster had become a node."""
    slowest = max(((seconds, machine["metadata"]["name"]) for machine in snapshot.mine("Machine")
                   for seconds in [boot_seconds(machine)] if seconds), default=None)
    result = []
    for group in description.groups:
        check = group.get("health_check")
        if not slowest or group.owner not in owners or not check or not check["enabled"]:
            continue
        limit = check["node_startup_timeout_seconds"]
        # 0 switches the check off (Cluster API, MachineHealthCheck).
        if limit and limit < slowest[0]:
            result.append(
                f"{group.owner}: health_check.node_startup_timeout_seconds is {limit}, but Machine {slowest[1]} took "
                f"{duration(slowest[0])} to become a node: new machines would be deleted before they are nodes; set it "
                f"to twice that, {int(2 * slowest[0])}")
    return result


def boot_seconds(machine: Object) -> float | None:
    """Return how long a Machine took from its creation until CAPM3 had found its Node, None while it has not."""
    made = moment(machine["metadata"].get("creationTimestamp"))
    ready = condition(machine, "InfrastructureReady")
    ended = moment(ready.get("lastTransitionTime")) if ready.get("status") == "True" else None
    return ended - made if made is not None and ended is not None and ended > made else None


def budget_warnings(description: Any, owners: Iterable[str], budgets: Iterable[Object],
                    pods: Iterable[Object]) -> list[str]:
    """Return a warning for each PodDisruptionBudget that lets no pod go from the nodes that would be drained.

    :param description: a ClusterDescription
    :param owners: names of the owners whose machines would go
    :param budgets: PodDisruptionBudgets of the workload cluster
    :param pods: pods on the nodes that would go
    """
    limits = [group.get("node_drain_timeout_seconds") for group in description.groups if group.owner in set(owners)]
    # A pool that goes is not described any more.
    end = "the drain waits for it" if not limits else \
        "the drain waits for ever, because node_drain_timeout_seconds is not set" if not all(limits) else \
        f"the drain waits for {duration(max(limits))} and then goes on without it"
    result = []
    for budget in budgets:
        if (budget.get("status") or {}).get("disruptionsAllowed"):
            continue
        held = sorted(plain(pod["metadata"]["name"]) for pod in pods if _covers(budget, pod))
        if held:
            name = plain(f"{budget['metadata'].get('namespace', '')}/{budget['metadata']['name']}")
            result.append(
                f"PodDisruptionBudget {name} allows no disruption and holds {few(held, _LIMIT)}: {end}; give it more "
                "replicas, or a smaller minAvailable")
    return result


def _covers(budget, pod):
    elsewhere = budget["metadata"].get("namespace") != pod["metadata"].get("namespace")
    if elsewhere or is_going(pod):
        return False
    # A null selector selects nothing, an empty one all pods of the namespace (policy/v1).
    selector = (budget.get("spec") or {}).get("selector")
    if selector is None:
        return False
    labels = pod["metadata"].get("labels") or {}
    return all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items()) and all(
        _holds(entry, labels) for entry in selector.get("matchExpressions") or [])


def _holds(expression, labels):
    key, operator, values = expression["key"], expression["operator"], expression.get("values") or []
    if operator == "In":
        return labels.get(key) in values
    if operator == "NotIn":
        return labels.get(key) not in values
    return (key in labels) == (operator == "Exists")
