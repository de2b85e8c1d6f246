# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules for files that are taken from elsewhere; pure."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._common.options.field_checks import DIGEST, show
from ..._common.problems.problem import Problem
from ..._common.transfer.image_checks import url_parts


def problems(field: str, download: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with where a file comes from.

    :param field: the option, for the problems
    :param download: ``url`` and ``checksum``
    """
    found = []
    parts = url_parts(download["url"])
    if parts.scheme not in ("http", "https") or not parts.netloc:
        found.append(Problem("image-url", "", f"{field}url", show(download["url"]), "an address with http or https",
                             "write it with its scheme, for example https://images.example.org/file"))
    if not DIGEST.fullmatch(download["checksum"] or ""):
        found.append(Problem("image-checksum", "", f"{field}checksum",
                             show(download["checksum"]) if download["checksum"] else None,
                             "sha256: and 64 hexadecimal digits in lower case", "take it from who published the file"))
    return found


def list_problems(field: str, downloads: Sequence[Mapping[str, Any]]) -> list[Problem]:
    """Return what is wrong with a list of them.

    :param field: the option, for the problems
    :param downloads: each with ``name``, ``url`` and ``checksum``
    """
    found = []
    names = [download["name"] for download in downloads]
    for number, download in enumerate(downloads):
        found += problems(f"{field}[{number}].", download)
        if names.index(download["name"]) != number:
            found.append(Problem("image-name", "", f"{field}[{number}].name", show(download["name"]),
                                 "a name that no other one has", "remove one of both"))
    return found
