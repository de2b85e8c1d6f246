# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that may wait for others without end: they end after a time, and with them all that they have started."""
from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from .texts.formats import duration

# Of Go and pip, which may wait without end for a proxy that takes a connection and never answers. The program that
# takes longest to build takes ten minutes on two processors without a cache; what is ended goes on from its caches.
DOWNLOAD_LIMIT_SECONDS = 3600
# What to look at when one of them is late.
MODULE_PROXY = "check whether the module proxy answers (go env GOPROXY; HTTPS_PROXY, NO_PROXY)"
PACKAGE_INDEX = "check whether the package index answers (pip config list; HTTPS_PROXY, NO_PROXY)"
# Who kept an output open after all was killed has left the tree of processes.
_LAST_OUTPUT_SECONDS = 5


class LateError(Exception):
    """A program did not end in time, and was ended; says for how long it ran, or did not get on."""


def bytes_moved(pid: int) -> int | None:
    """Return how many bytes a process has read and written, or None where the kernel does not say.

    :param pid: its number
    """
    try:
        with open(f"/proc/{pid}/io", encoding="ascii") as stream:
            counts = dict(line.split(": ") for line in stream.read().splitlines())
        return int(counts["rchar"]) + int(counts["wchar"])
    except (OSError, KeyError, ValueError):
        return None


def run(command: Sequence[str], limit_seconds: float, progress: Callable[[int], Any] | None = None,
        **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program as ``subprocess.run`` does; one that is late is ended with all that it has started.

    :param command: program and arguments
    :param limit_seconds: how long it may take; with ``progress`` how long it may not get on, and at most twice that
    :param progress: callable that returns of a process's number how far it is, such as :func:`bytes_moved`; None when
        it does not know. Without it the program has an end however far it is
    :param options: as of ``subprocess.Popen``, and ``input``, a text; without it the program has no input
    :raises LateError: when it does not end in time
    :raises OSError: when it cannot be run
    """
    given = options.pop("input", None)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
                          universal_newlines=True, **options) as process:
        try:
            output, errors = _communicated(process, given, limit_seconds, progress)
        except subprocess.TimeoutExpired:
            _end(process.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=_LAST_OUTPUT_SECONDS)
            raise LateError(f"did not {'get on' if progress else 'end'} within {duration(limit_seconds)}, and was ended"
                            ) from None
        except BaseException:
            _end(process.pid)
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _communicated(process: subprocess.Popen[str], given: str | None, limit_seconds: float,
                  progress: Callable[[int], Any] | None) -> tuple[str, str]:
    before: Any = None
    while True:
        try:
            return process.communicate(given, limit_seconds)
        except subprocess.TimeoutExpired:
            found = progress(process.pid) if progress else None
            if found == before:
                raise
            # What is left of the input is kept by the process's object.
            before, given = found, None


def _end(pid: int) -> None:
    """Kill a process and its descendants; each stands still first, so that it starts no more of them."""
    # Not as a group of its own: whoever kills this process's group must reach it, too.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGSTOP)
    for child in _children(pid):
        _end(child)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    # One that has ended has none, and a kernel without CONFIG_PROC_CHILDREN does not say.
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as stream:
                found += map(int, stream.read().split())
    return found
