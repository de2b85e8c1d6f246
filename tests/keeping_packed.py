# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program of Ansible's that keeps what it has packed of modules: packing one takes as long as running it.

Ansible does so for the time of a run, by names alone.
Usage: keeping_packed.py FOLDER ansible|ansible-playbook ARGUMENTS
"""
from __future__ import annotations

import importlib
import os
import sys

_MODULES = {"ansible": "ansible.cli.adhoc", "ansible-playbook": "ansible.cli.playbook"}


def main():
    """Be the program."""
    folder, *sys.argv = sys.argv[1:]
    # Fakes and tests have names of packages.
    del sys.path[0]
    program = importlib.import_module(_MODULES[sys.argv[0]])
    own = importlib.import_module("ansible.constants").DEFAULT_LOCAL_TMP
    os.symlink(folder, os.path.join(own, "ansiballz_cache"))
    program.main()


if __name__ == "__main__":
    main()
