# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks for all that is in the way of a move, on both sides; writes nothing."""
from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..._host.state.reading import hosts_everywhere
from ..._kube.kinds.resources import Resource
from ..._kube.objects.deployments import has_available_pod
from ..._kube.responses.advice import reading_failed
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..._plane.parts import catalogue, fit, fit_service
from ..handover import bmc_reach, former_said, provisioning_reading
from ..nodes import question as node_question
from ..nodes import reach as node_reach
from ..objects import graph, handed_over_notes, named_secrets
from ..objects.reading import Side
from . import access, credentials, other_namespaces, plane_room
from . import rules as checks
from .other_hosts import OtherHosts

Object = dict[str, Any]

# clusterctl reads its inventory on both sides.
_INVENTORY = access.Right("list", KNOWN["Provider"].group, KNOWN["Provider"].plural, None)


class Found(NamedTuple):
    """What came of the checks.

    :ivar problems: what is in the way
    :ivar warnings: what was not checked, or says nothing for sure
    :ivar fits: in words, what was checked and fits
    """

    problems: list[Problem]
    warnings: list[str]
    fits: list[str]


def found(here: Side, there: Side, moving: graph.Graph, params: Mapping[str, Any]) -> Found:
    """Return what is in the way, warnings of what was not checked, and what fits.

    :param here: the plane that lets go
    :param there: the plane that takes over
    :param moving: what is moved
    :param params: of the module ``plane_move``: ``reach_from``, ``ironic_namespace``, ``ironic_deployment``,
        ``ironic_config``, ``former_ironic_namespace``, ``former_ironic_deployment``, ``machine_ironic``,
        ``media_checks`` and ``node_checks``
    :raises KubeError: when one of the API servers can't be asked
    """
    same = checks.same_plane(here.uid, there.uid)
    if same:
        return Found(same, [], [])
    found, unseen = of_source(here, moving, params)
    # What an interrupted run has written over there before it began; its record is not there.
    found += checks.target(moving.moved, there.by_key, there.served, here.kinds)
    plane, warnings = fit_service.read(there.client, there.definitions)
    warnings += unseen
    parts, others = fit.problems(plane, {}, [part.name for part in catalogue.RENDERED])
    found += parts + checks.older(fit_service.read(here.client, here.definitions)[0], plane)
    found += _forbidden_there(there, [here.resources[of] for of in _used(here, moving)],
                              _starts(here, there, params), params)
    found += handed_over_notes.immutable(here, there)
    twofold, uncompared = others_have(there, moving.of("BareMetalHost"))
    found += twofold
    quotas, unread = _quotas(there)
    found += checks.quotas(moving.moved, here.kinds, quotas)
    asked = bmc_reach.place(there, params)
    unreached, unasked = bmc_reach.from_where(asked, moving.of("BareMetalHost"), params)
    without_room, uncounted, fits = plane_room.problems(
        there.client, (params["ironic_namespace"], params["ironic_deployment"]))
    silent, answering = node_reach.warnings(moving.of("Machine"), asked) if asked else ([], "")
    twice, unknown, moving_along = provisioning_reading.checked(here, there, params, asked)
    cut_off, unheard, reaching = node_question.read(params["node_checks"])
    return Found(
        found + unreached + without_room + twice + bmc_reach.media_problems(params["media_checks"]) + cut_off,
        warnings + others + uncompared + unread + unasked + uncounted + silent + unknown + unheard,
        [text for text in (fits, moving_along, answering, reaching) if text])


def others_have(there: Side, hosts: Collection[Object]) -> tuple[list[Problem], list[str]]:
    """Return a problem for each host whose server another one has over there, and what was not compared.

    :param there: the plane that takes over
    :param hosts: that come, or have come
    :raises KubeError: when its API server can't be asked
    """
    own, elsewhere, warning = hosts_everywhere(there.client, there.namespace)
    # One of the same name is found with all else that is over there already.
    others = OtherHosts([*own.values(), *elsewhere], there.namespace, [host["metadata"]["name"] for host in hosts])
    return others.problems(hosts), [warning] if warning else []


def _quotas(there: Side) -> tuple[list[Object], list[str]]:
    resource = KNOWN["ResourceQuota"]
    try:
        return there.client.list(resource, there.namespace)[0], []
    except KubeError as exc:
        if exc.status != 403:
            raise
        return [], ["quotas of the namespace over there were not checked: "
                    + reading_failed(exc, resource, there.namespace, there.client.server)]


def of_source(here: Side, moving: graph.Graph, params: Mapping[str, Any]) -> tuple[list[Problem], list[str]]:
    """Return what is in the way in the plane that lets go, and warnings.

    :param here, moving, params: as for :func:`found`
    :raises KubeError: when its API server can't be asked
    """
    named = named_secrets.left(moving, here.objects)
    found = checks.source(moving, here.kinds, here.namespace) + credentials.problems(named)
    warnings = credentials.warnings(named)
    what = former_said.said(params)
    # Nothing is stopped in the others.
    if what.mode in (former_said.PROCESS, former_said.CLUSTER):
        names, unlisted = other_namespaces.read(here.client, here.namespace, in_ironic=True)
        found += other_namespaces.problems(names, here.namespace)
        warnings += unlisted
    lets_go = access.rights(access.LETS_GO, [here.resources[of] for of in _used(here, moving)], here.namespace) \
        + access.rights(["create"], [KNOWN["ConfigMap"]], here.namespace) + [_INVENTORY]
    # Without them a move would stop when all hosts are held.
    scales = _scales(what.namespace) if what.mode == former_said.CLUSTER else []
    return found + [problem for wanted in (lets_go, scales)
                    for problem in access.problems(here.client, wanted, "kubeconfig")], warnings


def _used(here: Side, moving: graph.Graph) -> list[tuple[str, str]]:
    # The record is a ConfigMap, which is created on both sides.
    used = set(graph.key(obj)[:2] for obj in moving.moved) | {("", "ConfigMap")}
    return sorted(used & set(here.resources))


def _scales(namespace: str) -> list[access.Right]:
    return access.rights(access.SCALES, [KNOWN["Deployment"]], namespace) \
        + access.rights(["list"], [KNOWN["Pod"]], namespace)


def _starts(here: Side, there: Side, params: Mapping[str, Any]) -> bool:
    return provisioning_reading.both(here, there, params).handover().starts


def _forbidden_there(there: Side, resources: list[Resource], starts: bool, params: Mapping[str, Any]) -> list[Problem]:
    takes = access.rights(access.TAKES_OVER, resources, there.namespace) + [_INVENTORY] + access.namespace_rights(there)
    namespace = params["ironic_namespace"]
    ironics: list[access.Right] = []
    if starts:
        ironics = _scales(namespace)
    elif params["reach_from"] == "auto" and has_available_pod(
            there.deployment(namespace, params["ironic_deployment"])):
        ironics = access.rights(["list"], [KNOWN["Pod"]], namespace) + [
            access.Right("create", "", access.EXEC, namespace)]
    return [problem for wanted in (takes, ironics)
            for problem in access.problems(there.client, wanted, "to_kubeconfig")]
