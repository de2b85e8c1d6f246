# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of modules as forks of one process that has imported what they import: that is most of a short run.

A module is still the file that Ansible has made of it, and still a process of its own; what this process has imported
is not taken out of that file's archive again. As a program it is that process.
"""
from __future__ import annotations

import gc
import importlib
import json
import os
import pathlib
import re
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import traceback

COLLECTIONS = pathlib.Path(__file__).parents[3] / ".build"
# What the modules of this collection load, beside its own files.
_LOADED = ("ansible.module_utils.basic", "ansible.module_utils._internal._ansiballz._loader", "kubernetes", "openstack")
_ROOM = "ansible_collections.metal3.baremetal.plugins.module_utils"
# How the connection plugin "local" is asked to run a module as this user, by this Python.
_COMMAND = re.compile(r"^/bin/sh -c '((?:[A-Z0-9_]+=[\w./-]+ )*)(\S+) (/\S+/AnsiballZ_\w+\.py) && sleep 0'$")
# A module of a test's own folder is in the archive alone, in a package that has been imported without it.
_LEGACY = b"module_fqn='ansible.legacy."


class ModuleForks:
    """The process, which ends with the one that has started it.

    :param folder: where its socket is
    """

    def __init__(self, folder):
        self._path = os.path.join(folder, "modules")
        # Its input ends with this process.
        self._process = subprocess.Popen([sys.executable, __file__, self._path], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE)
        self._process.stdout.readline()

    def run(self, command):
        """Run a module and return its exit status and its two outputs, as bytes.

        :param command: what the connection plugin ``local`` is to do
        :returns: None when that is anything else than to run a module here
        """
        found = _COMMAND.match(command)
        if found is None or found.group(2) != sys.executable or _LEGACY in pathlib.Path(found.group(3)).read_bytes():
            return None
        variables = dict(pair.split("=", 1) for pair in found.group(1).split())
        with tempfile.TemporaryDirectory() as kept, socket.socket(socket.AF_UNIX) as connection:
            outputs = [pathlib.Path(kept, name) for name in ("stdout", "stderr")]
            connection.connect(self._path)
            connection.sendall(json.dumps({
                "payload": found.group(3), "folder": os.getcwd(), "environment": dict(os.environ, **variables),
                "outputs": list(map(str, outputs))}).encode() + b"\n")
            with connection.makefile() as answers:
                answer = answers.readline()
            assert answer, f"the process that ran {found.group(3)} has ended"
            return int(answer), *(path.read_bytes() for path in outputs)


def _be_the_module(run):
    """Run a module in this process and return its exit status."""
    os.setsid()
    os.chdir(run["folder"])
    os.environ.clear()
    os.environ.update(run["environment"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(run["outputs"], start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    sys.argv = [run["payload"]]
    try:
        runpy.run_path(run["payload"], run_name="__main__")
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    return 0


def _forked(work):
    """Do work in a fork, whose exit status it returns, and return the fork's pid."""
    pid = os.fork()
    if pid:
        return pid
    code = 250
    try:
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Without what is done at the end of the process whose copy this is.
        os._exit(code)


def _answer(connection):
    """Run the module that is asked for by a connection, in a fork, and say how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with connection, connection.makefile("rw") as lines:
        run = json.loads(lines.readline())
        pid = _forked(lambda: _be_the_module(run))
        lines.write(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n")
    return 0


def _import_all():
    # In the place of this file's folder, where fakes have names of packages.
    sys.path[0] = str(COLLECTIONS)
    for name in _LOADED:
        importlib.import_module(name)
    folder = COLLECTIONS.joinpath(*_ROOM.split("."))
    for path in sorted(folder.glob("**/*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        importlib.import_module(".".join((_ROOM, *parts)).removesuffix(".__init__"))


def _serve(path):
    """Fork for each run that is asked for, until the input ends.

    :param path: of the socket
    """
    _import_all()
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(64)
        print(flush=True)
        selector = selectors.DefaultSelector()
        selector.register(server, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        while not any(key.fileobj is sys.stdin for key, dummy in selector.select()):
            connection = server.accept()[0]
            _forked(lambda connection=connection: _answer(connection))
            connection.close()


if __name__ == "__main__":
    _serve(sys.argv[1])
