# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a lab's supervisord: where they are, the configuration of its programs, and the ends of their logs."""
from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterable
from typing import Any

from ..._common.documents.document_text import from_json
from ..._common.files.whole_file import write_private
from ..._common.problems.errors import ReportedError

LAB_DIR_VARIABLE = "METAL3_LAB_DIR"
DIGEST_VARIABLE = "METAL3_CONFIG_DIGEST"
# In which supervisord gives each program its own name (``process.py``: _spawn_as_child).
NAME_VARIABLE = "SUPERVISOR_PROCESS_NAME"
_END_OF_LINE = re.compile(r"[\n\r]")
# sockaddr_un has 108 bytes; supervisord binds to "<socket>.<pid>" before it renames that.
SOCKET_PATH_LIMIT = 107 - len(".4194304")
NAME_RULE = re.compile(r"[a-z][a-z0-9_-]*\Z")
LOG_BYTES = 10 * 1024 * 1024
LOG_BACKUPS = 3
STOP_WAIT_SECONDS = 10
# A program that waits for another one may give up many times before that one is there.
START_RETRIES = 100
# Of a log in an error; etcd writes whole stacks into one line.
LAST_LINES = 5
LINE_LIMIT = 300
LOG_TAIL_BYTES = 65536
# Setting → what a difference of it is called; values may be secrets.
_SETTINGS = {"command": "another command", "environment": "another environment",
             DIGEST_VARIABLE: "other contents of files that it reads"}
_DIGEST = re.compile(DIGEST_VARIABLE + r'="([0-9a-f]*)",?')


class SupervisorError(ReportedError):
    """supervisord can't be started or asked, or a program can't be described."""


def _quoted(program: str, variable: str, value: str) -> str:
    """Return an environment value as supervisord's configuration wants it."""
    # Whatever ends a line for who reads the file; the value itself may be a secret.
    if _END_OF_LINE.search(value):
        raise SupervisorError(f"program {program}: environment variable {variable}: found several lines, expected one; "
                              "keep the value in a file and name that")
    return '"%s"' % value.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def digest(paths: list[str]) -> str:
    """Return a digest of files' contents; a missing file counts as such.

    :param paths: list of paths
    """
    result = hashlib.sha256()
    for path in paths:
        result.update(path.encode() + b"\0")
        try:
            with open(path, "rb") as stream:
                result.update(stream.read())
        except FileNotFoundError:
            result.update(b"missing")
    return result.hexdigest()[:16]


class Layout:
    """Where the files of a lab's supervisord are.

    :param directory: the folder ``supervisor`` in the lab's folder
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.lab_dir = os.path.dirname(directory)
        self.log_dir = os.path.join(self.lab_dir, "log")
        self.socket = os.path.join(directory, "supervisor.sock")
        self.config = os.path.join(directory, "supervisord.conf")
        self.pid_file = os.path.join(directory, "supervisord.pid")
        self.programs_dir = os.path.join(directory, "conf.d")
        self.ready_dir = os.path.join(directory, "ready")

    def check(self) -> None:
        """Refuse a folder whose socket path the kernel would refuse.

        :raises SupervisorError: for a path that is too long
        """
        if len(self.socket.encode()) > SOCKET_PATH_LIMIT:
            raise SupervisorError(
                f"{self.socket}: {len(self.socket.encode())} bytes, a socket's path may have {SOCKET_PATH_LIMIT}: "
                "choose a shorter folder for labs (METAL3_LAB_HOME)")

    def log_file(self, name: str) -> str:
        """Return the log file of a program."""
        return os.path.join(self.log_dir, name + ".log")

    def program_file(self, name: str) -> str:
        """Return the configuration file of a program."""
        return os.path.join(self.programs_dir, name + ".conf")

    def ready_file(self, name: str) -> str:
        """Return the file with a program's readiness check."""
        return os.path.join(self.ready_dir, name + ".json")


def daemon_config(layout: Layout) -> str:
    """Return the text of ``supervisord.conf``.

    :param layout: a Layout
    """
    return "\n".join([
        "[unix_http_server]",
        f"file={layout.socket}",
        "chmod=0700",
        "[supervisord]",
        f"logfile={layout.log_file('supervisord')}",
        f"logfile_maxbytes={LOG_BYTES}",
        f"logfile_backups={LOG_BACKUPS}",
        f"pidfile={layout.pid_file}",
        f"childlogdir={layout.log_dir}",
        f"directory={layout.lab_dir}",
        "umask=077",
        "[rpcinterface:supervisor]",
        "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface",
        "[supervisorctl]",
        f"serverurl=unix://{layout.socket}",
        "[include]",
        "files=conf.d/*.conf",
        "",
    ])


def program_config(layout: Layout, program: dict[str, Any]) -> str:
    """Return the text of a program's configuration file.

    :param layout: a Layout
    :param program: dict with ``name``, ``command`` (list), ``environment`` (dict), ``directory`` (path or None),
        ``restart_on`` (list of paths) and ``stop_wait_seconds``
    :raises SupervisorError: for a name or a value that the configuration can't hold
    """
    name = program["name"]
    if not NAME_RULE.match(name):
        raise SupervisorError(f"program name {name!r}: expected lower case letters, digits, - and _")
    environment = dict((key, str(value)) for key, value in (program.get("environment") or {}).items())
    environment[LAB_DIR_VARIABLE] = layout.lab_dir
    if program.get("restart_on"):
        environment[DIGEST_VARIABLE] = digest(program["restart_on"])
    command = " ".join(shlex.quote(str(part)) for part in program["command"])
    if _END_OF_LINE.search(command):
        raise SupervisorError(f"program {name}: a newline in its command")
    return "\n".join([
        f"[program:{name}]",
        f"command={command.replace('%', '%%')}",
        f"directory={program.get('directory') or layout.lab_dir}",
        "environment=%s" % ",".join(f"{key}={_quoted(name, key, environment[key])}" for key in sorted(environment)),
        "autostart=true",
        "autorestart=true",
        "startsecs=1",
        f"startretries={START_RETRIES}",
        "stopasgroup=true",
        "killasgroup=true",
        f"stopwaitsecs={program.get('stop_wait_seconds') or STOP_WAIT_SECONDS}",
        "redirect_stderr=true",
        f"stdout_logfile={layout.log_file(name)}",
        f"stdout_logfile_maxbytes={LOG_BYTES}",
        f"stdout_logfile_backups={LOG_BACKUPS}",
        "",
    ])


def read(path: str) -> str | None:
    """Return a file's text, None when there is none."""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except FileNotFoundError:
        return None


def write_program(layout: Layout, program: dict[str, Any], check_mode: bool = False) -> bool:
    """Write a program's configuration and readiness check if they differ.

    :param layout: a Layout
    :param program: see program_config(); ``ready`` is its readiness check, see readiness.py
    :param check_mode: change nothing, only report
    :returns: True when the program's configuration differs
    """
    text = program_config(layout, program)
    ready = json.dumps(program.get("ready") or {}, sort_keys=True)
    if not check_mode and read(layout.ready_file(program["name"])) != ready:
        write_private(layout.ready_file(program["name"]), ready.encode())
    if read(layout.program_file(program["name"])) == text:
        return False
    if not check_mode:
        write_private(layout.program_file(program["name"]), text.encode())
    return True


def differences(layout: Layout, program: dict[str, Any], pending: Iterable[str] = ()) -> list[str]:
    """Return in words what of a program differs from its configuration file; nothing of one that has none.

    :param layout: a Layout
    :param program: see program_config()
    :param pending: files that are about to change
    """
    former = read(layout.program_file(program["name"]))
    if former is None:
        return []
    before, after = _settings(former), _settings(program_config(layout, program))
    found = set(_SETTINGS.get(key, "other settings") for key in before.keys() | after.keys()
                if before.get(key) != after.get(key))
    if set(pending) & set(program.get("restart_on") or []):
        found.add(_SETTINGS[DIGEST_VARIABLE])
    return sorted(found)


def _settings(text: str) -> dict[str, str]:
    """Return the settings of a program's configuration file; the digest of its files is one of its own."""
    found = dict((key, value) for key, _sign, value in (line.partition("=") for line in text.splitlines()[1:]))
    digests = _DIGEST.findall(found.get("environment", ""))
    found["environment"] = _DIGEST.sub("", found.get("environment", ""))
    return dict(found, **{DIGEST_VARIABLE: ",".join(digests)})


def remove_program(layout: Layout, name: str, check_mode: bool = False) -> bool:
    """Remove a program's files; returns whether there were any."""
    found = False
    for path in (layout.program_file(name), layout.ready_file(name)):
        if os.path.exists(path):
            found = True
            if not check_mode:
                os.unlink(path)
    return found


def configured(layout: Layout) -> dict[str, Any]:
    """Return the readiness checks of all configured programs, name → check."""
    checks = {}
    if os.path.isdir(layout.programs_dir):
        for entry in sorted(os.listdir(layout.programs_dir)):
            name, extension = os.path.splitext(entry)
            if extension == ".conf":
                checks[name] = from_json(read(layout.ready_file(name)) or "{}")
    return checks


def last_lines(path: str, count: int = LAST_LINES) -> list[str]:
    """Return the last lines of a log file, each cut to LINE_LIMIT, without a long file being read whole."""
    try:
        with open(path, "rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - LOG_TAIL_BYTES))
            text = stream.read().decode(errors="replace")
    except FileNotFoundError:
        return []
    return [line[:LINE_LIMIT] for line in text.splitlines()[-count:]]
