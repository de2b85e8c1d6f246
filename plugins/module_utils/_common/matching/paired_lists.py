# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which element of a list was which element of another one; pure."""
from __future__ import annotations

import difflib
from collections import Counter
from typing import Any

# What identifies an element that is a dict.
IDENTITIES = ("path", "name", "key")
MISSING = object()


def paired(items: list[Any], old: Any) -> list[Any]:
    """Return ``(element, what it was)`` for each element of a list: by its identity, else by equality.

    :param items: list
    :param old: the other list; anything else counts as an empty one
    :returns: list of pairs, with MISSING for an element that the other list has not
    """
    if items is old:
        return [(item, item) for item in items]
    old = old if isinstance(old, list) else []
    identities = _identities(items)
    if None not in identities:
        known = dict(zip(_identities(old), old))
        return [(item, known.get(identity, MISSING)) for item, identity in zip(items, identities)]
    known = {}
    matcher = difflib.SequenceMatcher(None, [_frozen(item) for item in old], [_frozen(item) for item in items], False)
    for block in matcher.get_matching_blocks():
        known.update((block.b + offset, old[block.a + offset]) for offset in range(block.size))
    return [(item, known.get(position, MISSING)) for position, item in enumerate(items)]


def _identities(items: list[Any]) -> list[Any]:
    """Return what identifies each element, None where nothing does; equal ones are numbered."""
    seen, identities = Counter(), []
    for item in items:
        own = _identity(item)
        identities.append(own and (*own, seen[own]))
        seen[own] += 1
    return identities


def _identity(item: Any) -> tuple[str, str] | None:
    if not isinstance(item, dict):
        return None
    return next(((key, item[key]) for key in IDENTITIES if isinstance(item.get(key), str)), None)


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return frozenset((key, _frozen(item)) for key, item in value.items())
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
