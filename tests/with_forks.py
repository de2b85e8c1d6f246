# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a command whose ansible-playbook runs modules as forks and keeps what it has packed of them; see forks.

A fork is a process of this machine, whatever the connection: on other machines Python itself runs modules.

Ansible itself starts anew with each run, because the command gives each run other settings.
Usage: with_forks.py COMMAND [ARGUMENT...]
"""
from __future__ import annotations

import importlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from module_forks import ModuleForks

_PROGRAM = "ansible-playbook"
# An extra variable wins over what the inventory says of a host.
_INTERPRETER = "{{ %r if ansible_connection | default('local') == 'local' else ansible_playbook_python }}"


def _run(command):
    """Run a command and return its exit status."""
    with tempfile.TemporaryDirectory() as folder, ModuleForks(folder) as modules:
        programs, packed = Path(folder, "programs"), Path(folder, "packed")
        programs.mkdir()
        packed.mkdir()
        program = programs / _PROGRAM
        program.write_text('#!/bin/sh\nexec %s "$@"\n' % shlex.join([
            sys.executable, __file__, "--packed", str(packed),
            "-e", json.dumps({"ansible_python_interpreter": _INTERPRETER % modules.interpreter})]))
        program.chmod(0o700)
        return subprocess.call(command, env=dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}"))


def _be_the_program(packed, arguments):
    """Be ansible-playbook.

    :param packed: folder of what runs before have packed; Ansible has such a folder for the time of one run, and looks
        for modules in it by their names alone
    """
    # Files of tests have names of packages.
    del sys.path[0]
    sys.argv = [_PROGRAM, *arguments]
    program = importlib.import_module("ansible.cli.playbook")
    own = importlib.import_module("ansible.constants").DEFAULT_LOCAL_TMP
    os.symlink(packed, os.path.join(own, "ansiballz_cache"))
    program.main()


if __name__ == "__main__":
    if sys.argv[1] == "--packed":
        _be_the_program(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(_run(sys.argv[1:]))
