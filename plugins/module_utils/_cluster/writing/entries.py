# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of a cluster and their entries: their names in messages and results, and the order of writing."""
from __future__ import annotations

from typing import Any

from ..._common.redaction.redaction import hidden
from ..._kube.objects.finalizers import is_going
from ..._kube.objects.titles import title_of
from ..._kube.reconcile.plan import DONE, Entry
from ..._kube.reconcile.reconcile import Written

Object = dict[str, Any]

# The Cluster first: IPAM and CAPM3 look for it when they see what names it. Owners of machines after their templates.
_LAST_KINDS = ("KubeadmControlPlane", "MachineDeployment", "Machine", "MachineHealthCheck")
_TEMPLATES_OF_CLASS = ("Metal3ClusterTemplate", "KubeadmControlPlaneTemplate", "Metal3MachineTemplate",
                       "KubeadmConfigTemplate")


def waves(entries: list[Entry], by_topology: bool) -> list[list[Entry]]:
    """Return entries in the groups that are written one after another.

    With a topology a class comes after its templates and before the Cluster, which begins to follow it at once. A new
    Cluster comes before what looks for it; one that is there after all that its new class needs.
    """
    order: list[tuple[str, ...] | None]
    if not by_topology:
        order = [("Cluster",), None, _LAST_KINDS]
    elif any(entry.resource.kind == "Cluster" and entry.current is None for entry in entries):
        order = [_TEMPLATES_OF_CLASS, ("ClusterClass",), ("Cluster",), None]
    else:
        order = [None, ("ClusterClass",), ("Cluster",)]
    named = [kind for kinds in order if kinds for kind in kinds]
    return [[entry for entry in entries if (kinds and entry.resource.kind in kinds)
             or (not kinds and entry.resource.kind not in named)] for kinds in order]


def entry_title(entry: Entry) -> str:
    """Return how messages name the object of an entry; all are of one namespace."""
    return f"{entry.resource.kind} {entry.name}"


def entry_result(entry: Entry) -> dict[str, str]:
    """Return what a result says of an entry that was written."""
    return {"kind": entry.resource.kind, "name": entry.name, "action": DONE[entry.action]}


def removal_difference(item: Object) -> Object:
    """Return the difference that the deletion of a stored object makes."""
    return {"before_header": title_of(item), "after_header": "",
            "before": {"spec": hidden(item.get("spec") or {})}, "after": {}}


def is_in_use(outcome: Written) -> bool:
    """Say whether a class was not deleted because Cluster API's webhook has not learned that its Cluster is gone."""
    return outcome.entry.resource.kind == "ClusterClass" and outcome.error is not None and outcome.error.status == 403 \
        and "is used by Cluster" in outcome.error.message


def goes(answer: Any) -> bool:
    """Say whether an object is gone or going, by the answer to its DELETE or the object that a decision left as is."""
    return not isinstance(answer, dict) or is_going(answer)
