# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether programs may be started again: not while they work on hosts, whose inspection or deployment would fail."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._kube.api.client import KubeClient
from ..._kube.kinds import served
from ..._metal3.kinds import KNOWN
from ..upgrade import rules as upgrade
from . import process_group, readiness, supervisor_files
from .supervisor import Supervisor


def check(params: Mapping[str, Any], client_of: Callable[[dict[str, Any]], Any] = KubeClient) -> None:
    """Refuse a start of programs that would start working ones again while hosts are in transition.

    :param params: the parameters of the module ``plane_processes``; without ``hosts_kubeconfig`` nothing is asked
    :param client_of: callable that takes the options of a KubeClient
    :raises RefusedError: with the hosts
    :raises KubeError: when the API server can't be asked
    """
    if not params["hosts_kubeconfig"] or params["state"] != "started":
        return
    layout = supervisor_files.Layout(params["supervisor_dir"])
    found = problems(Supervisor(layout), params["programs"], params["hosts_kubeconfig"], client_of,
                     params["pending_files"])
    if found:
        raise RefusedError(found)


def problems(supervisor: Any, programs: list[dict[str, Any]], kubeconfig: str,
             client_of: Callable[[dict[str, Any]], Any] = KubeClient, pending: Iterable[str] = ()) -> list[Problem]:
    """Return a problem when programs that work would be started again, and hosts are in transition.

    :param supervisor: a Supervisor
    :param programs: list of dicts, see supervisor_files.program_config()
    :param kubeconfig: path of the kubeconfig of the API server that has the BareMetalHosts
    :param client_of: callable that takes the options of a KubeClient
    :param pending: see process_group.start()
    :raises KubeError: when the API server can't be asked
    """
    actions = process_group.start(supervisor, programs, True, pending)
    due = dict((program["name"], program.get("ready") or {}) for program in programs
               if actions[program["name"]] == "restarted")
    # One that is not ready works on nothing, and its repair must not wait for what only it can finish.
    faults = readiness.faults(due)
    names = sorted(name for name in due if name not in faults)
    if not names:
        return []
    hosts = served.listed(client_of({"kubeconfig": kubeconfig}), KNOWN["BareMetalHost"])
    return [problem._replace(subject=f"program {' and '.join(names)}",
                             expected="none, since what was changed starts it again")
            for problem in upgrade.transitions(names, hosts)]
