# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Aliases in YAML that others may have written: a kilobyte of them may stand for more than any memory holds; pure."""
from __future__ import annotations

try:
    import yaml
    HAS_YAML = True
except ImportError:
    HAS_YAML = False

# Of a manifest with what its anchors honestly repeat.
_MORE_CHARACTERS = 4 * 1024 ** 2


def refuse_unfolded(text: str) -> None:
    """Refuse YAML whose aliases stand for much more than the text has, or for what they are a part of.

    Before it is loaded: merges of merges fill the memory while they are read, other aliases when they are written.

    :param text: of any number of documents; what is no YAML may be found out by whoever loads it
    :raises ValueError: for such aliases
    :raises YAMLError: for what is no YAML
    """
    if "&" not in text or "*" not in text:
        return
    most, total = len(text) + _MORE_CHARACTERS, 0
    # Anchor and size of what is open, from the outermost; size of what an anchor stands for, in its document.
    opened: list[tuple[str | None, int]] = []
    sizes: dict[str, int] = {}
    for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.DocumentStartEvent):
            sizes = {}
        elif isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _begin in opened):
                raise ValueError("an alias inside of what it stands for")
            total += sizes.get(event.anchor or "", 1)
        elif isinstance(event, yaml.ScalarEvent):
            total += len(event.value) + 1
            if event.anchor:
                sizes[event.anchor] = len(event.value) + 1
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, begin = opened.pop()
            if anchor:
                sizes[anchor] = total - begin
        if total > most:
            raise ValueError(f"aliases that stand for more than {most} characters")
