# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks an API server what its user may do, before a move that would stop half way."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from ..._kube.api import bulk
from ..._kube.kinds.resources import KNOWN, Resource
from ..objects.reading import Side

# What clusterctl does with each object where it comes from and where it goes to (``mover.go``).
LETS_GO = ("get", "list", "patch", "delete")
TAKES_OVER = ("get", "list", "create", "update", "patch")
# Of ``plane_scale``, with a Deployment.
SCALES = ("get", "list", "patch")
# A program is run in a pod.
EXEC = "pods/exec"
_PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_ALL = "*"
_SHOWN = 12


class Right(NamedTuple):
    """What somebody may do.

    :ivar verb: for example ``create``
    :ivar group: API group, empty for Kubernetes' own
    :ivar plural: name of the kind in paths, with a subresource after a slash
    :ivar namespace: name of the namespace, or None for the whole cluster
    """

    verb: str
    group: str
    plural: str
    namespace: str | None

    def __str__(self) -> str:
        name = f"{self.plural}.{self.group}" if self.group else self.plural
        return f"{self.verb} {name}" + ("" if self.namespace else " in the whole cluster")


def rights(verbs: Iterable[str], resources: Iterable[Resource], namespace: str) -> list[Right]:
    """Return the rights to do something with each of several kinds.

    :param verbs: as :data:`LETS_GO`
    :param resources: the kinds
    :param namespace: name of the namespace
    """
    verbs = list(verbs)
    return [Right(verb, resource.group, resource.plural, namespace) for resource in resources for verb in verbs]


def namespace_rights(side: Side) -> list[Right]:
    """Return the right to create the namespace of a plane, none when it is there.

    :raises KubeError: when the API server can't be asked
    """
    return [] if side.has_namespace() else [Right("create", "", KNOWN["Namespace"].plural, None)]


def problems(client: Any, wanted: list[Right], option: str) -> list[Problem]:
    """Return a problem when the user of a kubeconfig lacks rights.

    :param client: a KubeClient
    :param wanted: the rights
    :param option: which kubeconfig it is, as the user wrote it
    :raises KubeError: when the API server can't be asked
    """
    if not wanted or _allowed(client, Right(_ALL, _ALL, _ALL, None)):
        return []
    outcomes = bulk.run([_asker(client, right) for right in wanted])
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    lacking = [str(right) for right, outcome in zip(wanted, outcomes) if not outcome.value]
    if not lacking:
        return []
    namespace = next((right.namespace for right in wanted if right.namespace), None)
    return [Problem("move-forbidden", option, "", f"a user who may not {few(lacking, _SHOWN)}",
                    f"one who may, in namespace {namespace} of {client.server}",
                    "grant these rights, or use the kubeconfig of an administrator")]


def _asker(client: Any, right: Right) -> Callable[[], bool]:
    return lambda: _allowed(client, right)


def _allowed(client: Any, right: Right) -> bool:
    plural, _slash, subresource = right.plural.partition("/")
    attributes = {"verb": right.verb, "group": right.group, "resource": plural}
    if subresource:
        attributes["subresource"] = subresource
    if right.namespace:
        attributes["namespace"] = right.namespace
    answer = client.request("POST", _PATH, body={
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes}}, subject="SelfSubjectAccessReview")
    status = answer.get("status")
    return isinstance(status, dict) and status.get("allowed") is True
