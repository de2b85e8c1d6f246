# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has which address of a pool, how many are free, and what is leaked; pure, over listed objects."""
from __future__ import annotations

import ipaddress
from typing import Any

from .._kube.objects.conditions import condition
from .._kube.objects.finalizers import deletion_of
from .claim import pool_of
from .pool import describe
from .range import Span, contains, size, span_of

CLAIM_KINDS = ("IPClaim", "IPAddressClaim")
# IPAM's own, with which alone it takes the address back (updateAddress, capiUpdateAddress).
_RELEASING = frozenset(("ipclaim.ipam.metal3.io", "ipam.metal3.io/ipaddressclaim"))


def usage(pool: dict[str, Any], addresses: list[dict[str, Any]], claims: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what is allocated of one pool.

    :param pool: an IPPool object
    :param addresses: IPAddress objects of IPAM and of Cluster API in the pool's namespace
    :param claims: IPClaim and IPAddressClaim objects in the pool's namespace
    :returns: dict with ``name``, ``namespace``, ``total``, ``used``, ``free``, ``allocations`` (each with
        ``address``, ``claim``, ``owner``, ``preallocated``, ``by_hand``, ``object``), ``leaked`` (each with
        ``address``, ``object``, ``reason``), ``unanswered`` (claims without an address, each with ``claim``,
        ``reason``) and ``unreadable`` (ranges without usable addresses)
    """
    name = pool["metadata"]["name"]
    description = describe(pool)
    spans, unreadable = [], []
    for number, range_ in enumerate(description["ranges"]):
        try:
            spans.append(span_of(range_))
        except ValueError as exc:
            unreadable.append(f"pools[{number}]: {exc}")
    claims = [claim for claim in claims if pool_of(claim) == name]
    by_name = dict(((claim["kind"], claim["metadata"]["name"]), claim) for claim in claims)
    allocations, leaked = [], []
    for item in addresses:
        if pool_of(item) != name:
            continue
        kind, claim_name = _address_claim(item)
        claim = by_name.get((kind, claim_name))
        entry = {"address": item["spec"]["address"], "claim": claim_name, "owner": _owner(claim) if claim else None,
                 "preallocated": claim_name in (description.get("pre_allocations") or {}), "by_hand": _by_hand(item),
                 "object": f"{item['kind']}/{item['metadata']['name']}"}
        allocations.append(entry)
        reason = _leak(item, claim, kind, claim_name, spans)
        if reason:
            leaked.append({"address": entry["address"], "object": entry["object"], "reason": reason})
    taken = set(ipaddress.ip_address(entry["address"]) for entry in allocations)
    for text in (description.get("pre_allocations") or {}).values():
        taken.add(ipaddress.ip_address(text))
    total = sum(size(span) for span in spans)
    used = sum(1 for address in taken if any(contains(span, address) for span in spans))
    return {
        "name": name, "namespace": pool["metadata"].get("namespace"), "cluster_name": description.get("cluster_name"),
        "total": total, "used": used, "free": total - used,
        "allocations": sorted(allocations, key=lambda entry: int(ipaddress.ip_address(entry["address"]))),
        "leaked": leaked, "unanswered": [_unanswered(claim) for claim in claims if not _answered(claim)],
        "unreadable": unreadable,
    }


def _address_claim(item: dict[str, Any]) -> tuple[str, str | None]:
    spec = item["spec"]
    if "claim" in spec:
        return "IPClaim", spec["claim"].get("name")
    return "IPAddressClaim", (spec.get("claimRef") or {}).get("name")


def _owner(claim: dict[str, Any]) -> str | None:
    """Return who asked for the address: the claim's owner (a Metal3Data, for CAPM3's claims), or None."""
    owners = [owner for owner in claim["metadata"].get("ownerReferences") or []
              if owner.get("kind") and owner.get("name")]
    return f"{owners[0]['kind']}/{owners[0]['name']}" if owners else None


def _by_hand(item: dict[str, Any]) -> bool:
    # IPAM makes each address with its pool and its claim as owners (createAddress).
    return not item["metadata"].get("ownerReferences")


def _leak(item: dict[str, Any], claim: dict[str, Any] | None, kind: str, claim_name: str | None,
          spans: list[Span]) -> str | None:
    if claim is None and not _by_hand(item):
        return f"its {kind} {claim_name or '(none)'} does not exist"
    if claim is not None and deletion_of(claim):
        # CAPM3 takes its finalizer away before it deletes a claim (releaseAddressFromM3Pool).
        if _RELEASING.issuperset(claim["metadata"].get("finalizers") or ()):
            return None
        return f"its {kind} {claim_name} is {deletion_of(claim)}"
    if not any(contains(span, ipaddress.ip_address(item["spec"]["address"])) for span in spans):
        return "it is in no range of its pool"
    return None


def _answered(claim: dict[str, Any]) -> bool:
    status = claim.get("status") or {}
    return bool((status.get("address") or status.get("addressRef") or {}).get("name"))


def _unanswered(claim: dict[str, Any]) -> dict[str, Any]:
    status = claim.get("status") or {}
    reason = status.get("errorMessage")
    ready = condition(claim, "Ready")
    if ready.get("status") == "False":
        reason = reason or ready.get("message") or ready.get("reason")
    return {"claim": f"{claim['kind']}/{claim['metadata']['name']}", "owner": _owner(claim),
            "reason": reason or "IPAM has not answered yet"}
