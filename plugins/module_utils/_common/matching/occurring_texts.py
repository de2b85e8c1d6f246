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


class Texts:
    """Many texts that are looked for in one long text after another.

    :param texts: the texts that are looked for
    :param anchor_characters: how many characters of longer texts are looked for everywhere; where no text is shorter,
        a long text is gone through only once
    """

    def __init__(self, texts: Iterable[str], anchor_characters: int = _ANCHOR_CHARACTERS) -> None:
        self._texts = set(texts)
        self._by_anchor: dict[int, dict[str, list[str]]] = {}
        for text in self._texts if len(self._texts) > _FEW else ():
            anchor = text[:anchor_characters]
            self._by_anchor.setdefault(len(anchor), {}).setdefault(anchor, []).append(text)

    def occurring_in(self, haystack: str) -> set[str]:
        """Return those that occur in a long text.

        Many are looked for by going through it once for each length that they have, up to that of an anchor.

        :param haystack: the long text
        """
        if not self._by_anchor:
            return set(text for text in self._texts if text in haystack)
        found = set(self._by_anchor.get(0, {}).get("", []))
        for length, anchors in self._by_anchor.items():
            there = set(piece for piece in (haystack[at:at + length] for at in range(len(haystack) - length + 1))
                        if piece in anchors) if length else ()
            found.update(text for anchor in there for text in anchors[anchor] if text == anchor or text in haystack)
        return found


def occurring(texts: Iterable[str], haystack: str) -> set[str]:
    """Return the texts that occur in a long one, see :class:`Texts`.

    :param texts: the texts that are looked for
    :param haystack: the long text
    """
    return Texts(texts).occurring_in(haystack)
