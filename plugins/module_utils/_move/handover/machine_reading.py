# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads which Ironics are processes of this machine."""
from __future__ import annotations

import os

from ..._common.addresses import ip_texts
from ..._plane.process import orphans, ports
from ..._plane.process.supervisor_files import Layout, configured
from .machine_ironics import IronicProcess, MachineIronics, endpoint, is_ironic


def read(directory: str, url: str, proc: str = "/proc") -> MachineIronics:
    """Return which Ironics this machine has.

    :param directory: folder of the processes that are meant
    :param url: of the API that is meant, empty for none
    :param proc: where procfs is mounted
    """
    folder, found = os.path.realpath(directory), orphans.programs(proc, directory)
    names = tuple(name for name in configured(Layout(os.path.join(directory, "supervisor"))) if is_ironic(name))
    ironics = [IronicProcess(item.lab_dir, next(filter(item.is_of, names), item.name), item.pid)
               for item in found if is_ironic(item.name)]
    running = tuple(item for item in ironics if os.path.realpath(item.folder) == folder)
    return MachineIronics(names, running, tuple(item for item in ironics if item not in running),
                          _holder(folder, url, found, proc))


def _holder(folder: str, url: str, found: list[orphans.Program], proc: str) -> str:
    where = endpoint(url)
    # What a name or an address of another machine leads to is not known here.
    if where is None or not ip_texts.is_address(where[0]) or not ports.is_here(where[0]):
        return ""
    pids = ports.holders(*where, proc=proc)
    known = dict((item.pid, item) for item in found)
    if pids is None or any(pid in known and os.path.realpath(known[pid].lab_dir) == folder for pid in pids):
        return ""
    named = [f"pid {pid}, program {known[pid].name or '?'} in {known[pid].lab_dir}" if pid in known
             else f"pid {pid} ({ports.program(pid, proc)})" for pid in sorted(pids)]
    return "; ".join(named) or "a process of another user"
