# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are deleted and still there, because finalizers hold them; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from .conditions import conditions
from .titles import full_title

HINT = "wait until it is gone, then run again; if it stays, look at the controllers that remove its finalizers"
# Finalizers that Kubernetes itself removes, without a controller of anybody's: the garbage collector, the namespace
# controller (a Namespace's are in its spec) and the API server's own for definitions.
_OF_KUBERNETES = ("foregroundDeletion", "orphan", "kubernetes", "customresourcecleanup.apiextensions.k8s.io")
# Conditions by which a Namespace says what is left in it.
_LEFT = ("NamespaceContentRemaining", "NamespaceFinalizersRemaining", "NamespaceDeletionContentFailure",
         "NamespaceDeletionDiscoveryFailure", "NamespaceDeletionGroupVersionParsingFailure")
_NAMED = 3


def is_going(obj: Mapping[str, Any] | None) -> bool:
    """Say whether an object is being deleted; False when there is none."""
    return bool(((obj or {}).get("metadata") or {}).get("deletionTimestamp"))


def deletion_of(obj: Mapping[str, Any] | None) -> str:
    """Return since when an object is being deleted and what holds it, empty when it stays or there is none.

    Until its finalizers are gone it looks like any other: spec and status are complete.

    :param obj: the object as it was read, or None
    :returns: a phrase that follows "is"
    """
    if obj is None or not is_going(obj):
        return ""
    held_by = ", ".join(_finalizers(obj)) or "nothing"
    left = [f"{item.get('message')}" for item in conditions(obj)
            if obj.get("kind") == "Namespace" and item.get("type") in _LEFT and item.get("status") == "True"]
    return f"being deleted since {obj['metadata']['deletionTimestamp']}, held by {held_by}" + (
        f" ({few(left, _NAMED)})" if left else "")


def goes_by_itself(obj: Mapping[str, Any]) -> bool:
    """Say whether nothing but Kubernetes itself holds an object that is being deleted, so that it is soon gone."""
    return set(_finalizers(obj)) <= set(_OF_KUBERNETES)


def staying_problem(subject: str, field: str, obj: Mapping[str, Any] | None, noun: str = "an object") -> list[Problem]:
    """Return the Problem of an object that is to be there and is being deleted, in a list.

    The one message for it, of whichever room the object is.

    :param subject: the object as the user names it
    :param field: the option that names it; empty for the whole object
    :param obj: the object as it was read, or None
    :param noun: what it is, for a subject that does not say so
    """
    if not is_going(obj):
        return []
    return [Problem("being-deleted", subject, field, f"{noun} that is {deletion_of(obj)}", "one that stays", HINT)]


def staying_problems(desired: Iterable[Mapping[str, Any]],
                     stored: Mapping[str, Iterable[Mapping[str, Any]]]) -> list[Problem]:
    """Return the Problems of all objects that are to be there and are being deleted.

    For rooms that report them together with problems of their own, before they plan.

    :param desired: objects of one namespace
    :param stored: kind to objects of this namespace, as they were read
    """
    wanted = set((item["kind"], item["metadata"]["name"]) for item in desired)
    return [problem for kind, items in stored.items() for item in items if (kind, item["metadata"]["name"]) in wanted
            for problem in staying_problem(
                full_title(kind, item["metadata"].get("namespace"), item["metadata"]["name"]), "", item)]


def _finalizers(obj: Mapping[str, Any]) -> list[str]:
    own = list(obj["metadata"].get("finalizers") or [])
    # Other kinds may have a field of this name that means something else.
    return own + (list((obj.get("spec") or {}).get("finalizers") or []) if obj.get("kind") == "Namespace" else [])
