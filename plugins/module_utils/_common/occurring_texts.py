# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of many texts occur in a long one, in a time that does not grow with both; pure."""
from __future__ import annotations

# Of longer texts only the beginning is looked for everywhere.
_ANCHOR_CHARACTERS = 32


def occurring(texts, haystack):
    """Return the texts that a long one holds, a set.

    The long text is gone through once for each length that the texts have, at most 32 times.

    :param texts: iterable of texts
    :param haystack: the long text
    """
    by_anchor = {}
    for text in set(texts):
        anchor = text[:_ANCHOR_CHARACTERS]
        by_anchor.setdefault(len(anchor), {}).setdefault(anchor, []).append(text)
    found = set(by_anchor.pop(0, {}).get("", []))
    for length, anchors in by_anchor.items():
        seen = set(piece for piece in (haystack[at:at + length] for at in range(len(haystack) - length + 1))
                   if piece in anchors)
        found.update(text for anchor in seen for text in anchors[anchor] if text == anchor or text in haystack)
    return found
