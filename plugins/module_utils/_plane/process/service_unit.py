# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The systemd unit that starts a plane with its machine: its name, its text, and whether there is one; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem

NONE, USER, SYSTEM, AUTO = "none", "user", "system", "auto"
CHOICES = (AUTO, NONE, USER, SYSTEM)
OPTION = "bootstrap_plane_service"
# Where the programs that Ironic and the image server call are; a service has no login's PATH.
SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Programs are stopped side by side; a conductor of Ironic has 45 of these seconds.
STOP_SECONDS = 60


class Machine(NamedTuple):
    """What a unit depends on of this machine and user.

    :ivar systemd: whether systemd is the machine's init
    :ivar root: whether the user is root
    :ivar user: the user's name
    :ivar user_manager: whether a systemd of the user's own runs
    :ivar lingers: whether that one runs from boot on, without a login
    """

    systemd: bool
    root: bool
    user: str
    user_manager: bool
    lingers: bool


def name(plane: str) -> str:
    """Return the name of a plane's unit.

    :param plane: the plane's name
    """
    return f"metal3-plane-{plane}.service"


def chosen(service: str, machine: Machine) -> tuple[str, str]:
    """Return which kind of unit a plane gets, and if ``auto`` finds none, why.

    :param service: one of :data:`CHOICES`
    :param machine: of this machine
    """
    if service != AUTO:
        return service, ""
    if not machine.systemd:
        return NONE, "systemd is not the init of this machine"
    if machine.root:
        return SYSTEM, ""
    if machine.lingers and machine.user_manager:
        return USER, ""
    return NONE, f"units of {machine.user} run only during a login; run: loginctl enable-linger {machine.user}"


def problems(service: str, machine: Machine) -> list[Problem]:
    """Return what stands against the unit that a user asks for.

    :param service: one of :data:`CHOICES`
    :param machine: of this machine
    """
    def problem(actual: str, expected: str, hint: str) -> list[Problem]:
        return [Problem("plane-service", "", OPTION, f"{show(service)}, {actual}", expected, hint)]

    if service in (AUTO, NONE):
        return []
    if not machine.systemd:
        return problem("but systemd is not the init of this machine", NONE, f"set {OPTION} to {NONE}")
    if service == SYSTEM and not machine.root:
        return problem(f"but {machine.user} is not root", USER, f"set {OPTION} to {USER}, or run as root")
    if service == USER and not (machine.lingers and machine.user_manager):
        return problem(f"but the units of {machine.user} run only during a login", "a user that lingers",
                       f"have root run: loginctl enable-linger {machine.user}")
    return []


def text(figures: Mapping[str, Any], config: str, variables: Mapping[str, str]) -> str:
    """Return a unit's text.

    :param figures: the plane's figures: ``name``, ``dir``, ``service``, ``services_python``
    :param config: path of ``supervisord.conf``
    :param variables: environment of supervisord, which its programs inherit
    """
    environment = dict(variables, PATH=SEARCH_PATH)
    command = [figures["services_python"], "-m", "supervisor.supervisord", "--nodaemon", "-c", config]
    stop = [figures["services_python"], "-m", "supervisor.supervisorctl", "-c", config, "stop", "all"]
    lines = [
        "[Unit]",
        f"Description=Metal3 bootstrap plane {figures['name']}",
    ]
    if figures["service"] == SYSTEM:
        # A user's systemd does not know the machine's targets. Programs whose address is late are started again.
        lines += ["Wants=network-online.target", "After=network-online.target"]
    lines += [
        # However often supervisord dies, it is started again.
        "StartLimitIntervalSec=0",
        "",
        "[Service]",
        "Type=exec",
        "ExecStart=" + _command(command),
        # By a signal supervisord stops one program after the other. It does not answer where it has ended by itself.
        "ExecStop=-" + _command(stop),
        *(f"Environment={_quoted(f'{key}={environment[key]}')}" for key in sorted(environment)),
        "WorkingDirectory=" + _escaped(figures["dir"]),
        "UMask=0077",
        # To supervisord, which stops its programs as each wants it; what is left then is killed.
        "KillMode=mixed",
        f"TimeoutStopSec={STOP_SECONDS}",
        # Not after an orderly end: the collection stops supervisord to give it another configuration.
        "Restart=on-failure",
        "RestartSec=1",
        "NoNewPrivileges=yes",
        "",
        "[Install]",
        "WantedBy=" + ("multi-user.target" if figures["service"] == SYSTEM else "default.target"),
        "",
    ]
    return "\n".join(lines)


def _command(words: list[str]) -> str:
    return " ".join(_quoted(word, dollar=True) for word in words)


def _escaped(value: str) -> str:
    """Return a value in which systemd expands nothing."""
    return value.replace("%", "%%")


def _quoted(value: str, dollar: bool = False) -> str:
    """Return a value as one word of a unit's line.

    :param dollar: whether variables are expanded there
    """
    quoted = _escaped(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"%s"' % (quoted.replace("$", "$$") if dollar else quoted)
