# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings what a failed upgrade of a part has changed back to what was there before."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..._common.problems.errors import ReportedError
from ..._common.texts.plain_text import few
from ..._kube.objects.finalizers import deletion_of, is_going
from ..._kube.reconcile.diff import owned_tree
from ..._kube.reconcile.plan import Entry, deletion
from ..._kube.reconcile.reconcile import raise_refused
from ..._manifests import documents
from ..._manifests.rollout_wait import RolloutWait
from ..parts import order
from . import rollback

Object = dict[str, Any]

# How many objects a message names.
NAMED = 8
# What stays when an upgrade has created it: its deletion would take all objects of a kind, or in a namespace, along.
_STAYS = ("Namespace", order.DEFINITION)


class RolledBack(NamedTuple):
    """What became of a rollback.

    :ivar restored: titles of objects that are as before, those that were created since among them, which are deleted
    :ivar kept: titles of objects that stay as the upgrade has written them, each with the reason
    :ivar seconds: until what is restored was rolled out
    :ivar newer: titles of Deployments that an earlier run, which was ended, had brought to the newer release already
    """

    restored: list[str]
    kept: list[str]
    seconds: float
    newer: Sequence[str] = ()

    def __str__(self) -> str:
        parts = [f"{len(self.restored)} objects are as before ({few(self.restored, NAMED)})"]
        if self.kept:
            parts.append(f"these stay: {'; '.join(self.kept)}")
        return "; ".join(parts)


def roll_back(client: Any, writes: Any, entries: Sequence[Entry], progress: Any, timeout_seconds: float,
              sleep: Any) -> RolledBack:
    """Write what was there before an upgrade, the last first, and wait until it is rolled out.

    :param client: a KubeClient
    :param writes: the run's writes, see ``service.ComponentsWrites``
    :param entries: the part's entries, as they were planned before the upgrade
    :param timeout_seconds: how long to wait
    :param sleep: callable that waits a number of seconds
    :raises ReportedError: when the API server refuses, or what was there before does not come up
    """
    changed, kept = [], []
    for entry in entries:
        stored = client.get(entry.resource, entry.namespace, entry.name) if entry.changes else None
        if stored is None or _same(entry.current, stored):
            continue
        if is_going(stored) and entry.current is not None:
            # Nothing can be brought back into it.
            kept.append(f"{entry.title}, which is {deletion_of(stored)}")
            continue
        if entry.current is None and entry.resource.kind in _STAYS:
            kept.append(f"{entry.title}, which is new")
            continue
        if entry.current is None and not owned_tree(stored):
            # The run did not come as far as this one.
            kept.append(f"{entry.title}, which others have made")
            continue
        if entry.current is not None and entry.resource.kind == order.DEFINITION:
            newer = rollback.stored_by_newer(entry.current, stored)
            if newer:
                kept.append(f"{entry.title}, of which objects may be stored as {', '.join(newer)}")
                continue
        changed.append((entry, stored))
    _refuse_others(writes, [entry for entry, _stored in changed])
    by_title = dict((entry.title, (entry, stored)) for entry, stored in changed)
    restored: list[str] = []
    back: list[Entry] = []
    for wave in reversed(order.waves([stored for _entry, stored in changed])):
        due = [by_title[documents.title(obj)] for obj in wave]
        again = writes.look([rollback.previous(entry.current, owned_tree(entry.current), owned_tree(stored))
                             for entry, stored in due if entry.current is not None])
        again += [deletion(entry.resource, stored) for entry, stored in due if entry.current is None]
        raise_refused(client, writes.write(again))
        restored += [entry.title for entry in again]
        back += [entry for entry in again if entry.desired is not None]
    newer_before = [entry.title for entry in entries if entry.resource.kind == "Deployment"
                    and entry.desired is not None and rollback.written_before(entry.current, entry.desired)]
    return RolledBack(restored, kept, RolloutWait(client, back, progress, sleep=sleep).until(timeout_seconds),
                      newer_before)


def _refuse_others(writes: Any, entries: Sequence[Entry]) -> None:
    """Leave a part to the run that has written its Deployment since: with older objects beside it it would not work.

    :raises ReportedError: with such Deployments
    """
    theirs = [entry.title for entry in writes.look([
        entry.desired for entry in entries if entry.resource.kind == "Deployment" and entry.desired is not None])
        if entry.changes]
    if theirs:
        raise ReportedError(f"{few(theirs, NAMED)}: found another one than this run has written, expected that one; "
                            "nothing was rolled back; wait until the run that has written it has ended")


def failure(title: str, found: str, planned: str, cause: ReportedError, outcome: RolledBack | ReportedError,
            before: Sequence[str]) -> str:
    """Return the message of an upgrade that has failed.

    :param title: of the part
    :param found: version that was there
    :param planned: version that does not come up
    :param cause: why
    :param outcome: of the rollback
    :param before: titles of the parts that the run has upgraded before, which stay
    """
    if isinstance(outcome, RolledBack) and outcome.newer:
        # What is applied to go back is what this run has found.
        text = (f"the upgrade of {title} from {found} to {planned} failed, and is as an earlier run has left it, which "
                f"was ended before it had upgraded the part: {few(outcome.newer, NAMED)} is that of {planned} already, "
                "and what was there before it is not known; put the cause right, then run again; or go back by install "
                f"with the release of this collection that has {found}")
    elif isinstance(outcome, RolledBack):
        text = f"the upgrade of {title} from {found} to {planned} failed and was rolled back: {outcome}"
    else:
        text = (f"the upgrade of {title} from {found} to {planned} failed, and so did going back: {outcome}; "
                "put the cause right, then run again")
    stay = f"\nUpgraded before, and kept: {', '.join(before)}." if before else ""
    return f"{text}.\nThe cause: {cause}{stay}"


def _same(before: Object | None, stored: Object) -> bool:
    """Say whether nothing was written; a controller's own status does not count."""
    def content(obj: Object) -> Object:
        metadata = dict((key, value) for key, value in obj["metadata"].items()
                        if key not in ("managedFields", "resourceVersion", "generation"))
        return dict((key, value) for key, value in dict(obj, metadata=metadata).items() if key != "status")
    return before is not None and content(before) == content(stored)
