# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether other programs have an image server's port, before there is a service that would take it at a later start."""
from __future__ import annotations

import errno
from collections.abc import Iterable

from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import plain
from ..._plane.process import ports


def check(addresses: Iterable[str], port: int) -> None:
    """Refuse addresses at which another program listens on the port; one that the machine does not have yet is free.

    :param addresses: IP addresses, also 0.0.0.0 and ::
    :param port: the port
    :raises RefusedError: with all such addresses
    """
    problems = [Problem("image-server-port", "", "image_server_port",
                        f"{port}, taken at {address} by {_owner(address, port)}", "one that is free at each address",
                        "stop that program, or set image_server_port or image_server_addresses")
                for address in addresses if ports.listen_error(address, port) == errno.EADDRINUSE]
    if problems:
        raise RefusedError(problems)


def _owner(address: str, port: int) -> str:
    pids = ports.holders(address, port)
    return f"pid {min(pids)} ({plain(ports.program(min(pids)))})" if pids else "a process that is not known"
