# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Claims for addresses: IPAM's IPClaim and Cluster API's IPAddressClaim; pure."""
from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

from .._common.addresses import ip_texts
from .._common.options.field_checks import shown
from .._common.problems.problem import Problem
from .._kube.objects.finalizers import staying_problem
from .._metal3.kinds import CLUSTER_LABEL
from .pool import API_VERSION
from .range import LONGEST_SEARCH, Address, contains, span_of, too_far

# IPAM, ipam/ippool_manager.go: IPAddressAnnotation
ADDRESS_ANNOTATION = "ipAddress"
CAPI_API_VERSION = "ipam.cluster.x-k8s.io/v1beta2"


def render(claim: dict[str, Any], namespace: str) -> dict[str, Any]:
    """Return the object of one claim description.

    :param claim: dict with ``name``, ``pool`` and optional ``address`` (asks for this one), ``kind`` (IPClaim or
        IPAddressClaim, default IPClaim), ``cluster_name``, ``labels``, ``annotations``, ``namespace``
    :param namespace: used when the description names none; claim and pool are in the same namespace
    """
    namespace = claim.get("namespace") or namespace
    labels = dict(claim.get("labels") or {})
    annotations = dict(claim.get("annotations") or {})
    address = _wished(claim)
    if address:
        # IPAM before 1.12.3 compares the text with that of the addresses it counts up (allocateAddress).
        annotations[ADDRESS_ANNOTATION] = str(ip_texts.address_or_none(address) or address)
    if claim.get("cluster_name"):
        labels[CLUSTER_LABEL] = claim["cluster_name"]
    metadata = {"name": claim["name"], "namespace": namespace}
    if labels:
        metadata["labels"] = labels
    if annotations:
        metadata["annotations"] = annotations
    if claim.get("kind") == "IPAddressClaim":
        spec = {"poolRef": {"apiGroup": "ipam.metal3.io", "kind": "IPPool", "name": claim["pool"]}}
        if claim.get("cluster_name"):
            spec["clusterName"] = claim["cluster_name"]
        return {"apiVersion": CAPI_API_VERSION, "kind": "IPAddressClaim", "metadata": metadata, "spec": spec}
    return {"apiVersion": API_VERSION, "kind": "IPClaim", "metadata": metadata,
            "spec": {"pool": {"name": claim["pool"], "namespace": namespace}}}


def _wished(claim: Mapping[str, Any]) -> str | None:
    """Return the address that a description asks for, None for any; one who knows IPAM may write its annotation."""
    wished: str | None = claim.get("address") or (claim.get("annotations") or {}).get(ADDRESS_ANNOTATION)
    return wished


def pool_of(claim: dict[str, Any]) -> str | None:
    """Return the name of the pool that a claim is for, or an address is of."""
    spec = claim.get("spec") or {}
    name: str | None = (spec.get("pool") or spec.get("poolRef") or {}).get("name")
    return name


def claim_problems(claims: list[dict[str, Any]], pools: dict[str, dict[str, Any]], usages: dict[str, dict[str, Any]],
                   namespace: str) -> list[Problem]:
    """Return every mistake in a list of claim descriptions.

    :param claims: list of descriptions; of one with ``state`` absent only kind and name count
    :param pools: pool descriptions by name, those of the namespace
    :param usages: by pool name, the results of ``ipam_usage.usage``
    :param namespace: of the claims that name none
    """
    found, wanted, seen = [], {}, set()
    free = dict((name, _Free(pool, usages[name])) for name, pool in pools.items())
    undecided = []
    for claim in claims:
        kind = claim.get("kind") or "IPClaim"
        subject = f"{kind} {claim.get('namespace') or namespace}/{claim['name']}"
        if (kind, claim["name"]) in seen:
            found.append(Problem("ip-claim", subject, "name", "the same name twice", "one description for each claim"))
        seen.add((kind, claim["name"]))
        if claim.get("state") == "absent":
            continue
        pool = pools.get(claim["pool"])
        if pool is None:
            found.append(Problem(
                "ip-claim", subject, "pool", shown(claim["pool"]),
                f"one of {', '.join(sorted(pools)) or 'no pools'}",
                "make the pool first (module ip_pool)"))
        elif _wished(claim):
            mistakes = _address(subject, dict(claim, address=_wished(claim)), pool, usages[claim["pool"]], wanted)
            found += mistakes
            if not mistakes:
                free[claim["pool"]].take(claim["name"])
        else:
            undecided.append((subject, claim))
    # After those that name theirs, which no other address can stand in for.
    for subject, claim in undecided:
        if not free[claim["pool"]].take(claim["name"]):
            found.append(Problem("ip-claim", subject, "pool", f"{claim['pool']} with {free[claim['pool']].exhausted()}",
                                 "a free address", "widen a range of the pool or delete claims that nobody needs"))
    return found


def change_problems(item: Any, current: dict[str, Any] | None, namespace: str) -> list[Problem]:
    """Return why a claim must not become another one.

    IPAM's webhook refuses another pool for a claim; another address is not looked at once there is one.

    :param item: from :func:`render`
    :param current: the claim as it is stored, None without one
    :param namespace: of both
    """
    if current is None:
        return []
    subject = f"{item['kind']} {namespace}/{item['metadata']['name']}"
    # Before the plan, which comes after refused claims were deleted.
    found = staying_problem(subject, "", current)
    if found:
        return found
    pools = [pool_of(obj) for obj in (item, current)]
    if pools[0] != pools[1]:
        found.append(Problem("ip-claim", subject, "pool", shown(pools[0]), f"{pools[1]}, for a claim keeps its pool",
                             "delete the claim first"))
    addresses = [(obj["metadata"].get("annotations") or {}).get(ADDRESS_ANNOTATION)
                 for obj in (item, current)]
    status = current.get("status") or {}
    if (status.get("address") or status.get("addressRef")) and addresses[0] and addresses[0] != addresses[1] \
            and ip_texts.address_or_none(addresses[0]) != ip_texts.address_or_none(addresses[1]):
        found.append(Problem("ip-claim", subject, "address", shown(addresses[0]), "the address that the claim has",
                             "delete the claim first"))
    return found


class _Free:
    """The free addresses of a pool, which the claims of a list take one after the other.

    :param pool: its description
    :param usage: the result of ``ipam_usage.usage``
    """

    def __init__(self, pool: dict[str, Any], usage: dict[str, Any]):
        self._total = usage["total"]
        self._free = self._left = max(0, usage["free"])
        # IPAM keeps one address for each name of a claim, of whichever kind (``status.allocations``).
        self._served = set(entry["claim"] for entry in usage["allocations"]) | set(pool.get("pre_allocations") or {})

    def take(self, name: str) -> bool:
        """Take an address for a claim unless it has one, and say whether there was one left."""
        if name in self._served:
            return True
        if not self._left:
            return False
        self._left -= 1
        self._served.add(name)
        return True

    def exhausted(self) -> str:
        """Say why there is none left."""
        if not self._free:
            return f"no free address of {self._total}"
        return "%d free address%s of %d, which other claims of the list take" % (
            self._free, "" if self._free == 1 else "es", self._total)


def _address(subject: str, claim: dict[str, Any], pool: dict[str, Any], usage: dict[str, Any],
             wanted: dict[tuple[str, Address], str]) -> list[Problem]:
    try:
        address = ipaddress.ip_address(claim["address"])
    except ValueError:
        return [Problem("ip-claim", subject, "address", shown(claim["address"]), "an IPv4 or IPv6 address")]
    found = []
    spans = []
    for range_ in pool.get("ranges") or []:
        try:
            spans.append(span_of(range_))
        except ValueError:
            continue
    if not any(contains(span, address) for span in spans):
        found.append(Problem("ip-claim", subject, "address", shown(address),
                             f"an address in a range of pool {claim['pool']}", "leave it out for any free one"))
    elif too_far(spans, address):
        found.append(Problem("ip-claim", subject, "address", f"{address}, after {too_far(spans, address)} others",
                             f"one of the first {LONGEST_SEARCH} addresses of pool {claim['pool']}",
                             "IPAM counts up to it one by one and answers nobody meanwhile"))
    for entry in usage["allocations"]:
        if ipaddress.ip_address(entry["address"]) == address and entry["claim"] != claim["name"]:
            found.append(
                Problem("ip-claim", subject, "address", f"{address}, which {entry['claim']} has", "a free address",
                        "leave it out for any free one")
            )
    if (claim["pool"], address) in wanted:
        found.append(Problem("ip-claim", subject, "address", f"{address}, which claim "
                                                             f"{wanted[(claim['pool'], address)]} asks for "
                                                             "too", "an address of its own"))
    wanted.setdefault((claim["pool"], address), claim["name"])
    for name, text in (pool.get("pre_allocations") or {}).items():
        same = ipaddress.ip_address(text) == address
        if same and name != claim["name"]:
            found.append(Problem("ip-claim", subject, "address", f"{address}, which the pool keeps for claim {name}",
                                 "an address that is not preallocated", "leave it out for any free one"))
        if not same and name == claim["name"]:
            found.append(Problem("ip-claim", subject, "address", shown(address),
                                 f"{text}, preallocated for this claim", "leave it out: IPAM gives the claim that one"))
    return found
