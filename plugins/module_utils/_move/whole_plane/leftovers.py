# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a move is on a plane, and how it is taken away as ``clusterctl move`` does: controllers do nothing."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from ..._common.problems.problem import Problem
from ..._host.description import annotations as host_annotations
from ..._kube.kinds.resources import Resource
from ..._kube.objects.finalizers import is_going
from ..._kube.reconcile.plan import Entry
from ..._kube.reconcile.reconcile import Reconcile
from ..._kube.responses.errors import KubeError
from ..objects import copies, graph, record

Object = dict[str, Any]


def is_on_its_way(obj: Object) -> bool:
    """Say whether the deletion of an object for a move has begun, so that it cannot stay any more.

    clusterctl's mark replaces all annotations that it had before its deletion (``mover.go``: deleteSourceObject).
    """
    return copies.is_stripped(obj) or _is_deleted(obj)


def _is_deleted(obj: Object) -> bool:
    return is_going(obj) and copies.DELETE_FOR_MOVE in host_annotations.of(obj)


def missing(begun: record.Record, side: Any, is_source: bool) -> list[record.Entry]:
    """Return what of a move is not on a side.

    :param begun: the move
    :param side: the Side
    :param is_source: whether it is moved from there: another object of the same name, or one that is on its way, is
        not on it
    """
    return [entry for entry in begun.entries if entry.key not in side.by_key
            or (is_source and _is_gone(side.by_key[entry.key], entry))]


def _is_gone(obj: Object, entry: record.Entry) -> bool:
    return obj["metadata"]["uid"] != entry.uid or is_on_its_way(obj)


def still(begun: record.Record, side: Any, is_source: bool) -> list[Object]:
    """Return what of a move is on a side, in the order of its record; parameters as of :func:`missing`."""
    return [side.by_key[entry.key] for entry in begun.entries if entry.key in side.by_key
            and (not is_source or side.by_key[entry.key]["metadata"]["uid"] == entry.uid)]


def remove(side: Any, objects: Iterable[Object], progress: Any,
           problems: Callable[[Object], list[Problem]] = lambda _obj: [],
           sleep: Callable[[float], Any] = time.sleep, require: Callable[[Object], None] = lambda _obj: None) -> None:
    """Delete objects one after the other, without their finalizers: no controller acts on what they describe.

    :param side: the Side they are on
    :param objects: as they were read and checked, what is owned before its owners
    :param progress: a Progress
    :param problems: callable that takes an object that has changed since, and returns why it must stay
    :param sleep: callable that waits a number of seconds
    :param require: callable that takes an object that is about to be deleted, and raises when it must stay
    :raises KubeError: when the API server refuses, or an object is another one or must stay by now; those before it are
        gone
    """
    removal = _Removal(side.client, progress, problems, sleep)
    for obj in objects:
        resource = side.resources[graph.key(obj)[:2]]
        require(obj)
        written, = removal.delete(resource, [obj])
        if written.error is not None:
            raise written.error
        # Of what this run itself has marked and deleted nothing is to be found out.
        if not written.changed or not removal.let_go(resource, obj):
            removal.release(resource, obj)


class _Removal(Reconcile):
    """Deletions that webhooks allow for a move; for parameters see :func:`remove`."""

    def __init__(self, client: Any, progress: Any, problems: Callable[[Object], list[Problem]],
                 sleep: Callable[[float], Any]) -> None:
        super().__init__(client, False, progress, sleep)
        self._problems = problems

    def send(self, entry: Entry, dry_run: bool) -> Any:
        """Mark and delete an object as it was read; a host is held, whatever clusterctl has left of its annotations."""
        marks = {copies.DELETE_FOR_MOVE: ""}
        if entry.resource.kind == "BareMetalHost":
            marks[host_annotations.PAUSED] = host_annotations.FOR_MOVE
        try:
            stored = self.client.patch(entry.resource, entry.namespace, entry.name,
                                       {"metadata": {"annotations": marks}}, checked=entry.current)
        except KubeError as exc:
            # Gone with its owner, meanwhile.
            if exc.status != 404:
                raise
            return False
        return self.client.delete(entry.resource, entry.namespace, entry.name, checked=stored)

    def problems_again(self, entry: Entry, stored: Object | None) -> list[Any]:
        """Return why an object that has changed since it was checked must stay."""
        return self._problems(stored) if stored is not None else []

    def release(self, resource: Resource, obj: Object) -> None:
        """Take the finalizers of an object that is being deleted for a move, whatever its controllers write meanwhile.

        :raises KubeError: when somebody else deletes it, whose controllers have their work to do
        """
        read, = self.persist([lambda: self.client.get(
            resource, obj["metadata"].get("namespace"), obj["metadata"]["name"])])
        if read.error is not None:
            raise read.error
        stored = read.value
        if stored is None or stored["metadata"]["uid"] != obj["metadata"]["uid"]:
            return
        if not _is_deleted(stored):
            raise KubeError(f"{graph.title(graph.key(obj))}: somebody else deletes it; it stays as it is", 409,
                            "Conflict", next_step="wait until it is gone, then run again")
        self._take_finalizers(resource, obj)

    def let_go(self, resource: Resource, obj: Object) -> bool:
        """Take the finalizers of an object that this run is deleting; False when what is stored must be read first."""
        try:
            self._take_finalizers(resource, obj)
        except KubeError as exc:
            # Of another object of this name by now, or written at the same moment.
            if exc.status != 409:
                raise
            return False
        return True

    def _take_finalizers(self, resource: Resource, obj: Object) -> None:
        metadata = obj["metadata"]
        try:
            self.client.patch(resource, metadata.get("namespace"), metadata["name"],
                              {"metadata": {"uid": metadata["uid"], "finalizers": None}})
        except KubeError as exc:
            if exc.status != 404:
                raise
