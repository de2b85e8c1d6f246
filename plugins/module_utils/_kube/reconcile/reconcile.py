# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring objects to a desired state: plan, try, write and delete, with one answer to conflicts and lost answers.

The only file that writes objects for users. A room that has rules of its own derives a class and says them in the
methods from :meth:`Reconcile.can_try` on.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

from ..._common.redaction.quoted_secrets import without_secrets
from ..._common.redaction.redaction import secret_texts
from ..api import bulk
from ..kinds.resources import Resource, resource_for
from ..objects.finalizers import is_going, staying_problem
from ..objects.precondition import uid_of
from ..responses.errors import KubeError
from . import checked, plan
from .plan import DELETE, DONE, UNCHANGED, Entry, Listed, Object


class Written(NamedTuple):
    """What became of one entry.

    :ivar entry: the last entry, as it was written or was found to need no write
    :ivar value: the object as it is stored; of a deletion whether the object was there
    :ivar error: a KubeError, or None
    :ivar begun: whether a part of a write in several requests was stored before the error
    """

    entry: Entry
    value: Any
    error: KubeError | None
    begun: bool = False

    @property
    def changed(self) -> bool:
        """True when this run has changed (or in check mode would change) the object, if only in part."""
        return self.begun or (self.error is None and self.entry.changes)

    @property
    def message(self) -> str:
        """Why the write failed, empty when it did not."""
        return self.error.message if self.error is not None else ""

    @property
    def action(self) -> str:
        """``created``, ``updated``, ``deleted`` or ``unchanged``."""
        return DONE[self.entry.action if self.begun or self.error is None else UNCHANGED]


class Reconcile:
    """The writes of one run.

    Each write carries what it was planned on (uid, resourceVersion, or that there was no object). Is it refused for
    that (409), the object is read, checked and planned again; a deletion or a patch only for the same object (uid).
    A request without an answer is sent again for half a minute; when the first attempt was stored after all, the
    precondition of the second fails, and the object as read shows that nothing is left to do.

    :param client: a KubeClient
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :param resource_of: callable that takes apiVersion and kind and returns the Resource
    """

    def __init__(self, client: Any, check_mode: bool, progress: Any, sleep: Callable[[float], Any],
                 resource_of: Callable[[str, str], Resource] = resource_for):
        self.client = client
        self.check_mode = check_mode
        self.progress = progress
        self.sleep = sleep
        self.resource_of = resource_of
        self._begun: set[str] = set()

    def plan(self, items: list[Object], listed: Listed | None = None) -> list[Entry]:
        """Return an entry for each desired object, to be written; see :func:`plan.plan`.

        :raises RefusedError: with all objects that are being deleted
        :raises KubeError: when the current state cannot be read
        """
        entries = self.look(items, listed)
        plan.refuse_going(entries)
        return entries

    def look(self, items: list[Object], listed: Listed | None = None) -> list[Entry]:
        """Return what :meth:`plan` does, of objects that are being deleted as well.

        :raises KubeError: when the current state cannot be read
        """
        return plan.plan(self.client, items, listed, self.resource_of, self.persist)

    def announce(self, entries: Sequence[Entry], total: int, noun: str) -> None:
        """Report that entries are about to be written, if any of them changes.

        :param total: length of the user's list
        :param noun: plural of what the list holds
        """
        due = sum(entry.changes for entry in entries)
        if due:
            self.progress.event("%s %d of %d %s" % (
                "checking changes to" if self.check_mode else "writing", due, total, noun))

    def write(self, entries: Sequence[Entry]) -> list[Written]:
        """Write what changes, side by side; in check mode on trial.

        :returns: in the order of ``entries``; one whose write stores nothing new comes back unchanged
        """
        return self._run(entries, self.check_mode)

    def dry_run(self, entries: Sequence[Entry]) -> list[Written]:
        """Let the API server and its webhooks try what changes, without storing anything.

        :returns: as :meth:`write`
        """
        return self._run(entries, True)

    def renew(self, entries: Sequence[Entry]) -> None:
        """Apply once more what is stored as it is desired, where what is ours is named in an older version of the kind.

        When that version is served no more, the API server forgets whose these fields are, and one that is not desired
        any more would stay. It changes nothing else, and so is no change of the run; what is refused the next run does.
        """
        due = [] if self.check_mode else [entry for entry in entries if entry.renews and not entry.changes
                                          and self.client.version_of(entry.resource) == entry.resource.version]
        bulk.run([_renewal(self.client, entry) for entry in due])

    def delete(self, resource: Resource, objects: Sequence[Object]) -> list[Written]:
        """Delete objects as they were read, side by side; see :meth:`write`."""
        return self.write([plan.deletion(resource, obj) for obj in objects])

    def persist(self, calls: list) -> list:
        """Run reading calls, and those that the API server did not answer again; see ``bulk.persist``."""
        return bulk.persist(calls, self.progress.event, self.sleep)

    def _run(self, entries: Sequence[Entry], dry_run: bool) -> list[Written]:
        due = [entry for entry in entries if entry.changes and not entry.applies_to_going]
        outcomes = iter(checked.write(due, lambda entry: self._sent(entry, dry_run), self._decide,
                                      self.progress.event, self.sleep))
        written = [_going(entry) if entry.applies_to_going else self._written(next(outcomes)) if entry.changes
                   else Written(entry, entry.current, None) for entry in entries]
        for item in written:
            if item.changed and not dry_run:
                self.progress.wrote(item.entry.title, item.action)
        return written

    def _written(self, outcome: Any) -> Written:
        entry = outcome.task
        if outcome.error is None and plan.stores_nothing_new(entry, outcome.value):
            entry = entry._replace(action=UNCHANGED)
        return Written(entry, outcome.value, outcome.error, outcome.error is not None and entry.title in self._begun)

    def _sent(self, entry: Entry, dry_run: bool) -> Any:
        if dry_run and not self.can_try(entry):
            return entry.desired
        return self.send(entry, dry_run)

    def _decide(self, entry: Entry) -> Any:
        """Return what is to be done about an object that has changed since it was read."""
        stored = self.read_again(entry)
        if entry.action == DELETE and (stored is None or is_going(stored)):
            return checked.Settled(stored, entry._replace(action=UNCHANGED))
        if entry.desired is not None and is_going(stored):
            raise _going_error(entry, stored)
        # An apply says what the object of a name is to be, whichever it is; these two were decided for one object.
        is_of_one = entry.action == DELETE or entry.patch is not None
        if is_of_one and stored and entry.current and uid_of(stored) != uid_of(entry.current):
            raise KubeError(f"{entry.title}: found another object of this name than the one that was checked; it "
                            "stays as it is", 409, "Conflict", next_step="look at it, then run again")
        lines = self.problems_again(entry, stored)
        if lines:
            raise KubeError(f"changed by somebody else during this run: {'; '.join(map(str, lines))}", 409, "Conflict")
        fresh = self.plan_again(entry, stored)
        return fresh if fresh.changes else checked.Settled(stored, fresh)

    def begun(self, entry: Entry) -> None:
        """Note that a part of an entry is stored; for a room that sends it in several requests."""
        self._begun.add(entry.title)

    # What a room says in its own way

    def can_try(self, entry: Entry) -> bool:
        """Say whether a dry run can be asked for: False for what rests on a write that check mode does not make."""
        return True

    def send(self, entry: Entry, dry_run: bool) -> Any:
        """Send one entry on the condition that what is stored is still what it was planned on.

        :returns: the object as stored; of a deletion whether it was there
        :raises KubeError: when the API server refuses
        """
        if entry.action == DELETE:
            return self.client.delete(entry.resource, entry.namespace, entry.name, dry_run=dry_run,
                                      checked=entry.current)
        if entry.patch is not None:
            return self.client.patch(entry.resource, entry.namespace, entry.name, entry.patch, dry_run=dry_run,
                                     checked=entry.current)
        return self.client.apply(entry.resource, entry.namespace, entry.desired, dry_run=dry_run,
                                 checked=entry.precondition)

    def read_again(self, entry: Entry) -> Object | None:
        """Return the object as it is stored by now, None when there is none."""
        return self.client.get(entry.resource, entry.namespace, entry.name)

    def problems_again(self, entry: Entry, stored: Object | None) -> list[Any]:
        """Return why an entry must not be carried out on what is stored by now; all that was checked at first."""
        return []

    def plan_again(self, entry: Entry, stored: Object | None) -> Entry:
        """Return the entry for what is stored by now; of a patch each room's own."""
        if entry.action == DELETE and stored is not None:
            return plan.deletion(entry.resource, stored)
        if entry.desired is None:
            raise NotImplementedError(f"{type(self).__name__} plans no patch again")
        return plan.planned_for(self.client, entry, entry.desired, stored)


def _renewal(client: Any, entry: Entry) -> Callable[[], Any]:
    return lambda: client.apply(entry.resource, entry.namespace, entry.desired, checked=entry.precondition)


def _going(entry: Entry) -> Written:
    return Written(entry, entry.current, _going_error(entry, entry.current))


def _going_error(entry: Entry, stored: Object | None) -> KubeError:
    problem, = staying_problem(entry.title, "", stored)
    return KubeError(f"{problem}", 409, "Conflict")


def raise_refused(client: Any, written: Sequence[Written], dry_run: bool = False,
                  title: Callable[[Entry], str] = lambda entry: entry.title) -> None:
    """Raise a KubeError with all that was refused, if anything was.

    :param dry_run: whether it was a trial before anything was written
    :param title: callable that takes an entry and returns how messages name it
    """
    failed = [item for item in written if item.error is not None]
    refused = [_refusal(item, title(item.entry)) for item in failed]
    if refused:
        verb = "refused to delete" if all(item.entry.action == DELETE for item in failed) else "refused"
        raise KubeError("the API server %s %s %d of %d objects%s:\n%s" % (
            client.server, verb, len(refused), len(written), ", nothing was written" if dry_run else "",
            "\n".join("- " + line for line in _clean(refused, written))))


def _refusal(item: Written, title: str) -> str:
    return item.message if item.message.startswith(item.entry.resource.kind + " ") else f"{title}: {item.message}"


def _clean(lines: list[str], written: Sequence[Written]) -> list[str]:
    # Webhooks quote what they refuse.
    return without_secrets(lines, set().union(*(secret_texts(item.entry.desired) for item in written)))
