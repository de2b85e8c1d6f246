# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether other programs have an image server's port, before its service knows of it and takes it at a later start."""
from __future__ import annotations

import errno
import os
from collections.abc import Iterable

from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import plain
from ..._plane.process import ports


def check(addresses: Iterable[str], port: int, unit: str | None = None) -> None:
    """Refuse addresses at which another program listens on the port; one that the machine does not have yet is free.

    :param addresses: IP addresses, also 0.0.0.0 and ::
    :param port: the port
    :param unit: systemd's unit of the image server, whose own processes are no other program
    :raises RefusedError: with all such addresses
    """
    problems = []
    for address in addresses:
        if ports.listen_error(address, port) != errno.EADDRINUSE:
            continue
        pids = ports.holders(address, port) or set()
        others = set(pid for pid in pids if not unit or not is_of(pid, unit))
        if others or not pids:
            problems.append(Problem(
                "image-server-port", "", "image_server_port", f"{port}, taken at {address} by {_owner(others)}",
                "one that is free at each address",
                "stop that program, or set image_server_port or image_server_addresses"))
    if problems:
        raise RefusedError(problems)


def is_of(pid: int, unit: str, proc: str = "/proc") -> bool:
    """Return whether a process is one of a unit of systemd.

    :param pid: its id
    :param unit: name of the unit
    :param proc: where procfs is mounted
    """
    try:
        with open(os.path.join(proc, str(pid), "cgroup"), encoding="utf-8", errors="replace") as stream:
            groups = [line.rstrip("\n").split(":", 2)[-1] for line in stream]
    except OSError:
        return False
    return any(unit in group.split("/") for group in groups)


def _owner(pids: set[int]) -> str:
    return f"pid {min(pids)} ({plain(ports.program(min(pids)))})" if pids else "a process that is not known"
