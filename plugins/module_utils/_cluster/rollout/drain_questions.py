# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the workload cluster itself says about nodes that are to be drained."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._kube.responses.errors import KubeError
from ..interruption.questions import budgets_and_pods, not_asked
from .rollout_gates import budget_warnings


def drain_warnings(workload: Any, description: Any, nodes: dict[str, list[str]],
                   stored: Iterable[Mapping[str, Any]] = ()) -> list[str]:
    """Return what would keep nodes from being drained.

    :param workload: callable that returns a KubeClient of the workload cluster, or None when it has none
    :param description: a ClusterDescription
    :param nodes: names of the nodes that would go, by the name of the owner of their machines
    :param stored: the cluster's owners of machines
    :returns: warnings; one alone when the workload cluster can't be asked
    """
    try:
        budgets, pods = budgets_and_pods(workload, (name for found in nodes.values() for name in found))
    except KubeError as exc:
        return [not_asked(description.subject, exc)]
    return budget_warnings(description, nodes, budgets, pods, stored)
