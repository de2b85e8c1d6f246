# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of the cache, each named after what it is made from, and either complete or not there."""
from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from typing import Any

from ..problems.errors import ReportedError
from . import file_lock, left_over, regular_file

# Behind an entry's name, of the folder in which it is made, and of the file that whoever makes it holds.
_PARTIAL, _LOCK = ".partial", ".lock"


def require_own(*folders: str) -> None:
    """Refuse folders in which others could exchange what is run, or put into images.

    :param folders: the cache's, each before what it holds; those that are missing are left out
    :raises ReportedError: for the first that is somebody else's or writable by others
    """
    for folder in folders:
        try:
            found = os.stat(folder)
        except OSError:
            continue
        if regular_file.others_may_write(found, own_group=True):
            raise ReportedError(
                f"{folder}: found {regular_file.owner_and_mode(found)}, expected a folder that only user "
                f"{os.geteuid()} may write into, because what is in it is run, or put into images; find out who has "
                "made it, take it from others (chmod go-w), or name another one by XDG_CACHE_HOME or cache_dir")


def key(parts: Iterable[str | bytes]) -> str:
    """Return a name for what is made from some parts: another one as soon as one of them is another one."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update((part.encode() if isinstance(part, str) else part) + b"\0")
    return digest.hexdigest()[:16]


class CacheEntry:
    """What is made once, into a folder that gets its name when all of it is there; see :func:`making`."""

    directory: str

    def complete(self) -> bool:
        """Return whether it is there."""
        return os.path.isdir(self.directory)


@contextlib.contextmanager
def making(directory: str, progress: Any) -> Iterator[str | None]:
    """Give a folder to fill, which gets its name when the block ends without an exception.

    Yields None if the folder is there already, perhaps since another process made it while this one waited. What a
    killed process left is removed first, also of what was made from other parts.

    :param directory: the folder's final name
    :param progress: a Progress
    """
    os.makedirs(os.path.dirname(directory), mode=0o755, exist_ok=True)
    partial = directory + _PARTIAL
    with file_lock.held(directory + _LOCK,
                        lambda: progress.event(f"Another process makes {directory}: waiting for it")):
        if os.path.isdir(directory):
            yield None
            return
        shutil.rmtree(partial, ignore_errors=True)
        _remove_left_over(os.path.dirname(directory))
        os.mkdir(partial, 0o755)
        try:
            yield partial
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        os.rename(partial, directory)
        progress.wrote(directory, "created")


def _remove_left_over(folder: str) -> None:
    """Remove what killed processes have left of other entries: nobody may ever make those again."""
    for name in os.listdir(folder):
        if name.endswith(_PARTIAL):
            # A living process holds its lock.
            with contextlib.suppress(OSError), left_over.locked(os.path.join(folder, name[:-len(_PARTIAL)] + _LOCK)):
                shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
