# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Temporary folders for what nobody else may read: removed at the end, or by the next run after one that was killed."""
from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator

# A folder has no lock in the moment after it was made.
YOUNG_SECONDS = 60


@contextlib.contextmanager
def folder(prefix: str) -> Iterator[str]:
    """Give a new folder of mode 0700 for the time of a ``with``; before, remove those that killed runs have left.

    :param prefix: beginning of the folder's name, of nothing else in the folder for temporary files
    """
    _remove_left_over(prefix)
    path = tempfile.mkdtemp(prefix=prefix)
    try:
        with _locked(path):
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _remove_left_over(prefix: str) -> None:
    """Remove this user's folders of a prefix that no living process holds."""
    parent = tempfile.gettempdir()
    for name in sorted(os.listdir(parent)):
        path = os.path.join(parent, name)
        if not name.startswith(prefix) or not _is_own(path):
            continue
        try:
            with _locked(path):
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            # Another process works with it, or has just removed it.
            continue


def _is_own(path: str) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return (stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
            and abs(time.time() - found.st_mtime) > YOUNG_SECONDS)


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Hold a folder's lock, which the kernel gives back when the process ends in whatever way.

    :raises OSError: when another process holds it, or it is no folder
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
