# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives in the format "newc" of cpio, which the kernel unpacks into memory; pure."""
from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

_FILE, _FOLDER = 0o100000, 0o040000
_FOLDER_MODE = 0o755


class File(NamedTuple):
    """A file of an archive.

    :param path: absolute path
    :param content: its bytes
    :param mode: its permissions
    """

    path: str
    content: bytes
    mode: int = 0o644


def archive(files: Iterable[File], folders: Collection[str] = ()) -> bytes:
    """Return an archive; the same files give the same bytes.

    :param files: no two with the same path
    :param folders: paths of folders that are there already, without the slash at the beginning: the kernel would give
        them other permissions
    """
    entries, made = [], set(folders)
    for file in sorted(files):
        parts = file.path.strip("/").split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if folder not in made:
                made.add(folder)
                entries.append((folder, _FOLDER | _FOLDER_MODE, b""))
        entries.append(("/".join(parts), _FILE | file.mode, file.content))
    entries.append(("TRAILER!!!", 0, b""))
    return b"".join(_entry(number, *entry) for number, entry in enumerate(entries, start=1))


def padding(size: int) -> bytes:
    """Return what brings a number of bytes to where the kernel looks for an archive."""
    return bytes(-size % 4)


def _entry(number: int, name: str, mode: int, data: bytes) -> bytes:
    """Return an entry as in the kernel's Documentation/driver-api/early-userspace/buffer-format."""
    encoded = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return header + padding(len(header)) + data + padding(len(data))
