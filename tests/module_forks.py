# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of modules as forks; see forks. As a program it is the process that has imported what modules import.

A module is still what Ansible has made of it; what this process has imported is not taken out of that archive again.
"""
from __future__ import annotations

import importlib
import os
import pathlib
import sys
import types

import forks

# What the modules of this collection load, beside its own files.
_LOADED = ("ansible.module_utils.basic", "ansible.module_utils._internal._ansiballz._loader", "kubernetes", "openstack",
           "sushy")
# A module of a playbook's own folder is in its archive alone, in a package that has been imported without it.
_LEGACY = b"module_fqn='ansible.legacy."


class ModuleForks(forks.Forks):
    """The process; see Forks.

    :param folder: where its socket is, and :attr:`interpreter`
    """

    def __init__(self, folder):
        super().__init__(__file__, folder)
        # What Ansible may use as Python, for modules.
        self.interpreter = os.path.join(folder, "python")
        forks.write_client(self.interpreter, self.path)


def _be_the_module(arguments):
    """Run a module in this process and return its exit status."""
    source = pathlib.Path(arguments[0]).read_bytes() if arguments else sys.stdin.buffer.read()
    if len(arguments) > 1 or _LEGACY in source:
        # From the input, which has been read, or again from its file.
        _be_python(arguments, b"" if arguments else source)
    module = types.ModuleType("__main__")
    if arguments:
        module.__file__ = arguments[0]
    sys.argv = arguments or [""]
    sys.modules["__main__"] = module
    code = compile(source, sys.argv[0] or "<stdin>", "exec")
    return forks.exit_status(lambda: exec(code, module.__dict__))


def _be_python(arguments, given):
    """Become Python with these arguments, and with this input."""
    if given:
        stdin = os.memfd_create("input", 0)
        with open(stdin, "wb", closefd=False) as stream:
            stream.write(given)
        os.lseek(stdin, 0, os.SEEK_SET)
        os.dup2(stdin, 0)
    os.execv(sys.executable, [sys.executable, *arguments])


def _import_all():
    # In the place of this file's folder.
    sys.path[0] = str(forks.COLLECTIONS)
    for name in _LOADED:
        importlib.import_module(name)
    forks.import_plugins("module_utils")


if __name__ == "__main__":
    _import_all()
    forks.serve(sys.argv[1], _be_the_module)
