# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a file of ifupdown says, whoever has written it (interfaces(5)); pure."""
from __future__ import annotations

import re
from typing import NamedTuple

# Words that begin something new; all other lines are options of what is before them.
_WORDS = ("iface", "auto", "mapping", "source", "source-directory", "rename", "template", "no-auto-down", "no-scripts")
# Begin the options that make a device, or give it to another one.
_MAKING = ("bond", "bridge", "slaves", "vlan")
_OF_ANOTHER = "bond-master"
# Which files of a folder count.
_READ = re.compile(r"[A-Za-z0-9_-]+\Z")


class Stanza(NamedTuple):
    """An interface's definition.

    :param name: of the interface
    :param method: as ``static``, or what it inherits from
    :param options: names of what follows
    """

    name: str
    method: str
    options: tuple[str, ...]


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
                last = found.stanzas[-1]
                found.stanzas[-1] = last._replace(options=(*last.options, words[0]))
            continue
        is_open = words[0] == "iface" and len(words) > 2
        if is_open:
            found.stanzas.append(Stanza(words[1], words[-1], ()))
        elif words[0] == "source":
            found.sources.extend(words[1:])
        elif words[0] == "source-directory":
            found.folders.extend(words[1:])
    return found


def is_read(name: str) -> bool:
    """Return whether ifupdown reads a file of this name in a folder."""
    return _READ.match(name) is not None


def gives_addresses(stanza: Stanza) -> bool:
    """Return whether an interface has, or may have, addresses by a definition."""
    return stanza.method != "manual"


def makes(stanza: Stanza) -> bool:
    """Return whether a definition makes a device, or gives one to another: what else it says is of the interface."""
    return any(option.startswith(_MAKING) for option in stanza.options)


def attaches(stanza: Stanza) -> bool:
    """Return whether a definition gives an interface to another one."""
    return any(option.replace("_", "-") == _OF_ANOTHER for option in stanza.options)
