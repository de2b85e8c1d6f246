# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests of files of any size."""
from __future__ import annotations

import hashlib

from . import regular_file

_CHUNK_BYTES = 1024 ** 2


def digest(path: str, kind: str = "sha256", head: bytes = b"") -> str:
    """Return the digest of a file, hexadecimal.

    :param path: the file
    :param kind: type of the digest, as ``hashlib`` names it
    :param head: what comes before its content
    :raises NotRegularError: when something else is at the path, such as a pipe
    :raises OSError: when it cannot be read
    """
    found = hashlib.new(kind, head)
    with regular_file.reading(path, follow=True) as (stream, _status):
        for chunk in iter(lambda: stream.read(_CHUNK_BYTES), b""):
            found.update(chunk)
    return found.hexdigest()


def checksum(path: str, kind: str = "sha256") -> str | None:
    """Return the digest of a file with its type and a colon before it, None when it is missing or something else.

    :param path: the file
    :param kind: type of the digest, as ``hashlib`` names it
    """
    try:
        return f"{kind}:{digest(path, kind)}"
    except (FileNotFoundError, regular_file.NotRegularError):
        return None
