# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Ironics that are processes of one machine: those of one folder, and others, by folder, program and port; pure."""
from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from ..._common.addresses import web_ports

# Names of its programs: one process, or with ironic_processes=separate the API and each conductor.
_API, _CONDUCTOR = ("ironic", "ironic-api"), "ironic-conductor"


class IronicProcess(NamedTuple):
    """A process of an Ironic.

    :ivar folder: of the plane that it belongs to
    :ivar program: as its supervisord calls it
    :ivar pid: its id
    """

    folder: str
    program: str
    pid: int


class MachineIronics(NamedTuple):
    """What this machine has of Ironic.

    :ivar configured: programs of the folder's supervisord
    :ivar running: processes of the folder's programs, whether supervisord still has them or not
    :ivar others: processes of programs of other folders
    :ivar holder: who else listens where the URL leads, empty when it is the folder's or not known
    """

    configured: tuple[str, ...] = ()
    running: tuple[IronicProcess, ...] = ()
    others: tuple[IronicProcess, ...] = ()
    holder: str = ""


def is_ironic(program: str) -> bool:
    """Say whether a program of a plane of processes is one of Ironic's."""
    return program in _API or program.startswith(_CONDUCTOR)


def endpoint(url: str) -> tuple[str, int] | None:
    """Return host and port of a URL, None when it does not say both."""
    try:
        parts = urlsplit(url)
        port = parts.port or web_ports.BY_SCHEME.get(parts.scheme)
    except ValueError:
        return None
    return (parts.hostname, port) if parts.hostname and port else None


def words(processes: Iterable[IronicProcess]) -> str:
    """Return processes in words, those of one program together."""
    pids: dict[tuple[str, str], list[str]] = {}
    for item in processes:
        pids.setdefault((item.folder, item.program), []).append(str(item.pid))
    return ", ".join(f"{program} in {folder} (pid {' '.join(ids)})" for (folder, program), ids in sorted(pids.items()))
