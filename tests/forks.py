# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of a program as forks of one process that has imported what it imports: that is most of a short run.

Each run has its own arguments, environment, folder, input and outputs; what it has started is killed with who asked.
"""
from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import pathlib
import selectors
import signal
import socket
import subprocess
import sys
import time
import traceback

import processes

COLLECTIONS = pathlib.Path(__file__).parents[1] / ".build"
_PLUGINS = "ansible_collections.metal3.baremetal.plugins"
# Of the length of a request, which comes first.
LENGTH_BYTES = 4
# Hands its files, arguments and environment on, and waits; without the site's packages Python starts at once. What it
# imports is imported for each module that a test runs, so it takes the parts in C of what one would import.
_CLIENT = """#!{python} -IS
import array, posix, sys, _socket
request = b"\\0".join([b"%d" % (len(sys.argv) - 1), *(
    argument.encode(sys.getfilesystemencoding(), "surrogateescape") for argument in sys.argv[1:]),
    posix.getcwdb(), *(b"%b=%b" % pair for pair in posix.environ.items())])
connection = _socket.socket(_socket.AF_UNIX)
connection.connect({path!r})
connection.sendmsg([len(request).to_bytes({length_bytes}, "big")], [
    (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", (0, 1, 2)))])
connection.sendall(request)
answer = b""
while part := connection.recv(64):
    answer += part
answers = answer.split()
sys.exit(int(answers[1]) % 256 if len(answers) > 1 else 250)
"""


class Forks:
    """The process, which ends with the one that has started it; a context manager.

    :param program: a file that calls :func:`serve`
    :param folder: where its socket is
    :param environment: its variables; those of this process unless given
    :param cwd: its folder; that of this process unless given
    """

    def __init__(self, program, folder, environment=None, cwd=None):
        self.path = os.path.join(folder, os.path.splitext(os.path.basename(program))[0])
        # Its input ends with this process.
        self._process = subprocess.Popen([sys.executable, program, self.path], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, env=environment, cwd=cwd)
        assert self._process.stdout.readline(), f"{program} has ended: {self._process.wait()}"

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.close()

    def close(self):
        """Let the process end."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def start(self, arguments, descriptors, folder, environment):
        """Start a run and return its Fork.

        :param arguments: of the program
        :param descriptors: of its input and its two outputs
        :param folder: in which it runs
        :param environment: its variables
        """
        request = b"\0".join([b"%d" % len(arguments), *map(os.fsencode, (*arguments, folder)),
                              *(os.fsencode(f"{name}={os.fspath(value)}") for name, value in environment.items())])
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.path)
        socket.send_fds(connection, [len(request).to_bytes(LENGTH_BYTES, "big")], descriptors)
        connection.sendall(request)
        return Fork(arguments, connection)


class Fork:
    """A run; what it can do is done as subprocess.Popen does it."""

    def __init__(self, arguments, connection):
        self.args, self.returncode = arguments, None
        self._connection, self._answers = connection, connection.makefile("rb")
        self.pid = self._answer()

    def poll(self):
        """Return the exit status, None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout=None):
        """Return the exit status, a signal as its negative number.

        :param timeout: seconds
        :raises subprocess.TimeoutExpired: it still runs
        """
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._connection, selectors.EVENT_READ)
                if not selector.select(timeout):
                    raise subprocess.TimeoutExpired(self.args, timeout)
            self.returncode = self._answer()
            self._answers.close()
            self._connection.close()
        return self.returncode

    def _answer(self):
        line = self._answers.readline()
        assert line, f"the process that ran {self.args} has ended"
        return int(line)


def write_client(file, path):
    """Write a program that runs as a fork in its place, with the arguments that it gets.

    :param path: of the socket at which forks are asked for
    """
    pathlib.Path(file).write_text(_CLIENT.format(python=sys.executable, path=path, length_bytes=LENGTH_BYTES))
    os.chmod(file, 0o700)


def received(connection):
    """Return what is asked for by a connection, and the descriptors of its input and outputs."""
    head, descriptors, _flags, _address = socket.recv_fds(connection, LENGTH_BYTES, 3)
    with connection.makefile("rb") as requests:
        number, *parts = map(os.fsdecode, requests.read(int.from_bytes(head, "big")).split(b"\0"))
    arguments, (folder, *variables) = parts[:int(number)], parts[int(number):]
    return {"arguments": arguments, "folder": folder,
            "environment": dict(variable.split("=", 1) for variable in variables)}, descriptors


def forked(work):
    """Do work in a fork, whose exit status it returns, and return the fork's pid."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    # What the process whose copy this is would do at its end is not done here; what the work asks for is.
    atexit._clear()
    try:
        try:
            code = work()
        finally:
            atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def exit_status(program):
    """Call a program and return its exit status, as Python does.

    :param program: what may raise SystemExit
    """
    try:
        program()
    except SystemExit as left:
        if left.code is None or isinstance(left.code, int):
            return left.code or 0
        print(left.code, file=sys.stderr)
        return 1
    return 0


def import_plugins(*rooms):
    """Import all files of rooms of the collection.

    :param rooms: for example ``module_utils``
    """
    for path in (path for room in rooms for path in plugin_files(room)):
        parts = path.relative_to(COLLECTIONS).with_suffix("").parts
        importlib.import_module(".".join(parts).removesuffix(".__init__"))


def plugin_files(room):
    """Return the files of a room of the collection."""
    return sorted(COLLECTIONS.joinpath(*_PLUGINS.split("."), room).glob("**/*.py"))


def serve(path, be):
    """Fork for each run that is asked for, until the input ends; all that it needs has been imported.

    :param path: of the socket
    :param be: is called in the fork, which has its folder, environment and files, with the arguments; returns the exit
        status
    """
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
            forked(lambda connection=connection: _answer(connection, be))
            connection.close()


def _answer(connection, be):
    """Begin the run that is asked for by a connection, and say how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with connection:
        run, descriptors = received(connection)
        pid = forked(lambda: _begin(run, descriptors, be))
        for descriptor in descriptors:
            os.close(descriptor)
        connection.sendall(b"%d\n" % pid)
        with selectors.DefaultSelector() as selector:
            ended = os.pidfd_open(pid)
            selector.register(ended, selectors.EVENT_READ)
            selector.register(connection, selectors.EVENT_READ)
            if ended not in [key.fd for key, dummy in selector.select()]:
                # Who has asked is gone.
                processes.kill_tree(pid)
                return 0
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    return 0


def _begin(run, descriptors, be):
    os.setsid()
    os.chdir(run["folder"])
    os.environ.clear()
    os.environ.update(run["environment"])
    # Python keeps what it has read of the time zone.
    time.tzset()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    return be(run["arguments"])
