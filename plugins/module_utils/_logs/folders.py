# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of this machine without following a symlink: the new folder that is written, that of a plane that is read.

Each folder on the way to a file is opened in the one before it, so that nobody can put a link in its place meanwhile.
"""
from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

from .._common.files import regular_file
from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class NewFolder:
    """A folder that only this user can read, and the files that are written into it.

    :param path: where it is to be
    """

    def __init__(self, path: str) -> None:
        # Without a slash at its end, which would follow a symlink.
        self.path = os.path.abspath(path)
        self._descriptor: int | None = None

    def check(self) -> None:
        """Refuse a place at which something else is.

        :raises RefusedError: unless nothing is there, or an empty folder of this user
        """
        try:
            found = os.lstat(self.path)
        except FileNotFoundError:
            return
        except OSError as exc:
            raise self._refused(str(exc.strerror)) from exc
        if stat.S_ISLNK(found.st_mode):
            raise self._refused("a symbolic link")
        if not stat.S_ISDIR(found.st_mode):
            raise self._refused("a file")
        if found.st_uid != os.geteuid():
            raise self._refused("a folder of another user")
        try:
            if os.listdir(self.path):
                raise self._refused("a folder with files in it")
        except OSError as exc:
            raise self._refused(str(exc.strerror)) from exc

    def _refused(self, found: str) -> RefusedError:
        return RefusedError([Problem("logs-dest", self.path, "dest", found, "no such file, or an empty folder of yours",
                                     "name another folder")])

    def create(self) -> None:
        """Create the folder, or take the one that is there.

        :raises RefusedError: when something else is there by now
        :raises OSError: when it cannot be created
        """
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(self.path, 0o700)
        self.check()
        # Whatever becomes of its path: all files go into this one.
        self._descriptor = os.open(self.path, _FOLDER)
        os.fchmod(self._descriptor, 0o700)

    def close(self) -> None:
        """Let go of the folder."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def write(self, relative: str, content: bytes) -> None:
        """Write a file that is not there yet; may be called by several threads.

        :param relative: its path in the folder, whose parts are safe names
        :param content: what it has
        :raises OSError: when it cannot be written
        """
        if self._descriptor is None:
            raise ValueError(f"{self.path} is not created yet")
        *folders, name = relative.split("/")
        descriptor = os.dup(self._descriptor)
        try:
            for folder in folders:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(folder, 0o700, dir_fd=descriptor)
                descriptor = _entered(descriptor, folder)
            target = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        with os.fdopen(target, "wb") as stream:
            stream.write(content)


def _entered(descriptor: int, folder: str) -> int:
    """Return a descriptor of a folder in another one, whose descriptor is closed."""
    inner = os.open(folder, _FOLDER, dir_fd=descriptor)
    os.close(descriptor)
    return inner


def files_below(path: str, folder: str, since: float = 0) -> Iterator[str]:
    """Yield the regular files in a folder and below, as paths relative to it; no symlink is followed.

    :param path: folder that the user names, which may be a link
    :param folder: folder in it, with slashes
    :param since: seconds since 1970; files that have not been written to since then are left out
    :raises OSError: when it cannot be read
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in folder.split("/"):
            descriptor = _entered(descriptor, part)
        for place, folders, names, within in os.fwalk(".", dir_fd=descriptor, onerror=_raise):
            folders.sort()
            for name in sorted(names):
                try:
                    found = os.stat(name, dir_fd=within, follow_symlinks=False)
                except FileNotFoundError:
                    # Logs are rotated meanwhile.
                    continue
                if stat.S_ISREG(found.st_mode) and found.st_mtime >= since:
                    yield os.path.normpath(os.path.join(place, name))
    finally:
        os.close(descriptor)


def _raise(error: OSError) -> None:
    raise error


def newest_part(path: str, relative: str, limit_bytes: int) -> tuple[bytes, bool]:
    """Return the end of a file, and whether it is longer.

    :param path: folder that the user names, which may be a link
    :param relative: path of the file in it, of which no part is a link
    :param limit_bytes: how much is read at most
    :raises OSError: when it cannot be read, or is no regular file
    """
    *folders, name = relative.split("/")
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            descriptor = _entered(descriptor, folder)
        with regular_file.reading(name, folder=descriptor) as (stream, found):
            stream.seek(max(0, found.st_size - limit_bytes))
            return stream.read(limit_bytes), found.st_size > limit_bytes
    finally:
        os.close(descriptor)
