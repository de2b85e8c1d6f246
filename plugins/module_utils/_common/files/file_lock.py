# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks that the kernel gives back when a process ends in whatever way: files that only their owner may open."""
from __future__ import annotations

import contextlib
import fcntl
import io
import os
from collections.abc import Callable, Iterator
from typing import IO, Any

_MODE = 0o600


def opened(path: str) -> io.FileIO:
    """Return a lock's file, which is made when there is none; its folder is there.

    :raises OSError: when it cannot be opened, or is a link
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, _MODE)
    # Who may read it may hold it for ever; earlier releases let everybody.
    if os.fstat(descriptor).st_mode & 0o777 != _MODE:
        os.fchmod(descriptor, _MODE)
    return io.FileIO(descriptor, "r+")


@contextlib.contextmanager
def held(path: str, waiting: Callable[[], Any] = lambda: None) -> Iterator[None]:
    """Hold a lock for the time of a ``with``.

    :param path: as for :func:`opened`
    :param waiting: called without arguments when another process holds it, before it is waited for
    """
    with opened(path) as stream:
        _lock(stream, waiting)
        yield


@contextlib.contextmanager
def held_file(path: str, waiting: Callable[[], Any] = lambda: None) -> Iterator[IO[bytes]]:
    """Give a file that is its own lock for the time of a ``with``; it is made when there is none.

    Whoever held it before may have given it another name, or removed it: what is given has this path.

    :param path: as for :func:`opened`
    :param waiting: as for :func:`held`
    :raises OSError: as :func:`opened` does
    """
    while True:
        with opened(path) as stream:
            _lock(stream, waiting)
            if is_at(stream.fileno(), path):
                with io.BufferedRandom(stream) as buffered:
                    yield buffered
                return


@contextlib.contextmanager
def tried(path: str) -> Iterator[bool]:
    """Hold a lock for the time of a ``with`` if no other process holds it; say whether it is held.

    Its file is there only as long as somebody holds it, so that a lock for each of many things leaves none behind.

    :param path: as for :func:`opened`
    :raises OSError: as :func:`opened` does
    """
    while True:
        with opened(path) as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            # Whoever held it has removed it by now.
            if is_at(stream.fileno(), path):
                with _removed(path):
                    yield True
                return


@contextlib.contextmanager
def held_alone(path: str, waiting: Callable[[], Any] = lambda: None) -> Iterator[None]:
    """Hold a lock for the time of a ``with``, as :func:`held` does, whose file is there only as long.

    :param path: as for :func:`opened`
    :param waiting: as for :func:`held`
    """
    with held_file(path, waiting), _removed(path):
        yield


@contextlib.contextmanager
def _removed(path: str) -> Iterator[None]:
    try:
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _lock(stream: io.FileIO, waiting: Callable[[], Any]) -> None:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        waiting()
        fcntl.flock(stream, fcntl.LOCK_EX)


def is_at(descriptor: int, path: str) -> bool:
    """Return whether what was locked has its path still: whoever held it before may have renamed or removed it.

    :param descriptor: of the file or folder
    """
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False
