# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads whether the plane over there runs, or has room to run."""
from __future__ import annotations

from typing import Any

from ..._common.problems.problem import Problem
from ..._kube.kinds.resources import KNOWN
from ..._kube.responses.advice import reading_failed
from ..._kube.responses.errors import KubeError
from ..._plane.parts import fit
from . import room

Object = dict[str, Any]


def problems(client: Any, ironic: tuple[str, str]) -> tuple[list[Problem], list[str], str]:
    """Return what does not fit, warnings of what was not checked, and in words what fits.

    :param client: a KubeClient of the plane that takes over
    :param ironic: namespace and name of the Deployment of its Ironic, which need not be there
    :raises KubeError: when the API server can't be asked
    """
    lists: dict[str, list[Object]] = {}
    parts: list[Object] = []
    for kind in ("Deployment", "Pod", "Node"):
        try:
            lists[kind] = client.list(KNOWN[kind])[0]
        except KubeError as exc:
            if exc.status != 403:
                raise
            return [], ["room for the plane over there was not checked: "
                        + reading_failed(exc, KNOWN[kind], None, client.server)], ""
        if kind == "Deployment":
            parts = [item for item in lists[kind] if fit.is_of_plane(item) or ironic == (
                item["metadata"]["namespace"], item["metadata"]["name"])]
            if all(_runs(item) for item in parts):
                return [], [], f"room: all pods of the plane's {len(parts)} Deployments over there run already"
    due = room.waiting(parts, lists["Pod"])
    found = room.problems(due, lists["Node"], lists["Pod"])
    count = sum(item.pods for item in due)
    return found, [], "" if found else f"room: {count} pods that do not run yet have room over there"


def _runs(deployment: Object) -> bool:
    available = (deployment.get("status") or {}).get("availableReplicas") or 0
    return bool(available >= max(1, deployment["spec"].get("replicas", 1)))
