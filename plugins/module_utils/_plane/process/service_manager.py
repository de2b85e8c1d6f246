# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks systemd, the machine's or the user's own, for a plane's unit: written, enabled, started, removed."""
from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

from ..._common.files import user_folders
from ..._common.problems.errors import ReportedError
from ..._common.texts.plain_text import end_of
from . import service_unit
from .supervisor_files import LAB_DIR_VARIABLE, Layout

SYSTEM_FOLDER = "/etc/systemd/system"
# Written by systemd when it is the init: sd_booted(3).
_BOOTED = "/run/systemd/system"
_LINGER = "/var/lib/systemd/linger"
# Stopping waits for the programs.
SYSTEMCTL_SECONDS = service_unit.STOP_SECONDS + 30

Runner = Callable[[list[str], Mapping[str, str]], subprocess.CompletedProcess[str]]


class ServiceError(ReportedError):
    """systemd did not do what was asked; the message says what it answered."""


def _run(command: list[str], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=SYSTEMCTL_SECONDS)


def machine() -> service_unit.Machine:
    """Return what a unit depends on of this machine and of the user that runs this."""
    user = _account()[0]
    return service_unit.Machine(
        systemd=os.path.isdir(_BOOTED), root=os.geteuid() == 0, user=user,
        user_manager=os.path.exists(os.path.join(_runtime_folder(), "systemd", "private")),
        lingers=os.path.exists(os.path.join(_LINGER, user)))


def _account() -> tuple[str, str]:
    """Return name and home of the user that runs this; of one without an entry the number, and no home."""
    try:
        found = pwd.getpwuid(os.geteuid())
    except KeyError:
        return str(os.geteuid()), "/nonexistent"
    return found.pw_name, found.pw_dir


def _runtime_folder() -> str:
    return f"/run/user/{os.geteuid()}"


class Service:
    """A plane's unit.

    :param figures: the plane's figures
    :param run: callable that runs a program with an environment, and returns what it answered
    """

    def __init__(self, figures: Mapping[str, Any], run: Runner = _run) -> None:
        self._figures, self._run = figures, run
        self._user = figures["service"] == service_unit.USER
        self.unit = service_unit.name(figures["name"])
        folder = (os.path.join(user_folders.base(None, "XDG_CONFIG_HOME", ".config"), "systemd", "user")
                  if self._user else SYSTEM_FOLDER)
        self.path = os.path.join(folder, self.unit)

    def text(self) -> str:
        """Return what the unit's file should hold."""
        layout = Layout(os.path.join(self._figures["dir"], "supervisor"))
        return service_unit.text(self._figures, layout.config, {
            LAB_DIR_VARIABLE: layout.lab_dir, "HOME": _account()[1]})

    def stored(self) -> str | None:
        """Return what the unit's file holds, None when there is none."""
        try:
            with open(self.path, encoding="utf-8", errors="replace") as stream:
                return stream.read()
        except FileNotFoundError:
            return None

    def is_of_another(self) -> bool:
        """Return whether the unit's file is there and is that of a plane in another folder."""
        stored = self.stored()
        mark = [line for line in self.text().splitlines() if line.startswith("WorkingDirectory=")]
        return stored is not None and mark[0] not in stored.splitlines()

    def differs(self) -> bool:
        """Return whether the unit is not written, not enabled, or not read by systemd since it was written."""
        return (self.stored() != self.text() or self._ask("is-enabled", self.unit).returncode != 0
                or self._ask("show", "--property=NeedDaemonReload", "--value", self.unit).stdout.strip() == "yes")

    def write(self) -> None:
        """Write and enable the unit, without starting it.

        :raises ServiceError: when systemd refuses it
        """
        os.makedirs(os.path.dirname(self.path), mode=0o755, exist_ok=True)
        partial = self.path + ".partial"
        with open(partial, "w", encoding="utf-8") as stream:
            stream.write(self.text())
        os.chmod(partial, 0o644)
        os.replace(partial, self.path)
        self._command("daemon-reload")
        self._command("enable", self.unit)

    def start(self) -> None:
        """Have the unit's programs run.

        :raises ServiceError: when they are not started, or the unit is that of a plane in another folder by now
        """
        if self.is_of_another():
            raise ServiceError(f"unit {self.path}: found that of a plane in another folder, expected that of "
                               f"{self._figures['dir']}; set another management_plane.name")
        self._command("start", self.unit)

    def remove(self, stop: bool) -> bool:
        """Remove the unit; returns whether there was one.

        :param stop: whether its programs are stopped, too
        :raises ServiceError: when systemd refuses
        """
        if self.stored() is None or self.is_of_another():
            return False
        self._command("disable", *(["--now"] if stop else []), self.unit)
        os.unlink(self.path)
        self._command("daemon-reload")
        return True

    def _ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environ = dict(os.environ, LC_ALL="C")
        if self._user:
            # sudo and su set none.
            environ["XDG_RUNTIME_DIR"] = _runtime_folder()
        command = ["systemctl", *(["--user"] if self._user else []), "--no-ask-password", *arguments]
        try:
            return self._run(command, environ)
        except FileNotFoundError as exc:
            raise ServiceError(f"systemctl is missing; set {service_unit.OPTION} to none") from exc
        except subprocess.TimeoutExpired as exc:
            raise ServiceError(f"{' '.join(command)}: no end within {SYSTEMCTL_SECONDS} s") from exc

    def _command(self, *arguments: str) -> None:
        done = self._ask(*arguments)
        if done.returncode:
            said = " ".join((done.stderr or done.stdout).split()) or "no reason given"
            raise ServiceError(f"systemctl {' '.join(arguments)}: {end_of(said, 500)}; "
                               f"see journalctl {'--user ' if self._user else ''}-u {self.unit}")


def of(figures: Mapping[str, Any] | None) -> Service | None:
    """Return the unit of a plane that has one, else None.

    :param figures: the plane's figures, or None
    """
    if not figures or figures.get("service", service_unit.NONE) == service_unit.NONE:
        return None
    return Service(figures)
