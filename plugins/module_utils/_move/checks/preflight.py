# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks for all that is in the way of a move, on both sides; writes nothing."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._common.problem import Problem
from ..._kube.advice import reading_failed
from ..._kube.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..._plane.parts import catalogue, fit, fit_service
from ..handover import bmc_reach, provisioning_reading
from ..nodes import question as node_question
from ..nodes import reach as node_reach
from ..objects import graph
from ..objects.reading import Side
from . import access, class_admission, credentials, plane_room
from . import rules as checks

Object = dict[str, Any]


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
    :param params: of the module ``plane_move``: ``to_kubeconfig``, ``to_context``, ``reach_from``, ``kubectl``,
        ``ironic_namespace``, ``ironic_deployment``, ``ironic_config``, ``former_ironic_namespace``,
        ``former_ironic_deployment``, ``machine_ironic``, ``media_checks`` and ``node_checks``
    :raises KubeError: when one of the API servers can't be asked
    """
    same = checks.same_plane(here.uid, there.uid)
    if same:
        return Found(same, [], [])
    found = checks.source(moving, here.kinds, here.namespace) + credentials.problems(moving, here.objects)
    # What an interrupted run has written over there before it began; its record is not there.
    found += checks.target(moving.moved, there.by_key, there.served, here.kinds)
    plane, warnings = fit_service.read(there.client, there.definitions)
    parts, others = fit.problems(plane, {}, [part.name for part in catalogue.RENDERED])
    found += parts + checks.older(fit_service.read(here.client, here.definitions)[0], plane)
    found += _forbidden(here, there, moving)
    quotas, unread = _quotas(there)
    found += checks.quotas(moving.moved, here.kinds, quotas)
    refused, untried = class_admission.problems(there, moving.moved)
    asked = bmc_reach.place(there.client, params)
    unreached, unasked = bmc_reach.from_where(asked, moving.of("BareMetalHost"), params)
    without_room, uncounted, fits = plane_room.problems(
        there.client, (params["ironic_namespace"], params["ironic_deployment"]))
    silent, answering = node_reach.warnings(moving.of("Machine"), asked) if asked else ([], "")
    twice, unknown, moving_along = provisioning_reading.checked(here, there, params, asked)
    cut_off, unheard, reaching = node_question.read(params["node_checks"])
    return Found(
        found + refused + unreached + without_room + twice + bmc_reach.media_problems(params["media_checks"]) + cut_off,
        warnings + others + unread + untried + unasked + uncounted + silent + unknown + unheard,
        [text for text in (fits, moving_along, answering, reaching) if text])


def _quotas(there: Side) -> tuple[list[Object], list[str]]:
    resource = KNOWN["ResourceQuota"]
    try:
        return there.client.list(resource, there.namespace)[0], []
    except KubeError as exc:
        if exc.status != 403:
            raise
        return [], ["quotas of the namespace over there were not checked: "
                    + reading_failed(exc, resource, there.namespace, there.client.server)]


def _forbidden(here: Side, there: Side, moving: graph.Graph) -> list[Problem]:
    # The record is a ConfigMap.
    used = set(graph.key(obj)[:2] for obj in moving.moved) | {("", "ConfigMap")}
    resources = [resource for of, resource in sorted(here.resources.items()) if of in used]
    inventory = [access.Right("list", KNOWN["Provider"].group, KNOWN["Provider"].plural, None)]
    takes = access.rights(access.TAKES_OVER, resources, there.namespace) + inventory
    if there.client.get(KNOWN["Namespace"], None, there.namespace) is None:
        takes.append(access.Right("create", "", KNOWN["Namespace"].plural, None))
    lets_go = access.rights(access.LETS_GO, resources, here.namespace) + inventory
    return [*access.problems(here.client, lets_go, "kubeconfig"),
            *access.problems(there.client, takes, "to_kubeconfig")]
