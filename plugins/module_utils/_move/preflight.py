# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks for all that is in the way of a move, on both sides; writes nothing."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._common.problem import Problem
from .._kube.advice import reading_failed
from .._kube.errors import KubeError
from .._metal3.kinds import KNOWN
from .._plane import catalogue, fit, fit_service
from . import access, bmc_reach, checks, class_admission, graph
from .reading import Side

Object = dict[str, Any]


def problems(here: Side, there: Side, moving: graph.Graph,
             params: Mapping[str, Any]) -> tuple[list[Problem], list[str]]:
    """Return what is in the way, and warnings of what was not checked.

    :param here: the plane that lets go
    :param there: the plane that takes over
    :param moving: what is moved
    :param params: of the module ``plane_move``: ``to_kubeconfig``, ``to_context``, ``reach_from``, ``kubectl``,
        ``ironic_namespace`` and ``ironic_deployment``
    :raises KubeError: when one of the API servers can't be asked
    """
    found = checks.same_plane(here.uid, there.uid)
    if found:
        return found, []
    found = checks.source(moving, here.kinds, here.namespace)
    # What an interrupted run has written over there before it began; its record is not there.
    found += checks.target(moving.moved, there.by_key, there.served, here.kinds)
    plane, warnings = fit_service.read(there.client, there.definitions)
    parts, others = fit.problems(plane, {}, [part.name for part in catalogue.RENDERED])
    found += parts + checks.older(fit_service.read(here.client, here.definitions)[0], plane)
    found += _forbidden(here, there, moving)
    quotas, unread = _quotas(there)
    found += checks.quotas(moving.moved, here.kinds, quotas)
    refused, untried = class_admission.problems(there, moving.moved)
    unreached, unasked = bmc_reach.from_where(there.client, moving.of("BareMetalHost"), params)
    return found + refused + unreached, warnings + others + unread + untried + unasked


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
