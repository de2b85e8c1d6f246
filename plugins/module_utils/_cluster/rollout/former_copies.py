# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The copies of a class's templates that the machines of a topology's pool were made of; pure.

Cluster API names a copy otherwise whenever its content changes (``reconcileReferencedTemplate``). A MachineDeployment
compares names alone (``MachineTemplateUpToDate``). So a pool that gets its content of before replaces all machines,
unless it names the copies of then. These stay as long as a MachineSet has them, and Cluster API keeps a copy that is
named and has the right content. Of a control plane it deletes the copy of before.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._kube.objects.finalizers import is_going
from ..workflow.rollout_stop import sets_of
from ..workflow.snapshot import Snapshot

Object = dict[str, Any]


class Copies(NamedTuple):
    """Names of the copies of one pool's templates.

    :ivar infrastructure: of the Metal3MachineTemplate
    :ivar bootstrap: of the KubeadmConfigTemplate
    """

    infrastructure: str
    bootstrap: str


def found(pool: Object, of_class: Mapping[str, Any], snapshot: Snapshot,
          sources: Mapping[tuple[str, str], str | None]) -> Copies | None:
    """Return the copies of a class's templates that one of a pool's MachineSets has, None when none has them.

    :param pool: stored MachineDeployment
    :param of_class: the pool's class in the ClusterClass
    :param snapshot: workflow Snapshot of the cluster, with copies as they are
    :param sources: of which templates the copies are that stay, as ``topology.copied_from`` returns it
    """
    wanted = [((of_class.get(part) or {}).get("templateRef") or {}) for part in ("infrastructure", "bootstrap")]
    candidates = []
    for item in sets_of(snapshot, pool["metadata"]["name"]):
        references = _references(item)
        if not is_going(item) and references != _references(pool) and all(
                reference.get("kind") == source.get("kind") and source.get("name")
                and sources.get((str(reference.get("kind")), str(reference.get("name")))) == source["name"]
                for reference, source in zip(references, wanted)):
            candidates.append(((item.get("spec") or {}).get("replicas") or 0, item["metadata"]["name"], references))
    if not candidates:
        return None
    infrastructure, bootstrap = max(candidates, key=lambda entry: entry[:2])[2]
    return Copies(infrastructure["name"], bootstrap["name"])


def has_copies(pool: Object, copies: Copies) -> bool:
    """Say whether a MachineDeployment names copies."""
    return [reference.get("name") for reference in _references(pool)] == list(copies)


def given_back(copies: Copies) -> Object:
    """Return the merge patch after which a MachineDeployment names these copies."""
    return {"spec": {"template": {"spec": {
        "infrastructureRef": {"name": copies.infrastructure},
        "bootstrap": {"configRef": {"name": copies.bootstrap}}}}}}


def _references(owner: Object) -> list[Mapping[str, Any]]:
    """Return the references of a MachineDeployment's or MachineSet's template, infrastructure first."""
    spec = ((owner.get("spec") or {}).get("template") or {}).get("spec") or {}
    return [spec.get("infrastructureRef") or {}, (spec.get("bootstrap") or {}).get("configRef") or {}]
