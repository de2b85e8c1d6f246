# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a lab's supervised programs use: processor seconds and memory, by groups of programs, from /proc."""
from __future__ import annotations

import os
from pathlib import Path

CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
# Beginning of a program's name → its group; the first that fits.
GROUPS = (
    ("ironic", "Ironic"),
    ("mariadb", "MariaDB"),
    ("bmo", "BMO"),
    ("kube-apiserver", "API server"),
    ("etcd", "etcd"),
    ("machine-room", "machine room (the lab's)"),
)
OTHERS = "other programs"


def group_of(program):
    """Return the group of a supervised program."""
    return next((group for start, group in GROUPS if program.startswith(start)), OTHERS)


def parsed_stat(text):
    """Return a process's parent and its processor seconds, out of the text of ``/proc/<pid>/stat``.

    The seconds are its own and those of its children that have ended (proc(5): utime, stime, cutime, cstime).
    """
    # The name before it may have blanks and parentheses.
    fields = text.rpartition(")")[2].split()
    return int(fields[1]), sum(int(field) for field in fields[11:15]) / CLOCK_TICKS


def by_program(processes, main_pids):
    """Return ``{program: [pid]}``: each program's process and all that descend from it.

    :param processes: ``{pid: (parent, …)}``
    :param main_pids: ``{program: pid}``
    """
    children = {}
    for pid, (parent, *_rest) in processes.items():
        children.setdefault(parent, []).append(pid)
    found = {}
    for program, main in main_pids.items():
        pids = [main] if main in processes else []
        for pid in pids:
            pids.extend(children.get(pid, []))
        found[program] = pids
    return found


def seconds_by_group(main_pids, proc=Path("/proc")):
    """Return ``{group: processor seconds since its processes began}``.

    :param main_pids: ``{program: pid}`` of the programs that run
    """
    processes = _processes(proc)
    totals = {}
    for program, pids in by_program(processes, main_pids).items():
        group = group_of(program)
        totals[group] = totals.get(group, 0.0) + sum(processes[pid][1] for pid in pids)
    return totals


def memory_by_group(main_pids, proc=Path("/proc")):
    """Return ``{group: MiB}``: pages that processes share count in each by its part (Pss)."""
    totals = {}
    for program, pids in by_program(_processes(proc), main_pids).items():
        group = group_of(program)
        totals[group] = totals.get(group, 0.0) + sum(_pss_mib(proc, pid) for pid in pids)
    return totals


def _processes(proc):
    found = {}
    for path in proc.glob("[0-9]*"):
        try:
            found[int(path.name)] = parsed_stat((path / "stat").read_text(errors="replace"))
        except OSError:
            # It has ended meanwhile.
            continue
    return found


def _pss_mib(proc, pid):
    try:
        lines = (proc / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)
