# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring objects to a desired state: one LIST, a comparison in memory, bulk writes of what differs."""
from __future__ import annotations

from collections import namedtuple

from . import bulk
from .diff import compare, desired_part
from .errors import KubeError
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


def execute(client, entries, dry_run=False):
    """Write the entries whose action is not ``none``, side by side.

    :param entries: list of Entry from :func:`plan`
    :param dry_run: let the server judge without storing (check mode)
    :returns: list of ``bulk.Outcome``, one for each entry; for ``none`` its value is the current object
    """
    due = [entry for entry in entries if entry.action != "none"]
    outcomes = iter(bulk.run([_applier(client, entry, dry_run) for entry in due]))
    return [bulk.Outcome(entry.current, None) if entry.action == "none" else next(outcomes) for entry in entries]
