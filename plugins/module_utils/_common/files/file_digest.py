# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests of files of any size, and of contents that have been read."""
from __future__ import annotations

import hashlib
from typing import Any

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


class Digested:
    """A file whose digest is computed while it is read: others may write into it between two looks.

    :param source: the file, of which nothing but ``read`` is called
    :param limit_bytes: how much is read; None for all
    """

    def __init__(self, source: Any, limit_bytes: int | None = None) -> None:
        self._source, self._left, self._digest = source, limit_bytes, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Return what is read, as of a file."""
        if self._left is not None:
            size = self._left if size < 0 else min(size, self._left)
        content: bytes = self._source.read(size)
        if self._left is not None:
            self._left -= len(content)
        self._digest.update(content)
        return content

    def rest(self) -> str:
        """Read to the end, and return the SHA-256 of all that was read, hexadecimal."""
        while self.read(_CHUNK_BYTES):
            pass
        return self._digest.hexdigest()


def checksum_of(content: bytes) -> str:
    """Return the SHA-256 of contents, hexadecimal, behind ``sha256:``."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def checksum(path: str, kind: str = "sha256") -> str | None:
    """Return the digest of a file with its type and a colon before it, None when it is missing or something else.

    :param path: the file
    :param kind: type of the digest, as ``hashlib`` names it
    """
    try:
        return f"{kind}:{digest(path, kind)}"
    except (FileNotFoundError, regular_file.NotRegularError):
        return None
