# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds of YAML that others may have written, looked for before it is loaded; pure.

A kilobyte of aliases may stand for more than any memory holds; what is nested deeply enough ends Python itself, by the
loader of libyaml.
"""
from __future__ import annotations

from typing import Any

try:
    import yaml
    HAS_YAML = True
except ImportError:
    HAS_YAML = False

# Of a manifest with what its anchors honestly repeat.
_MORE_CHARACTERS = 4 * 1024 ** 2
# Definitions of Kubernetes have some thirty. Python ends at a thousand calls inside of each other, of which what goes
# through a structure takes several for each.
_DEEPEST = 200


def safe_loader() -> Any:
    """Return the class of the loader that makes plain values only: that of libyaml, where PyYAML has it."""
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def has_alias(content: str | bytes) -> bool:
    """Return whether YAML has an alias; False for what is no YAML up to there.

    :param content: of any number of documents
    """
    try:
        return any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(content, safe_loader()))
    except (yaml.YAMLError, ValueError):
        return False


def check(text: str, loader: Any = None) -> None:
    """Refuse YAML whose aliases stand for much more than the text has, or for what they are a part of, and deep YAML.

    Merges of merges fill the memory while they are read, other aliases when they are written.

    :param text: of any number of documents
    :param loader: class of the loader that it is for; :func:`safe_loader` by default
    :raises ValueError: for such aliases
    :raises RecursionError: for what is nested too deeply
    :raises YAMLError: for what is no YAML
    """
    most, total = len(text) + _MORE_CHARACTERS, 0
    # Anchor and size of what is open, from the outermost; size of what an anchor stands for, in its document.
    opened: list[tuple[str | None, int]] = []
    sizes: dict[str, int] = {}
    for event in yaml.parse(text, loader or safe_loader()):
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
        if len(opened) > _DEEPEST:
            raise RecursionError(f"more than {_DEEPEST} structures inside of each other")
        if total > most:
            raise ValueError(f"aliases that stand for more than {most} characters")
