# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks in the pod of an Ironic who has the address that it is to hold."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._bmc import reach
from .._common import bounded_run

HERE, ELSEWHERE, NOBODY = "here", "elsewhere", "nobody"
# Ironic's API, its web server and SSH: who refuses a connection is there, too.
_PORTS = (6385, 6180, 22)

_PROGRAM = r'''
import errno, json, socket
SECONDS = 3
def who(address, ports):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as wire:
        try:
            wire.bind((address, 0))
            return "here"
        except OSError as exc:
            if exc.errno != errno.EADDRNOTAVAIL:
                raise
    for port in ports:
        try:
            socket.create_connection((address, port), SECONDS).close()
            return "elsewhere"
        except ConnectionRefusedError:
            return "elsewhere"
        except OSError:
            pass
    return "nobody"
def main(questions):
    print(json.dumps([who(*question) for question in questions]))
'''


def answer(address: str, asked: reach.Asked, run: Callable[..., Any] = bounded_run.run) -> str:
    """Return whether the machine of the pod has an address, another one, or nobody that answers.

    :param address: an IP address
    :param asked: where the pod is
    :param run: as ``subprocess.run``, :func:`bounded_run.run` by default
    :raises ReportedError: when nobody could be asked
    """
    return reach.texts(_PROGRAM, [[address, list(_PORTS)]], asked, run)[0]
