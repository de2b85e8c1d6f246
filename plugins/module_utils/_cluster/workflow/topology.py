# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters that Cluster API makes of a ClusterClass: what is theirs, how far it is, and they as plain ones; pure.

Source: Cluster API 1.13, ``exp/topology/desiredstate`` and ``internal/controllers/topology/cluster``.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..._kube.objects.conditions import condition
from ..._kube.objects.titles import title_of
from .snapshot import CLONED_FROM, CLUSTER_LABEL, cloned_from

if TYPE_CHECKING:
    from ..description.model import ClusterDescription, Group

Object = Mapping[str, Any]
Objects = Mapping[str, list[dict[str, Any]]]

# On the owners of machines: the class that Cluster API has made them of. It writes it with the names of their
# templates, so that it says whether they follow a change already.
CLASS_ANNOTATION = "metal3.baremetal/cluster-class"
OWNED_LABEL = "topology.cluster.x-k8s.io/owned"
POOL_LABEL = "topology.cluster.x-k8s.io/deployment-name"
RECONCILED = "TopologyReconciled"
COPIED_KINDS = ("Metal3MachineTemplate", "KubeadmConfigTemplate")


def is_by_topology(cluster: Object | None) -> bool:
    """Say whether a Cluster has a topology."""
    return bool(topology_of(cluster))


def topology_of(cluster: Object | None) -> Object:
    """Return the topology of a Cluster, an empty one for a plain cluster."""
    return ((cluster or {}).get("spec") or {}).get("topology") or {}


def is_made_of_topology(item: Object) -> bool:
    """Say whether Cluster API has made an object of a topology, and takes it away itself.

    It labels the Cluster so, too, and what it copies of a template has that template's labels.
    """
    return item["kind"] != "Cluster" and OWNED_LABEL in (item["metadata"].get("labels") or {})


def pools_of(cluster: Object | None) -> list[Object]:
    """Return the pools of workers in a Cluster's topology."""
    return pools_in(topology_of(cluster))


def pools_in(topology: Object) -> list[Object]:
    """Return the pools of workers in a topology."""
    return list((topology.get("workers") or {}).get("machineDeployments") or [])


def stored_pools(objects: Objects, name: str) -> dict[str, dict[str, Any]]:
    """Return the MachineDeployments of a cluster's topology by the name of their pool.

    :param objects: stored objects of the namespace by kind
    :param name: of the cluster
    """
    found = {}
    for item in objects.get("MachineDeployment") or []:
        labels = item["metadata"].get("labels") or {}
        if labels.get(CLUSTER_LABEL) == name and labels.get(POOL_LABEL):
            found[labels[POOL_LABEL]] = item
    return found


def kept_pools(description: ClusterDescription, cluster: Object | None, prune: bool) -> list[str]:
    """Return the pools of a Cluster's topology that a description has not, and that are not to go by it.

    :param cluster: the stored Cluster
    :param prune: whether what is not described any more goes
    """
    if prune and not description.keeps_workers:
        return []
    known = {*description.workers, *description.absent_workers}
    return sorted(pool["name"] for pool in pools_of(cluster) if pool["name"] not in known)


def is_observed(cluster: Object | None, wanted: Object) -> bool:
    """Say whether Cluster API has looked at a Cluster since it has had its class.

    :param cluster: the stored Cluster
    :param wanted: the Cluster with the class
    """
    generation = ((cluster or {}).get("metadata") or {}).get("generation") or 0
    return topology_of(cluster).get("classRef", {}).get("name") == topology_of(wanted)["classRef"]["name"] and (
        condition(cluster, RECONCILED).get("observedGeneration") or 0) >= generation


def missing(cluster: Object | None, owners: Iterable[Object]) -> str | None:
    """Return what Cluster API has not yet made of a Cluster's topology, in words, or None.

    :param owners: KubeadmControlPlane and MachineDeployments of the cluster
    """
    topology = topology_of(cluster)
    if not topology or cluster is None:
        return None
    state = condition(cluster, RECONCILED)
    if (state.get("observedGeneration") or 0) < (cluster["metadata"].get("generation") or 0):
        return "the Cluster's topology is not observed yet"
    if state.get("status") != "True":
        return "the Cluster's topology is not reconciled: %s" % " ".join(
            (state.get("message") or state.get("reason") or "no reason given").split())
    owners = list(owners)
    made = [(owner["metadata"].get("labels") or {}).get(POOL_LABEL) for owner in owners]
    lacking = [pool["name"] for pool in pools_of(cluster) if pool["name"] not in made]
    if lacking:
        return f"pool {lacking[0]} has no MachineDeployment yet"
    return next(filter(None, (_behind(topology, owner) for owner in owners)), None)


def is_upgrading(cluster: Object | None, owners: Iterable[Object]) -> bool:
    """Say whether an owner has another version than its Cluster's topology: Cluster API puts these in an order itself.

    :param cluster: as it is, or as it is to be written
    :param owners: KubeadmControlPlane and MachineDeployments of the cluster
    """
    version = topology_of(cluster).get("version")
    return any(_version_of(owner) != version for owner in owners)


def described_name(owner: Object, description: ClusterDescription) -> str:
    """Return the name by which a description knows an owner: a class of the user's may give it another one."""
    if owner["kind"] == "KubeadmControlPlane":
        return description.groups[0].owner
    pool = (owner["metadata"].get("labels") or {}).get(POOL_LABEL)
    return f"{description.name}-{pool}" if pool else owner["metadata"]["name"]


def names_of(owner: Object, description: ClusterDescription) -> set[str]:
    """Return the names by which an owner is known: its own and its description's."""
    return {owner["metadata"]["name"], described_name(owner, description)}


def groups_of(description: ClusterDescription, owners: Iterable[Object]) -> dict[str, Group]:
    """Return the described groups by the names of their owners: those of the description, and those that are stored.

    :param owners: stored KubeadmControlPlane and MachineDeployments of the cluster
    """
    found = dict((group.owner, group) for group in description.groups)
    stored = dict((owner["metadata"]["name"], found.get(described_name(owner, description))) for owner in owners)
    return dict(found, **dict((name, group) for name, group in stored.items() if group is not None))


def _version_of(owner: Object) -> str | None:
    spec = owner.get("spec") or {}
    if owner["kind"] != "KubeadmControlPlane":
        spec = (spec.get("template") or {}).get("spec") or {}
    return spec.get("version")


def _behind(topology: Object, owner: Object) -> str | None:
    """Return what an owner of machines has not taken up; its events may come after that of the Cluster."""
    is_plane = owner["kind"] == "KubeadmControlPlane"
    pool = (owner["metadata"].get("labels") or {}).get(POOL_LABEL)
    wanted = topology.get("controlPlane") or {} if is_plane else next(
        (item for item in pools_in(topology) if item["name"] == pool), None)
    name = title_of(owner)
    if wanted is None:
        return f"{name} is to be deleted"
    spec = owner.get("spec") or {}
    pairs = [(_version_of(owner), topology.get("version"))]
    if wanted.get("replicas") is not None:
        pairs.append((spec.get("replicas"), wanted["replicas"]))
    noted = ((wanted.get("metadata") or {}).get("annotations") or {}).get(CLASS_ANNOTATION)
    if noted:
        pairs.append(((owner["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION), noted))
    return f"{name} does not follow the topology yet" if any(found != due for found, due in pairs) else None


def copied_from(objects: Objects) -> dict[tuple[str, str], str | None]:
    """Return of which template of the class each copy of one is: ``{(kind, name): name of the template}``.

    :param objects: stored objects of the namespace by kind
    """
    return dict(((kind, item["metadata"]["name"]), cloned_from(item)) for kind in COPIED_KINDS
                for item in objects.get(kind) or [] if is_made_of_topology(item))


def as_plain(objects: Objects) -> dict[str, list[dict[str, Any]]]:
    """Return stored objects in which owners and machines refer to the class's templates instead of copies of them.

    So what compares plain clusters with their description compares these, too.

    :param objects: stored objects of the namespace by kind
    """
    names = copied_from(objects)
    result = dict(objects)
    for kind, copied in (("Metal3Machine", "Metal3MachineTemplate"), ("KubeadmConfig", "KubeadmConfigTemplate")):
        result[kind] = [_cloned(item, names.get((copied, cloned_from(item)))) for item in objects.get(kind) or []]
    result["KubeadmControlPlane"] = [_with_names(item, ("machineTemplate",), names)
                                     for item in objects.get("KubeadmControlPlane") or []]
    result["MachineDeployment"] = [_with_names(item, ("template",), names)
                                   for item in objects.get("MachineDeployment") or []]
    return result


def _cloned(item: dict[str, Any], name: str | None) -> dict[str, Any]:
    if name is None:
        return item
    annotations = dict(item["metadata"]["annotations"], **{CLONED_FROM: name})
    return dict(item, metadata=dict(item["metadata"], annotations=annotations))


def _with_names(item: dict[str, Any], path: tuple[str, ...],
                names: Mapping[tuple[str, str], str | None]) -> dict[str, Any]:
    """Return an owner whose references name the templates that the named ones are copies of."""
    def renamed(node: Any) -> Any:
        if isinstance(node, dict):
            name = names.get((str(node.get("kind")), str(node.get("name"))))
            return dict(node, name=name) if name else dict((key, renamed(value)) for key, value in node.items())
        return node

    spec = item.get("spec") or {}
    return dict(item, spec=dict(spec, **dict((key, renamed(spec[key])) for key in path if key in spec)))


def with_stored_class(cluster: dict[str, Any], stored: Object | None) -> dict[str, Any]:
    """Return a Cluster that a dry run can take: with the stored class in place of one that is not there yet.

    Without the pools that the stored class has not.

    :param cluster: the Cluster as it is to be written; another object is returned as it is
    :param stored: the Cluster as it is stored, or None
    """
    before, after = topology_of(stored), topology_of(cluster)
    if not before or not after or not noted_class(cluster) \
            or before.get("classRef", {}).get("name") == after["classRef"]["name"]:
        return cluster
    known = set(pool.get("class") for pool in pools_of(stored))
    topology = dict(after, classRef={"name": before["classRef"]["name"]})
    pools = [pool for pool in pools_of(cluster) if pool.get("class") in known]
    topology.pop("workers", None)
    if pools:
        topology["workers"] = {"machineDeployments": pools}
    return dict(cluster, spec=dict(cluster["spec"], topology=topology))


def with_class_of(answer: dict[str, Any], cluster: Object) -> dict[str, Any]:
    """Return the answer to the dry run of :func:`with_stored_class`, with the class that the Cluster is to have."""
    topology = dict(topology_of(answer), classRef=topology_of(cluster)["classRef"])
    return dict(answer, spec=dict(answer["spec"], topology=topology))


def noted_class(cluster: Object | None) -> str | None:
    """Return the class that a Cluster's topology notes on the owners of machines; only a class of its own is noted."""
    metadata = (topology_of(cluster).get("controlPlane") or {}).get("metadata") or {}
    return (metadata.get("annotations") or {}).get(CLASS_ANNOTATION)
