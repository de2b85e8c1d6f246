# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contents of files that options give as text or as a path, and that are still those that an image is named by."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._common.files import file_digest, regular_file
from ..._common.problems.errors import ReportedError
from ..._common.problems.problem import Problem

_CHUNK_BYTES = 1024 ** 2


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
                    with regular_file.named(entry["source"]) as (stream, _status):
                        content = stream.read()
                except OSError as exc:
                    found.append(Problem(code, "", f"{field}[{number}].source", f'"{entry["source"]}" ({exc.strerror})',
                                         "a file that can be read", "correct the path"))
                    continue
            result[field].append(dict(entry, content=content))
    return result, found


def copy_unchanged(field: str, path: str, digest: str, target: str) -> None:
    """Copy a file that is still the one of a digest.

    :param field: the option that names it, for errors
    :param path: of the file, or of a link to it
    :param digest: its SHA-256, hexadecimal
    :param target: where it goes; nothing is there yet, or another file
    :raises ReportedError: when it is another one by now
    :raises OSError: when it cannot be read or written
    """
    with regular_file.named(path) as (stream, _status), open(target, "wb") as writer:
        source = file_digest.Digested(stream)
        for chunk in iter(lambda: source.read(_CHUNK_BYTES), b""):
            writer.write(chunk)
        found = source.rest()
    if found != digest:
        raise ReportedError(f"{field}: {path} is another file than when this run began (SHA-256 {found}, expected "
                            f"{digest}); see who writes into the folder, then run again")
