# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Ironic that lets go as processes of this machine: whether they are those of the plane, and have stopped; pure."""
from __future__ import annotations

from ..._common.addresses import ip_texts
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import plain
from . import machine_ironics
from .former_said import CODE, GOES_ON, Said, without_login, without_url
from .machine_ironics import MachineIronics

# Of the Bare Metal Operator.
ENDPOINT = "IRONIC_ENDPOINT"


def problems(what: Said, machine: MachineIronics | None, endpoint: str, stopped: bool, held: bool) -> list[Problem]:
    """Return why it would not be stopped, or would come back with power over the servers.

    :param what: what the user says
    :param machine: what this machine has, None when nobody has looked
    :param endpoint: URL of the Ironic that the Bare Metal Operator uses, empty when that is not known
    :param stopped, held: as for :func:`former.problems`
    """
    found = _of_machine(what, machine, stopped, held) if machine is not None else []
    if not _may_be_at(endpoint, what):
        found.append(Problem(
            CODE, "Bare Metal Operator", ENDPOINT, plain(without_login(endpoint)),
            f"{plain(without_login(what.url)) if what.url else what.address}, the Ironic that is a process of this "
            "machine",
            f"it works with another Ironic, which would not be stopped: {GOES_ON}; or set the mode cluster, when it is "
            "a Deployment there"))
    return found


def _of_machine(what: Said, machine: MachineIronics, stopped: bool, held: bool) -> list[Problem]:
    running = machine_ironics.words(machine.running)
    if stopped:
        return [Problem(
            CODE, "Ironic", "", f"{plain(running) or ', '.join(machine.configured)}, an Ironic that still has power "
            "over the servers", "no process of it", "stop it by plane_processes (the playbook pivot does)")] \
            if machine.configured or machine.running else []
    if not machine.configured and not machine.running:
        others = machine_ironics.words(machine.others)
        return [] if held else [Problem(
            CODE, "Ironic", "", "no process of it on this machine" + (
                f" in {what.directory}; others are {plain(others)}" if others else ""),
            "the one that lets go, which is stopped",
            "set pivot_ironic_directory to the folder of its processes, or pivot_ironic_mode to cluster (a Deployment "
            "of the plane that lets go), external (somebody else's) or none")]
    loose = [item for item in machine.running if item.program not in machine.configured]
    result = [Problem(
        CODE, "Ironic", "", f"{plain(machine_ironics.words(loose))}, which no supervisord has any more",
        "programs of its supervisord, by which they are stopped",
        f"end them (kill {' '.join(str(item.pid) for item in loose)}), then run again")] if loose else []
    if machine.holder:
        result.append(Problem(
            CODE, "Ironic", "former_ironic_url", f"{plain(without_login(what.url))}, where {plain(machine.holder)} "
            "answers", f"a process of the folder {what.directory}, which is stopped",
            "two Ironics are on this machine: correct pivot_ironic_directory or pivot_ironic_url, so that both are of "
            f"the one that this plane has; or {GOES_ON}"))
    return result + ([] if what.url else [without_url("Ironic", "that in the folder of its processes")])


def _may_be_at(endpoint: str, what: Said) -> bool:
    """Say whether the Ironic at an endpoint may be the one that is meant: of two on one machine the port decides."""
    there, here = machine_ironics.endpoint(endpoint), machine_ironics.endpoint(what.url)
    if there is None or here is None:
        return there is None or not what.address or ip_texts.is_same_host(there[0], what.address)
    return ip_texts.is_same_host(there[0], here[0]) and there[1] == here[1]
