# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a change of a Cluster's topology makes Cluster API do to the owners of machines.

They are its own objects, so no dry run shows their change. With a class of the collection's own the description says
what becomes of them; with a class of the user all that could make Cluster API replace machines counts as if it did.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..._kube.reconcile.diff import compare
from ..description.model import ClusterDescription, Group
from ..render.objects import owners
from ..render.parts import present
from ..workflow.snapshot import Snapshot, cloned_from
from ..workflow.topology import as_plain, pools_in, pools_of, stored_pools, topology_of
from .former_copies import Copies

Object = dict[str, Any]
Objects = Mapping[str, list[Object]]

CREATE, UPDATE, UNCHANGED = "create", "update", "unchanged"
_PLANE, _POOL = "KubeadmControlPlane", "MachineDeployment"
# A name that no template has: of machines that may all be replaced.
# In place of the name of a template that only the class and Cluster API know.
UNKNOWN_TEMPLATE = "(another)"


class OwnerEntry(NamedTuple):
    """An owner of machines as ``rollout.preview`` takes it.

    :ivar name: of the owner
    :ivar action: CREATE, UPDATE or UNCHANGED
    :ivar desired: as Cluster API is to make it, with what makes machines roll
    :ivar current: as it is stored, with the class's templates in place of their copies; None when there is none
    :ivar before: what may make machines roll, as it is
    :ivar after: as it becomes
    :ivar copies: the copies of templates that a pool names again, of which its machines of before are; None for others
    """

    name: str
    action: str
    desired: Object
    current: Object | None
    before: Object
    after: Object
    copies: Copies | None = None

    @property
    def changes(self) -> bool:
        """Say whether anything becomes of it."""
        return self.action != UNCHANGED

    @property
    def takes_other_copies(self) -> bool:
        """Say whether it gets other copies of templates, of which no machine is, also not one of the same content.

        Cluster API gives each copy a name of its own (``reconcileReferencedTemplate``), and owners compare names alone
        (``MachineTemplateUpToDate`` of MachineDeployments, ``matchesInfraMachine`` of KubeadmControlPlanes).
        """
        return self.copies is None and self.current is not None and _templates(self.current) != _templates(self.desired)


class OwnerPlan(NamedTuple):
    """What a change does to the owners of machines.

    :ivar entries: OwnerEntry of each that stays or comes
    :ivar answers: ``{(kind, name): {"spec": {"replicas": number}}}``, as they are going to be
    :ivar leaving: stored MachineDeployments that Cluster API is to delete
    :ivar snapshot: workflow Snapshot, with the class's templates in place of their copies
    """

    entries: list[OwnerEntry]
    answers: dict[tuple[str, str], Object]
    leaving: list[Object]
    snapshot: Snapshot


def planned(description: ClusterDescription, entry: Any, desired: Iterable[Object], objects: Objects) -> OwnerPlan:
    """Return what a Cluster does to the owners of machines once it is written.

    What is under way when nothing of the Cluster changes was confirmed by the run that began it.

    :param description: one with a topology
    :param entry: the ``kube.plan.Entry`` of the Cluster
    :param desired: all rendered objects
    :param objects: stored objects of the namespace by kind
    """
    view = as_plain(objects)
    snapshot = Snapshot(view, description.name)
    if not entry.changes:
        return OwnerPlan([], {}, [], snapshot)
    pools = stored_pools(view, description.name)
    plane = snapshot.get(_PLANE, description.groups[0].owner) or snapshot.control_plane
    entries = _of_class(description, entry, plane, pools) if description.cluster_class else _of_own_class(
        description, entry, desired, view, plane, pools)
    answers = dict(((item.desired["kind"], item.name), {"spec": {
        "replicas": item.desired["spec"].get("replicas")}}) for item in entries)
    names = set(pool["name"] for pool in pools_of(entry.desired))
    leaving = [item for name, item in sorted(pools.items()) if name not in names]
    return OwnerPlan(entries, answers, leaving, snapshot)


def with_stored_numbers(description: ClusterDescription, desired: Iterable[Object], objects: Objects) -> list[Object]:
    """Return the rendered objects, the Cluster with the stored number of each group that is described without one.

    A number that the topology does not say becomes 1, which wipes the other machines; that of a pool with an autoscaler
    Cluster API leaves to it.

    :param desired: list of rendered objects
    :param objects: stored objects of the namespace by kind
    """
    return [_with_numbers(description, item, objects) if item["kind"] == "Cluster" else item for item in desired]


def _with_numbers(description: ClusterDescription, cluster: Object, objects: Objects) -> Object:
    snapshot = Snapshot(objects, description.name)
    counted = set(group.name for group in description.groups if group.get("replicas") is not None)
    before = dict((pool["name"], pool.get("replicas")) for pool in pools_of(snapshot.cluster))
    made = stored_pools(objects, description.name)
    topology = dict(topology_of(cluster))
    if description.groups[0].name not in counted:
        number = (topology_of(snapshot.cluster).get("controlPlane") or {}).get("replicas")
        topology["controlPlane"] = dict(topology["controlPlane"], **_number(number, snapshot.control_plane))
    if topology.get("workers"):
        topology["workers"] = {"machineDeployments": [
            pool if pool["name"] in counted or "replicas" not in pool
            else dict(pool, **_number(before.get(pool["name"]), made.get(pool["name"])))
            for pool in pools_of(cluster)]}
    return dict(cluster, spec=dict(cluster["spec"], topology=topology))


def _number(number: int | None, owner: Object | None) -> dict[str, int]:
    found = number if number is not None else ((owner or {}).get("spec") or {}).get("replicas")
    return {} if found is None else {"replicas": found}


def _of_own_class(description, cluster_entry, desired, view, plane, pools):
    config, cluster = _config_change(plane, desired, view), cluster_entry.desired
    numbers = _pool_numbers(description, cluster_entry, pools)
    entries = []
    for group, item in zip(description.groups, owners(description)):
        if group.is_control_plane:
            entries.append(_entry(item, plane, topology_of(cluster)["controlPlane"]["replicas"], config))
        else:
            entries.append(_entry(item, pools.get(group.name), numbers[group.name]))
    return entries


def _config_change(plane: Object | None, desired: Iterable[Object], view: Objects) -> tuple[Any, Any]:
    """Return the kubeadm configuration that the class gives a control plane, before and afterwards.

    The stored control plane has values of Cluster API's webhook, so the templates are compared.
    """
    path = ("spec", "template", "spec", "kubeadmConfigSpec")
    new = next(item for item in desired if item["kind"] == "KubeadmControlPlaneTemplate")
    name = cloned_from(plane)
    old = next((item for item in view.get("KubeadmControlPlaneTemplate") or []
                if item["metadata"]["name"] == name), None)
    if name == new["metadata"]["name"]:
        return at(new, path), at(new, path)
    if old is None:
        return None, at(new, path)
    difference = compare(old, new)
    return at(difference.before, path), at(difference.after, path)


def at(obj: Object, path: tuple[str, ...]) -> Any:
    """Return what is at a path of an object, an empty dict where nothing is."""
    for key in path:
        obj = obj.get(key) or {}
    return obj


def _pool_numbers(description: ClusterDescription, cluster: Any, pools: Mapping[str, Object]) -> dict[str, int]:
    """Return how many machines each pool is to have, by its name.

    :param cluster: the entry of the Cluster
    :param pools: stored MachineDeployments by their pool's name
    """
    groups = dict((group.name, group) for group in description.groups)
    before = dict((pool["name"], pool) for pool in pools_of(cluster.current))
    return dict((pool["name"], _of_pool(pool, before.get(pool["name"]), pools.get(pool["name"]),
                                        groups.get(pool["name"])))
                for pool in pools_of(cluster.desired))


def _of_pool(pool: Mapping[str, Any], before: Mapping[str, Any] | None, current: Object | None,
             group: Group | None) -> int:
    """Return how many machines a pool is to have.

    Cluster API's webhook brings the number into an autoscaler's range in the moment in which the topology stops saying
    it, and never afterwards (``calculateMachineDeploymentReplicas``).

    :param before: the pool in the stored topology
    :param group: the pool as it is described, None when it is not
    """
    if "replicas" in pool:
        return pool["replicas"]
    number = ((current or {}).get("spec") or {}).get("replicas")
    sizes = group.get("autoscaler") if group else None
    if number is None:
        return sizes["min_size"] if sizes else 1
    if not sizes or "replicas" not in (before or {}):
        return number
    return min(max(number, sizes["min_size"]), sizes["max_size"])


def size_warnings(description: ClusterDescription, cluster: Any, objects: Objects) -> list[str]:
    """Return a warning for each pool whose number of machines its autoscaler's sizes do not have.

    :param description: one with a topology
    :param cluster: the entry of the Cluster
    :param objects: stored objects of the namespace by kind
    """
    pools, groups = stored_pools(objects, description.name), dict((group.name, group) for group in description.groups)
    found = []
    for name, number in sorted(_pool_numbers(description, cluster, pools).items()):
        sizes = groups[name].get("autoscaler")
        if sizes and not sizes["min_size"] <= number <= sizes["max_size"]:
            found.append(
                f"MachineDeployment {description.name}-{name}: found {number} machines, expected "
                f"{sizes['min_size']} to {sizes['max_size']} by autoscaler; with a topology Cluster API changes their "
                "number only when the pool is handed to the autoscaler: to change it, set replicas in place of "
                "autoscaler, run, and hand the pool over again")
    return found


def _entry(item: Object, current: Object | None, number: int, config: tuple[Any, Any] | None = None) -> OwnerEntry:
    """Return the entry of an owner.

    :param config: of a control plane, what :func:`_config_change` returns
    """
    name = item["metadata"]["name"]
    desired = dict(item, spec=dict(item["spec"], replicas=number))
    after = rolling(desired)
    if current is None:
        return OwnerEntry(name, CREATE, desired, None, {}, {"spec": after})
    before = rolling(current)
    if config is not None:
        before["kubeadmConfigSpec"], after["kubeadmConfigSpec"] = config
    action = UNCHANGED if before == after else UPDATE
    return OwnerEntry(name, action, desired, current, {"spec": before}, {"spec": after})


def rolling(owner: Object) -> Object:
    """Return what of an owner's spec makes it replace machines, and their number."""
    spec = owner["spec"]
    rollout = spec.get("rollout") or {}
    times = dict((key, rollout[key]) for key in ("after", "before") if rollout.get(key))
    found = {"replicas": spec.get("replicas"), "rollout": times}
    if owner["kind"] == _PLANE:
        reference = spec["machineTemplate"]["spec"]["infrastructureRef"]
        return dict(found, version=spec.get("version"), kubeadmConfigSpec=spec.get("kubeadmConfigSpec"),
                    machineTemplate={"spec": {"infrastructureRef": {"name": reference["name"]}}})
    machine = spec["template"]["spec"]
    return dict(found, template={"spec": {
        "version": machine.get("version"), "failureDomain": machine.get("failureDomain"),
        "bootstrap": {"configRef": {"name": machine["bootstrap"]["configRef"]["name"]}},
        "infrastructureRef": {"name": machine["infrastructureRef"]["name"]}}})


def _templates(owner: Object) -> list[str]:
    """Return the names of the templates that an owner's machines are made of."""
    if owner["kind"] == _PLANE:
        return [owner["spec"]["machineTemplate"]["spec"]["infrastructureRef"]["name"]]
    machine = owner["spec"]["template"]["spec"]
    return [machine["infrastructureRef"]["name"], machine["bootstrap"]["configRef"]["name"]]


def described_otherwise(description: ClusterDescription, entry: Any, plan: OwnerPlan) -> set[str]:
    """Return the names of the owners of which a Cluster says something else than before, apart from their number.

    :param entry: the ``kube.plan.Entry`` of the Cluster
    :param plan: what :func:`planned` returns for it
    """
    stored, wanted = entry.current, entry.desired
    if not entry.changes or stored is None:
        return set()
    found = set(item.name for item in plan.entries if any(
        (item.before.get("spec") or {}).get(key) != value for key, value in item.after["spec"].items()
        if key != "replicas"))
    if _differs(stored, wanted, lambda topology: {"controlPlane": _of_group(topology.get("controlPlane"))}):
        found.add(description.groups[0].owner)
    return found | set(f"{description.name}-{pool['name']}" for pool in pools_of(wanted) if _differs(
        stored, wanted, functools.partial(_pool, pool["name"])))


def _of_group(group: Mapping[str, Any] | None) -> Object:
    # The metadata names the class, which is another one when anything of any group changes.
    return dict((key, value) for key, value in (group or {}).items() if key not in ("replicas", "metadata"))


def _pool(name: str, topology: Mapping[str, Any]) -> Object:
    return {"workers": {"machineDeployments": [_of_group(pool) for pool in pools_in(topology) if pool["name"] == name]}}


def _of_class(description, entry, plane, pools):
    stored, cluster = entry.current, entry.desired
    shared = stored is None or _differs(stored, cluster, _shared)
    numbers = _pool_numbers(description, entry, pools)
    entries = [_of_class_entry(
        description.groups[0].owner, _PLANE, plane, topology_of(cluster)["controlPlane"].get("replicas"),
        shared or _differs(stored, cluster, lambda topology: {
            "controlPlane": _that_rolls(topology.get("controlPlane"))}), topology_of(cluster)["controlPlane"])]
    for pool in pools_of(cluster):
        rolls = shared or _differs(stored, cluster, functools.partial(_pool_that_rolls, pool["name"]))
        entries.append(_of_class_entry(
            f"{description.name}-{pool['name']}", _POOL, pools.get(pool["name"]), numbers[pool["name"]],
            rolls, pool))
    return entries


def _shared(topology: Mapping[str, Any]) -> Object:
    return dict((key, topology[key]) for key in ("classRef", "version", "variables") if key in topology)


def _that_rolls(group: Mapping[str, Any] | None) -> Object:
    keys = ("name", "class", "variables", "failureDomain")
    return dict((key, value) for key, value in (group or {}).items() if key in keys)


def _pool_that_rolls(name: str, topology: Mapping[str, Any]) -> Object:
    return {"workers": {"machineDeployments": [
        _that_rolls(pool) for pool in pools_in(topology) if pool["name"] == name]}}


def _differs(stored: Object, wanted: Object, part: Callable[[Mapping[str, Any]], Object]) -> bool:
    """Say whether an apply changes a part of a topology; the webhook's defaults of variables are no change."""
    before, after = (dict(item, spec={"topology": part(topology_of(item))}) for item in (stored, wanted))
    return compare(before, after).differs


def _of_class_entry(name: str, kind: str, current: Object | None, number: int | None, rolls: bool,
                    group: Mapping[str, Any]) -> OwnerEntry:
    """Return the entry of an owner whose templates only the class and Cluster API know.

    :param number: of its machines, None for the stored one
    :param rolls: whether anything changes that may replace its machines
    :param group: the owner in the topology, with the time after which machines stay
    """
    if current is None:
        created = {"kind": kind, "metadata": {"name": name}, "spec": {"replicas": 1 if number is None else number}}
        return OwnerEntry(name, CREATE, created, None, {}, {})
    spec = current["spec"]
    inner = "machineTemplate" if kind == _PLANE else "template"
    machine = dict(spec[inner]["spec"])
    if rolls:
        machine["infrastructureRef"] = dict(machine["infrastructureRef"], name=UNKNOWN_TEMPLATE)
    replicas = spec.get("replicas") if number is None else number
    # Without a time nothing is replaced, also where there was one; how many at once says nothing of whether.
    after = present({"after": (group.get("rollout") or {}).get("after")})
    desired = dict(current, spec=dict(spec, **{
        "replicas": replicas, "rollout": dict(spec.get("rollout") or {}, **after),
        inner: dict(spec[inner], spec=machine)}))
    before, after = ({"spec": rolling(item)} for item in (current, desired))
    return OwnerEntry(current["metadata"]["name"], UNCHANGED if before == after else UPDATE, desired, current, before,
                      after)
