# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of logs that were read as bytes: whole lines, and what is inside of the deploy agent's archives; pure."""
from __future__ import annotations

import io
import tarfile
from typing import NamedTuple


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


def unpacked(content: bytes, limit_bytes: int) -> tuple[list[Part], bool] | None:
    """Return the files in an archive, and whether there are more than fit; None for what is no archive.

    The deploy agent sends its logs as a compressed archive (ironic-python-agent, ``utils.collect_system_logs``), in
    which no secret would be found.

    :param content: the archive, compressed or not
    :param limit_bytes: how much all files together may have
    """
    parts, size = [], 0
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r|*") as archive:
            for member in archive:
                if not member.isfile():
                    continue
                # Before it is unpacked: a small archive may have files of any size.
                size += member.size
                if size > limit_bytes:
                    return parts, True
                source = archive.extractfile(member)
                parts.append(Part(member.name, text_of(source.read()) if source else None))
    except (tarfile.TarError, EOFError, OSError, ValueError, OverflowError):
        return (parts, True) if parts else None
    return parts, False
