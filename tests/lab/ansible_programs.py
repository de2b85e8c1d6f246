# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible's programs in tests on a lab: forks where that makes no other difference than time; see tests/forks.py."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


class _Programs:
    """How they are started: by themselves, unless both processes are given."""

    def __init__(self):
        self._programs = self._modules = None

    def run_as_forks(self, programs, modules):
        """Let programs be forks, and the modules that they run on this machine.

        :param programs: a ProgramForks
        :param modules: a ModuleForks
        """
        self._programs, self._modules = programs, modules

    def start(self, program, arguments, outputs, folder, environment=None, may_be_forked=True):
        """Start a program in a session of its own, and return what is, or is used as, a subprocess.Popen.

        :param program: its name
        :param outputs: open files for its output and its errors
        :param folder: in which it runs
        :param environment: variables beside those of this process
        :param may_be_forked: whether it runs modules of the checkout only, and on this machine
        """
        variables = dict(os.environ, **(environment or {}))
        if self._modules is not None and may_be_forked:
            arguments = ["-e", f"ansible_python_interpreter={self._modules.interpreter}", *arguments]
            if self._programs.fits(variables):
                with open(os.devnull, "rb") as nothing:
                    return self._programs.start([program, *arguments],
                                                [stream.fileno() for stream in (nothing, *outputs)], folder, variables)
        return subprocess.Popen([str(Path(sys.executable).parent / program), *arguments], stdin=subprocess.DEVNULL,
                                stdout=outputs[0], stderr=outputs[1], cwd=folder, start_new_session=True, env=variables)


PROGRAMS = _Programs()
