# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files in places where others may have put something else: a pipe, for which a reader waits for ever, or a link."""
from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import Any


class NotRegularError(OSError):
    """Something else than a file is at a path."""


@contextlib.contextmanager
def reading(path: str, folder: int | None = None, follow: bool = False) -> Iterator[tuple[Any, os.stat_result]]:
    """Give a regular file, and no link to one, to read from for the time of a ``with``, and its status.

    :param path: of the file
    :param folder: descriptor of the folder that a relative path begins at
    :param follow: whether a link to one will do, as where a user names the path and its owner is checked
    :raises NotRegularError: when it is no regular file
    :raises OSError: when it cannot be opened
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    with open(path, "rb", opener=lambda name, _flags: os.open(name, flags, dir_fd=folder)) as stream:
        found = os.fstat(stream.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise NotRegularError(0, "no regular file", path)
        yield stream, found


@contextlib.contextmanager
def named(path: str) -> Iterator[tuple[Any, os.stat_result]]:
    """Give a regular file that a user names, or that a link leads to that is root's or this user's.

    Somebody else's link, in a folder that others may write into, would lead to what only this user may read.

    :param path: of the file
    :raises NotRegularError: for somebody else's link, and when it is no regular file
    :raises OSError: when it cannot be opened
    """
    found = os.lstat(path)
    is_link = stat.S_ISLNK(found.st_mode)
    if is_link and found.st_uid not in (0, os.geteuid()):
        raise NotRegularError(0, f"a link of user {found.st_uid}", path)
    with reading(path, follow=is_link) as opened:
        yield opened


def whole(path: str, most_bytes: int) -> bytes:
    """Return what a regular file has, or one that a link leads to.

    :param path: of the file
    :param most_bytes: how many it may have
    :raises OSError: when it cannot be read, is something else than a file, or has more
    """
    with reading(path, follow=True) as (stream, _found):
        content: bytes = stream.read(most_bytes + 1)
    if len(content) > most_bytes:
        # Half of it would be taken for all.
        raise OSError(errno.EFBIG, f"more than {most_bytes} bytes", path)
    return content


def others_may_write(found: os.stat_result, own_group: bool = False) -> bool:
    """Return whether somebody else than root and this user could have written a file or folder.

    :param found: its status
    :param own_group: whether this user's own group may write, as a umask of 002 has it
    """
    others = stat.S_IWOTH if own_group and found.st_gid == os.getegid() else stat.S_IWGRP | stat.S_IWOTH
    return found.st_uid not in (0, os.geteuid()) or bool(found.st_mode & others)


def owner_and_mode(found: os.stat_result) -> str:
    """Return in words whose a file is and who may do what with it."""
    return f"owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}"
