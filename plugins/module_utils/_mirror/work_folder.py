# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder in which an archive is put together or taken apart, which nobody else may have their hands on."""
from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator

from .._common.files import left_over, regular_file
from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem
from . import archive

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def path_of(archive_path: str, work_dir: str | None) -> str:
    """Return the path of the folder.

    :param archive_path: path of the archive
    :param work_dir: what the user named, None for nothing
    """
    return work_dir or archive_path + ".d"


def check(path: str) -> None:
    """Refuse a folder, if it is there, that others could have filled or could exchange.

    Its default name can be foreseen, and the archive may lie where others write, such as in ``/tmp``.

    :param path: of the folder
    :raises RefusedError: when it is a link, no folder, somebody else's, or writable by others
    """
    above = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(above):
        status = os.stat(above)
        # What others may write to, but not rename what is not theirs in.
        if status.st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
            raise _refused(path, f"a folder in {above}, in which everybody may exchange it")
        # Its owner may rename all in it, whatever its mode is.
        if status.st_uid not in (0, os.geteuid()):
            raise _refused(path, f"a folder in {above}, which is user {status.st_uid}'s, who may exchange it")
        # Of a umask of 002, by which the own group may write, nobody else is in that group.
        if not status.st_mode & stat.S_ISVTX and regular_file.others_may_write(status, own_group=True):
            raise _refused(path, f"a folder in {above}, in which group {status.st_gid} may exchange it")
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found.st_mode):
        raise _refused(path, "a link" if stat.S_ISLNK(found.st_mode) else "no folder")
    if found.st_uid != os.geteuid() or found.st_mode & _OTHERS_WRITE:
        raise _refused(path, f"owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}")


@contextlib.contextmanager
def held(path: str) -> Iterator[None]:
    """Make the folder unless it is there, for the own user alone, and work in it alone for the time of a ``with``.

    :param path: of the folder
    :raises RefusedError: see :func:`check`; and when another run works in it
    """
    with contextlib.suppress(FileExistsError):
        os.makedirs(path, mode=0o700)
    check(path)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(left_over.locked(path))
        except OSError as exc:
            raise _refused(path, "one that another run works in", "one of this run alone",
                           "wait until that run has ended, or name another one by work_dir") from exc
        yield


def remove(path: str) -> None:
    """Remove what gathering and unpacking put into the folder, and the folder when nothing else is in it."""
    for name in archive.PARTS:
        inner = os.path.join(path, name)
        if os.path.isdir(inner) and not os.path.islink(inner):
            shutil.rmtree(inner)
        elif os.path.lexists(inner):
            os.unlink(inner)
    with contextlib.suppress(OSError):
        os.rmdir(path)


def _refused(path: str, actual: str, expected: str = "", hint: str = "") -> RefusedError:
    return RefusedError([Problem(
        "mirror-work-dir", f'folder "{path}"', "work_dir", actual,
        expected or f"a folder of the user {os.geteuid()} that nobody else may write into, or none", hint or
        "find out who has made it and delete it, take it from others (chmod go-w), or name another one by work_dir")])
