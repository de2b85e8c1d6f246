# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what both planes' Ironics have of the provisioning network, and what of it one hands to the other."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._common.problems.errors import ReportedError
from ..._common.problems.problem import Problem
from ..._elsewhere import asking
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..objects.reading import Side
from . import address_holder, provisioning

Object = dict[str, Any]


class Both(NamedTuple):
    """The two Ironics of a move.

    :ivar before: the one that lets go, None when it is not known
    :ivar next_one: the one that takes over, None when it is not known
    """

    before: provisioning.Ironic | None = None
    next_one: provisioning.Ironic | None = None

    def handover(self) -> provisioning.Handover:
        """Return what goes from one to the other; nothing when one of them is not known, or both are one."""
        if self.before is None or self.next_one is None or self.before is self.next_one:
            return provisioning.Handover()
        return provisioning.handover(self.before, self.next_one)

    def result(self) -> dict[str, Any]:
        """Return what the module ``plane_move`` says of them: ``handover``, ``ironic`` and ``former_ironic``."""
        return {"handover": self.handover()._asdict(), "ironic": _said(self.next_one),
                "former_ironic": _said(self.before)}


def _said(ironic: provisioning.Ironic | None) -> dict[str, Any] | None:
    return ironic.checked._asdict() if ironic and ironic.checked else None


def checked(here: Side, there: Side, params: Mapping[str, Any],
            asked: asking.Asked | None) -> tuple[list[Problem], list[str], str]:
    """Return what both would have at once, warnings of what was not read or asked, and in words what moves along.

    :param here: the plane that lets go
    :param there: the plane that takes over
    :param params: as for :func:`preflight.found`
    :param asked: where the Ironic that takes over is asked, or None
    :raises KubeError: when one of the API servers can't be asked
    """
    try:
        before, next_one = _both(here, there, params)
    except KubeError as exc:
        if exc.status != 403:
            raise
        return [], [f"address and DHCP of the provisioning network were not checked: {exc.message}"], ""
    if before is None or next_one is None or before is next_one:
        return [], [], ""
    found = provisioning.problems(before, next_one)
    words = "" if found else provisioning.handover(before, next_one).words(next_one.address)
    # A pod in a network of its own is reached at an address that its machine need not have.
    if found or asked is None or not next_one.address or not next_one.on_host or params["reach_from"] != "auto":
        return found, [], words
    try:
        holder = address_holder.answer(next_one.address, asked)
    except ReportedError as exc:
        return [], [f"address {next_one.address}: who has it was not asked from {asked.place}: {exc}"], words
    return [provisioning.held_elsewhere(next_one)] if holder == address_holder.ELSEWHERE else [], [], words


def both(here: Side, there: Side, params: Mapping[str, Any]) -> Both:
    """Return both Ironics as they were checked; none when that can't be read.

    :param here, there, params: as for :func:`checked`
    """
    try:
        return _both(here, there, params)
    except KubeError as exc:
        if exc.status != 403:
            raise
        return Both()


def without_record(here: Side, there: Side, params: Mapping[str, Any]) -> tuple[Both, list[Problem]]:
    """Return what goes back where no move is recorded, and why what runs over there must not be stopped for it.

    :param here, there, params: as for :func:`checked`
    """
    found = both(here, there, params)
    back = found.handover()
    if found.next_one is None or not (back.address or back.dhcp):
        return found, []
    return found, provisioning.at_work(found.next_one, here.uid)


def _both(here: Side, there: Side, params: Mapping[str, Any]) -> Both:
    machine = provisioning.of_machine(params["machine_ironic"])
    next_one = machine if params["reach_from"] == "here" else _ironic(
        there, params["ironic_namespace"], params["ironic_deployment"])
    before = machine if not params["former_ironic_deployment"] else _ironic(
        here, params["former_ironic_namespace"], params["former_ironic_deployment"])
    return Both(before, next_one)


def config_maps(client: Any, deployment: Object) -> dict[str, Object]:
    """Return the ConfigMaps that the environment of a Deployment's containers is from, by name, those that are there.

    :param client: a KubeClient
    :param deployment: the Deployment
    :raises KubeError: when the API server can't be asked
    """
    found = dict((name, client.get(KNOWN["ConfigMap"], deployment["metadata"].get("namespace"), name))
                 for name in provisioning.config_maps_of(deployment))
    return dict((name, obj) for name, obj in found.items() if obj is not None)


def ironic_of(side: Side, namespace: str, name: str) -> tuple[Object, dict[str, Object]] | None:
    """Return the Deployment of an Ironic and the ConfigMaps that its environment is from, None without one.

    One read serves all checks and the result.

    :param side: the plane
    :param namespace: of the Deployment
    :param name: of the Deployment; with an empty one there is none
    :raises KubeError: when the API server can't be asked
    """
    deployment = side.deployment(namespace, name) if namespace and name else None
    if deployment is None:
        return None
    return deployment, side.once(("ConfigMap", namespace, name), lambda: config_maps(side.client, deployment))


def _ironic(side: Side, namespace: str, name: str) -> provisioning.Ironic | None:
    found = ironic_of(side, namespace, name)
    return provisioning.of_deployment(*found) if found else None
