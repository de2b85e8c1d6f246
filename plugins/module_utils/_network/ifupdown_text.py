# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a file of ifupdown says, whoever has written it (interfaces(5)); pure."""
from __future__ import annotations

import re
from typing import NamedTuple

# Words that begin something new; all other lines are options of what is before them.
_WORDS = ("iface", "auto", "mapping", "source", "source-directory", "rename", "template", "no-auto-down", "no-scripts")
# Which files of a folder count.
_READ = re.compile(r"[A-Za-z0-9_-]+\Z")


class Stanza(NamedTuple):
    """An interface's definition.

    :param name: of the interface
    :param method: as ``static``, or what it inherits from
    :param has_options: whether more follows
    """

    name: str
    method: str
    has_options: bool


class Read(NamedTuple):
    """What a file holds: definitions, patterns of files that are read at this place, and folders of such."""

    stanzas: list[Stanza]
    sources: list[str]
    folders: list[str]


def read(text: str) -> Read:
    """Return what a file holds."""
    found = Read([], [], [])
    is_open = False
    for line in text.replace("\\\n", " ").splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] not in _WORDS and not words[0].startswith("allow-"):
            if is_open:
                found.stanzas[-1] = found.stanzas[-1]._replace(has_options=True)
            continue
        is_open = words[0] == "iface" and len(words) > 2
        if is_open:
            found.stanzas.append(Stanza(words[1], words[-1], False))
        elif words[0] == "source":
            found.sources.extend(words[1:])
        elif words[0] == "source-directory":
            found.folders.extend(words[1:])
    return found


def is_read(name: str) -> bool:
    """Return whether ifupdown reads a file of this name in a folder."""
    return _READ.match(name) is not None


def adds(stanza: Stanza) -> bool:
    """Return whether a definition adds something to another one of the same interface."""
    return stanza.method != "manual" or stanza.has_options
