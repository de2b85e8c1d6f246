# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be done with each object: one LIST for each kind, then a comparison in memory.

An object that is being deleted will be gone in a moment, whatever is stored in it. Who refuses it:

* an apply: ``Reconcile.plan``, for all objects at once and before anything is written; what is deleted later, between
  plan and write, ``Reconcile.write`` reports of the object alone. No room can lift this.
* a deletion: never. It is what is asked for, and unchanged (:func:`deletion`).
* a patch: its room, by a rule of its own, since a pause, a detachment or a finalizer may be what lets an object go.
* a look (``Reconcile.look``, :func:`plan`): never. It is for what nothing is written by (what there is to be removed,
  what is waited for) and for rooms that have refused all such objects by a check of their own before they began to
  write (hosts, claims, manifests); ``Reconcile.write`` refuses what was deleted since.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable, NamedTuple, Optional

from ..._common.problems.errors import RefusedError
from ..api import bulk
from ..kinds import served
from ..kinds.resources import Resource, resource_for
from ..objects.finalizers import is_going, staying_problem
from ..objects.precondition import ABSENT
from ..objects.titles import full_title
from .diff import answered, compare, desired_part

CREATE, UPDATE, DELETE, UNCHANGED = "create", "update", "delete", "unchanged"
# An action that was carried out, as results name it.
DONE = {CREATE: "created", UPDATE: "updated", DELETE: "deleted", UNCHANGED: "unchanged"}

_VOLATILE_METADATA = ("managedFields", "resourceVersion", "generation")

Object = dict[str, Any]
# What was listed already: {(resource, namespace): {name: object}}.
Listed = dict[tuple[Resource, Optional[str]], dict[str, Object]]


class Entry(NamedTuple):
    """One object and what is to be done with it.

    :ivar action: :data:`CREATE`, :data:`UPDATE`, :data:`DELETE` or :data:`UNCHANGED`
    :ivar desired: the complete object for server-side apply; None for a deletion or a patch
    :ivar current: the object as it was read, on which the write rests; None when there was none
    :ivar before: the fields at stake as they are
    :ivar after: the fields at stake as they become
    :ivar patch: a merge patch that is sent instead of an apply, or None
    :ivar renews: whether an apply names what is ours in another API version than the one before
    """

    resource: Resource
    namespace: str | None
    name: str
    action: str
    desired: Object | None
    current: Object | None
    before: Object
    after: Object
    patch: Object | None = None
    renews: bool = False

    @property
    def changes(self) -> bool:
        """True when there is something to be written or deleted."""
        return self.action != UNCHANGED

    @property
    def title(self) -> str:
        """Kind, namespace and name, as diffs and errors name the object."""
        return full_title(self.resource.kind, self.namespace, self.name)

    @property
    def applies_to_going(self) -> bool:
        """True for an object that is to be there and is being deleted."""
        return self.desired is not None and is_going(self.current)

    @property
    def precondition(self) -> Any:
        """What the write rests on, as ``KubeClient.apply`` takes it."""
        return ABSENT if self.current is None else self.current


def plan(client: Any, items: list[Object], listed: Listed | None = None,
         resource_of: Callable[[str, str], Resource] = resource_for,
         run: Callable[[list], list] = bulk.run) -> list[Entry]:
    """Return for each desired object what an apply would do.

    :param client: a KubeClient
    :param items: complete objects (apiVersion, kind, metadata, …), Secrets with ``data``
    :param listed: what the caller has listed already
    :param resource_of: callable that takes apiVersion and kind and returns the Resource
    :param run: callable that takes a list of calls and returns their ``bulk.Outcome``
    :returns: entries in the order of ``items``
    :raises KubeError: when the current state cannot be read
    """
    known = dict(listed or {})
    keyed = [(resource_of(item["apiVersion"], item["kind"]), item["metadata"].get("namespace"), item)
             for item in items]
    missing = sorted(set((resource, namespace) for resource, namespace, _item in keyed) - set(known), key=str)
    for key, outcome in zip(missing, run([_lister(client, *key) for key in missing])):
        if outcome.error is not None:
            raise outcome.error
        known[key] = outcome.value
    return _settled(client, [
        _compared(resource, namespace, item, known[(resource, namespace)].get(item["metadata"]["name"]))
        for resource, namespace, item in keyed])


def planned_for(client: Any, entry: Entry, desired: Object, current: Object | None) -> Entry:
    """Return the entry of a desired object for what is stored by now.

    :param entry: the entry that was planned first; its resource and namespace are taken over
    :param current: the object as it was read, or None
    """
    return _settled(client, [_compared(entry.resource, entry.namespace, desired, current)])[0]


def deletion(resource: Resource, obj: Object) -> Entry:
    """Return the entry that deletes an object; unchanged for one that is being deleted already.

    :param obj: the object as it was read
    """
    metadata = obj["metadata"]
    return Entry(resource, metadata.get("namespace"), metadata["name"],
                 UNCHANGED if is_going(obj) else DELETE, None, obj,
                 {"spec": obj.get("spec") or {}}, {})


def absent(resource: Resource, namespace: str | None, name: str) -> Entry:
    """Return the entry of an object that must not exist and does not."""
    return Entry(resource, namespace, name, UNCHANGED, None, None, {}, {})


def refuse_going(entries: Iterable[Entry]) -> None:
    """Refuse objects that are to be there and are being deleted.

    :raises RefusedError: with all of them
    """
    found = [problem for entry in entries if entry.applies_to_going
             for problem in staying_problem(entry.title, "", entry.current)]
    if found:
        raise RefusedError(found)


def by_name(items: Iterable[Object]) -> dict[str, Object]:
    """Index objects of one namespace by name."""
    return dict((item["metadata"]["name"], item) for item in items)


def stores_nothing_new(entry: Entry, answer: Any) -> bool:
    """Say whether an update, by the answer to it, stores what is stored already.

    The server spells some values its own way, for example quantities.

    :param answer: the object as the API server returned it
    """
    return entry.action == UPDATE and isinstance(answer, dict) and _comparable(answer) == _comparable(entry.current)


def _lister(client: Any, resource: Resource, namespace: str | None) -> Callable[[], dict[str, Object]]:
    def call() -> dict[str, Object]:
        return by_name(served.listed(client, resource, namespace))
    return call


def _compared(resource: Resource, namespace: str | None, item: Object, current: Object | None) -> tuple[Entry, bool]:
    name = item["metadata"]["name"]
    if current is None:
        return Entry(resource, namespace, name, CREATE, item, None, {}, desired_part(item)), False
    difference = compare(current, item)
    action = UPDATE if difference.differs else UNCHANGED
    entry = Entry(resource, namespace, name, action, item, current, difference.before, difference.after,
                  renews=difference.converted)
    # What an update in another version would take away is unknown, and may be more than what differs.
    return entry, difference.converted or (difference.ambiguous and not difference.differs)


def _settled(client: Any, compared: list[tuple[Entry, bool]]) -> list[Entry]:
    """Ask the server, by a dry run, about the objects for which data alone does not decide."""
    doubtful = [position for position, (_entry, doubt) in enumerate(compared) if doubt]
    entries = [entry for entry, _doubt in compared]
    answers = bulk.run([_trial(client, entries[position]) for position in doubtful])
    for position, outcome in zip(doubtful, answers):
        entries[position] = _by_answer(entries[position], outcome)
    return entries


def _by_answer(entry: Entry, outcome: Any) -> Entry:
    if outcome.error is not None:
        # The write says why.
        return entry._replace(action=UPDATE)
    if entry.desired is None or entry.current is None or _comparable(outcome.value) == _comparable(entry.current):
        return entry._replace(action=UNCHANGED)
    before, after = answered(entry.current, entry.desired, outcome.value)
    return entry._replace(action=UPDATE, before=before, after=after)


def _trial(client: Any, entry: Entry) -> Callable[[], Any]:
    return lambda: client.apply(entry.resource, entry.namespace, entry.desired, dry_run=True)


def _comparable(obj: Object | None) -> Object:
    obj = obj or {}
    metadata = dict((key, value) for key, value in obj.get("metadata", {}).items() if key not in _VOLATILE_METADATA)
    return dict(obj, metadata=metadata)
