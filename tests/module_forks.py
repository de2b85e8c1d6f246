# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of modules as forks of one process that has imported what they import: that is most of a short run.

A module is still what Ansible has made of it, and still a process of its own; what this process has imported is not
taken out of that archive again. As a program it is that process.
"""
from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pathlib
import selectors
import signal
import socket
import subprocess
import sys
import traceback
import types

COLLECTIONS = pathlib.Path(__file__).parents[1] / ".build"
# What the modules of this collection load, beside its own files.
_LOADED = ("ansible.module_utils.basic", "ansible.module_utils._internal._ansiballz._loader", "kubernetes", "openstack",
           "sushy")
_ROOM = "ansible_collections.metal3.baremetal.plugins.module_utils"
# A module of a playbook's own folder is in its archive alone, in a package that has been imported without it.
_LEGACY = b"module_fqn='ansible.legacy."
# Takes the place of Python where Ansible runs a module by it; without the site's packages it starts at once.
_INTERPRETER = """#!{python} -IS
import json, os, socket, sys
request = json.dumps({{"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}}).encode()
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect({path!r})
    socket.send_fds(connection, [len(request).to_bytes(4, "big")], [0, 1, 2])
    connection.sendall(request)
    answer = connection.makefile().readline()
sys.exit(int(answer) % 256 if answer else 250)
"""


class ModuleForks:
    """The process, which ends with the one that has started it; a context manager.

    :param folder: where its socket is, and :attr:`interpreter`
    """

    def __init__(self, folder):
        self._path = os.path.join(folder, "modules")
        # What Ansible may use as Python, for modules.
        self.interpreter = os.path.join(folder, "python")
        pathlib.Path(self.interpreter).write_text(_INTERPRETER.format(python=sys.executable, path=self._path))
        os.chmod(self.interpreter, 0o700)
        # Its input ends with this process.
        self._process = subprocess.Popen([sys.executable, __file__, self._path], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE)
        assert self._process.stdout.readline(), f"the process for modules has ended: {self._process.wait()}"

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(self, arguments, environment, descriptors):
        """Run a module in this process's folder and return its exit status.

        :param arguments: Python's
        :param environment: its variables
        :param descriptors: of its input and its two outputs
        """
        request = json.dumps({"arguments": arguments, "folder": os.getcwd(), "environment": environment}).encode()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self._path)
            socket.send_fds(connection, [len(request).to_bytes(4, "big")], descriptors)
            connection.sendall(request)
            with connection.makefile() as answers:
                answer = answers.readline()
        assert answer, f"the process that ran {arguments} has ended"
        return int(answer)


def _be_the_module(run, descriptors):
    """Run a module in this process and return its exit status."""
    os.setsid()
    os.chdir(run["folder"])
    os.environ.clear()
    os.environ.update(run["environment"])
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    arguments = run["arguments"]
    source = pathlib.Path(arguments[0]).read_bytes() if arguments else sys.stdin.buffer.read()
    if len(arguments) > 1 or _LEGACY in source:
        # From the input, which has been read, or again from its file.
        _be_python(arguments, b"" if arguments else source)
    module = types.ModuleType("__main__")
    if arguments:
        module.__file__ = arguments[0]
    sys.argv = arguments or [""]
    sys.modules["__main__"] = module
    # What the process whose copy this is would do at its end is not this module's to do; what the module asks for is.
    atexit._clear()
    try:
        exec(compile(source, sys.argv[0] or "<stdin>", "exec"), module.__dict__)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    finally:
        # Clients remove the files of their certificates and keys there.
        atexit._run_exitfuncs()
    return 0


def _be_python(arguments, given):
    """Become Python with these arguments, and with this input."""
    if given:
        stdin = os.memfd_create("input", 0)
        with open(stdin, "wb", closefd=False) as stream:
            stream.write(given)
        os.lseek(stdin, 0, os.SEEK_SET)
        os.dup2(stdin, 0)
    os.execv(sys.executable, [sys.executable, *arguments])


def forked(work):
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
    head, descriptors, _flags, _address = socket.recv_fds(connection, 4, 3)
    with connection, connection.makefile("rb") as requests:
        run = json.loads(requests.read(int.from_bytes(head, "big")))
        pid = forked(lambda: _be_the_module(run, descriptors))
        for descriptor in descriptors:
            os.close(descriptor)
        with selectors.DefaultSelector() as selector:
            ended = os.pidfd_open(pid)
            selector.register(ended, selectors.EVENT_READ)
            selector.register(connection, selectors.EVENT_READ)
            if ended not in [key.fd for key, dummy in selector.select()]:
                # Who has asked was killed, and all that it had started.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
                return 0
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    return 0


def _import_all():
    # In the place of this file's folder.
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
    with socket.socket(socket.AF_UNIX) as server, selectors.DefaultSelector() as selector:
        server.bind(path)
        os.chmod(path, 0o600)
        server.listen(64)
        print("ready", flush=True)
        selector.register(server, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        while not any(key.fileobj is sys.stdin for key, dummy in selector.select()):
            connection = server.accept()[0]
            forked(lambda connection=connection: _answer(connection))
            connection.close()


if __name__ == "__main__":
    _serve(sys.argv[1])
