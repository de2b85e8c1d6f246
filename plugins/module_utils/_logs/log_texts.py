# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of logs that were read as bytes: whole lines, and what is inside of the deploy agent's archives; pure."""
from __future__ import annotations

import bz2
import io
import lzma
import tarfile
import zlib
from typing import Any, NamedTuple

# An agent sends some fifty.
_MOST_FILES = 1000
# What an archive may have beside a file's content: headers, one for a long name, and what fills the last block.
_HEADERS_BYTES = 4096
# tarfile searches one for numbers in a time that grows with the square of its length.
_LONGEST_HEADER = 1024
# More than any level of xz needs.
_DICTIONARY_BYTES = 128 * 1024 ** 2


class Part(NamedTuple):
    """A file out of an archive.

    :ivar name: its path in the archive, of any origin
    :ivar text: what it has; None when it is no text
    """

    name: str
    text: str | None


def whole_lines(content: bytes, cut_before: bool, cut_after: bool) -> str:
    """Return the text of a part of a log, without the lines that are cut: half a secret would not be found.

    :param content: what was read
    :param cut_before: whether more of the log stands before it
    :param cut_after: whether more of it follows
    """
    if cut_before:
        content = content.partition(b"\n")[2]
    if cut_after:
        content = content[:content.rfind(b"\n") + 1]
    return content.decode("utf-8", "replace")


def text_of(content: bytes) -> str | None:
    """Return a file as text, or None when it is no text, in which nothing could be hidden."""
    return None if b"\0" in content else content.decode("utf-8", "replace")


class _Archive(io.BytesIO):
    """An archive whose headers are read as far as honest ones go.

    :ivar in_file: whether it is a file's content that is read
    """

    in_file = False
    _rest = _MOST_FILES * _HEADERS_BYTES

    def read(self, size: int | None = -1) -> bytes:
        """Return what is read.

        :raises ValueError: for a header that is too long, and when all together are
        """
        if not self.in_file:
            if size is None or not 0 <= size <= _LONGEST_HEADER or size > self._rest:
                raise ValueError("longer than headers are")
            self._rest -= size
        return super().read(size)


def unpacked(content: bytes, limit_bytes: int) -> tuple[list[Part], bool] | None:
    """Return the files in an archive, and whether there are more than fit; None for what is no archive.

    The deploy agent sends its logs as a compressed archive (ironic-python-agent, ``utils.collect_system_logs``), in
    which no secret would be found.

    :param content: the archive, compressed or not
    :param limit_bytes: how much all files together may have
    """
    parts, size = [], 0
    try:
        plain, is_cut = _decompressed(content, limit_bytes + _MOST_FILES * _HEADERS_BYTES)
        stream = _Archive(plain)
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            for member in archive:
                if not member.isfile():
                    continue
                # That of a sparse file is what it becomes.
                size += member.size
                if size > limit_bytes or len(parts) == _MOST_FILES:
                    return parts, True
                stream.in_file = True
                source = archive.extractfile(member)
                parts.append(Part(member.name, text_of(source.read()) if source else None))
                stream.in_file = False
    # A header may be followed by another one for the same file, each of which is read inside of the one before.
    except (tarfile.TarError, EOFError, OSError, ValueError, OverflowError, RecursionError, zlib.error, lzma.LZMAError):
        return (parts, True) if parts else None
    return parts, is_cut


def _decompressed(content: bytes, limit_bytes: int) -> tuple[bytes, bool]:
    """Return what is compressed as it was before, and whether there is more of it than the limit.

    :raises zlib.error: for what is broken; OSError, EOFError and lzma.LZMAError likewise
    """
    decompressor: Any
    if content.startswith(b"\x1f\x8b"):
        decompressor = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    elif content.startswith(b"BZh"):
        decompressor = bz2.BZ2Decompressor()
    elif content.startswith(b"\xfd7zXZ\0"):
        decompressor = lzma.LZMADecompressor(memlimit=_DICTIONARY_BYTES)
    else:
        return content, False
    plain = decompressor.decompress(content, limit_bytes)
    return plain, not decompressor.eof
