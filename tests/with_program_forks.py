# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a command whose runs of ansible-playbook are forks; see forks. Those with the same settings have one process.

For a command that gives all its runs the same settings, as ansible-lint does, which checks the syntax of each playbook.
Usage: with_program_forks.py COMMAND [ARGUMENT...]
"""
from __future__ import annotations

import contextlib
import os
import socketserver
import subprocess
import sys
import tempfile
import threading

import forks
import program_forks

_PROGRAM = "ansible-playbook"


class _Programs(socketserver.ThreadingUnixStreamServer):
    """Answers who asks for a run; a context manager.

    :param folder: where its socket is
    """

    daemon_threads = True

    def __init__(self, folder):
        self._folder, self._started = folder, {}
        self._lock, self._stack = threading.Lock(), contextlib.ExitStack()
        super().__init__(os.path.join(folder, "asked"), _Run)

    def forks_of(self, environment):
        """Return the ProgramForks whose settings are those of an environment."""
        settings = program_forks.settings(environment)
        with self._lock:
            key = tuple(sorted(settings.items()))
            if key not in self._started:
                folder = tempfile.mkdtemp(dir=self._folder)
                self._started[key] = self._stack.enter_context(program_forks.ProgramForks(folder, settings))
            return self._started[key]

    def server_close(self):
        super().server_close()
        self._stack.close()


class _Run(socketserver.BaseRequestHandler):
    def handle(self):
        run, descriptors = forks.received(self.request)
        fork = self.server.forks_of(run["environment"]).start(
            [_PROGRAM, *run["arguments"]], descriptors, run["folder"], run["environment"])
        for descriptor in descriptors:
            os.close(descriptor)
        self.request.sendall(b"%d\n%d\n" % (fork.pid, fork.wait()))


def run(command):
    """Run a command and return its exit status."""
    with tempfile.TemporaryDirectory() as folder, _Programs(folder) as server:
        programs = os.path.join(folder, "programs")
        os.mkdir(programs)
        forks.write_client(os.path.join(programs, _PROGRAM), server.server_address)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            return subprocess.call(command, env=dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}"))
        finally:
            server.shutdown()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
