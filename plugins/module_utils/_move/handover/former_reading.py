# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads which Ironic the plane that lets go has, and checks whether the one that is said would be stopped."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..._common.problems.problem import Problem
from ..._kube.kinds import served
from ..._kube.pods import deployment_pod
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..objects.reading import Side
from . import former, former_nodes, former_process, former_said, machine_reading, provisioning
from .machine_ironics import MachineIronics
from .provisioning_reading import config_maps, ironic_of

Object = dict[str, Any]


def checked(here: Side, params: Mapping[str, Any], stopped: bool, held: bool) -> tuple[list[Problem], list[str]]:
    """Return why the Ironic that lets go would not be stopped for good, and warnings of what was not read.

    :param here: the plane that lets go
    :param params: of the module ``plane_move``
    :param stopped, held: as for :func:`former.problems`
    :raises KubeError: when the API server can't be asked
    """
    what = said(params)
    noted = former_said.noted(what, here.objects)
    if what.mode == former_said.EXTERNAL:
        return noted, former.warnings(what, former.Found(deployments=_ironics(_deployments(here, []))))
    try:
        found, unread = _found(here, what, stopped)
    except KubeError as exc:
        if exc.status != 403:
            raise
        return [*noted, former.unread(what, exc.message)], []
    return noted + former.problems(what, found, stopped, held), former.warnings(what, found) + unread


def result(here: Side, params: Mapping[str, Any], hosts: list[str]) -> dict[str, Any]:
    """Return what the module ``plane_move`` says of it: ``nodes`` of hosts in it, and ``former_ironic_place``.

    :param here, params: as for :func:`checked`
    :param hosts: names of the hosts
    """
    return {"nodes": former_nodes.of_hosts(hosts, map(here.host, hosts), here.namespace),
            "former_ironic_place": said(params).place}


def said(params: Mapping[str, Any]) -> former_said.Said:
    """Return what the parameters of the module ``plane_move`` say of it on this machine."""
    return former_said.said(params, os.uname().nodename)


def _found(here: Side, what: former_said.Said, with_pods: bool) -> tuple[former.Found, list[str]]:
    unread: list[str] = []
    deployments = _deployments(here, unread)
    operated = _listed(here, lambda: served.listed(here.client, KNOWN[former.OPERATED], None), unread)
    named = ironic_of(here, what.namespace, what.deployment) if what.mode == former_said.CLUSTER else None
    operator = next(filter(former.is_operator, deployments), None)
    endpoint = provisioning.environment(operator, config_maps(here.client, operator)).get(
        former_process.ENDPOINT, "") if operator else ""
    pods = deployment_pod.selected(here.client, what.namespace, named[0]) if named and with_pods else []
    found = former.Found(
        named[0] if named else None, provisioning.environment(*named) if named else {},
        provisioning.ports(*named) if named else None, _ironics(deployments), tuple(operated), endpoint,
        pods=tuple(sorted(pod["metadata"]["name"] for pod in pods)), machine=_of_machine(what))
    if former.is_elsewhere(what, found):
        found = found._replace(services=tuple(_listed(
            here, lambda: here.client.list(KNOWN["Service"], what.namespace)[0], unread)))
    return found, unread


def _of_machine(what: former_said.Said) -> MachineIronics | None:
    is_known = what.mode == former_said.PROCESS and what.directory
    return machine_reading.read(what.directory, what.url) if is_known else None


def _ironics(deployments: list[Object]) -> tuple[Object, ...]:
    return tuple(filter(former.is_ironic, deployments))


def _deployments(here: Side, unread: list[str]) -> list[Object]:
    return _listed(here, lambda: here.client.list(KNOWN["Deployment"])[0], unread)


def _listed(here: Side, read: Any, unread: list[str]) -> list[Object]:
    try:
        found: list[Object] = read()
        return found
    except KubeError as exc:
        if exc.status != 403:
            raise
        unread.append(f"whether another Ironic than the one that is named works for {here.client.server} was not "
                      f"checked: {exc.message}")
        return []
