# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Cluster that goes back to its topology of before does to the owners of machines.

One topology is of all owners: those that were done before the rollout was stopped go back, too.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._kube.objects.finalizers import is_going
from ..description.model import ClusterDescription
from ..workflow.rollout_stop import is_stopped
from ..workflow.snapshot import Snapshot, cloned_from
from ..workflow.topology import COPIED_KINDS, as_plain, copied_from, pools_of, stored_pools, topology_of
from .former_copies import Copies, found
from .topology_owners import (
    UNCHANGED,
    UNKNOWN_TEMPLATE,
    UPDATE,
    Object,
    Objects,
    OwnerEntry,
    OwnerPlan,
    at,
    planned,
    rolling,
)


def planned_back(description: ClusterDescription, entry: Any, _desired: Iterable[Object],
                 objects: Objects) -> OwnerPlan:
    """Return what a Cluster with a topology of before does to the owners of machines, as ``topology_owners.planned``.

    Their numbers stay, and no pool comes or goes.

    :param entry: the ``kube.plan.Entry`` of the Cluster
    :param objects: stored objects of the namespace by kind
    """
    if description.cluster_class:
        # Of a user's class the topology alone says what may replace machines.
        return planned(description, entry, [], objects)
    view = as_plain(objects)
    snapshot = Snapshot(view, description.name)
    # Also of a Cluster that has its class of before already: owners that are still stopped may not be as it says.
    of_class, copies = _class_of(entry.desired, view), copies_of(description, entry.desired, objects)
    entries = [_plane(snapshot.control_plane, of_class.get("controlPlane") or {}, view)] \
        if snapshot.control_plane else []
    pools, classes = stored_pools(view, description.name), _pool_classes(of_class)
    entries += [_pool(pools[pool["name"]], classes.get(pool.get("class", "")) or {},
                      copies.get(pools[pool["name"]]["metadata"]["name"]))
                for pool in pools_of(entry.desired) if pool["name"] in pools]
    answers = dict(((item.desired["kind"], item.name), {"spec": {
        "replicas": item.desired["spec"].get("replicas")}}) for item in entries)
    return OwnerPlan(entries, answers, [], snapshot)


def copies_of(description: ClusterDescription, cluster: Object, objects: Objects) -> dict[str, Copies]:
    """Return the copies of templates that stopped pools name again, by the names of their MachineDeployments.

    Of a user's class nobody but Cluster API knows what its patches make of a template.

    :param cluster: the Cluster as it goes back
    :param objects: stored objects of the namespace by kind
    """
    if description.cluster_class:
        return {}
    pools, classes = stored_pools(objects, description.name), _pool_classes(_class_of(cluster, objects))
    snapshot, result = Snapshot(dict(objects), description.name), {}
    sources = copied_from(dict((kind, [item for item in objects.get(kind) or [] if not is_going(item)])
                               for kind in COPIED_KINDS))
    for entry in pools_of(cluster):
        pool = pools.get(entry["name"])
        copies = found(pool, classes.get(entry.get("class", "")) or {}, snapshot, sources) \
            if pool is not None and is_stopped(pool) else None
        if pool is not None and copies is not None:
            result[pool["metadata"]["name"]] = copies
    return result


def _class_of(cluster: Object, objects: Objects) -> Object:
    name = topology_of(cluster)["classRef"]["name"]
    return next((item["spec"] for item in objects.get("ClusterClass") or [] if item["metadata"]["name"] == name), {})


def _pool_classes(of_class: Mapping[str, Any]) -> dict[str, Object]:
    return dict((item["class"], item) for item in (of_class.get("workers") or {}).get("machineDeployments") or [])


def _plane(current: Object, of_class: Mapping[str, Any], view: Objects) -> OwnerEntry:
    inner = current["spec"]["machineTemplate"]
    machine = dict(inner["spec"], infrastructureRef=_named(inner["spec"]["infrastructureRef"],
                                                           of_class.get("machineInfrastructure")))
    desired = dict(current, spec=dict(current["spec"], machineTemplate=dict(inner, spec=machine)))
    before, after = rolling(current), rolling(desired)
    templates = dict((item["metadata"]["name"], item) for item in view.get("KubeadmControlPlaneTemplate") or [])
    # The stored control plane has values of Cluster API's webhook, so the templates are compared.
    path = ("spec", "template", "spec", "kubeadmConfigSpec")
    name, wanted = cloned_from(current), (of_class.get("templateRef") or {}).get("name")
    known = name in templates and wanted in templates
    before["kubeadmConfigSpec"], after["kubeadmConfigSpec"] = \
        [at(templates[item], path) for item in (name, wanted)] if known and name != wanted else [name, wanted]
    return OwnerEntry(current["metadata"]["name"], UNCHANGED if before == after else UPDATE, desired, current,
                      {"spec": before}, {"spec": after})


def _pool(current: Object, of_class: Mapping[str, Any], copies: Copies | None) -> OwnerEntry:
    template = current["spec"]["template"]
    bootstrap = template["spec"]["bootstrap"]
    machine = dict(
        template["spec"],
        infrastructureRef=_named(template["spec"]["infrastructureRef"], of_class.get("infrastructure")),
        bootstrap=dict(bootstrap, configRef=_named(bootstrap["configRef"], of_class.get("bootstrap"))))
    desired = dict(current, spec=dict(current["spec"], template=dict(template, spec=machine)))
    before, after = rolling(current), rolling(desired)
    return OwnerEntry(current["metadata"]["name"], UNCHANGED if before == after else UPDATE, desired, current,
                      {"spec": before}, {"spec": after}, copies)


def _named(reference: Mapping[str, Any], part: Mapping[str, Any] | None) -> Object:
    """Return a reference to the template that a part of a class names; what is not known counts as another one."""
    return dict(reference, name=((part or {}).get("templateRef") or {}).get("name") or UNKNOWN_TEMPLATE)
