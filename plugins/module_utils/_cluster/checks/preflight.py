# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A description against what there is: hosts, hardware, pools, endpoint, versions; pure, over listed objects."""
from __future__ import annotations

import ipaddress
from collections import namedtuple

from ..._common.addresses import ip_texts
from ..._common.documents.tolerant import dict_in, list_in
from ..._common.options.field_checks import show, shown
from ..._common.problems.problem import Problem
from ..._ipam.pool import describe
from ..._ipam.pool import render as render_pool
from ..._ipam.range import contains, span_of
from ..._ipam.usage import usage
from ..._ipam.validation import change_problems, deletion_problems, pool_problems, reserved_problems
from ..._kube.objects.finalizers import is_going
from ..description.spec import METAL3, METALSTACK
from ..render.endpoint import stored_router
from ..render.network import has_default_route
from ..render.preallocations import kept_for, preallocation_problems
from ..workflow.snapshot import CLUSTER_LABEL, is_control_plane
from .address import held_problems, router_problems
from .hardware import hardware_of, hardware_problems
from .hosts import is_free, matches, shortage
from .neighbours import pools_to_be, with_endpoints
from .numbers import surge
from .pool_fields import of_networks
from .reservation import added_range_problems, reservation_problems
from .versions import upgrade_problems, version_problems

# snapshot: a workflow Snapshot; hardware: HardwareData by name; pools: IPPools by name; addresses and claims: of both
# kinds; clusters: the provider's, of all namespaces; providers and served: see cluster_versions; neighbours: (needs,
# Snapshot) of the clusters that are made in the same run, see cluster_needs; dhcp: what DHCP lends, see reservation;
# routers: (whose it is, VirtualRouter) of planes and others.
Facts = namedtuple("Facts", ["snapshot", "hosts", "hardware", "pools", "addresses", "claims", "clusters",
                             "providers", "served", "neighbours", "dhcp", "routers"], defaults=[(), None, ()])


def preflight_problems(description, facts):
    """Return every reason why a cluster could not be made or changed as described.

    :param description: one without problems of its own (``cluster_validation``)
    :param facts: a Facts
    """
    subject = description.subject
    facts = facts._replace(clusters=with_endpoints(facts.clusters, facts.neighbours, description))
    found = version_problems(description, facts.providers, facts.served)
    plane = facts.snapshot.control_plane
    found += upgrade_problems(description, ((plane or {}).get("spec") or {}).get("version"), _versions(facts.snapshot))
    found += _networks_kept(subject, description, facts.snapshot.cluster)
    if description.provider == METALSTACK or description.cluster_class:
        # Of a class of the user's nobody knows which hosts it selects.
        return found + (_endpoint(subject, description, facts) if description.endpoint else [])
    wanted = [(group, hosts_wanted(group, facts.snapshot)) for group in description.groups]
    found += shortage(description, wanted, facts.hosts, neighbours_wanted(description, facts))
    for group, count in wanted:
        if count:
            for host in facts.hosts:
                if is_free(host, group):
                    found += hardware_problems(description, group, host, hardware_of(host, facts.hardware))
    found += preallocation_problems(subject, description, [host["metadata"]["name"] for host in facts.hosts])
    found += _pools(subject, description, facts, wanted)
    if facts.snapshot.cluster is None:
        # One that is there has its endpoint, wherever that comes from.
        found += reservation_problems(description, facts.hosts, facts.hardware, facts.dhcp)
        found += held_problems(description, facts.routers)
    else:
        found += added_range_problems(description, facts.pools, facts.dhcp)
    return found + _virtual_router(description, facts) + _endpoint(subject, description, facts)


def _virtual_router(description, facts):
    """Return the number of a virtual router that another cluster or a plane has, unless the cluster has it already."""
    stored = [(plane, stored_router(plane)) for plane in facts.snapshot.all("KubeadmControlPlane")]
    own = (facts.snapshot.control_plane or {}).get("metadata", {}).get("name")
    if description.virtual_router in [router for plane, router in stored if plane["metadata"]["name"] == own]:
        return []
    others = [("KubeadmControlPlane " + plane["metadata"]["name"], router) for plane, router in stored
              if router and plane["metadata"]["name"] != own]
    others += [(needs.subject, needs.virtual_router) for needs, _snapshot in facts.neighbours
               if needs.virtual_router and (needs.namespace, needs.name) != (description.namespace, description.name)]
    return router_problems(description, [*others, *facts.routers])


def _versions(snapshot):
    """Return the name, the version and whether it is of the control plane of each Machine that stays."""
    return [(machine["metadata"]["name"], (machine.get("spec") or {}).get("version"), is_control_plane(machine))
            for machine in snapshot.mine("Machine") if not is_going(machine)]


def hosts_wanted(group, snapshot, replaced=()):
    """Return how many hosts a group still needs: its replicas less the machines that have one.

    The host of a machine that is being deleted counts when the group can take it: it will be free. Of a pool that an
    autoscaler sizes only its fewest machines are needed: what the autoscaler asks for beyond is no reason to refuse
    another change, and the wait says why it does not come.

    :param replaced: names of machines in whose place others are to come, which need hosts
    """
    owner = snapshot.get(group.owner_kind, group.owner)
    if owner is None:
        return group.initial_replicas
    held = [(machine, snapshot.host(snapshot.metal3_machine(machine))) for machine in snapshot.machines_of(owner)]
    having = sum(1 for machine, host in held if host is not None and machine["metadata"]["name"] not in replaced and (
        not is_going(machine) or matches(host, group)))
    replicas = group.get("replicas")
    if replicas is None:
        replicas = (owner.get("spec") or {}).get("replicas") or 0
        replicas = min(replicas, (group.get("autoscaler") or {}).get("min_size", replicas))
    return max(0, replicas - having)


def neighbours_wanted(description, facts):
    """Return ``(needs, group, number of hosts still needed)`` of the other clusters that share its hosts."""
    return [(needs, group, hosts_wanted(group, snapshot)) for needs, snapshot in facts.neighbours
            if needs.namespace == description.namespace and needs.name != description.name
            for group in needs.groups]


def rollout_warnings(description, facts, rolling):
    """Return a warning for each group that would roll without a spare host, or addresses, for its extra machines.

    :param rolling: names of the KubeadmControlPlanes and MachineDeployments that would roll
    """
    result = []
    for group in description.groups if description.provider == METAL3 and not description.cluster_class else ():
        name = group.owner
        if name not in rolling or not surge(group):
            continue
        if not any(is_free(host, group) for host in facts.hosts):
            result.append(
                f"{name} makes a new machine before it takes an old one away, and no host that matches is free: the "
                "rollout waits for one; free or enrol a host, or set max_surge to 0 (a control plane then needs 3 "
                "replicas)")
        result += _without_addresses(description, facts, group)
    return result


def _without_addresses(description, facts, group):
    """Return a line for each pool that has too few addresses for the machines that a group's rollout adds."""
    count, result = surge(group), []
    more = _addresses_wanted(description, [(item, hosts_wanted(item, facts.snapshot)) for item in description.groups])
    own = dict((pool["name"], render_pool(pool, description.namespace)) for pool in description.pools)
    for pool in description.pools_taken(group):
        stored = own.get(pool) or facts.pools.get(pool)
        if stored is None:
            continue
        free, wanted = _free_for_mine(description, facts, stored), count + more.get(pool, 0)
        if free < wanted:
            result.append(
                f"{group.owner} makes {count} new machine{'' if count == 1 else 's'} before it takes an old one away, "
                f"and pool {pool} has {free} free address{'' if free == 1 else 'es'}, of {wanted} that are needed: "
                "IPAM refuses a claim that finds none, and does not try it again; widen the pool's ranges, or set "
                "max_surge to 0 (a control plane then needs 3 replicas)")
    return result


def _pools(subject, description, facts, wanted):
    own = description.pools
    names = set(pool["name"] for pool in own)
    others = [describe(pool) for name, pool in sorted(facts.pools.items()) if name not in names]
    others += pools_to_be(facts.neighbours, description, facts.pools)
    found = pool_problems(own, description.namespace, others)
    for pool in own:
        current = facts.pools.get(pool["name"])
        if current is not None:
            used = usage(current, facts.addresses, facts.claims)
            found += change_problems(pool, describe(current), description.namespace, used["allocations"])
    found += reserved_problems(own, description.namespace, [
        other for other in facts.clusters if other["metadata"]["namespace"] == description.namespace
        and not _is_own(other, description)], facts.addresses)
    found = of_networks(found, description)
    more = _addresses_wanted(description, wanted)
    theirs: dict[str, int] = {}
    for _needs, group, count in neighbours_wanted(description, facts):
        for pool in group.get("pools") or ():
            theirs[pool] = theirs.get(pool, 0) + count
    rendered = dict((pool["name"], render_pool(pool, description.namespace)) for pool in own)
    for network, family, settings, pool in description.pool_uses:
        if settings.get("ranges"):
            found += _exhausted(description, facts, rendered[pool], f"networks.{network}.{family}.ranges",
                                more.get(pool, 0), theirs.get(pool, 0))
            continue
        if pool in facts.pools:
            found += _unfit(subject, f"networks.{network}.{family}", family, settings, describe(facts.pools[pool]))
        found += _of_others(description, facts, pool, f"networks.{network}.{family}.pool", "give ranges",
                            more.get(pool, 0), theirs.get(pool, 0))
    for pool, field in description.pools_of_data.items():
        found += _of_others(description, facts, pool, field, "correct its name", more.get(pool, 0), theirs.get(pool, 0))
    return found


def _of_others(description, facts, pool, field, otherwise, more, theirs):
    """Return what is wrong with a pool that the cluster does not make for itself.

    :param pool: its name
    :param field: the option that names it
    :param otherwise: what to do, if not to make it
    :param more: as of :func:`_exhausted`, as is ``theirs``
    """
    if pool not in facts.pools:
        return [Problem("pool-capacity", description.subject, field, shown(pool),
                        "one of %s" % (", ".join(sorted(facts.pools)) or "no pools, for there are none"),
                        f"make the pool (module ip_pool) or {otherwise}")]
    found = deletion_problems(description.subject, field, facts.pools[pool]) if more else []
    return found + _exhausted(description, facts, facts.pools[pool], field, more, theirs)


def _addresses_wanted(description, wanted):
    """Return how many addresses of each pool machines still need, by the pools' names.

    :param wanted: list of ``(group, number of machines)``
    """
    more: dict[str, int] = {}
    for group, count in wanted:
        for pool in description.pools_taken(group):
            more[pool] = more.get(pool, 0) + count
    return more


def _unfit(subject, field, family, settings, pool):
    """Return why addresses of a pool that is there are none for a network's machines, or lead nowhere."""
    versions = sorted(set(span_of(range_).first.version for range_ in pool["ranges"] if _is_readable(range_)))
    found = [Problem("network", subject, f"{field}.pool", f"{pool['name']} with addresses of IPv{version}",
                     f"a pool with addresses of IPv{family[-1]}", f"name it below ipv{version} of the network")
             for version in versions if family != f"ipv{version}"]
    if has_default_route(settings) and not pool.get("gateway") and not all(
            range_.get("gateway") for range_ in pool["ranges"]):
        found.append(Problem("network", subject, f"{field}.pool", f"{pool['name']} with addresses without a gateway",
                             "a pool with a gateway, because the machines have a default route",
                             "give the pool one (module ip_pool), or set default_route to false"))
    return found


def _exhausted(description, facts, stored, field, more, theirs):
    """Return the Problem of a pool with too few addresses, in a list.

    :param stored: the IPPool, as it is or will be
    :param more: how many addresses the cluster's machines still need
    :param theirs: the same for clusters that are made in the same run
    """
    name = stored["metadata"]["name"]
    mine = _free_for_mine(description, facts, stored)
    if mine < more:
        return [Problem("pool-capacity", description.subject, field, f"{name} with {mine} free addresses",
                        f"at least {more}", "widen the pool's ranges")]
    # What the pool keeps for machines of others is not known better.
    every = _free(facts, stored, lambda kept: [claim for claim in kept if claim.endswith("-" + name)])
    if more and theirs and every < more + theirs:
        return [Problem("pool-capacity", description.subject, field, f"{name} with {every} free addresses",
                        f"at least {more + theirs}, of which other clusters of this run need {theirs}",
                        "widen the pool's ranges")]
    return []


def _free_for_mine(description, facts, stored):
    """Return how many addresses of a pool the machines of a cluster can have; parameters as above."""
    name = stored["metadata"]["name"]
    groups = [group for group in description.groups if name in description.pools_taken(group)]
    hosts = [host["metadata"]["name"] for host in facts.hosts if any(matches(host, group) for group in groups)]
    return _free(facts, stored, lambda kept: kept_for(description, name, kept, hosts))


def _free(facts, stored, chosen):
    """Return how many addresses of a pool are free, with those that it keeps for some claims.

    :param stored: the IPPool
    :param chosen: callable that takes the names of the claims for which it keeps addresses, and returns those of them
        that count
    """
    used, pool = usage(stored, facts.addresses, facts.claims), describe(stored)
    taken = set(ipaddress.ip_address(entry["address"]) for entry in used["allocations"])
    spans = [span_of(range_) for range_ in pool["ranges"] if _is_readable(range_)]
    kept = dict((claim, ipaddress.ip_address(text)) for claim, text in (pool.get("pre_allocations") or {}).items())
    return used["free"] + sum(any(contains(span, address) for span in spans)
                              for address in set(kept[claim] for claim in chosen(kept)) - taken)


def _is_readable(range_):
    try:
        span_of(range_)
    except ValueError:
        return False
    return True


def _networks_kept(subject, description, cluster):
    """Return the options that count for the first machine of a cluster alone, and are other ones now.

    Cluster API stores another value, and no machine follows it; flannel does, which then works with none of them.
    """
    initialization = dict_in(dict_in(cluster, "status"), "initialization")
    if not initialization.get("controlPlaneInitialized"):
        return []
    stored, found = dict_in(dict_in(cluster, "spec"), "clusterNetwork"), []
    for option, value in (("pod_cidrs", _networks(list_in(dict_in(stored, "pods"), "cidrBlocks"))),
                          ("service_cidrs", _networks(list_in(dict_in(stored, "services"), "cidrBlocks"))),
                          ("service_domain", stored.get("serviceDomain"))):
        given = getattr(description, option)
        if value and value != (given if isinstance(given, str) else _networks(given)):
            found.append(Problem("network", subject, option, shown(given),
                                 f"{show(value)}, for a cluster keeps what it was made with",
                                 "set it to that; another one needs a new cluster"))
    return found


def _networks(texts):
    """Return the networks in their usual spelling, texts that are none as they are."""
    return [str(ip_texts.network(text)) if ip_texts.is_network(text) else text for text in texts]


def _is_own(infrastructure, description):
    """Say whether a Metal3Cluster of the namespace is the cluster's."""
    # By a class of the user's it has another name than the cluster.
    return description.name in (infrastructure["metadata"]["name"],
                                (infrastructure["metadata"].get("labels") or {}).get(CLUSTER_LABEL))


def _endpoint(subject, description, facts):
    found = []
    endpoint = description.endpoint
    for other in facts.clusters:
        same = other["metadata"]["namespace"] == description.namespace and _is_own(other, description)
        theirs = (other.get("spec") or {}).get("controlPlaneEndpoint") or {}
        if not same and theirs.get("host") and theirs.get("port") == endpoint["port"] \
                and ip_texts.is_same_host(str(theirs["host"]), endpoint["host"]):
            found.append(Problem("endpoint", subject, "endpoint", "%s:%d, the endpoint of cluster %s/%s" % (
                endpoint["host"], endpoint["port"], other["metadata"]["namespace"], other["metadata"]["name"]),
                "an endpoint of its own", "set endpoint.host to a free address"))
    try:
        address = ipaddress.ip_address(endpoint["host"])
    except ValueError:
        return found
    for item in facts.addresses:
        if ipaddress.ip_address(item["spec"]["address"]) == address:
            found.append(Problem("endpoint", subject, "endpoint.host", f"{address}, which {item['kind']} "
                                                                       f"{item['metadata']['name']} "
                                                                       "has", "a free address",
                                 "choose one that no claim has, outside the ranges of the pools"))
    own = set(pool["name"] for pool in description.pools)
    for name in sorted(set(facts.pools) - own):
        pool = describe(facts.pools[name])
        if address in [ipaddress.ip_address(text) for text in (pool.get("pre_allocations") or {}).values()]:
            # Reserved there, which is a way of keeping it free.
            continue
        for range_ in pool["ranges"]:
            try:
                span = span_of(range_)
            except ValueError:
                continue
            if contains(span, address):
                found.append(Problem(
                    "endpoint", subject, "endpoint.host", f"{address}, which is in a range of pool {name}",
                    "an address that no pool gives away", "preallocate it there or choose another"))
    plane = facts.snapshot.infrastructure
    before = ((plane or {}).get("spec") or {}).get("controlPlaneEndpoint") or {}
    if before.get("host") and (before["host"], before.get("port")) != (endpoint["host"], endpoint["port"]):
        found.append(Problem("endpoint", subject, "endpoint", f"{endpoint['host']}:{endpoint['port']}",
                             f"{before['host']}:{before.get('port')}, for a cluster keeps its endpoint",
                             "make a new cluster for a new endpoint"))
    return found
