# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of this user's own below one that others may write to: one that runs hold in turn, and new ones.

Files of the first have names that the next run finds again. Whoever may write to the folder above can put a link in the
place of a path that was checked; so each is used by its descriptor, which stays that of the folder that was checked.
"""
from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from typing import Any

from ..._common.files import file_lock
from ..._common.problems.errors import ReportedError


@contextlib.contextmanager
def held(path: str, progress: Any) -> Iterator[str]:
    """Give a path of the folder for the time of a ``with``, also to programs that are started; other runs wait.

    :param path: of the folder, whose parent is there
    :param progress: a Progress
    :raises ReportedError: when something else is there
    """
    while True:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
        with _entered(path) as descriptor:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                progress.event(f"Waiting for another run that works in {path}")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Whoever held it may have removed it.
            if file_lock.is_at(descriptor, path):
                yield _path_of(descriptor)
                return


@contextlib.contextmanager
def made(above: str, prefix: str) -> Iterator[str]:
    """Give a path of a new folder for the time of a ``with``, also to programs that are started.

    :param above: folder that it is made in; whoever calls removes what is left of it there
    :param prefix: beginning of its name
    :raises ReportedError: when somebody has put something else in its place
    """
    with _entered(tempfile.mkdtemp(dir=above, prefix=prefix)) as descriptor:
        yield _path_of(descriptor)


def _path_of(descriptor: int) -> str:
    return f"/proc/{os.getpid()}/fd/{descriptor}"


@contextlib.contextmanager
def _entered(path: str) -> Iterator[int]:
    """Give a descriptor of the folder at a path.

    :raises ReportedError: when it is none, or not this user's alone
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as exc:
        raise _refused(path, exc.strerror or str(exc)) from exc
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise _refused(path, f"user {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}")
        yield descriptor
    finally:
        os.close(descriptor)


def _refused(path: str, found: str) -> ReportedError:
    return ReportedError(f"{path}: found {found}, expected a folder of this user that nobody else can enter; find out "
                         "who has made it, and delete it")
