# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes of this machine, as /proc lists them at that moment; they come and go meanwhile."""
from __future__ import annotations

import contextlib
import os
import signal
from collections import namedtuple
from pathlib import Path

Process = namedtuple("Process", ["state", "parent", "group", "session"])


def seen(pid):
    """Return a Process, or None when it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    state, *numbers = stat.rpartition(")")[2].split()[:4]
    return Process(state, *map(int, numbers))


def has_ended(pid):
    """Tell whether a process is gone, or dead and not yet waited for: what is PID 1 here may never do that."""
    process = seen(pid)
    return process is None or process.state in "ZX"


def everybody():
    """Return all processes by pid."""
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return dict((pid, process) for pid, process in ((pid, seen(pid)) for pid in pids) if process)


def command_lines():
    """Return the command lines of all processes, each as one text."""
    found = []
    for pid in everybody():
        # It may have ended meanwhile.
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return found


def descendants(pid):
    """Return the pids of all that a process has started; Ansible's workers have sessions of their own."""
    children = {}
    for number, process in everybody().items():
        children.setdefault(process.parent, []).append(number)
    found = children.get(pid, [])
    for child in found:
        found.extend(children.get(child, []))
    return found


def workers_of(pid):
    """Return the pids of the descendants that are in a process's own group."""
    main = seen(pid)
    return [number for number in descendants(pid) if main and getattr(seen(number), "group", None) == main.group]


def kill_tree(pid):
    """Kill a process and all it has started, at once, as a lost machine would."""
    stopped = set()
    # Stopped first: who is killed leaves children that are nobody's descendants, and who still runs starts more.
    while True:
        new = {pid, *descendants(pid)} - stopped
        if not new:
            break
        _signal(new, signal.SIGSTOP)
        stopped |= new
    _signal(stopped, signal.SIGKILL)


def _signal(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def processes_of(directory):
    """Return the pids of the processes that belong to the lab in ``directory``.

    Those that carry its mark, and the supervisor's session: nginx writes over its environment.
    """
    mark = f"METAL3_LAB_DIR={directory}".encode()
    pid_file = Path(directory) / "supervisor" / "supervisord.pid"
    session = int(pid_file.read_text()) if pid_file.exists() else None
    found = []
    for pid, process in everybody().items():
        # It may have ended meanwhile, or be another user's.
        with contextlib.suppress(OSError):
            if process.session == session or mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(pid)
    return found
