# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring objects to a desired state: one LIST, a comparison in memory, bulk writes of what differs."""
from __future__ import annotations

from collections import namedtuple

from . import bulk, checked
from .diff import compare, desired_part
from .errors import KubeError
from .precondition import ABSENT
from .resources import resource_for

# action: create, update or none. before and after hold only the fields at stake, for Ansible's diff.
Entry = namedtuple("Entry", ["resource", "namespace", "name", "action", "desired", "current", "before", "after"])

_VOLATILE_METADATA = ("managedFields", "resourceVersion", "generation")


def plan(client, items, listed=None, resource_of=resource_for):
    """Say for each desired object what an apply would do.

    :param client: a KubeClient
    :param items: list of complete objects (apiVersion, kind, metadata, …), Secrets with ``data``
    :param listed: what the caller has listed already: ``{(resource, namespace): {name: object}}``
    :param resource_of: callable that takes apiVersion and kind and returns the Resource
    :returns: list of Entry, in the order of ``items``
    :raises KubeError: when the current state can't be read
    """
    known = dict(listed or {})
    keyed = [(resource_of(item["apiVersion"], item["kind"]), item["metadata"].get("namespace"), item)
             for item in items]
    missing = sorted(set((resource, namespace) for resource, namespace, _item in keyed) - set(known), key=str)
    for key, outcome in zip(missing, bulk.run([_lister(client, *key) for key in missing])):
        if outcome.error is not None:
            raise outcome.error
        known[key] = outcome.value
    entries = [_entry(resource, namespace, item, known[(resource, namespace)]) for resource, namespace, item in keyed]
    return _settled(client, entries)


def _lister(client, resource, namespace):
    def call():
        try:
            return by_name(client.list(resource, namespace)[0])
        except KubeError as exc:
            # A kind whose CRD is yet to be made has no objects.
            if exc.status == 404:
                return {}
            raise
    return call


def by_name(items):
    """Index a list of objects of one namespace by name."""
    return dict((item["metadata"]["name"], item) for item in items)


def _entry(resource, namespace, item, stored):
    name = item["metadata"]["name"]
    current = stored.get(name)
    if current is None:
        return Entry(resource, namespace, name, "create", item, None, {}, desired_part(item)), False
    difference = compare(current, item)
    action = "update" if difference.differs else "none"
    entry = Entry(resource, namespace, name, action, item, current, difference.before, difference.after)
    return entry, difference.ambiguous and not difference.differs


def _settled(client, entries):
    """Ask the server, by a dry run, about the objects for which data alone does not tell."""
    doubtful = [position for position, (_entry, doubt) in enumerate(entries) if doubt]
    settled = [entry for entry, _doubt in entries]
    answers = bulk.run([_applier(client, settled[position], True) for position in doubtful])
    for position, outcome in zip(doubtful, answers):
        entry = settled[position]
        if outcome.error is not None or _comparable(outcome.value) != _comparable(entry.current):
            settled[position] = entry._replace(action="update")
    return settled


def stores_nothing_new(entry, answer):
    """Say whether an update, by the answer to its dry run, would store what is stored already.

    The server spells some values its own way, for example quantities.
    """
    return entry.action == "update" and _comparable(answer) == _comparable(entry.current)


def _comparable(obj):
    metadata = dict((key, value) for key, value in obj["metadata"].items() if key not in _VOLATILE_METADATA)
    return dict(obj, metadata=metadata)


def _applier(client, entry, dry_run):
    return lambda: client.apply(entry.resource, entry.namespace, entry.desired, dry_run=dry_run)


def precondition_of(entry):
    """Return what the write of an entry rests on, as ``KubeClient.apply`` takes it."""
    return ABSENT if entry.current is None else entry.current


def send(client, entry, dry_run=False):
    """Apply an entry on the condition that what is stored is still what it was planned on."""
    return client.apply(entry.resource, entry.namespace, entry.desired, dry_run=dry_run,
                        checked=precondition_of(entry))


def planned_again(client, entry):
    """Return the entry of the same desired object for what is stored by now, by one GET.

    :raises KubeError: when the current state can't be read
    """
    current = client.get(entry.resource, entry.namespace, entry.name)
    stored = {} if current is None else {entry.name: current}
    return _settled(client, [_entry(entry.resource, entry.namespace, entry.desired, stored)])[0]


def execute(client, entries, dry_run=False, decide=None, tell=None, sleep=None):
    """Write the entries whose action is not ``none``, side by side, each only while what it was planned on is stored.

    :param entries: list of Entry from :func:`plan`
    :param dry_run: let the server judge without storing (check mode)
    :param decide: callable that takes an entry whose object has changed meanwhile, reads and checks again, and returns
        the entry for what is stored now; it raises a KubeError when the write is no longer allowed. Without it the
        same object is compared with what is stored now: for writes that rest on no other check.
    :param tell: see :func:`checked.write`
    :param sleep: see :func:`checked.write`
    :returns: list of ``checked.Written``, one for each entry, its ``task`` the entry that was written in the end; for
        ``none`` its value is the current object
    """
    def decided(entry):
        fresh = decide(entry) if decide else planned_again(client, entry)
        return checked.Settled(fresh.current, fresh) if fresh.action == "none" else fresh

    due = [entry for entry in entries if entry.action != "none"]
    written = iter(checked.write(due, lambda entry: send(client, entry, dry_run), decided, tell, sleep))
    return [checked.Written(entry.current, None, entry) if entry.action == "none" else next(written)
            for entry in entries]
