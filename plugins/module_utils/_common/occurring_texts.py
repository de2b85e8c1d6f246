# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of many texts occur in a long one, in a time that does not grow with both; pure."""
from __future__ import annotations

from collections.abc import Iterable

# Of longer texts only the beginning is looked for everywhere.
_ANCHOR_CHARACTERS = 32
# So many are found faster one after the other.
_FEW = 64


def occurring(texts: Iterable[str], haystack: str) -> set[str]:
    """Return the texts that occur in a long one, a set.

    For many texts, the long one is gone through once for each length that they have, at most 32 times.

    :param texts: the texts that are looked for
    :param haystack: the long text
    """
    texts = set(texts)
    if len(texts) <= _FEW:
        return set(text for text in texts if text in haystack)
    by_anchor = {}
    for text in texts:
        anchor = text[:_ANCHOR_CHARACTERS]
        by_anchor.setdefault(len(anchor), {}).setdefault(anchor, []).append(text)
    found = set(by_anchor.pop(0, {}).get("", []))
    for length, anchors in by_anchor.items():
        there = set(piece for piece in (haystack[at:at + length] for at in range(len(haystack) - length + 1))
                    if piece in anchors)
        found.update(text for anchor in there for text in anchors[anchor] if text == anchor or text in haystack)
    return found
