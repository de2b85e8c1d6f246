# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contents of files that options give as text or as a path."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._common.problems.problem import Problem


def read(params: Mapping[str, Any], fields: Sequence[str], code: str) -> tuple[dict[str, Any], list[Problem]]:
    """Return parameters in which entries have ``content`` as bytes, and which files cannot be read.

    :param params: the module's parameters
    :param fields: lists of entries with ``source`` or ``content``
    :param code: of the problems
    """
    found, result = [], dict(params)
    for field in fields:
        result[field] = []
        for number, entry in enumerate(params[field]):
            content = (entry["content"] or "").encode()
            if entry["source"]:
                try:
                    with open(entry["source"], "rb") as stream:
                        content = stream.read()
                except OSError as exc:
                    found.append(Problem(code, "", f"{field}[{number}].source", f'"{entry["source"]}" ({exc.strerror})',
                                         "a file that can be read", "correct the path"))
                    continue
            result[field].append(dict(entry, content=content))
    return result, found
