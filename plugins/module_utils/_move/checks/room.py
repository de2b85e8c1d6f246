# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the nodes over there have room for what of the plane does not run yet; pure."""
from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..._kube.objects import quantity
from ..._kube.objects.label_selector import selects
from ..._kube.objects.placement import takes

Object = dict[str, Any]
Amounts = dict[str, Decimal]

_COUNTED = ("cpu", "memory")
_GIB = Decimal(1024 ** 3)


class Waiting(NamedTuple):
    """Pods of a Deployment that are on no node yet.

    :ivar name: namespace and name of the Deployment
    :ivar pods: how many
    :ivar spec: of its pods
    """

    name: str
    pods: int
    spec: Object


def waiting(deployments: list[Object], pods: list[Object]) -> list[Waiting]:
    """Return what of Deployments has no node yet; one that is scaled down counts as one pod.

    :param deployments: of the plane
    :param pods: of all namespaces
    """
    found = []
    for item in deployments:
        spec, name = item["spec"], f"{item['metadata']['namespace']}/{item['metadata']['name']}"
        wanted = max(1, spec.get("replicas", 1))
        placed = [pod for pod in pods if pod["metadata"]["namespace"] == item["metadata"]["namespace"]
                  and _node(pod) and selects(item, pod)]
        if len(placed) < wanted:
            found.append(Waiting(name, wanted - len(placed), spec["template"]["spec"]))
    return found


def problems(due: list[Waiting], nodes: list[Object], pods: list[Object]) -> list[Problem]:
    """Return a problem for each Deployment whose pods fit on no node.

    :param due: what is to run, see :func:`waiting`
    :param nodes: of the cluster
    :param pods: of all namespaces
    """
    free = dict((node["metadata"]["name"], _free(node, pods)) for node in nodes)
    found = []
    # The largest first, as much as the scheduler may find a place for.
    for item in sorted(due, key=lambda each: (-_requests(each.spec)["memory"], each.name)):
        needed = _requests(item.spec)
        usable = [node["metadata"]["name"] for node in nodes if takes(node, item.spec)]
        for _pod in range(item.pods):
            name = next((name for name in usable if all(free[name][of] >= needed[of] for of in needed)), None)
            if name is None:
                found.append(_problem(item, needed, dict((name, free[name]) for name in usable)))
                break
            for of, amount in needed.items():
                free[name][of] -= amount
    return found


def _problem(item: Waiting, needed: Amounts, free: Mapping[str, Amounts]) -> Problem:
    subject, expected = f"Deployment {item.name}", f"a node with {_words(needed)} free"
    if not free:
        return Problem("move-room", subject, "spec.template.spec",
                       "no node over there that is ready and takes its pod", expected,
                       "look at the nodes' conditions and taints, and at its nodeSelector and tolerations")
    name, most = max(free.items(), key=lambda entry: entry[1]["memory"])
    return Problem("move-room", subject, "spec.template.spec.containers.resources.requests",
                   f"no room over there; most is free on node {name}: {_words(most)}", expected,
                   "add a node, or free what pods request there; look by: kubectl describe nodes")


def _words(amounts: Amounts) -> str:
    return f"{float(amounts['cpu']):.2f} CPUs and {float(amounts['memory'] / _GIB):.2f} GiB of memory"


def _node(pod: Object) -> str | None:
    """Return the node that a pod takes room on."""
    return None if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed") else pod["spec"].get("nodeName")


def _free(node: Object, pods: list[Object]) -> Amounts:
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    free = dict((of, _amount(allocatable.get(of))) for of in (*_COUNTED, "pods"))
    for pod in pods:
        if _node(pod) == node["metadata"]["name"]:
            for of, amount in _requests(pod["spec"]).items():
                free[of] -= amount
    return free


def _requests(spec: Object) -> Amounts:
    """Return what the scheduler counts of a pod: its containers together, or an init container that needs more."""
    result = {"pods": Decimal(1)}
    for of in _COUNTED:
        inits = spec.get("initContainers") or []
        running = sum((_of(item, of) for item in spec["containers"] + [
            item for item in inits if item.get("restartPolicy") == "Always"]), Decimal(0))
        result[of] = max([running, *(_of(item, of) for item in inits)]) + _amount((spec.get("overhead") or {}).get(of))
    return result


def _of(container: Object, of: str) -> Decimal:
    resources = container.get("resources") or {}
    # A limit alone is a request, too.
    return _amount((resources.get("requests") or {}).get(of, (resources.get("limits") or {}).get(of)))


def _amount(value: Any) -> Decimal:
    try:
        return Decimal(quantity.parse(value)) if value is not None else Decimal(0)
    except ValueError:
        return Decimal(0)
