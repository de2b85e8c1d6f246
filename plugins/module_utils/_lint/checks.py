# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lint of a site: servers, clusters and pools by the modules' own rules, and against each other; pure."""
from __future__ import annotations

import collections
import ipaddress
import itertools
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .._bmc.addresses import address as bmc_address
from .._cluster.checks.address import held_problems, router_problems
from .._cluster.checks.hosts import shortages
from .._cluster.checks.numbers import surge
from .._cluster.checks.pool_fields import of_networks
from .._cluster.checks.reservation import lent_mistakes, reservation_problems
from .._cluster.checks.validation import addresses_needed, check_description, description_problems
from .._cluster.checks.versions import newest_providers, version_problems
from .._cluster.description.reader import OPTIONS
from .._cluster.description.spec import METALSTACK
from .._cluster.render.endpoint import holder_warning
from .._common.addresses import ip_texts
from .._common.addresses.dhcp_lent import lent_options
from .._common.addresses.virtual_router import VirtualRouter, clashing
from .._common.options.field_checks import text_of
from .._common.problems.problem import Problem
from .._host.description import fields as host_fields
from .._host.description import objects as host_objects
from .._host.enrolment import validation as host_validation
from .._host.rules import combinations as host_combinations
from .._ipam.range import Span, contains, overlap, span_of
from .._ipam.validation import label, pool_problems

# namespace: of the hosts; hosts: entries for baremetal_host; clusters: {inventory name: parameters of a cluster};
# pools: descriptions for ip_pool, None when nobody says which there are; secrets: names of Secrets that exist, None
# when nobody says; providers: versions, see cluster_versions; provisioning_cidr: text or None;
# has_provisioning_network: False where BMO runs without one; dhcp: {inventory name: what DHCP lends, the option dhcp of
# the module cluster}, without those of which nobody says it; None when nobody says any; homes: {inventory name of a
# host or cluster: (kubeconfig, namespace) by which it is managed, either empty where nobody says it}; None for one
# plane; routers: {inventory name of a cluster: list of (whose it is, VirtualRouter) of its plane}; None for none;
# planes: list of (inventory name of a plane's machine, the variable that decides the number, VirtualRouter), each once;
# None for none.
Site = namedtuple("Site", ["namespace", "hosts", "clusters", "pools", "secrets", "providers", "provisioning_cidr",
                           "has_provisioning_network", "dhcp", "homes", "routers", "planes"],
                  defaults=[None, None, None, None])

# kind: host, cluster, pool or site; problem: a Problem whose code is a rule of lint_rules and whose subject is the
# inventory name of the host or cluster, or the pool's name.
# Codes of what keeps a host from being compared with other parts of the site.
_OF_TYPES = ("unknown-variable", "value")
Finding = namedtuple("Finding", ["kind", "problem"])


def finding(code: str, kind: str, name: str, field: str, actual: Any, expected: str,
            hint: str | None = None) -> Finding:
    """Return a Finding of the lint's own."""
    return Finding(kind, Problem(code, name, field, actual, expected, hint))


def lint(site: Site) -> list[Finding]:
    """Return all Findings of a Site, errors and warnings, in the order of hosts, clusters, pools."""
    # Inventories have texts for numbers and truth values, which the modules read.
    site = site._replace(hosts=host_validation.read_entries(site.hosts))
    found = _hosts(site)
    descriptions = {}
    for name in sorted(site.clusters):
        description, own = _cluster(name, site)
        found += own
        if description is not None:
            descriptions[name] = description
    found += _pools(site, descriptions)
    found += _between_clusters(descriptions, site.routers or {})
    found += _between_planes(site.planes or [], descriptions, site.routers or {})
    found += _capacity(site, descriptions)
    for name in sorted(site.dhcp or ()):
        found += _of_problems("cluster", name, _lent(site, name, descriptions.get(name)))
    return found + _addresses(site, descriptions) + _provisioning(site, descriptions)


# Servers ------------------------------------------------------------------------------------------------------------

def _hosts(site: Site) -> list[Finding]:
    found, broken = [], set()
    if not site.hosts:
        found.append(finding("no-hosts", "site", "", "", "no server", "servers in the group of servers",
                             "add them, or name their group"))
    for problem in host_validation.check_raw(site.hosts):
        if problem.code in _OF_TYPES:
            broken.add(problem.subject)
        found.append(Finding("host", problem))
    for host in site.hosts:
        name = host.get("name")
        if name in broken or host.get("state") == "absent":
            continue
        problems = host_combinations.check(name, host)
        if not site.has_provisioning_network:
            problems += host_combinations.without_provisioning_network(name, host)
        found += [Finding("host", problem) for problem in problems]
    return found + _secrets(site, broken)


def _secrets(site: Site, broken: set[str]) -> list[Finding]:
    if site.secrets is None:
        return []
    known = set(site.secrets)
    hosts = [host for host in site.hosts if host.get("name") not in broken]
    for host in hosts:
        if host_objects.has_inline_credentials(host.get("bmc") or {}):
            known.add(host_objects.credentials_secret_name(host))
        known.update(host_objects.data_secret_name(host, option) for option in host_fields.DATA_KEYS
                     if (host.get(option) or {}).get("content") is not None)
    return [finding("unknown-secret", "host", host["name"], field, name, "a Secret that exists",
                    "make it, or correct the name")
            for host in hosts for field, name in host_objects.secret_references(host) if name not in known]


# Clusters -----------------------------------------------------------------------------------------------------------

def _cluster(name: str, site: Site) -> tuple[Any, list[Finding]]:
    """Return ``(description, Findings)``; the description is None when it can't be compared with other parts."""
    checked = check_description(site.clusters[name])
    description, mistakes, problems = checked.description, checked.mistakes, checked.problems
    versions = version_problems(description, dict(newest_providers(), **(site.providers or {})), None)
    found = _of_problems("cluster", name, mistakes)
    found += _of_problems("cluster", name, problems + versions)
    # What is compared with other parts of the site must be right in itself.
    if mistakes or problems:
        return None, found
    unheld = holder_warning(description)
    if unheld:
        field, actual, advice = unheld
        found.append(finding("endpoint-holder", "cluster", name, field, actual, "a holder of the address", advice))
    return description, found + _sizes(name, description)


def _sizes(name: str, description: Any) -> list[Finding]:
    """Numbers of machines that are not given: in a new cluster there are few, and a lost variable looks the same."""
    found = []
    if description.keeps_workers:
        found.append(finding(
            "cluster-size", "cluster", name, "workers", None, "pools of workers, or an empty dictionary",
            "without it, stored pools stay as they are and a new cluster has no workers"))
    if description.control_plane.get("replicas") is None:
        found.append(finding(
            "cluster-size", "cluster", name, "control_plane.replicas", None, "a number of machines",
            "without it, a stored control plane keeps its number and a new one has one machine"))
    return found


def _joined(*parts: str | None) -> str:
    return ".".join(part for part in parts if part)


def _of_problems(kind: str, name: str, problems: Iterable[Problem]) -> list[Finding]:
    return [Finding(kind, problem._replace(subject=name)) for problem in problems]


def _pools(site: Site, descriptions: dict[str, Any]) -> list[Finding]:
    """Pools that the site describes by themselves, and pools of clusters that share a namespace of a plane."""
    found: list[Finding] = []
    homes = dict((name, _home(site, name, description.namespace)) for name, description in descriptions.items())
    namespaces = {site.namespace} | set(description.namespace for description in descriptions.values())
    for namespace in sorted(namespaces):
        planes = sorted(set(plane for plane, there in homes.values() if plane and there == namespace))
        for plane in planes or [""]:
            mine = dict((name, description) for name, description in descriptions.items()
                        if _may_be_one(homes[name], (plane, namespace)))
            # What may be of several planes is compared in each of them.
            found += [item for item in _pools_of(site, mine, namespace) if item not in found]
    return found + _between_pools(site, descriptions, homes)


def _pools_of(site: Site, descriptions: dict[str, Any], namespace: str) -> list[Finding]:
    """Pools of one namespace of a plane.

    :param descriptions: of the clusters there
    """
    found = []
    owners = dict((label(pool["name"], namespace), name)
                  for name, description in descriptions.items() for pool in description.pools)
    pools = [pool for pool in site.pools or [] if (pool.get("namespace") or site.namespace) == namespace]
    alone = set()
    needed: dict[str, int] = {}
    for description in descriptions.values():
        alone.update(description_problems(description))
        pools += description.pools
        for pool, count in addresses_needed(description).items():
            needed[pool] = needed.get(pool, 0) + count
    for line in pool_problems(pools, namespace, needed=needed):
        owner = owners.get(line.subject)
        if owner is None:
            found += _of_problems("pool", line.subject.rpartition("/")[2], [line])
        else:
            found += _of_problems("cluster", owner, [
                problem for problem in of_networks([line], descriptions[owner]) if problem not in alone])
    if site.pools is not None:
        found += _unknown_pools(descriptions, set(pool["name"] for pool in pools if pool.get("name")))
    return found


class _Lending(NamedTuple):
    """A range of addresses, and what says on which network it may be.

    :ivar words: of its pool
    :ivar home: plane and namespace
    :ivar network: gateway and prefix
    :ivar vlans: tags of the pool's networks, where they are said
    """

    kind: str
    name: str
    field: str
    words: str
    home: tuple[str, str]
    network: tuple[Any, Any]
    vlans: frozenset[int]
    span: Span


def _between_pools(site: Site, descriptions: dict[str, Any], homes: dict[str, tuple[str, str]]) -> list[Finding]:
    """Pools of different namespaces or planes that give away one address of what may be one network."""
    found, by_network = [], collections.defaultdict(list)
    for lending in _lendings(site, descriptions, homes):
        by_network[lending.network].append(lending)
    for those in by_network.values():
        for left, right in itertools.combinations(those, 2):
            common = overlap(left.span, right.span)
            if common is None or _may_be_one(left.home, right.home) or (
                    left.vlans and right.vlans and not left.vlans & right.vlans):
                continue
            found.append(finding(
                "address-overlap-elsewhere", right.kind, right.name, right.field,
                f"{common.first} - {common.last}, which is in {left.field} of {left.words} too",
                "ranges without common addresses on one network",
                f"both have the gateway {left.network[0]}: on one network two nodes would be given one address; where "
                "the networks are apart, leave the rule out (variable lint_skip_rules)"))
    return found


def _lendings(site: Site, descriptions: dict[str, Any], homes: dict[str, tuple[str, str]]) -> Iterator[_Lending]:
    """Yield the ranges with a gateway, without which nothing says that two networks may be one; pools come last."""
    for owner, pool, number, span in _spans(dict(sorted(descriptions.items())), site.pools):
        range_, field = pool["ranges"][number], _field_of(number)
        gateway = ip_texts.address_or_none(range_.get("gateway") or pool.get("gateway"))
        if gateway is None:
            continue
        network = gateway, range_.get("prefix") or pool.get("prefix")
        if owner is None:
            name, namespace = pool.get("name") or "", pool.get("namespace") or site.namespace
            yield _Lending("pool", name, field, f"pool {name} in namespace {namespace}", ("", namespace), network,
                           frozenset(), span)
            continue
        description = descriptions[owner]
        uses = [use for use in description.pool_uses if use.pool == pool["name"]]
        vlans = [description.networks[use.network].get("vlan") for use in uses]
        yield _Lending(
            "cluster", owner, _joined(*(f"networks.{use.network}.{use.family}" for use in uses[:1]), field),
            f"cluster {owner} in namespace {homes[owner][1]}", homes[owner], network,
            frozenset(vlan["id"] for vlan in vlans if vlan) if all(vlans) else frozenset(), span)


def _may_be_one(left: tuple[str, str], right: tuple[str, str]) -> bool:
    """Say whether two homes are, or may be, one: a plane that nobody says may be any."""
    return left[1] == right[1] and (left[0] == right[0] or not left[0] or not right[0])


def _unknown_pools(descriptions: dict[str, Any], names: Iterable[str]) -> list[Finding]:
    expected = f"one of {', '.join(sorted(names)) or 'no pools, for none is described'}"
    found = []
    for name, description in sorted(descriptions.items()):
        found += [finding("unknown-pool", "cluster", name, f"networks.{network}.{family}.pool", pool, expected,
                          "describe the pool, or give ranges")
                  for network, family, settings, pool in description.pool_uses
                  if not settings.get("ranges") and pool not in names]
        found += [finding("unknown-pool", "cluster", name, field, pool, expected,
                          "describe the pool, or correct its name")
                  for pool, field in description.pools_of_data.items() if pool not in names]
    return found


def _between_clusters(descriptions: dict[str, Any],
                      of_planes: dict[str, list[tuple[str, VirtualRouter]]]) -> list[Finding]:
    found, endpoints = [], {}
    routers = [(name, description.virtual_router) for name, description in sorted(descriptions.items())
               if description.virtual_router]
    for name, description in sorted(descriptions.items()):
        own = of_planes.get(name, [])
        clashes = router_problems(description, [
            *((f"cluster {other}", router) for other, router in routers if other < name), *own])
        found += _of_problems("cluster", name, [
            problem._replace(code="cluster-duplicate") for problem in clashes + held_problems(description, own)])
    for name, description in sorted(descriptions.items()):
        # A class of the user's may know it alone.
        if not description.endpoint:
            continue
        endpoint = description.endpoint
        key = ip_texts.host_text(endpoint["host"]), endpoint["port"]
        if key in endpoints:
            found.append(finding("cluster-duplicate", "cluster", name, "endpoint",
                                 "%(host)s:%(port)d" % endpoint + f", as in {endpoints[key]}", "one of its own",
                                 "change one of them"))
        endpoints.setdefault(key, name)
    return found


def _between_planes(planes: list[tuple[str, str, VirtualRouter]], descriptions: dict[str, Any],
                    of_planes: dict[str, list[tuple[str, VirtualRouter]]]) -> list[Finding]:
    """Virtual routers of planes on one network by one number: their machines take each other for their own.

    Clusters that a plane manages itself are compared with it at the cluster.
    """
    found = []
    clusters = [(name, description.virtual_router, [own for _owner, own in of_planes.get(name, ())])
                for name, description in sorted(descriptions.items()) if description.virtual_router]
    for position, (machine, variable, router) in enumerate(planes):
        others = [(f"the plane of {name}", other) for name, _variable, other in planes[:position]]
        others += [(f"cluster {name}", other) for name, other, own in clusters if router not in own]
        found += [finding(
            "plane-duplicate", "site", machine, variable,
            f"{router.number}, which {owner} has for its address {other.address} on the same network",
            "a number that no other virtual router there has",
            "set provisioning_network_keepalived_router_id of one of them to another one from 1 to 255, the same for "
            "all machines of that plane; the number 1 of ironic_keepalived is fixed")
            for owner, other in clashing(router, others, ())[:1]]
    return found


def _capacity(site: Site, descriptions: dict[str, Any]) -> list[Finding]:
    found = []
    homes = dict((name, _home(site, name, description.namespace)) for name, description in descriptions.items())
    for home in sorted(set(homes.values())):
        there = _hosts_of(site, home, _may_be_free)
        mine = dict((name, description) for name, description in descriptions.items() if homes[name] == home)
        owners = dict((description.subject, name) for name, description in mine.items())
        wanted = [(description, group, group.initial_replicas)
                  for description in mine.values()
                  # Of a class of the user's nobody knows here which hosts it selects.
                  if not description.cluster_class
                  for group in description.groups]
        lines = shortages(wanted, there)
        if lines:
            found += [item for line in lines for item in _of_problems("cluster", owners[line.subject], [line])]
            continue
        for position, (description, group, count) in enumerate(wanted):
            more = list(wanted)
            more[position] = (description, group, count + surge(group))
            if shortages(more, there):
                found.append(finding(
                    "rollout-spare", "cluster", owners[description.subject], group.field,
                    "no spare host that matches, for the machine that a rollout makes first", "a spare host",
                    "add one, or set max_surge to 0 (a control plane then needs 3 replicas)"))
    return found


def _home(site: Site, name: str, namespace: str) -> tuple[str, str]:
    kubeconfig, given = (site.homes or {}).get(name, ("", ""))
    return kubeconfig, given or namespace


def _hosts_of(site: Site, home: tuple[str, str], is_meant: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """Return the servers that are, or may be, in the plane and namespace of a cluster, as BareMetalHosts.

    :param home: of the cluster
    :param is_meant: callable that takes a server and says whether it counts
    """
    return [_as_object(host, home[1]) for host in site.hosts
            if is_meant(host) and _may_be_one(_home(site, host["name"], site.namespace), home)]


def _lent(site: Site, name: str, description: Any) -> list[Problem]:
    """Return what is wrong with what DHCP lends, and with an endpoint that is among it.

    :param description: of the cluster; None when it has mistakes of its own
    """
    lent, found = OPTIONS.read("dhcp", lent_options(), site.dhcp[name])
    found = found or lent_mistakes(name, lent)
    # Of metal-stack's machines, and of a class of the user's, nobody knows here which servers they are.
    if found or description is None or description.provider == METALSTACK or description.cluster_class:
        return found
    there = _hosts_of(site, _home(site, name, description.namespace), _is_named)
    return reservation_problems(description, there, None, lent)


def _is_named(host: dict[str, Any]) -> bool:
    return isinstance(host.get("name"), str) and host.get("state") != "absent"


def _may_be_free(host: dict[str, Any]) -> bool:
    """Say whether Cluster API could take a server, once enrolled."""
    return _is_named(host) and not any(host.get(option) for option in (
        "image", "custom_deploy", "externally_provisioned", "consumer_ref"))


def _as_object(host: dict[str, Any], namespace: str) -> dict[str, Any]:
    """Return a server as the BareMetalHost that it will be, as far as choosing a host goes."""
    given = [host.get(kind) for kind in ("labels", "annotations")]
    labels, annotations = [
        dict((key, text_of(value)) for key, value in items.items()) if isinstance(items, dict) else {}
        for items in given]
    return {"metadata": {"name": host["name"], "namespace": namespace, "labels": labels, "annotations": annotations},
            "spec": {"bootMACAddress": text_of(host.get("boot_mac_address"))},
            "status": {"provisioning": {"state": "available"}}}


# Addresses ----------------------------------------------------------------------------------------------------------

def _spans(descriptions: dict[str, Any], pools: Any) -> Iterator[tuple[str | None, dict[str, Any], int, Span]]:
    """Yield ``(owner, pool, number, Span)`` of all ranges that can be read; they are numbered from 0 in their pool."""
    described = [(name, pool) for name, description in descriptions.items() for pool in description.pools]
    for owner, pool in described + [(None, pool) for pool in pools or []]:
        for number, range_ in enumerate(pool.get("ranges") or []):
            try:
                yield owner, pool, number, span_of(range_)
            except ValueError:
                # Reported by the rules for pools.
                continue


def _field_of(number: int) -> str:
    return f"ranges[{number}]"


def _addresses(site: Site, descriptions: dict[str, Any]) -> list[Finding]:
    found = []
    for owner, pool, number, span in _spans(descriptions, site.pools):
        for kind, name, option, address in _taken(site, descriptions):
            reserved = address in [ipaddress.ip_address(text) for text in (pool.get("pre_allocations") or {}).values()
                                   if ip_texts.is_address(text)]
            if contains(span, address) and not reserved and not (kind == "cluster" and name == owner):
                networks = dict((used, f"networks.{network}.{family}") for network, family, _settings, used in (
                    descriptions[owner].pool_uses if owner else ()))
                found.append(finding(
                    "address-taken", "cluster" if owner else "pool", owner or pool["name"],
                    _joined(networks.get(pool["name"]), _field_of(number)), f"{address}, {option} of {name}",
                    "ranges without it",
                    "IPAM would give it to a node: shorten the range, or preallocate the address"))
    return found


def _taken(site: Site, descriptions: dict[str, Any]) -> list[tuple[str, str, str, Any]]:
    """Return ``(kind, name, option, address)`` of what has a fixed address."""
    texts = []
    for host in site.hosts:
        bmc = host.get("bmc")
        try:
            texts.append(("host", host.get("name"), "BMC",
                          bmc_address.parse(bmc.get("address") if isinstance(bmc, dict) else None).host))
        except bmc_address.AddressError:
            continue
    # A class of the user's may know it alone.
    texts += [("cluster", name, "endpoint", description.endpoint["host"])
              for name, description in sorted(descriptions.items()) if description.endpoint]
    result = []
    for kind, name, option, text in texts:
        try:
            result.append((kind, name, option, ipaddress.ip_address(text)))
        except ValueError:
            # A name.
            continue
    return result


def _provisioning(site: Site, descriptions: dict[str, Any]) -> list[Finding]:
    if not site.provisioning_cidr:
        return []
    try:
        network = ipaddress.ip_network(site.provisioning_cidr)
    except ValueError as exc:
        return [finding("value", "site", "", "provisioning_cidr", str(exc), "a network such as 172.22.0.0/24",
                        ip_texts.network_hint(site.provisioning_cidr))]
    found = []
    for name, description in sorted(descriptions.items()):
        for option in ("pod_cidrs", "service_cidrs"):
            for number, text in enumerate(getattr(description, option)):
                other = ipaddress.ip_network(text)
                if other.version == network.version and other.overlaps(network):
                    found.append(finding("provisioning-overlap", "cluster", name, f"{option}[{number}]",
                                         f"{other}, which overlaps the provisioning network {network}",
                                         "networks without common addresses", "choose another network"))
    return found
