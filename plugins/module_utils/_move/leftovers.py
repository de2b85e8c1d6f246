# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes objects away whose other half lives in the other plane, as ``clusterctl move`` does: controllers do nothing."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from .._common.problem import Problem
from .._kube import checked
from .._kube.errors import KubeError
from .._kube.finalizers import is_going
from .._plane.catalogue import CLUSTERCTL_LABEL
from . import graph

Object = dict[str, Any]

# By which Cluster API's and Metal³'s webhooks allow the deletion (``cmd/clusterctl/api/v1alpha3/annotations.go``).
_ANNOTATION = CLUSTERCTL_LABEL + "/delete-for-move"


def is_on_its_way(obj: Object) -> bool:
    """Say whether the deletion of an object for a move has begun, so that it cannot stay any more."""
    return is_going(obj) and _ANNOTATION in (obj["metadata"].get("annotations") or {})


def remove(side: Any, objects: Iterable[Object], progress: Any,
           problems: Callable[[Object], list[Problem]] = lambda _obj: [],
           sleep: Callable[[float], Any] = time.sleep) -> None:
    """Delete objects one after the other, without their finalizers: no controller acts on what they describe.

    :param side: the Side they are on
    :param objects: as they were read and checked, what is owned before its owners
    :param progress: a Progress
    :param problems: callable that takes an object that has changed since, and returns why it must stay
    :param sleep: callable that waits a number of seconds
    :raises KubeError: when the API server refuses, or an object is another one or must stay by now; those before it are
        gone
    """
    for obj in objects:
        title = graph.title(graph.key(obj))
        written, = checked.write([obj], lambda task: _send(side, task),
                                 lambda task: _read_again(side, task, problems), progress.event, sleep)
        if written.error is not None:
            raise written.error
        progress.wrote(title, "deleted")


def _send(side: Any, obj: Object) -> None:
    """Delete an object as it was read."""
    resource, name, uid = side.resources[graph.key(obj)[:2]], obj["metadata"]["name"], obj["metadata"]["uid"]
    try:
        stored = side.client.patch(resource, side.namespace, name, {"metadata": {"annotations": {_ANNOTATION: ""}}},
                                   checked=obj)
        side.client.delete(resource, side.namespace, name, checked=stored)
        if stored["metadata"].get("finalizers"):
            # It is deleted, whatever its controllers write meanwhile.
            side.client.patch(resource, side.namespace, name, {"metadata": {"uid": uid, "finalizers": None}})
    except KubeError as exc:
        # Gone with its owner, meanwhile.
        if exc.status != 404:
            raise


def _read_again(side: Any, obj: Object, problems: Callable[[Object], list[Problem]]) -> Any:
    """Return an object that has changed since it was read, as it is by now, when it may go."""
    of = graph.key(obj)
    stored = side.client.get(side.resources[of[:2]], side.namespace, obj["metadata"]["name"])
    if stored is None:
        return checked.Settled()
    if stored["metadata"]["uid"] != obj["metadata"]["uid"]:
        raise KubeError(f"{graph.title(of)}: found another object of this name than the one that was checked; it stays "
                        "as it is", 409, "Conflict", next_step="look at it, then run again")
    found = problems(stored)
    if found:
        raise KubeError(f"changed by somebody else during this run: {'; '.join(map(str, found))}", 409, "Conflict")
    return stored
