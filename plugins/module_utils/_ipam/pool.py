# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""IPPool objects from pool descriptions; pure."""
from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any

API_VERSION = "ipam.metal3.io/v1alpha1"

_RANGE_FIELDS = (("start", "start"), ("end", "end"), ("subnet", "subnet"), ("prefix", "prefix"),
                 ("gateway", "gateway"), ("dns_servers", "dnsServers"))
_POOL_FIELDS = (("cluster_name", "clusterName"), ("prefix", "prefix"), ("gateway", "gateway"),
                ("dns_servers", "dnsServers"), ("pre_allocations", "preAllocations"),
                ("allocation_strategy", "allocationStrategy"))


def render(pool: dict[str, Any], namespace: str) -> dict[str, Any]:
    """Return the IPPool object of one pool description.

    :param pool: dict with ``name``, ``ranges`` and optional ``name_prefix`` (default: the name), ``cluster_name``,
        ``prefix`` (bits), ``gateway``, ``dns_servers``, ``pre_allocations`` (claim name to address),
        ``allocation_strategy``, ``labels``, ``annotations``, ``namespace``
    :param namespace: used when the description names none
    """
    metadata = {"name": pool["name"], "namespace": pool.get("namespace") or namespace}
    for key in ("labels", "annotations"):
        if pool.get(key):
            metadata[key] = dict(pool[key])
    spec = {"namePrefix": pool.get("name_prefix") or pool["name"],
            "pools": [_fields(range_, _RANGE_FIELDS) for range_ in pool.get("ranges") or []]}
    spec.update(_fields(pool, _POOL_FIELDS))
    if "preAllocations" in spec:
        # IPAM compares the text with that of the addresses it hands out (getIndexes, GetIPAddress).
        spec["preAllocations"] = dict((claim, str(ipaddress.ip_address(text)))
                                      for claim, text in spec["preAllocations"].items())
    return {"apiVersion": API_VERSION, "kind": "IPPool", "metadata": metadata, "spec": spec}


def describe(obj: dict[str, Any]) -> dict[str, Any]:
    """Return the description of an IPPool object: the reverse of :func:`render`.

    :param obj: an IPPool as listed
    """
    spec = obj.get("spec") or {}
    pool = {"name": obj["metadata"]["name"], "namespace": obj["metadata"].get("namespace"),
            "name_prefix": spec.get("namePrefix"),
            "ranges": [_reverse(range_, _RANGE_FIELDS) for range_ in spec.get("pools") or []]}
    pool.update(_reverse(spec, _POOL_FIELDS))
    return pool


def _fields(source: dict[str, Any], names: Iterable[tuple[str, str]]) -> dict[str, Any]:
    return dict((theirs, source[ours]) for ours, theirs in names if source.get(ours) not in (None, [], {}, ""))


def _reverse(source: dict[str, Any], names: Iterable[tuple[str, str]]) -> dict[str, Any]:
    return dict((ours, source[theirs]) for ours, theirs in names if theirs in source)
