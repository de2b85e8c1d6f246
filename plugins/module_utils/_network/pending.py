# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A change that is taken back by itself unless somebody who reaches the machine confirms it in time.

The files of before are stored first, so that a process of this machine, which no connection keeps alive, can put them
back. Whoever removes the record decides: the confirmation, or that process.
"""
from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .._common.documents.document_text import from_json
from .._common.files import file_lock, whole_file
from .interface_files import is_shared

FOLDER = "/var/lib/metal3.baremetal/network"
POLL_SECONDS = 0.5


def record_path(name: str, folder: str = FOLDER) -> str:
    """Return the path of the record of an interface's unconfirmed change."""
    return os.path.join(folder, f"{name}.pending.json")


def error_path(name: str, folder: str = FOLDER) -> str:
    """Return the path of the file that says why a change could not be taken back."""
    return os.path.join(folder, f"{name}.error")


def _removal_path(name: str, folder: str) -> str:
    return os.path.join(folder, f"{name}.removing")


def begin_removal(name: str, system: str, kind: str, machine: str, folder: str = FOLDER) -> None:
    """Note that an interface is being removed, before its files are: with them goes what says that it is ours.

    :param system: that configures it
    :param kind: of the device that its files make, ``ethernet`` for none
    :param machine: what names this start of the machine, after which a device without files does not come again
    """
    whole_file.write(_removal_path(name, folder), f"{machine} {system} {kind}".encode(), 0o600, False)


def removing(name: str, machine: str, folder: str = FOLDER) -> tuple[str, str]:
    """Return system and kind of an interface whose removal has not come to its end, empty texts for none.

    :param machine: as for :func:`begin_removal`
    """
    try:
        with open(_removal_path(name, folder), encoding="utf-8") as stream:
            # Earlier releases noted no kind.
            found, system, kind = (*stream.read().split(" "), "", "")[:3]
    except FileNotFoundError:
        return "", ""
    return (system, kind) if found == machine else ("", "")


def end_removal(name: str, folder: str = FOLDER) -> None:
    """Note that an interface is not being removed any more."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_removal_path(name, folder))


def read(name: str, folder: str = FOLDER) -> dict[str, Any] | None:
    """Return the record of an unconfirmed change, None when there is none."""
    try:
        with open(record_path(name, folder), "rb") as stream:
            return from_json(stream.read())
    except FileNotFoundError:
        return None


def snapshot(paths: Iterable[str]) -> list[dict[str, Any]]:
    """Return files as they are now: ``path``, ``content`` (None when there is none) and ``mode``."""
    found = []
    for path in sorted(set(paths)):
        try:
            with open(path, encoding="utf-8") as stream:
                found.append({"path": path, "content": stream.read(), "mode": os.stat(path).st_mode & 0o777})
        except FileNotFoundError:
            found.append({"path": path, "content": None, "mode": None})
    return found


def put_back(files: Iterable[dict[str, Any]]) -> None:
    """Give files the content that a snapshot has; those it found missing are removed."""
    for file in files:
        if file["content"] is not None:
            whole_file.write(file["path"], file["content"].encode(), file["mode"], False)
        elif os.path.exists(file["path"]):
            remove(file["path"])


def remove(path: str) -> None:
    """Remove a file, and the folder of drop-ins that it was the last one in, with what only they have added to."""
    if is_shared(path) and os.path.isdir(f"{path}.d"):
        # It goes with its last drop-in.
        return
    os.unlink(path)
    folder = os.path.dirname(path)
    if folder.endswith(".network.d"):
        # Others' drop-ins stay, and with them their folder.
        with contextlib.suppress(OSError):
            os.rmdir(folder)
            shared = folder.removesuffix(".d")
            if is_shared(shared):
                os.unlink(shared)


def begin(name: str, record: dict[str, Any], folder: str = FOLDER) -> bool:
    """Store what is needed to take a change back, before it is made.

    :returns: False when another run has begun a change, whose record stays: without it nobody could take that back
    """
    new = f"{record_path(name, folder)}.{os.getpid()}"
    whole_file.write(new, json.dumps(record).encode(), 0o600, False)
    try:
        os.link(new, record_path(name, folder))
    except FileExistsError:
        return False
    finally:
        os.unlink(new)
    with contextlib.suppress(FileNotFoundError):
        # Of a change of before, which is over.
        os.unlink(error_path(name, folder))
    return True


def end(name: str, folder: str = FOLDER) -> bool:
    """Remove the record; return whether this call did it, and so decides what becomes of the change."""
    try:
        os.unlink(record_path(name, folder))
    except FileNotFoundError:
        return False
    return True


@contextlib.contextmanager
def taking_back(name: str, folder: str = FOLDER, waiting: Callable[[], Any] = lambda: None) -> Iterator[None]:
    """Let nobody else take a change of an interface back, or rely on what is left of it, for the time of a ``with``.

    The record goes first, so that without one files and interface may still be those of the change.

    :param waiting: called without arguments when another process is at it, before it is waited for
    """
    if not os.path.isdir(folder):
        # No change was ever begun.
        yield
        return
    with file_lock.held_alone(os.path.join(folder, f"{name}.lock"), waiting):
        yield


def watch(name: str, seconds: float, take_back: Callable[[], Any], folder: str = FOLDER) -> None:
    """Start a process that takes the change back after a time, unless the record is gone before.

    :param seconds: how long the confirmation may take
    :param take_back: called in that process; what it raises is written beside the record
    """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    # pylint: disable=protected-access
    try:
        # A session of its own: the end of the connection that began the change does not end it.
        os.setsid()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if os.fork():
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        # Ansible waits for the end of every pipe that the module's process has.
        os.closerange(3, 256)
        _guard(name, seconds, take_back, folder)
    finally:
        os._exit(0)


def _guard(name: str, seconds: float, take_back: Callable[[], Any], folder: str) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not os.path.exists(record_path(name, folder)):
            return
        time.sleep(POLL_SECONDS)
    with taking_back(name, folder):
        try:
            if read(name, folder) is not None:
                take_back()
        except Exception as exc:  # pylint: disable=broad-exception-caught
            # Nobody is there to read it now; the next run reports it.
            with open(error_path(name, folder), "w", encoding="utf-8") as stream:
                stream.write(f"{exc}\n")
