# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an object in a namespace goes with its owner, or has one that outlasts the namespace; pure.

An owner is in the same namespace, or has none (a Node, an object of a cluster-wide kind): of any other one the garbage
collector says that it does not exist (attemptToDeleteItem in pkg/controller/garbagecollector/garbagecollector.go).
"""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

Object = dict[str, Any]
Kind = tuple[str, str]


class Surroundings(NamedTuple):
    """What is known of possible owners.

    :ivar going: uids of objects that are removed
    :ivar undefined: (group, kind) of definitions that are removed, with all of their objects
    :ivar listed: (group, kind) of all kinds that were listed in the namespaces
    :ivar found: uid → object, of what was listed
    """

    going: Collection[str]
    undefined: Collection[Kind]
    listed: Collection[Kind]
    found: Mapping[str, Object]


def lasting_owner(obj: Object, around: Surroundings) -> str:
    """Return in words the owner of an object that stays without being listed itself; empty when there is none.

    One that was listed is reported or goes itself, and one that was not although its kind was is gone: then Kubernetes
    deletes the object. Objects that own each other have nobody else, and are named as each other's.

    :param obj: an object with owners
    """
    for owner in _owners(obj):
        uid = str(owner.get("uid") or "")
        if uid in around.going or _kind(owner) in around.undefined:
            continue
        if uid in around.found:
            if obj["metadata"].get("uid") in _ancestors(around.found[uid], around.found):
                return _words(owner)
        elif _kind(owner) not in around.listed:
            return _words(owner)
    return ""


def _owners(obj: Object) -> Iterable[Object]:
    return obj["metadata"].get("ownerReferences") or ()


def _kind(owner: Object) -> Kind:
    group, slash, _version = str(owner.get("apiVersion") or "").rpartition("/")
    return group if slash else "", str(owner.get("kind") or "")


def _words(owner: Object) -> str:
    return f"{owner.get('kind')} {owner.get('name')}"


def _ancestors(obj: Object, found: Mapping[str, Object]) -> set[Any]:
    """Return the uids of an object and of its owners, theirs, and so on, as far as they were listed."""
    visited: set[Any] = set()
    due = [obj]
    while due:
        uid = due[-1]["metadata"].get("uid")
        owners = _owners(due.pop())
        if uid not in visited:
            visited.add(uid)
            due += [found[owner["uid"]] for owner in owners if owner.get("uid") in found]
    return visited
