# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cluster_template gives of a cluster: its objects, and those by which Cluster API brings its manifests."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from ..._manifests import documents
from ..checks.addon import addon_problems, addon_warnings
from ..checks.validation import Checked
from ..description.model import ClusterDescription
from ..render.addon import addon_objects
from ..render.parts import VERSION
from . import resource_set

Object = dict[str, Any]

_SHOWN = 4


class Templated(NamedTuple):
    """A cluster's manifests.

    :ivar objects: of the management cluster, in the order in which they are best written, without Secrets
    :ivar addon: what somebody else has to bring into the cluster itself, the network add-on of the options
    :ivar warnings: lines
    """

    objects: list[Object]
    addon: list[Object]
    warnings: list[str]


def templated(checked: Checked, manifests: list[Any], strategy: str,
              names: Mapping[str, str] | None = None) -> Templated:
    """Return the objects of a cluster and of the ClusterResourceSet that brings its manifests.

    :param checked: a description without mistakes
    :param manifests: see ``documents.read``; they are read only for a strategy
    :param strategy: one of :data:`resource_set.CHOICES`
    :param names: how messages name options, see ``problem.renamed``
    :raises RefusedError: when the manifests have mistakes
    """
    description, addon = checked.description, addon_objects(checked.description)
    if strategy == resource_set.NONE:
        return Templated(checked.objects, addon, [])
    found, problems = documents.read([*addon, *manifests])
    problems = problems + _version(description, strategy) + resource_set.problems(description.subject, found) \
        + addon_problems(description, found)
    if problems:
        raise RefusedError(problems, names)
    made = resource_set.objects(description.namespace, description.name, strategy, found)
    secrets = [item for item in made if item["kind"] == "Secret"]
    return Templated([*checked.objects, *(item for item in made if item not in secrets)], [],
                     [*addon_warnings(description, found), *(_left_out(description, item) for item in secrets)])


def _version(description: ClusterDescription, strategy: str) -> list[Problem]:
    if description.api_version == VERSION:
        return []
    return [Problem("resource-set-unknown", description.subject, "resource_set", strategy,
                    f"{resource_set.NONE} with api_version: {description.api_version}",
                    f"leave it out, or upgrade Cluster API to one with {VERSION} and leave api_version out")]


def _left_out(description: ClusterDescription, secret: Object) -> str:
    return (f"{description.subject}: the Secret {secret['metadata']['name']} is not written, because it has Secrets of "
            f"the manifests ({few(resource_set.held(secret), _SHOWN)}): create it with them in the namespace "
            f"{description.namespace}, with the type {secret['type']}, by what your repository keeps secrets with; "
            "until then Cluster API brings the rest")
