# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the workload cluster itself says about nodes that are to be drained."""
from __future__ import annotations

from typing import Any

from .._common.object_shape import of_kind
from .._kube import bulk
from .._kube.errors import KubeError
from .._kube.resources import KNOWN
from .checks.rollout_gates import budget_warnings


def drain_warnings(workload: Any, description: Any, nodes: dict[str, list[str]]) -> list[str]:
    """Return what would keep nodes from being drained.

    :param workload: callable that returns a KubeClient of the workload cluster, or None when it has none
    :param description: a ClusterDescription
    :param nodes: names of the nodes that would go, by the name of the owner of their machines
    :returns: warnings; one alone when the workload cluster can't be asked
    """
    names = sorted(set(name for found in nodes.values() for name in found))
    if not names:
        return []
    try:
        client = workload()
        if client is None:
            return []
        budgets = client.list(KNOWN["PodDisruptionBudget"])[0]
        pods: list[Any] = []
        for outcome in bulk.run([lambda name=name: client.list(
                KNOWN["Pod"], field_selector=f"spec.nodeName={name}")[0] for name in names] if budgets else []):
            if outcome.error is not None:
                raise outcome.error
            pods += outcome.value
    except KubeError as exc:
        return [f"{description.subject}: whether disruption budgets keep nodes from being drained is not checked: "
                f"{exc.message}"]
    return budget_warnings(description, nodes, [of_kind(item, item["kind"]) for item in budgets],
                           [of_kind(item, "Pod") for item in pods])
