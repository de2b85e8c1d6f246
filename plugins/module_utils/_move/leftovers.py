# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes objects away whose other half lives in the other plane, as ``clusterctl move`` does: controllers do nothing."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

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


def remove(side: Any, objects: Iterable[Object], progress: Any) -> None:
    """Delete objects one after the other, without their finalizers: no controller acts on what they describe.

    :param side: the Side they are on
    :param objects: as they were read, what is owned before its owners
    :param progress: a Progress
    :raises KubeError: when the API server refuses
    """
    for obj in objects:
        of = graph.key(obj)
        resource, name, uid = side.resources[of[:2]], obj["metadata"]["name"], obj["metadata"]["uid"]
        try:
            stored = side.client.patch(resource, side.namespace, name,
                                       {"metadata": {"uid": uid, "annotations": {_ANNOTATION: ""}}})
            side.client.delete(resource, side.namespace, name, uid=uid)
            if stored["metadata"].get("finalizers"):
                side.client.patch(resource, side.namespace, name, {"metadata": {"uid": uid, "finalizers": None}})
        except KubeError as exc:
            # Gone with its owner, meanwhile.
            if exc.status != 404:
                raise
        progress.wrote(graph.title(of), "deleted")
