# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Temporary files and folders that killed runs have left: a living run holds the lock of its own."""
from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator

# Nothing has a lock in the moment after it was made.
YOUNG_SECONDS = 60


def remove(parent: str, names: re.Pattern[str], folders: bool) -> None:
    """Remove this user's files or folders that no living process holds.

    :param parent: folder that they are in
    :param names: what their whole names match, and no others in the folder
    :param folders: whether folders are meant, else files
    """
    try:
        found = sorted(os.listdir(parent))
    except OSError:
        # A folder that may be written to need not be one that may be read.
        return
    for name in found:
        path = os.path.join(parent, name)
        if not names.fullmatch(name) or not _is_own(path, folders):
            continue
        # Another process works with it, or has just removed it.
        with contextlib.suppress(OSError), locked(path):
            if folders:
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)


def _is_own(path: str, folders: bool) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return ((stat.S_ISDIR if folders else stat.S_ISREG)(found.st_mode) and found.st_uid == os.geteuid()
            and abs(time.time() - found.st_mtime) > YOUNG_SECONDS)


@contextlib.contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold the lock of a file or folder, which the kernel gives back when the process ends in whatever way.

    :raises OSError: when another process holds it, or it is a link
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
