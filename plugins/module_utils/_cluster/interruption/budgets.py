# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which PodDisruptionBudgets let no pod of a Node go, so that its drain waits; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.texts.formats import duration
from ..._common.texts.plain_text import few, plain
from ..._kube.objects import label_selector
from ..._kube.objects.finalizers import is_going

Object = Mapping[str, Any]

_LIMIT = 5


def budget_lines(budgets: Iterable[Object], pods: Iterable[Object], end: str) -> list[str]:
    """Return a line for each PodDisruptionBudget that allows no disruption and covers a pod that is to go.

    :param budgets: PodDisruptionBudgets of the workload cluster
    :param pods: pods on the nodes that are to be drained
    :param end: how a drain that is held ends, as a clause
    """
    pods, result = list(pods), []
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


def end_of_drain(limits: Iterable[Any]) -> str:
    """Return how Cluster API ends a drain that a budget holds, as a clause.

    :param limits: ``nodeDrainTimeoutSeconds`` of the machines, None or 0 for none; nothing when they are not known
    """
    found = list(limits)
    if not found:
        return "the drain waits for it"
    if not all(found):
        return "the drain waits for ever, because node_drain_timeout_seconds is not set"
    return f"the drain waits for {duration(max(found))} and then goes on without it"


def _covers(budget, pod):
    elsewhere = budget["metadata"].get("namespace") != pod["metadata"].get("namespace")
    if elsewhere or is_going(pod):
        return False
    # A null selector selects nothing, an empty one all pods of the namespace (policy/v1).
    selector = (budget.get("spec") or {}).get("selector")
    if selector is None:
        return False
    return label_selector.matches(selector, pod["metadata"].get("labels") or {})
