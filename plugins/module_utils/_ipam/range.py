# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The addresses that one range of an IPPool hands out, by the rules of IPAM's ``GetIPAddress`` (api/v1alpha1)."""
from __future__ import annotations

import ipaddress
from collections import namedtuple
from collections.abc import Iterable, Mapping
from typing import Any, Union

# Addresses; about a second of IPAM's time.
LONGEST_SEARCH = 1000000
# first and last are ipaddress objects, both included.
Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]
Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]
Span = namedtuple("Span", ["first", "last"])


def size(span: Span) -> int:
    """Return how many addresses a span has."""
    return int(span.last) - int(span.first) + 1


def contains(span: Span, address: Address) -> bool:
    """Say whether an ipaddress object lies in a span; False for another address family."""
    return address.version == span.first.version and span.first <= address <= span.last


def too_far(spans: Iterable[Span], address: Address) -> int:
    """Say how many addresses IPAM would try before a wished one, when it would block everything else meanwhile.

    It counts up from the first address of the first range (``allocateAddress`` of ``ipam/ippool_manager.go``), with one
    worker for all pools.

    :param spans: of a pool's ranges, in their order
    :param address: an ipaddress object
    :returns: the number, 0 when it is no problem
    """
    tried = 0
    for span in spans:
        if contains(span, address):
            tried += int(address) - int(span.first)
            return tried if tried > LONGEST_SEARCH else 0
        tried += size(span)
    return 0


def overlap(left: Span, right: Span) -> Span | None:
    """Return the Span that two spans have in common, or None."""
    if left.first.version != right.first.version:
        return None
    first, last = max(left.first, right.first), min(left.last, right.last)
    return Span(first, last) if first <= last else None


def network_of(range_: Mapping[str, Any]) -> Network | None:
    """Return the subnet of a range as an ip_network object, or None when the range has none.

    :param range_: dict with optional ``subnet``
    :raises ValueError: when the subnet can't be read
    """
    return ipaddress.ip_network(range_["subnet"], strict=False) if range_.get("subnet") else None


def span_of(range_: Mapping[str, Any]) -> Span:
    """Return the addresses of a range.

    With ``start``, IPAM counts up from it to ``end``, and to the subnet's last address when there is one. Without
    ``start`` it begins one after the address written in ``subnet``, and hands out the last address of an IPv4
    subnet too, its broadcast address.

    :param range_: dict with ``start``, ``end``, ``subnet`` (strings, each may be missing or None)
    :raises ValueError: when there is neither start nor subnet, an address can't be read, or the span is empty
    """
    network = network_of(range_)
    end = ipaddress.ip_address(range_["end"]) if range_.get("end") else None
    if range_.get("start"):
        first = ipaddress.ip_address(range_["start"])
    elif network is not None:
        first = ipaddress.ip_interface(range_["subnet"]).ip + 1
        # IPAM does not look at end when there is no start.
        end = None
    else:
        raise ValueError("neither start nor subnet")
    last = network.broadcast_address if network is not None else None
    if end is not None and last is not None and end.version != last.version:
        raise ValueError(f"end is IPv{end.version}, subnet IPv{last.version}")
    if end is not None:
        last = end if last is None else min(last, end)
    if last is None:
        last = type(first)(2 ** first.max_prefixlen - 1)
    if first.version != last.version:
        raise ValueError(f"start is IPv{first.version}, end or subnet IPv{last.version}")
    if network is not None and first not in network:
        raise ValueError(f"start {first} is outside subnet {network}")
    # As numbers: the two are of one version, which a type checker does not see.
    if int(first) > int(last):
        raise ValueError(f"start {first} is after the last address {last}")
    return Span(first, last)
