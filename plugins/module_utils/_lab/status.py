# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a lab's parts are doing, and how to talk to them."""
from __future__ import annotations

import os
import shlex
from typing import Any

from .._common.documents.document_text import from_json
from .._common.texts import formats, text_table
from .._plane.process import readiness
from .._plane.process.supervisor import Supervisor
from .._plane.process.supervisor_files import Layout, configured
from . import claim

REAL, SIMULATED = "real", "simulated"
CLOUD = "metal3-lab"
COLUMNS = ("program", "kind", "pid", "address", "health", "since")
SIMULATED_PROGRAMS = ("machine-room",)
# Where each program does its main work; of others the address of their readiness check is printed.
MAIN_PORTS = {
    "etcd": "etcd_client",
    "kube-apiserver": "kube_apiserver",
    "kube-controller-manager": "kube_controller_manager",
    "ironic": "ironic",
    "ironic-api": "ironic",
    "image-server": "image_server",
    "registry": "registry",
    "machine-room": "machine_room",
    "capi": "capi_webhook",
    "cabpk": "cabpk_webhook",
    "kcp": "kcp_webhook",
    "capm3": "capm3_webhook",
    "ipam": "ipam_webhook",
    "bmo": "bmo_webhook",
}


def _since(start: float | None) -> str:
    return formats.timestamp(start) if start else "-"


def _health(info: dict[str, Any], fault: str | None) -> str:
    if info.get("statename") != "RUNNING":
        return (info.get("statename") or "down").lower()
    return fault or "ok"


def _address(lab: dict[str, Any], name: str, check: dict[str, str]) -> str:
    if name in MAIN_PORTS:
        return f"127.0.0.1:{lab['ports'][MAIN_PORTS[name]]}"
    return check.get("url") or check.get("tcp") or check.get("unix") or "-"


def program_parts(lab: dict[str, Any], checks: dict[str, Any], states: dict[str, dict[str, Any]],
                  faults: dict[str, str]) -> list[dict[str, Any]]:
    """Return the rows of the supervised programs.

    :param lab: the lab's figures
    :param checks: dict name → readiness check, of all configured programs
    :param states: dict name → what supervisord reports
    :param faults: dict name → why a program is not ready
    """
    rows = []
    for name in sorted(checks):
        info = states.get(name, {})
        rows.append({
            "program": name,
            "kind": SIMULATED if name in SIMULATED_PROGRAMS else REAL,
            "pid": info.get("pid") or None,
            "address": _address(lab, name, checks[name]),
            "health": _health(info, faults.get(name)),
            "since": _since(info.get("start") if info.get("pid") else None),
        })
    return rows


def supervisor_part(layout: Any, pid: Any) -> Any:
    """Return the row of supervisord itself.

    :param layout: a Layout
    :param pid: its pid, None when it does not answer
    """
    return {
        "program": "supervisord",
        "kind": REAL,
        "pid": pid,
        "address": layout.socket,
        "health": "ok" if pid else "down",
        "since": _since(os.stat(layout.socket).st_mtime if pid else None),
    }


def server_parts(lab: dict[str, Any], servers: list[dict[str, Any]],
                 machine_room: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the rows of the simulated servers; they live in the machine room's process.

    :param lab: the lab's figures
    :param servers: what ``servers.json`` holds
    :param machine_room: the machine room's row, or None
    """
    room = machine_room or {"pid": None, "health": "down", "since": "-"}
    return [{
        "program": server["name"],
        "kind": SIMULATED,
        "pid": room["pid"],
        "address": f"127.0.0.1:{lab['ports']['redfish']}",
        "health": room["health"],
        "since": room["since"],
    } for server in servers]


def parts(lab: Any) -> Any:
    """Return a lab's programs and its servers, each as a list of dicts with COLUMNS.

    :param lab: the lab's figures
    """
    layout = Layout(os.path.join(lab["dir"], "supervisor"))
    checks = configured(layout)
    supervisor = Supervisor(layout)
    programs = [supervisor_part(layout, supervisor.pid())]
    programs += program_parts(lab, checks, supervisor.processes(), readiness.faults(checks))
    with open(os.path.join(lab["dir"], claim.SERVERS_FILE), "rb") as stream:
        servers = from_json(stream.read())
    room = next((row for row in programs if row["program"] == "machine-room"), None)
    return programs, server_parts(lab, servers, room)


def table(rows: list[dict[str, Any]], width: Any = None) -> list[str]:
    """Return rows as lines of a table.

    :param rows: list of dicts with COLUMNS
    :param width: columns of the terminal; None for any number
    """
    cells = [["-" if row[column] is None else str(row[column]) for column in COLUMNS] for row in rows]
    return text_table.lines(COLUMNS, cells, width, long=("address",), optional=("pid", "since"))


def environment(lab: dict[str, Any]) -> dict[str, str]:
    """Return the environment variables that point programs to a lab; secrets only by the path of their files.

    :param lab: the lab's figures
    """
    directory = lab["dir"]
    secrets = os.path.join(directory, "secrets")
    return {
        "KUBECONFIG": os.path.join(directory, "kubeconfig"),
        "METAL3_CA_FILE": os.path.join(directory, "pki", "ca.crt"),
        "METAL3_IRONIC_PASSWORD_FILE": os.path.join(secrets, "ironic_password"),
        "METAL3_IRONIC_URL": lab["urls"]["ironic"],
        "METAL3_IRONIC_USERNAME_FILE": os.path.join(secrets, "ironic_username"),
        "METAL3_MACHINE_ROOM_TOKEN_FILE": os.path.join(secrets, "machine_room_token"),
        "METAL3_MACHINE_ROOM_URL": lab["urls"]["machine_room"],
        "OS_CLIENT_CONFIG_FILE": os.path.join(directory, "clouds.yaml"),
        "OS_CLOUD": CLOUD,
    }


def exports(lab: dict[str, Any]) -> list[str]:
    """Return the shell lines that set a lab's environment.

    :param lab: the lab's figures
    """
    lines = [f"export {name}={shlex.quote(value)}" for name, value in sorted(environment(lab).items())]
    return lines + [f"export PATH={shlex.quote(os.path.join(lab['engine_dir'], 'bin'))}:\"$PATH\""]
