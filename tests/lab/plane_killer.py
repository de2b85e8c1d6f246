# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends the operator or Ironic of a plane at once, as a kernel without memory does: processes of the lab or of pods."""
from __future__ import annotations

import contextlib
import json
import os
import signal
from pathlib import Path

from processes import descendants

# Argument of a command line by which a program of a pod is known.
_PROGRAMS = {"bmo": "baremetal-operator", "ironic": "/usr/bin/ironic"}


class Killer:
    """Of one plane.

    :param pids: callable that returns the pids of a program, ``bmo`` or ``ironic``, that run at that moment
    """

    def __init__(self, pids):
        self._pids = pids

    @classmethod
    def of_processes(cls, lab):
        """Return that of the lab's own plane, whose supervisor starts again what has ended."""
        def pids(program):
            pid = (lab.parts().get(program) or {}).get("pid")
            return [pid, *descendants(pid)] if pid else []
        return cls(pids)

    @classmethod
    def of_pods(cls, lab):
        """Return that of a plane in pods on simulated servers, whose kubelets start them again.

        Their containers are processes of this machine below those that run the servers' systems.
        """
        def pids(program):
            files = Path(lab.dir, "machines").glob("*/system/run.json")
            systems = [json.loads(path.read_text())["pid"] for path in files]
            return [pid for system in systems for pid in descendants(system) if _is(pid, _PROGRAMS[program])]
        return cls(pids)

    def kill(self, program):
        """Kill a program and return the pids; none when it does not run."""
        found = self._pids(program)
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return found


def _is(pid, program):
    """Return whether one of the first arguments of a process, after an interpreter, is a program."""
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:3]
    except OSError:
        return False
    return any(argument.decode(errors="replace") == program
               or argument.decode(errors="replace").endswith("/" + program) for argument in arguments)
