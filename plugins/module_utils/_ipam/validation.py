# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for a list of IP pools, checked as a whole before anything is written; pure."""
from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from .._common.addresses import ip_texts
from .._common.options.field_checks import shown
from .._common.problems.problem import Problem
from .._common.texts.plain_text import few
from .._kube.objects.finalizers import deletion_of
from .range import LONGEST_SEARCH, Address, Span, contains, network_of, overlap, size, span_of, too_far

# IPAM's allocationStrategy without one.
_STRATEGY = "sequential"


def label(name: str, namespace: str) -> str:
    """Return how Problems name a pool, as their subject."""
    return f"IPPool {namespace}/{name}"


def pool_problems(pools: list[dict[str, Any]], namespace: str, existing: Iterable[dict[str, Any]] = (),
                  needed: Mapping[str, int] | None = None) -> list[Problem]:
    """Return every mistake in a list of pool descriptions.

    :param pools: list of descriptions, see ``ipam_pool.render``; of one with ``state`` absent only the name counts
    :param namespace: of the pools that name none
    :param existing: descriptions of pools that are there already and are not among ``pools``; ranges of the pools
        are compared with theirs. Of one that is only going to be there ``owner`` says who makes it
    :param needed: dict of pool name to the number of addresses that will be asked of it
    :returns: list of lines; empty when all is well
    """
    found = []
    spans = {}
    for number, pool in enumerate(pools):
        if pool.get("state") == "absent":
            continue
        subject = label(pool.get("name") or f"pools[{number}]", pool.get("namespace") or namespace)
        found += _names(subject, pool)
        own, mistakes = _ranges(subject, pool)
        found += mistakes
        spans[number] = [(subject, field, span) for field, span in own]
        found += _preallocations(subject, pool, [span for _field, span in own])
        found += _capacity(subject, pool, [span for _field, span in own], (needed or {}).get(pool.get("name") or ""))
    found += _doubled(pools, namespace)
    others = []
    for pool in existing:
        subject = label(pool["name"], pool.get("namespace") or namespace)
        subject = f"{subject} of {pool['owner']}" if pool.get("owner") else f"existing {subject}"
        others += [(subject, field, span) for field, span in _ranges(subject, pool)[0]]
    mine = [entry for number in sorted(spans) for entry in spans[number]]
    for left, right in itertools.combinations(mine, 2):
        found += _overlap(left, right)
    for left, right in itertools.product(mine, others):
        found += _overlap(left, right)
    return found


def change_problems(pool: dict[str, Any], current: dict[str, Any], namespace: str,
                    allocations: Iterable[Mapping[str, Any]] = ()) -> list[Problem]:
    """Return what IPAM's webhook would refuse in a change of an existing pool, or its controller could not serve.

    :param pool: the new description
    :param current: the description of the pool as it is
    :param allocations: addresses in use, as ``usage.usage`` returns them
    """
    allocations = list(allocations)
    subject = label(pool["name"], pool.get("namespace") or namespace)
    found = []
    prefix = pool.get("name_prefix") or pool["name"]
    if current.get("name_prefix") and prefix != current["name_prefix"]:
        found.append(Problem(
            "pool", subject, "name_prefix", shown(prefix), f"{current['name_prefix']}, for it can't be changed",
            "keep the old value or make a pool of another name"))
    strategy, before = (entry.get("allocation_strategy") or None for entry in (pool, current))
    if strategy and strategy != (before or _STRATEGY):
        found.append(Problem("pool", subject, "allocation_strategy", shown(strategy),
                             f"{before or _STRATEGY}, for it can't be changed",
                             "keep the old value or make a pool of another name"))
    spans = [span for _field, span in _ranges(subject, pool)[0]]
    for entry in allocations:
        if not any(contains(span, ipaddress.ip_address(entry["address"])) for span in spans):
            found.append(Problem("pool", subject, "ranges", f"no range with {entry['address']}",
                                 "every address that is in use",
                                 "keep the address in a range until its claim is gone"))
    return found + _taken(subject, pool, current, allocations)


def _taken(subject: str, pool: Mapping[str, Any], current: Mapping[str, Any],
           allocations: Iterable[Mapping[str, Any]]) -> list[Problem]:
    """Return the new preallocations of addresses that other claims have.

    IPAM tries to make the IPAddress that is there, for ever, and looks at no other claim of the pool before
    (``createAddress``, ``m3UpdateAddresses`` in ``ippool_manager.go``). An address of a machine may be kept for a host,
    which gets it when the machine is gone.
    """
    taken = dict((ipaddress.ip_address(entry["address"]), entry) for entry in allocations)
    before = dict((claim, ipaddress.ip_address(text)) for claim, text in (current.get("pre_allocations") or {}).items())
    found = []
    for claim, text in sorted((pool.get("pre_allocations") or {}).items()):
        address = ip_texts.address_or_none(text)
        entry = taken.get(address) if address is not None and before.get(claim) != address else None
        if entry is None or entry["claim"] == claim:
            continue
        if _is_of_machine(claim, pool) and str(entry["owner"]).startswith("Metal3Data/"):
            continue
        holder = f"claim {entry['claim']}" if entry["claim"] else str(entry["object"])
        found.append(Problem("pool", subject, f"pre_allocations.{claim}", f"{address}, which {holder} has",
                             "a free address", "give it back first (module ip_claim), or choose another: IPAM would "
                             "try it for ever, and answer no claim of the pool meanwhile"))
    return found


def reserved_problems(pools: Iterable[Mapping[str, Any]], namespace: str, clusters: Iterable[Mapping[str, Any]],
                      addresses: Iterable[Mapping[str, Any]] = ()) -> list[Problem]:
    """Return the ranges with an address of somebody else's, which IPAM would give to a machine.

    These are endpoints of clusters that are there, and the DNS servers of the pool itself. One that is preallocated, or
    that somebody has claimed for it, is given to nobody else.

    :param pools: descriptions of pools that are to be there
    :param namespace: of the pools that name none
    :param clusters: Metal3Clusters of the namespace, whose endpoints may be names
    :param addresses: IPAddresses of the namespace
    """
    hosts = [(f"the endpoint of cluster {cluster['metadata']['name']}",
              ((cluster.get("spec") or {}).get("controlPlaneEndpoint") or {}).get("host")) for cluster in clusters]
    claimed = [ip_texts.address(item["spec"]["address"]) for item in addresses]
    found = []
    for pool in pools:
        subject = label(pool["name"], pool.get("namespace") or namespace)
        servers = [server for part in (pool, *(pool.get("ranges") or [])) for server in part.get("dns_servers") or []]
        others = hosts + [("a DNS server of the pool", server) for server in dict.fromkeys(servers)]
        kept = [*claimed, *_addresses((pool.get("pre_allocations") or {}).values())]
        found += [Problem("address-overlap", subject, field, f"{address}, {words}", "ranges without it",
                          "IPAM would give it to a machine: leave it out, or keep it (pre_allocations, under a name "
                          "that no claim of a machine has)")
                  for field, span in _ranges(subject, dict(pool))[0] for words, text in others
                  for address in _addresses([text]) if contains(span, address) and address not in kept]
    return found


def _addresses(texts: Iterable[Any]) -> list[Address]:
    """Return those of some texts that are addresses; what is none is reported elsewhere, or is a name."""
    return [found for found in map(ip_texts.address_or_none, texts) if found is not None]


def deletion_problems(subject: str, field: str, current: dict[str, Any] | None) -> list[Problem]:
    """Return the Problem of a pool that is used and goes away, in a list.

    Until it is gone IPAM still gives out its addresses, the preallocated ones to anybody (``ippool_manager.go``,
    ``getIndexes``).

    :param subject: what uses it, as the user names it
    :param field: the option that does
    :param current: the IPPool as it was read, or None
    """
    if not deletion_of(current):
        return []
    name = (current or {})["metadata"]["name"]
    return [Problem("pool", subject, field, f"pool {name}, which is {deletion_of(current)}", "a pool that stays",
                    "wait until it is gone, then run again; IPAM keeps it until the last of its claims is gone")]


def _names(subject: str, pool: dict[str, Any]) -> list[Problem]:
    if not pool.get("name"):
        return [Problem("pool", subject, "name", None, "a name")]
    if not pool.get("ranges"):
        return [Problem("pool", subject, "ranges", None, "at least one range with start and end, or subnet",
                        "add one, for example subnet: 198.51.100.0/24")]
    return []


def _ranges(subject: str, pool: dict[str, Any]) -> tuple[list[tuple[str, Span]], list[Problem]]:
    spans, found = [], []
    for number, range_ in enumerate(pool.get("ranges") or []):
        field = f"ranges[{number}]"
        mistakes = _unreadable(subject, field, range_)
        if mistakes:
            found += mistakes
            continue
        try:
            span = span_of(range_)
        except ValueError as exc:
            found.append(Problem("pool", subject, field, str(exc), "a range with at least one address"))
            continue
        if not range_.get("end") and not range_.get("subnet"):
            found.append(Problem("pool", subject, field + ".end", None, "an end or a subnet",
                                 "without them the range goes on to the last address there is"))
        if range_.get("end") and range_.get("subnet") and _outside(range_["end"], range_):
            found.append(
                Problem("pool", subject, field + ".end", shown(range_["end"]),
                        f"an address in subnet {range_['subnet']}", "choose one, or leave end out for the whole subnet")
            )
        if spans and span.first.version != spans[0][1].first.version:
            found.append(Problem("pool", subject, field, f"IPv{span.first.version}",
                                 f"IPv{spans[0][1].first.version} like the pool's first range",
                                 "make one pool for each address family"))
        spans.append((field, span))
        found += _prefix(subject, field, pool, range_, span)
        found += _gateway(subject, field, pool, range_, span)
    found += _shared_addresses(subject, pool)
    return spans, found


def _unreadable(subject: str, field: str, range_: dict[str, Any]) -> list[Problem]:
    found = []
    for key in ("start", "end", "gateway"):
        if range_.get(key):
            found += _address(subject, f"{field}.{key}", range_[key])
    for number, server in enumerate(range_.get("dns_servers") or []):
        found += _address(subject, f"{field}.dns_servers[{number}]", server)
    if range_.get("subnet"):
        try:
            ip_texts.interface(range_["subnet"])
            if "/" not in str(range_["subnet"]):
                raise ValueError("no prefix length")
        except ValueError:
            found.append(
                Problem("pool", subject, field + ".subnet", shown(range_["subnet"]),
                        "a network such as 198.51.100.0/24", ip_texts.network_hint(range_["subnet"]))
            )
    return found


def _address(subject: str, field: str, text: str) -> list[Problem]:
    if ip_texts.is_address(text):
        return []
    return [Problem("pool", subject, field, shown(text), "an IPv4 or IPv6 address")]


def _outside(address: str, range_: dict[str, Any]) -> bool:
    network = network_of(range_)
    return network is not None and ipaddress.ip_address(address) not in network


def _prefix(subject: str, field: str, pool: dict[str, Any], range_: dict[str, Any], span: Span) -> list[Problem]:
    prefix = range_.get("prefix") or pool.get("prefix")
    where = field + ".prefix" if range_.get("prefix") else "prefix"
    if prefix is None:
        return [Problem("pool", subject, "prefix", None, f"a prefix length for {field}",
                        "set prefix for the pool or for the range")]
    if not 1 <= prefix <= span.first.max_prefixlen:
        return [Problem(
            "pool", subject, where, shown(prefix), f"1 to {span.first.max_prefixlen} for IPv{span.first.version}")]
    network = network_of(range_)
    if network is not None and prefix != network.prefixlen:
        return [Problem(
            "pool", subject, where, shown(prefix),
            f"{network.prefixlen}, the prefix of {field}.subnet {network}", "leave one of the two out")]
    return []


def _gateway(subject: str, field: str, pool: dict[str, Any], range_: dict[str, Any], span: Span) -> list[Problem]:
    gateway = range_.get("gateway") or pool.get("gateway")
    where = field + ".gateway" if range_.get("gateway") else "gateway"
    prefix = range_.get("prefix") or pool.get("prefix")
    if not gateway:
        return []
    try:
        address = ipaddress.ip_address(gateway)
    except ValueError:
        # Reported by _unreadable or _shared_addresses.
        return []
    if address.version != span.first.version:
        return [
            Problem("pool", subject, where, shown(gateway),
                    f"an IPv{span.first.version} address like those of {field}",
                    "give each address family a pool with a gateway of its own")
        ]
    network = network_of(range_)
    if network is None and prefix and 1 <= prefix <= span.first.max_prefixlen:
        network = ipaddress.ip_network(f"{span.first}/{prefix}", strict=False)
    found = []
    if network is not None and address not in network and not address.is_link_local:
        found.append(Problem("pool", subject, where, shown(gateway), f"an address in {network}, the network of {field}",
                             "nodes can't reach a gateway outside their own network"))
    if contains(span, address):
        found.append(Problem("pool", subject, field, f"{span.first} - {span.last}, which holds the gateway {gateway}",
                             "ranges without the gateway", "a node would be given the gateway's address"))
    return found


def _shared_addresses(subject: str, pool: dict[str, Any]) -> list[Problem]:
    found = []
    if pool.get("gateway"):
        found += _address(subject, "gateway", pool["gateway"])
    for number, server in enumerate(pool.get("dns_servers") or []):
        found += _address(subject, f"dns_servers[{number}]", server)
    return found


def _preallocations(subject: str, pool: dict[str, Any], spans: list[Span]) -> list[Problem]:
    found, seen = [], {}
    for claim, text in sorted((pool.get("pre_allocations") or {}).items()):
        field = f"pre_allocations.{claim}"
        mistakes = _address(subject, field, text)
        if mistakes:
            found += mistakes
            continue
        address = ipaddress.ip_address(text)
        if address in seen:
            found.append(Problem("pool", subject, field, shown(text), f"an address that {seen[address]} does not have"))
        seen.setdefault(address, field)
        if spans and not any(contains(span, address) for span in spans):
            found.append(Problem("pool", subject, field, shown(text), "an address in one of the ranges",
                                 "IPAM would answer \"Pre-allocated IP out of bond\""))
        elif too_far(spans, address):
            found.append(Problem("pool", subject, field, f"{text}, after {too_far(spans, address)} others",
                                 f"one of the first {LONGEST_SEARCH} addresses of the ranges",
                                 "IPAM counts up to it one by one and answers nobody meanwhile; let a range begin "
                                 "nearer to it"))
    return found


def _capacity(subject: str, pool: Mapping[str, Any], spans: list[Span], needed: int | None) -> list[Problem]:
    if not spans or not needed:
        return []
    total, kept = sum(size(span) for span in spans), _kept_for_others(pool, spans)
    if total - len(kept) >= needed:
        return []
    actual = f"{total} addresses"
    if kept:
        actual += f", of which {len(kept)} {'is' if len(kept) == 1 else 'are'} kept for others ({few(kept, 5)})"
    return [Problem("pool-capacity", subject, "ranges", actual, f"at least {needed}", "widen a range or add one")]


def _kept_for_others(pool: Mapping[str, Any], spans: list[Span]) -> list[str]:
    """Return the names under which a pool keeps addresses that no claim of a machine can have."""
    found: dict[Any, str] = {}
    for claim, text in sorted((pool.get("pre_allocations") or {}).items()):
        if ip_texts.is_address(text) and not _is_of_machine(claim, pool):
            address = ipaddress.ip_address(text)
            if any(contains(span, address) for span in spans):
                found.setdefault(address, claim)
    return list(found.values())


def _is_of_machine(claim: str, pool: Mapping[str, Any]) -> bool:
    """Say whether a claim may be a machine's: ``<Metal3Data>-<pool>``, ``<host>-<pool>`` (``m3IPClaimObjectMeta``)."""
    return claim.endswith(f"-{pool.get('name')}")


def _doubled(pools: list[dict[str, Any]], namespace: str) -> list[Problem]:
    found, seen = [], set()
    for pool in pools:
        key = (pool.get("namespace") or namespace, pool.get("name"))
        if pool.get("name") and key in seen:
            found.append(Problem("pool", label(str(key[1]), key[0]), "name", "the same name twice",
                                 "one description for each pool"))
        seen.add(key)
    return found


def _overlap(left: tuple[str, str, Span], right: tuple[str, str, Span]) -> list[Problem]:
    common = overlap(left[2], right[2])
    if common is None:
        return []
    where = right[1] if left[0] == right[0] else f"{right[1]} of {right[0]}"
    return [Problem("address-overlap", left[0], left[1], f"{common.first} - {common.last}, which is in {where} too",
                    "ranges without common addresses", "two nodes would be given one address")]
