"""Become a program once nothing is left of the process group that it had before.

Ironic's worker outlives its parent when that is killed, and the last thing it does is to sign the conductor off. When
its successor has signed on by then, Ironic is left without a conductor, and answers 503 until it is started again: with
SQLite it keeps no heartbeat that would sign it on.

Arguments: file with the process group, the program, its arguments.
"""
from __future__ import annotations

import os
import signal
import sys
import time

KILL_SECONDS = 10
POLL_INTERVAL_SECONDS = 0.02


def recorded(path):
    """Return the group that a file names, or None."""
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def members(group, proc="/proc"):
    """Return the processes of a group that have this process's session and working directory.

    The group's number may have gone to somebody else meanwhile. The environment proves nothing: Ironic writes its title
    over it.
    """
    found = []
    for entry in os.listdir(proc):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            if (os.getpgid(int(entry)) == group and os.getsid(int(entry)) == os.getsid(0)
                    and os.readlink(f"{proc}/{entry}/cwd") == os.getcwd()):
                found.append(int(entry))
        except OSError:
            # It is gone, or ending.
            continue
    return found


def end(group):
    """Kill what is left of a group and return when it is gone.

    :raises SystemExit: when it does not go
    """
    deadline = time.monotonic() + KILL_SECONDS
    while left := members(group):
        if time.monotonic() > deadline:
            sys.exit(f"processes {', '.join(str(pid) for pid in left)} survive SIGKILL: see /proc/<pid>/status and "
                     "wchan")
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(POLL_INTERVAL_SECONDS)


def main(path, *command):
    """End the former group, record the own one, become the program."""
    group = recorded(path)
    if group is not None and group != os.getpgrp():
        end(group)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{os.getpgrp()}\n")
    os.execv(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
