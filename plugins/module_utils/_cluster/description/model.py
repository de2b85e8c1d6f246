# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster is to be: the complete description, and its groups of machines, pools and domains; pure.

``reader.read`` makes it of what the user wrote. What follows from it is computed once, when it is first asked for.
"""
from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from ..._common.addresses import ip_texts
from ..._common.addresses.virtual_router import DEFAULT_NUMBER, VirtualRouter
from ..._ipam.options import pool_options
from .spec import KEEPALIVED, OF_OWNERS, machine_options

CONTROL_PLANE = "control-plane"
WORKER = "worker"
STANDALONE = "standalone"
FAMILIES = ("ipv4", "ipv6")
# Lists of several levels are joined; one level's value of these replaces the other's instead.
_REPLACED = ("attached_networks", "ntp_servers", "host_selector_expressions", "image", "health_check", "network_data",
             "disk_setup")
# Fields of a Metal3DataTemplate whose value is the name of an IPPool.
_NAMES_OF_POOLS = ("ipAddressFromIPPool", "fromIPPool", "dnsFromIPPool")
# What else may name one than the networks, as CAPM3 takes it.
_AS_CAPM3_TAKES_IT = ("metadata", "network_data")
# A whole cluster has no such option.
_ONLY_OF_GROUPS = ("failure_domain", "certificate_renewal_days", "machine_class", "class_variables")


class PoolUse(NamedTuple):
    """A network that takes addresses of one family from a pool.

    :param network: name of the network
    :param family: ``ipv4`` or ``ipv6``
    :param settings: the network's options of that family
    :param pool: name of the IPPool
    """

    network: str
    family: str
    settings: Mapping[str, Any]
    pool: str


@dataclass(frozen=True)
class Group:
    """The control plane, a pool of workers or a standalone machine.

    :param cluster: name of the cluster
    :param role: CONTROL_PLANE, WORKER or STANDALONE
    :param name: of the pool of workers or of the standalone machine, CONTROL_PLANE for the control plane
    :param options: every option of ``spec.group_options``; one that is not set is None or missing
    """

    cluster: str
    role: str
    name: str
    options: Mapping[str, Any]

    def get(self, option: str) -> Any:
        """Return the value of an option, None when it is not set."""
        return self.options.get(option)

    @property
    def is_control_plane(self) -> bool:
        """Say whether these machines are the control plane."""
        return self.role == CONTROL_PLANE

    @property
    def is_standalone(self) -> bool:
        """Say whether this is one machine that nothing owns."""
        return self.role == STANDALONE

    @property
    def field(self) -> str:
        """Return the path of the option that describes the group."""
        return "control_plane" if self.is_control_plane else \
            f"{'standalone_machines' if self.is_standalone else 'workers'}.{self.name}"

    @property
    def owner(self) -> str:
        """Return the name of the group's KubeadmControlPlane, MachineDeployment or standalone Machine."""
        return f"{self.cluster}-{self.name}"

    @property
    def owner_kind(self) -> str:
        """Return the kind of the object that owns the group's machines."""
        return "KubeadmControlPlane" if self.is_control_plane else "Machine" if self.is_standalone \
            else "MachineDeployment"

    @property
    def initial_replicas(self) -> int:
        """Return how many machines a new group begins with: those described, else what Cluster API's webhook sets.

        The same for a control plane, whose number the webhook requires.
        """
        if self.get("replicas") is not None:
            return self.get("replicas")
        return (self.get("autoscaler") or {}).get("min_size", 1)

    @property
    def largest_replicas(self) -> int | None:
        """Return how many machines a group can have, None when the description does not say it."""
        if self.get("replicas") is not None:
            return self.get("replicas")
        return (self.get("autoscaler") or {}).get("max_size")


@dataclass(frozen=True)
class ClusterDescription:
    """What the user wants of a cluster, with defaults; documented in the fragment ``cluster``.

    :param machines: the machine options of the whole cluster, which apply to all groups
    :param control_plane: the control plane's own options
    :param workers: own options of each pool of workers by its name
    :param networks: options of each network by its name
    :param keeps_workers: whether stored pools stay that ``workers`` does not name, because it names none at all
    :param absent_workers: names of the pools of workers that are to go
    :param standalone_machines: options of each standalone machine by its name
    :param keeps_standalone_machines: as ``keeps_workers``, for standalone machines
    :param absent_standalone_machines: names of the standalone machines that are to go
    """

    name: str
    namespace: str
    provider: str
    metalstack: dict[str, Any] | None
    api_version: str
    topology: bool | None
    cluster_class: dict[str, Any] | None
    kubernetes_version: str | None
    endpoint: dict[str, Any] | None
    network_addon: str
    flannel: dict[str, Any] | None
    image_registry: str | None
    pod_cidrs: list[str]
    service_cidrs: list[str]
    service_domain: str
    cloud_provider_enabled: bool
    provider_id_by_kubelet: bool
    failure_domains: list[dict[str, Any]] | None
    label_sync_prefixes: list[str] | None
    node_name: str
    node_ip_network: str | None
    supported_links: list[str] | None
    registry_mirrors: list[dict[str, Any]] | None
    networks: dict[str, dict[str, Any]]
    machines: dict[str, Any]
    control_plane: dict[str, Any]
    workers: dict[str, dict[str, Any]]
    keeps_workers: bool
    absent_workers: list[str]
    standalone_machines: dict[str, dict[str, Any]]
    keeps_standalone_machines: bool
    absent_standalone_machines: list[str]

    @cached_property
    def subject(self) -> str:
        """Return what messages call the cluster."""
        return f"cluster {self.namespace}/{self.name}"

    @property
    def by_topology(self) -> bool:
        """Say whether Cluster API makes the cluster of a ClusterClass, of its own one or the user's."""
        return bool(self.topology or self.cluster_class)

    @property
    def virtual_router(self) -> VirtualRouter | None:
        """Return that of the endpoint, None without keepalived."""
        endpoint = self.endpoint or {}
        if endpoint.get("holder") != KEEPALIVED or not ip_texts.is_address(endpoint["host"]):
            return None
        address = ip_texts.address(endpoint["host"])
        return VirtualRouter(address, router_number(endpoint, address))

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Return the groups of machines, the control plane first.

        Options of the cluster apply to all groups; a group's own scalars win, its dicts are merged over them, its lists
        come after them.
        """
        return (self._group(CONTROL_PLANE, CONTROL_PLANE, self.control_plane),
                *(self._group(WORKER, name, self.workers[name]) for name in sorted(self.workers)),
                *(self._standalone(name) for name in sorted(self.standalone_machines)))

    def _standalone(self, name):
        group = self._group(STANDALONE, name, self.standalone_machines[name])
        # What the whole cluster says about rollouts and health checks is not for a machine that nothing owns.
        return replace(group, options={**group.options, **dict.fromkeys(OF_OWNERS), "replicas": 1, "max_surge": 0})

    def option_path(self, group: Group, option: str) -> str:
        """Return the path of an option that machines follow where the user sets it, the group's or the cluster's.

        :param group: one of this description's
        :param option: its name, for example ``image`` or ``kubernetes_version``
        :returns: for example ``workers.pool-a.image``, or ``image``
        """
        own = self.control_plane if group.is_control_plane else self.standalone_machines[group.name] \
            if group.is_standalone else self.workers[group.name]
        is_groups = own.get(option) is not None or option in _ONLY_OF_GROUPS
        return f"{group.field}.{option}" if is_groups else option

    def _group(self, role, name, own):
        options = dict(own)
        for option in machine_options():
            options[option] = _merged(option, self.machines.get(option), own.get(option))
        return Group(self.name, role, name, options)

    @cached_property
    def pool_uses(self) -> tuple[PoolUse, ...]:
        """Return each use of a pool of addresses, in the order of the networks' names."""
        return tuple(
            PoolUse(name, family, settings, pool_name(self.name, name, family, settings))
            for name in sorted(self.networks) for family in FAMILIES
            for settings in [self.networks[name].get(family)]
            if settings and settings["mode"] == "pool" and not settings.get("pool_annotation"))

    def attached(self, group: Group) -> list[str]:
        """Return the names of the networks of a group of machines, sorted.

        Those that a VLAN rides on come along.

        :param group: one of this description's
        """
        wanted = group.get("attached_networks")
        names = set(self.networks) if wanted is None else set(wanted)
        due = list(names)
        while due:
            below = ((self.networks.get(due.pop()) or {}).get("vlan") or {}).get("network")
            if below and below not in names:
                names.add(below)
                due.append(below)
        return sorted(name for name in names if name in self.networks)

    def pools_taken(self, group: Group) -> list[str]:
        """Return the names of the IPPools of which each machine of a group takes one address, sorted.

        CAPM3 takes one of each pool that the machine's Metal3DataTemplate names, whatever it is named for and however
        often (``getReferencedPools`` in ``baremetal/metal3data_manager.go``).

        :param group: one of this description's
        """
        # The node's address is in the meta data, on which networks ever the machine is.
        networks = {*self.attached(group), self.node_ip_network}
        found = set(use.pool for use in self.pool_uses if use.network in networks)
        return sorted(found.union(*(named_pools(group.get(option)) for option in _AS_CAPM3_TAKES_IT)))

    @cached_property
    def pools_of_data(self) -> dict[str, str]:
        """Return the names of the IPPools that no network has, with the first option that names each."""
        known = set(use.pool for use in self.pool_uses)
        found: dict[str, str] = {}
        for group in self.groups:
            for option in _AS_CAPM3_TAKES_IT:
                for pool in named_pools(group.get(option)):
                    if pool not in known:
                        found.setdefault(pool, self.option_path(group, option))
        return found

    @cached_property
    def pools(self) -> tuple[dict[str, Any], ...]:
        """Return the pools that the cluster makes for itself, as the module ``ip_pool`` describes pools."""
        return tuple(
            dict(((option, use.settings.get(option)) for option in pool_options()), name=use.pool,
                 cluster_name=self.name)
            for use in self.pool_uses if use.settings.get("ranges"))


def router_number(endpoint: Mapping[str, Any], address: Any) -> int:
    """Return the number of the virtual router of an endpoint.

    :param endpoint: its options
    :param address: its address
    """
    # Clusters on one network need different ones, as they need different addresses. 0 is no number of one.
    return endpoint.get("virtual_router_id") or address.packed[-1] or DEFAULT_NUMBER


def pool_name(cluster: str, network: str, family: str, settings: Mapping[str, Any]) -> str:
    """Return the name of the pool that a network takes its addresses of one family from.

    :param settings: the network's options of the family
    """
    if settings.get("pool"):
        return settings["pool"]
    return f"{cluster}-{network}{'' if family == 'ipv4' else '-v6'}"


def named_pools(data: Any) -> Iterator[str]:
    """Yield the names of the IPPools of Metal3's own kind in meta data or network data of a Metal3DataTemplate."""
    if isinstance(data, (list, tuple)):
        for item in data:
            yield from named_pools(item)
    for key, value in data.items() if isinstance(data, Mapping) else ():
        if key in _NAMES_OF_POOLS:
            found = [value]
        elif key == "fromPoolRef" or str(key).endswith("FromPool"):
            found = [item.get("name") for item in (value if isinstance(value, (list, tuple)) else [value])
                     if isinstance(item, Mapping) and item.get("kind") in (None, "", "IPPool")
                     and item.get("apiGroup") in (None, "", "ipam.metal3.io")]
        else:
            yield from named_pools(value)
            continue
        yield from (name for name in found if name and isinstance(name, str))


def _merged(option, shared, own):
    if own is None:
        return copy.deepcopy(shared)
    if shared is None or option in _REPLACED:
        return own
    if isinstance(own, dict) and isinstance(shared, dict):
        return merge(shared, own)
    if isinstance(own, list) and isinstance(shared, list):
        return copy.deepcopy(shared) + own
    return own


def merge(base: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``extra`` laid over it: dicts are merged, other values replaced."""
    result = copy.deepcopy(dict(base))
    for key, value in extra.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value)
        else:
            result[key] = copy.deepcopy(value)
    return result
