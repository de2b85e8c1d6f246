# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the other plane's Ironic reaches the BMCs of the hosts that it gets."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._bmc import reach
from .._common import bounded_run
from .._common.errors import ReportedError
from .._common.problem import Problem
from .._kube.resources import KNOWN

Object = dict[str, Any]


def has_deployment(client: Any, namespace: str, name: str) -> bool:
    """Say whether there is a Deployment with an available pod.

    :raises KubeError: when the API server can't be asked
    """
    found = client.get(KNOWN["Deployment"], namespace, name)
    return found is not None and bool((found.get("status") or {}).get("availableReplicas"))


def from_where(there: Any, hosts: list[Object], params: Mapping[str, Any]) -> tuple[list[Problem], list[str]]:
    """Return problems with BMCs that the other plane's Ironic does not reach, and a warning when nobody was asked.

    :param there: a KubeClient of the plane that takes over
    :param hosts: BareMetalHosts
    :param params: ``reach_from``, ``kubectl``, ``to_kubeconfig``, ``to_context``, ``ironic_namespace`` and
        ``ironic_deployment``, see the module ``plane_move``
    """
    if params["reach_from"] == "none":
        return [], []
    if params["reach_from"] == "here":
        return problems(hosts, reach.from_here())
    where = (params["ironic_namespace"], params["ironic_deployment"])
    if not params["kubectl"] or not has_deployment(there, *where):
        return [], ["BMCs: whether the other plane's Ironic reaches them was not asked: no Deployment "
                    f"{'/'.join(where)} with an available pod over there, or no kubectl; set reach_from to here when "
                    "it runs on this machine"]
    return problems(hosts, reach.from_pod(
        params["kubectl"], params["to_kubeconfig"], params["to_context"], *where))


def problems(hosts: Iterable[Object], asked: reach.Asked,
             run: Callable[..., Any] = bounded_run.run) -> tuple[list[Problem], list[str]]:
    """Return a problem for each host whose BMC is not reached, and a warning when nobody could be asked.

    :param hosts: BareMetalHosts; those without a BMC, and with an address that nobody can read, are left out
    :param asked: where it is asked from
    :param run: as ``subprocess.run``, :func:`bounded_run.run` by default
    """
    hosts = list(hosts)
    try:
        answers = reach.answers([((host.get("spec") or {}).get("bmc") or {}).get("address") for host in hosts],
                                asked, run)
    except ReportedError as exc:
        # No proof that they are not reached.
        return [], [f"BMCs: whether they are reached was not asked from {asked.place}: {exc}"]
    return [Problem("move-reach", f"BareMetalHost {host['metadata']['name']}", "spec.bmc.address",
                    f"{answer.words} at {answer.target}, asked from {asked.place}",
                    "a BMC that the other plane's Ironic reaches", reach.ADVICE)
            for host, answer in zip(hosts, answers) if answer and answer.words], []
