# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files of a kernel's modules some of them need, by depmod's lists; pure."""
from __future__ import annotations

import os
from collections.abc import Iterable


def closure(listed: str, built_in: str, names: Iterable[str]) -> tuple[set[str], list[str]]:
    """Return the files that modules consist of with all that they depend on, and the names that no module has.

    :param listed: ``modules.dep``: a file, a colon, all files that it depends on
    :param built_in: ``modules.builtin``: files whose code is in the kernel itself
    :param names: names of modules, with dashes or underscores
    """
    files = dict((line.partition(":")[0], line.partition(":")[2].split()) for line in listed.splitlines() if line)
    by_name = dict((_name(path), path) for path in files)
    in_kernel = set(_name(path) for path in built_in.split())
    needed: set[str] = set()
    unknown = []
    for name in names:
        path = by_name.get(name.replace("-", "_"))
        if path:
            needed.update([path, *files[path]])
        elif name.replace("-", "_") not in in_kernel:
            unknown.append(name)
    return needed, unknown


def _name(path: str) -> str:
    return os.path.basename(path).partition(".ko")[0].replace("-", "_")
