# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a site's catalogue of firmware and its cabling."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._common.documents.document_text import from_yaml
from .._common.files import regular_file
from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem
from .site_files import SiteFiles, cabling_mistakes, catalogue_mistakes

# Entries of tens of thousands of servers.
_LONGEST_BYTES = 16 * 1024 ** 2


def read(catalogue: str | None, cabling: str | None) -> SiteFiles:
    """Return what a site's files say.

    :param catalogue: path of the catalogue of firmware, YAML or JSON; None for none
    :param cabling: path of the cabling file, the same
    :raises RefusedError: with all that is wrong with both
    """
    entries, problems = _checked(catalogue, "firmware_catalogue", catalogue_mistakes)
    cables, more = _checked(cabling, "cabling_file", cabling_mistakes)
    if problems or more:
        raise RefusedError(problems + more)
    return SiteFiles(entries, cables)


def _checked(path: str | None, option: str,
             mistakes: Callable[[Any, str], list[Problem]]) -> tuple[Any, list[Problem]]:
    if not path:
        return None, []
    title = f"{option} {path}"
    try:
        with regular_file.reading(path, follow=True) as (stream, _found):
            content = stream.read(_LONGEST_BYTES + 1)
        if len(content) > _LONGEST_BYTES:
            return None, [_unread(title, f"more than {_LONGEST_BYTES} bytes", "a smaller file", "correct the path")]
        document = from_yaml(content)
    except OSError as exc:
        return None, [_unread(title, exc.strerror or str(exc), "a file that can be read", "correct the path")]
    # Also of a path with a zero.
    except ValueError as exc:
        return None, [_unread(title, str(exc), "YAML or JSON", "correct the file")]
    return document, mistakes(document, title)


def _unread(title: str, actual: str, expected: str, hint: str) -> Problem:
    return Problem("compliance-file", title, "", actual, expected, hint)
