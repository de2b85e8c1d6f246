# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Debian packages depend on, by dpkg's list of those that are installed; pure."""
from __future__ import annotations

import re
from collections.abc import Collection, Iterable


def closure(status: str, names: Iterable[str], known: Collection[str] = ()) -> set[str]:
    """Return packages with all that they depend on, as far as it is installed.

    :param status: ``/var/lib/dpkg/status``
    :param names: packages, perhaps with ``=version``
    :param known: packages whose own dependencies do not count
    """
    depends: dict[str, list[str]] = {}
    for paragraph in status.split("\n\n"):
        fields = dict(re.findall(r"(?m)^(Package|Pre-Depends|Depends|Provides): (.*)$", paragraph))
        listed = ", ".join(fields[name] for name in ("Pre-Depends", "Depends") if name in fields)
        name = fields.get("Package", "")
        depends[name] = _names(listed)
        for virtual in _names(fields.get("Provides", "")):
            depends.setdefault(virtual, []).append(name)
    found: set[str] = set()
    waiting = [name.partition("=")[0] for name in names]
    while waiting:
        name = waiting.pop()
        if name in depends and name not in found:
            found.add(name)
            waiting += [] if name in known else depends[name]
    return found


def _names(listed: str) -> list[str]:
    """Return the packages of a list: of alternatives all, without versions and architectures."""
    return [match.group() for match in map(re.compile(r"[a-z0-9][a-z0-9+.-]*").match, re.split(r"\s*[,|]\s*", listed))
            if match]
