# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the workload cluster itself says about nodes that are to be drained."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..._common.documents.object_shape import of_kind
from ..._common.waiting import parallel
from ..._kube.api import bulk
from ..._kube.kinds.resources import KNOWN
from ..._kube.responses.errors import KubeError
from .outlook import Outlook
from .replacement import replacement

Object = dict[str, Any]


def budgets_and_pods(workload: Callable[[], Any], nodes: Iterable[str]) -> tuple[list[Object], list[Object]]:
    """Return the PodDisruptionBudgets of a cluster, and the pods on nodes when there are budgets.

    :param workload: callable that returns a KubeClient of the workload cluster, or None when it has none
    :param nodes: names of the nodes
    :raises KubeError: when it can't be asked
    """
    names = sorted(set(nodes))
    client = workload() if names else None
    if client is None:
        return [], []
    budgets = budgets_of(client)
    return budgets, [pod for pods in pods_on((client, name) for name in names if budgets) for pod in pods]


def pods_on(nodes: Iterable[tuple[Any, str | None]]) -> list[list[Object]]:
    """Return the pods of Nodes, a list for each.

    :param nodes: a KubeClient of the workload cluster, and the name of the node
    :raises KubeError: when one can't be asked
    """
    return [[of_kind(item, "Pod") for item in found] for found in parallel.values(bulk.run(
        [lambda client=client, name=name: client.list(KNOWN["Pod"], field_selector=f"spec.nodeName={name}")[0]
         for client, name in nodes]))]


def budgets_of(client: Any) -> list[Object]:
    """Return the PodDisruptionBudgets of a workload cluster.

    :param client: a KubeClient of it
    :raises KubeError: when it can't be asked
    """
    return [of_kind(item, "PodDisruptionBudget") for item in client.list(KNOWN["PodDisruptionBudget"])[0]]


def replacement_outlook(snapshot: Any, names: Iterable[str], subject: str, workload: Callable[[], Any],
                        comes_back: bool = True) -> Outlook:
    """Return what is said before Machines are replaced, what the workload cluster says included.

    :param snapshot: a workflow Snapshot of their cluster
    :param names: of the Machines
    :param subject: what messages call the cluster
    :param workload: callable that returns a KubeClient of the workload cluster, or None when it has none
    :param comes_back: whether the hosts of these Machines may be chosen again
    """
    names = list(names)
    budgets: list[Object] = []
    pods: list[Object] = []
    notes: list[str] = []
    try:
        budgets, pods = budgets_and_pods(
            workload, (node for name in names for node in [snapshot.node_of(name)] if node))
    except KubeError as exc:
        notes = [not_asked(subject, exc)]
    outlook = replacement(snapshot, names, budgets, pods, comes_back)
    outlook.notes.extend(notes)
    return outlook


def not_asked(subject: str, error: KubeError) -> str:
    """Return the line that says that budgets are not known.

    :param subject: what messages call the cluster
    """
    return f"{subject}: whether disruption budgets keep nodes from being drained is not checked: {error.message}"
