# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The address plan of a cluster: endpoint, pods, services and node networks must not stand on each other; pure."""
from __future__ import annotations

import ipaddress
import itertools

from ..._common.addresses import ip_texts
from ..._common.addresses.virtual_router import clashing
from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..._ipam.range import contains, network_of, span_of
from ..description.spec import HOLDERS_ON_MACHINES, NO_HOLDER

_ELSEWHERE = f"set holder to {NO_HOLDER} when a load balancer has it"


def node_networks(description):
    """Return ``(field, ip_network)`` of every subnet that nodes are on, if the description says."""
    result = []
    for name, family, settings, _pool in description.pool_uses:
        for number, range_ in enumerate(settings.get("ranges") or []):
            network = network_of(range_)
            prefix = range_.get("prefix") or settings.get("prefix")
            if network is None and prefix:
                network = ipaddress.ip_network(f"{span_of(range_).first}/{prefix}", strict=False)
            if network is not None:
                result.append((f"networks.{name}.{family}.ranges[{number}]", network))
    return result


def overlap_problems(subject, description):
    """Return the overlaps of pod, service and node networks."""
    blocks = []
    for option in ("pod_cidrs", "service_cidrs"):
        blocks += [(f"{option}[{number}]", ipaddress.ip_network(text))
                   for number, text in enumerate(getattr(description, option))]
    found = []
    nodes = node_networks(description)
    for left, right in itertools.chain(itertools.combinations(blocks, 2), itertools.product(blocks, nodes)):
        if left[1].version == right[1].version and left[1].overlaps(right[1]):
            found.append(Problem(
                "network-overlap", subject, left[0], f"{left[1]}, which overlaps {right[0]} {right[1]}",
                "networks without common addresses", "choose another network for one of them"))
    return found


def endpoint_problems(subject, description):
    """Return what is wrong with the address of the API endpoint; nothing when it is a name."""
    host = description.endpoint["host"]
    try:
        address = ip_texts.address(host)
    except ValueError:
        return [Problem("endpoint", subject, "endpoint.host", shown(host), "an address without a zone, or a name",
                        "leave out what begins with %")] if "%" in host else []
    found = []
    if address.is_loopback or address.is_unspecified or address.is_multicast:
        return [Problem("endpoint", subject, "endpoint.host", shown(address),
                        "an address that nodes and users can reach", "choose a free one of the nodes' network")]
    for name, family, settings, pool in description.pool_uses:
        for number, range_ in enumerate(settings.get("ranges") or []):
            field = f"networks.{name}.{family}.ranges[{number}]"
            if contains(span_of(range_), address):
                found.append(Problem("endpoint", subject, "endpoint.host", f"{address}, which is in {field}",
                                     "an address outside the ranges", "IPAM would give it to a node"))
        if _is_among(address, (settings.get("pre_allocations") or {}).values()):
            found.append(Problem("endpoint", subject, "endpoint.host", f"{address}, preallocated in pool {pool}",
                                 "an address of its own", "take it out of pre_allocations, or choose another"))
    # A load balancer is where its operator has put it: on the router, or on another network.
    if description.endpoint.get("holder") != NO_HOLDER:
        found += _virtual_address_problems(subject, description, address)
    for option in ("pod_cidrs", "service_cidrs"):
        for text in getattr(description, option):
            network = ipaddress.ip_network(text)
            if network.version == address.version and address in network:
                found.append(Problem(
                    "network-overlap", subject, "endpoint.host", f"{address}, which is in {option} {text}",
                    "an address of the nodes' network", "choose another address, or another network for the option"))
    return found


def router_problems(description, others):
    """Return the Problem of an endpoint whose virtual router has the number of another one on its network, in a list.

    :param description: a cluster's
    :param others: ``(whose it is, VirtualRouter)`` of each of the others
    """
    own = description.virtual_router
    try:
        networks = [network for _field, network in node_networks(description)] if own and others else []
    except ValueError:
        # Reported with the pools.
        return []
    return [Problem(
        "endpoint", description.subject, "endpoint.virtual_router_id",
        f"{own.number}, which {owner} has for its address {other.address} on the same network",
        "a number that no other virtual router there has",
        "set it to another one from 1 to 255; by default it is the last number of endpoint.host")
        for owner, other in clashing(own, others, networks)][:1]


def held_problems(description, planes):
    """Return the Problem of an endpoint that a plane holds by its machines, in a list.

    :param description: a cluster's
    :param planes: ``(whose it is, VirtualRouter)`` of each of the planes
    """
    endpoint = description.endpoint or {}
    if endpoint.get("holder") not in HOLDERS_ON_MACHINES or not ip_texts.is_address(endpoint["host"]):
        return []
    address = ip_texts.address(endpoint["host"])
    return [Problem("endpoint", description.subject, "endpoint.host", f"{address}, which {owner} holds",
                    "an address of its own", "choose a free one of the nodes' network")
            for owner, other in planes if other.address == address][:1]


def _is_among(address, texts):
    """Say whether an address is one of some texts, however that is spelled."""
    return any(ip_texts.is_address(text) and ip_texts.address(text) == address for text in texts)


def _virtual_address_problems(subject, description, address):
    """Return what keeps a machine of the control plane from holding the endpoint's address."""
    found = []
    for name, _family, settings, _pool in description.pool_uses:
        taken: list[str] = []
        for part in (settings, *(settings.get("ranges") or [])):
            taken += [part.get("gateway") or "", *(part.get("dns_servers") or [])]
        if _is_among(address, taken):
            found.append(Problem(
                "endpoint", subject, "endpoint.host", f"{address}, gateway or DNS server of networks.{name}",
                "an address of its own", _ELSEWHERE))
    same = [network for _field, network in node_networks(description) if network.version == address.version]
    if same and not any(address in network for network in same):
        found.append(Problem(
            "endpoint", subject, "endpoint.host", shown(address), f"an address in {', '.join(map(str, same))}",
            f"a virtual address must be on a network of the control plane; {_ELSEWHERE}"))
    return found
