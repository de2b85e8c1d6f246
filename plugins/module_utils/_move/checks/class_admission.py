# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks whether a plane lets classes of clusters in, which Cluster API's webhook refuses while a feature gate is off.

A rehearsal has no webhooks, so that clusterctl would be refused in the middle, with all hosts held. Writes nothing.
Source: ``internal/webhooks/clusterclass.go`` of Cluster API 1.13.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._cluster.checks.topology import gate_problem
from ..._common.problem import Problem
from ..._kube import bulk
from ..._kube.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..objects import copies, graph
from ..objects.reading import Side

Object = dict[str, Any]

_CLASS = ("cluster.x-k8s.io", "ClusterClass")
# What is sent is never stored, so that any namespace will do where the one that is meant is not there yet.
_THERE_ALWAYS = "default"


def problems(there: Side, arriving: Iterable[Object]) -> tuple[list[Problem], list[str]]:
    """Return a problem for each ClusterClass that a plane refuses, and warnings of those that it could not be asked of.

    :param there: the plane that they would come to
    :param arriving: objects that would be created there
    :raises KubeError: when its API server can't be asked
    """
    resource = there.resources.get(_CLASS)
    classes = [obj for obj in arriving if graph.key(obj)[:2] == _CLASS and graph.key(obj) not in there.by_key
               and resource is not None and obj["apiVersion"] == resource.api_version]
    if not classes:
        return [], []
    namespace = there.namespace
    if there.client.get(KNOWN["Namespace"], None, namespace) is None:
        namespace = _THERE_ALWAYS

    def tried(obj: Object) -> Any:
        body = copies.created(obj, {})
        body["metadata"]["namespace"] = namespace
        return lambda: there.client.create(resource, namespace, body, dry_run=True)

    found, warnings = [], []
    for obj, outcome in zip(classes, bulk.run([tried(obj) for obj in classes])):
        if outcome.error is not None:
            problem = _problem(graph.title(graph.key(obj)), outcome.error)
            if problem is None:
                warnings.append(f"{graph.title(graph.key(obj))}: whether the plane takes it was not checked: "
                                f"{outcome.error.cause}")
            else:
                found.append(problem)
    return found, warnings


def _problem(title: str, error: KubeError) -> Problem | None:
    """Return what a refusal means, None when the question itself was refused."""
    switched_off = gate_problem(title, error.cause)
    if switched_off is not None:
        return switched_off._replace(
            code="move-class", actual="a class that the plane refuses",
            hint="set capi_cluster_topology: true for that plane and run the playbook install for it")
    if error.status in (400, 422):
        return Problem("move-class", title, "", error.cause, "a class that the plane's Cluster API takes",
                       "correct it, or install the same version of Cluster API in that plane")
    return None
