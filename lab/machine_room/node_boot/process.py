"""A process that may be somebody else's child, recognised by its number and its start time."""
from __future__ import annotations

import json
import os
import select
import signal

from .. import state

KILL_TIMEOUT_SECONDS = 10


def start_time(pid):
    """Return when a process began, in clock ticks after the machine's start, or None if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # A zombie has ended, its parent has not noticed.
    return None if fields[0] == "Z" else int(fields[19])


def children(pid):
    """Return the processes that a process has started, and that have not ended; none when it has ended itself."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(number) for number in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def remember(path, pid):
    """Write a process down."""
    state.save(path, {"pid": pid, "start_time": start_time(pid)})


def recall(path):
    """Return the number of the process that was written down, or None if it ended."""
    try:
        saved = state.load(path)
    except json.JSONDecodeError:
        return None
    if not saved or saved["start_time"] is None or start_time(saved["pid"]) != saved["start_time"]:
        return None
    return saved["pid"]


def wait(pid, timeout_seconds=None):
    """Wait until a process ends and return whether it did.

    :param timeout_seconds: None for no limit
    """
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(None if timeout_seconds is None else timeout_seconds * 1000))
    finally:
        os.close(descriptor)


def end(pid, timeout_seconds):
    """End a process: SIGTERM, and SIGKILL when that does not help.

    :param timeout_seconds: how long SIGTERM may take
    """
    for number, patience in ((signal.SIGTERM, timeout_seconds), (signal.SIGKILL, KILL_TIMEOUT_SECONDS)):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        if wait(pid, patience):
            return
