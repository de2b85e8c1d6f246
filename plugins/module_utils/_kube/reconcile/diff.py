# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an apply would change: desired fields against current ones, and fields we owned but no longer want.

Pure functions of data. Ownership is read from ``metadata.managedFields`` as server-side apply keeps it
(Kubernetes API, FieldsV1): ``f:name`` is a field, ``k:{…}`` an element of a keyed list, ``v:…`` of a set.
"""
from __future__ import annotations

import copy
import json
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

from ..._common.documents.document_text import from_json
from ..api.transport import FIELD_MANAGER

Difference = namedtuple("Difference", ["differs", "ambiguous", "converted", "before", "after"])

_IDENTITY = ("apiVersion", "kind", "status")
_KEPT_METADATA = ("labels", "annotations", "ownerReferences", "finalizers")


def desired_part(obj: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the part of an object that an apply declares: no identity, no status, no server-made metadata."""
    part = dict((key, value) for key, value in obj.items() if key not in _IDENTITY and key != "metadata")
    metadata = dict((key, obj["metadata"][key]) for key in _KEPT_METADATA if obj["metadata"].get(key))
    if metadata:
        part["metadata"] = metadata
    return part


def owned_tree(current: dict[str, Any], manager: str = FIELD_MANAGER) -> dict[str, Any]:
    """Return the FieldsV1 tree that ``manager`` owns by apply; empty when there is none."""
    return _applied(current, manager).get("fieldsV1") or {}


def _applied(current: dict[str, Any], manager: str) -> dict[str, Any]:
    """Return the entry of what ``manager`` owns by apply, of which there is one whatever its version; else empty."""
    for entry in current.get("metadata", {}).get("managedFields") or []:
        if entry.get("manager") == manager and entry.get("operation") == "Apply" and not entry.get("subresource"):
            return dict(entry)
    return {}


def goes_away(current: dict[str, dict[str, Any]], path: tuple[str, ...], manager: str = FIELD_MANAGER) -> bool:
    """Say whether an apply by ``manager`` without a field would take the field away: nobody else owns it.

    :param current: the object as stored
    :param path: the field's path, a tuple of names
    """
    ours, others = False, False
    for entry in current.get("metadata", {}).get("managedFields") or []:
        applied = entry.get("manager") == manager and entry.get("operation") == "Apply" and not entry.get("subresource")
        owns = _holds(entry.get("fieldsV1") or {}, path)
        ours, others = ours or (owns and applied), others or (owns and not applied)
    return ours and not others


def _holds(tree: dict[str, dict[str, Any]], path: tuple[str, ...]) -> bool:
    for key in path:
        if "f:" + key not in tree:
            return False
        tree = tree["f:" + key]
    return True


def compare(current: dict[str, Any], desired: dict[str, Any], manager: str = FIELD_MANAGER) -> Difference:
    """Compare a stored object with a desired one.

    :param current: the object as stored
    :param desired: the object as it would be applied
    :param manager: field manager whose left-over fields count as removed
    :returns: a Difference: ``differs``; ``ambiguous`` when only the server can tell (a list element has more
        fields than desired: server defaults, or fields to be removed); ``converted`` when what we own is named in
        another API version, so that only the server can tell what goes, see :func:`answered`; ``before`` and
        ``after``, restricted to the fields at stake
    """
    applied = _applied(current, manager)
    tree = applied.get("fieldsV1") or {}
    wanted = desired_part(desired)
    state = {"ambiguous": False}
    differs = not _covers(current, wanted, tree, state)
    before = _project(current, wanted)
    removed = list(_removed(tree, wanted, current))
    for path, value in removed:
        _put(before, path, value)
    converted = applied.get("apiVersion", desired["apiVersion"]) != desired["apiVersion"]
    return Difference(differs or bool(removed), state["ambiguous"], converted, before, wanted)


def answered(current: dict[str, Any], desired: dict[str, Any],
             answer: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return both sides of an update, by what the API server says that it would store.

    :param current: the object as stored
    :param desired: the object as it would be applied
    :param answer: the server's answer to a dry run of it
    :returns: the part that is desired, and whatever else the answer has otherwise
    """
    wanted = desired_part(desired)
    before, after = copy.deepcopy(_project(current, wanted)), copy.deepcopy(wanted)
    for path, stored, tried in _otherwise(desired_part(current), desired_part(answer)):
        _replace(before, path, stored)
        _replace(after, path, tried)
    return before, after


def _otherwise(stored: dict[str, Any], tried: dict[str, Any],
               path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Return the paths at which two objects differ, with both values; None where there is none."""
    for key in sorted(set(stored) | set(tried)):
        old, new = stored.get(key), tried.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _otherwise(old, new, path + (key,))
        elif old != new:
            yield path + (key,), old, new


def _replace(target: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for key in path[:-1]:
        if not isinstance(target.get(key), dict):
            target[key] = {}
        target = target[key]
    target.pop(path[-1], None)
    if value is not None:
        target[path[-1]] = value


def _covers(current: Any, wanted: Any, tree: dict[str, Any], state: dict[str, bool]) -> bool:
    if isinstance(wanted, dict):
        if not isinstance(current, dict):
            return False
        return all(key in current and _covers(current[key], value, tree.get("f:" + key) or {}, state)
                   for key, value in wanted.items())
    if isinstance(wanted, list):
        if not isinstance(current, list):
            return False
        keyed = [from_json(mark[2:]) for mark in tree if mark.startswith("k:")]
        if keyed:
            return _covers_keyed(current, wanted, tuple(keyed[0]), tree, state)
        if any(mark.startswith("v:") for mark in tree):
            return all(value in current for value in wanted)
        return len(current) == len(wanted) and all(_covers_item(*pair, state) for pair in zip(current, wanted))
    return current == wanted


def _covers_keyed(current: list[dict[str, Any]], wanted: list[dict[str, Any]], keys: tuple[str, ...],
                  tree: dict[str, dict[str, Any]], state: dict[str, bool]) -> bool:
    stored = dict((tuple(_stable(item.get(key)) for key in keys), item) for item in current if isinstance(item, dict))
    for item in wanted:
        match = stored.get(tuple(_stable(item.get(key)) for key in keys))
        mark = "k:" + json.dumps(dict((key, item.get(key)) for key in keys), separators=(",", ":"))
        if match is None or not _covers(match, item, tree.get(mark) or {}, state):
            return False
    return True


def _stable(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _covers_item(current: Any, wanted: Any, state: dict[str, bool]) -> bool:
    """Compare an element of an atomic list: it is replaced as a whole, so surplus fields may be left-overs."""
    if isinstance(wanted, dict) and isinstance(current, dict):
        if set(current) - set(wanted):
            state["ambiguous"] = True
        return all(key in current and _covers_item(current[key], value, state) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(current, list):
        return len(current) == len(wanted) and all(_covers_item(*pair, state) for pair in zip(current, wanted))
    return current == wanted


def _removed(tree: dict[str, Any], wanted: Any, current: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for mark, below in tree.items():
        if mark.startswith("f:"):
            key = mark[2:]
            if (not path and key in _IDENTITY) or not isinstance(current, dict) or key not in current:
                continue
            if isinstance(wanted, dict) and key in wanted:
                yield from _removed(below, wanted[key], current[key], path + (key,))
            else:
                yield path + (key,), current[key]
        elif mark.startswith("k:") and isinstance(wanted, list) and isinstance(current, list):
            keys = from_json(mark[2:])
            stored, desired = _find(current, keys), _find(wanted, keys)
            if stored is not None and (desired is None or any(_removed(below, desired, stored, path))):
                yield path, current
        elif mark.startswith("v:") and isinstance(wanted, list) and isinstance(current, list):
            value = from_json(mark[2:])
            if value in current and value not in wanted:
                yield path, current


def _find(items: list[dict[str, Any]], keys: dict[str, str]) -> dict[str, Any] | None:
    for item in items:
        if isinstance(item, dict) and all(item.get(key) == value for key, value in keys.items()):
            return item
    return None


def _project(current: Any, wanted: Any) -> Any:
    if not isinstance(wanted, dict) or not isinstance(current, dict):
        return current
    return dict((key, _project(current[key], value)) for key, value in wanted.items() if key in current)


def _put(target: dict[str, dict[str, Any]], path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        target = target.setdefault(key, {})
    target[path[-1]] = value
