# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A lab's supervisord: starting it, and requests to it over its socket."""
from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import xmlrpc.client
from collections.abc import Collection
from typing import Any

from ..._common.files.whole_file import write_private
from ..._common.texts.formats import duration
from ..._common.texts.plain_text import end_of
from ..._common.waiting.wait_loop import until_nothing
from .supervisor_files import LAB_DIR_VARIABLE, Layout, SupervisorError, daemon_config, read

START_TIMEOUT_SECONDS = 60
_LOOK_INTERVAL_SECONDS = 0.05
PASSED_VARIABLES = ("PATH", "HOME", "LANG", "TZ")
ALIVE_STATES = ("RUNNING", "STARTING")
# Refused while it shuts down, too.
_UNANSWERED = (OSError, http.client.HTTPException, xmlrpc.client.Error)
# What it says of a program that another run has added or removed meanwhile.
_DONE_BY_OTHERS = ("ALREADY_ADDED", "BAD_NAME")


class _SocketConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout_seconds: int) -> None:
        super().__init__("localhost", timeout=timeout_seconds)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket in place of a TCP port."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(self.timeout)
            connection.connect(self._path)
        except OSError:
            connection.close()
            raise
        self.sock = connection


class _SocketTransport(xmlrpc.client.Transport):
    def __init__(self, path: str, timeout_seconds: int = 60) -> None:
        super().__init__()
        self._socket_path = path
        self._timeout_seconds = timeout_seconds

    def make_connection(self, host: Any) -> _SocketConnection:
        """Return a connection to the socket, whatever the host."""
        connection = _SocketConnection(self._socket_path, self._timeout_seconds)
        # What close() closes.
        self._connection = (host, connection)
        return connection


class Supervisor:
    """A lab's supervisord.

    :param layout: a Layout
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def _call(self, method: str, *arguments: Any) -> Any:
        # Each call has a connection of its own: supervisord closes an idle one.
        with xmlrpc.client.ServerProxy("http://localhost", transport=_SocketTransport(self.layout.socket)) as proxy:
            function = proxy
            for part in method.split("."):
                function = getattr(function, part)
            return function(*arguments)

    def _asked(self, what: str, method: str, *arguments: Any, done: Collection[str] = ()) -> Any:
        """Return what supervisord answers, None for a refusal that means that what is asked for is done.

        :param what: that it is asked for, for errors
        :param method: of its interface
        :param done: beginnings of such refusals
        :raises SupervisorError: when it refuses, or does not answer
        """
        try:
            return self._call("supervisor." + method, *arguments)
        except xmlrpc.client.Fault as exc:
            if done and exc.faultString.startswith(tuple(done)):
                return None
            raise SupervisorError(f"{what}: {end_of(' '.join(exc.faultString.split()), 500)}; see whether another run "
                                  "changes this plane, and supervisord's log "
                                  f"{self.layout.log_file('supervisord')}, then run again") from exc
        except _UNANSWERED as exc:
            raise SupervisorError(f"{what}: supervisord does not answer on {self.layout.socket} ({exc}); see its log "
                                  f"{self.layout.log_file('supervisord')}, then run again") from exc

    def alive(self) -> bool:
        """Return whether supervisord answers."""
        try:
            return self._call("supervisor.getState")["statename"] == "RUNNING"
        except _UNANSWERED:
            return False

    def processes(self) -> dict[str, Any]:
        """Return the programs' states as a dict name → what getAllProcessInfo reports; empty when it is not running."""
        try:
            return dict((info["name"], info) for info in self._call("supervisor.getAllProcessInfo"))
        except _UNANSWERED:
            return {}

    def write_config(self, check_mode: bool = False) -> bool:
        """Write ``supervisord.conf`` if it differs; returns whether it did."""
        self.layout.check()
        text = daemon_config(self.layout)
        if read(self.layout.config) == text:
            return False
        if not check_mode:
            for directory in (self.layout.directory, self.layout.programs_dir, self.layout.ready_dir,
                              self.layout.log_dir):
                os.makedirs(directory, mode=0o700, exist_ok=True)
            write_private(self.layout.config, text.encode())
        return True

    def start(self, python: Any) -> None:
        """Start supervisord, which starts all configured programs, and wait until it answers.

        :param python: Python program of an environment that has supervisor
        :raises SupervisorError: when it does not start
        """
        environ = dict((name, os.environ[name]) for name in PASSED_VARIABLES if name in os.environ)
        environ[LAB_DIR_VARIABLE] = self.layout.lab_dir
        try:
            result = subprocess.run(
                [python, "-m", "supervisor.supervisord", "-c", self.layout.config], env=environ,
                cwd=self.layout.lab_dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True, check=False, timeout=START_TIMEOUT_SECONDS, universal_newlines=True)
        except subprocess.TimeoutExpired as exc:
            raise SupervisorError("supervisord has not gone to the background within "
                                  f"{duration(START_TIMEOUT_SECONDS)}; its log: "
                                  f"{self.layout.log_file('supervisord')}") from exc
        if result.returncode:
            raise SupervisorError(f"supervisord does not start: {end_of(' '.join(result.stdout.split()), 500)}")
        self.until_alive()

    def until_alive(self) -> None:
        """Wait until supervisord answers, which somebody has started.

        :raises SupervisorError: when it does not in time
        """
        if until_nothing(lambda: not self.alive(), START_TIMEOUT_SECONDS, _LOOK_INTERVAL_SECONDS):
            raise SupervisorError(f"supervisord does not answer on {self.layout.socket} within "
                                  f"{duration(START_TIMEOUT_SECONDS)}; its log: {self.layout.log_file('supervisord')}")

    def shutdown(self, timeout_seconds: int) -> bool:
        """Stop all programs and supervisord; returns False when it was not running.

        :param timeout_seconds: for supervisord alone; its programs have their own
        :raises SupervisorError: when it is still there after the timeout
        """
        pid = self.pid()
        # Side by side; a shutdown stops one after the other, and ends what this has not.
        with contextlib.suppress(*_UNANSWERED):
            self._call("supervisor.stopAllProcesses")
        try:
            self._call("supervisor.shutdown")
        except _UNANSWERED:
            return False
        if pid and until_nothing(lambda: os.path.exists(f"/proc/{pid}"), timeout_seconds, _LOOK_INTERVAL_SECONDS):
            raise SupervisorError(f"supervisord (pid {pid}) is still there after {duration(timeout_seconds)}")
        return True

    def pid(self) -> Any:
        """Return supervisord's process id, None when it does not answer."""
        try:
            return self._call("supervisor.getPID")
        except _UNANSWERED:
            return None

    def pending(self) -> dict[str, str]:
        """Return what reload() of all programs would do; nothing when supervisord does not answer.

        supervisord reads its configuration for it, and does nothing with what it has read.
        """
        try:
            return self._pending()
        except SupervisorError:
            return {}

    def _pending(self) -> dict[str, str]:
        added, changed, removed = self._asked("programs are not read", "reloadConfig")[0]
        return {**dict.fromkeys(removed, "stopped"), **dict.fromkeys(changed, "restarted"),
                **dict.fromkeys(added, "started")}

    def reload(self, names: Collection[str]) -> dict[str, str]:
        """Make supervisord run what is configured: stop what is gone, restart what changed, start what is new.

        :param names: of the programs that may be restarted: those of others that a killed run has configured may work
            on hosts, which their own task asks for first
        :returns: dict name → ``started``, ``restarted`` or ``stopped``
        :raises SupervisorError: when supervisord refuses, or does not answer
        """
        due = dict((name, action) for name, action in self._pending().items()
                   if action != "restarted" or name in names)
        for name, action in due.items():
            if action != "started":
                self._stop(name)
                self._asked(f"program {name} is not removed", "removeProcessGroup", name, done=_DONE_BY_OTHERS)
        for name, action in due.items():
            if action != "stopped":
                self._asked(f"program {name} is not added", "addProcessGroup", name, done=_DONE_BY_OTHERS)
        return due

    def stop_programs(self, names: Collection[str]) -> None:
        """Stop programs that supervisord knows, and keep their configuration.

        :param names: of the programs
        :raises SupervisorError: when supervisord refuses, or does not answer
        """
        for name in self.processes():
            if name in names:
                self._stop(name)

    def _stop(self, name: str) -> None:
        self._asked(f"program {name} does not stop", "stopProcessGroup", name, done=_DONE_BY_OTHERS)

    def start_program(self, name: Any, waiting: bool = False) -> None:
        """Start a program that is not running, without waiting for it.

        :param name: of the program
        :param waiting: supervisord waits before it tries again: have it try now
        :raises SupervisorError: when supervisord refuses, or does not answer
        """
        # It came back, or went, on its own meanwhile.
        by_itself = ("ALREADY_STARTED", "NOT_RUNNING")
        if waiting:
            self._asked(f"program {name} does not stop", "stopProcess", name, done=by_itself)
        self._asked(f"program {name} does not start", "startProcess", name, False, done=by_itself)
