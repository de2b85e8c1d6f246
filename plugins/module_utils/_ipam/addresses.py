# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses of pools, out of the ranges as IPAM reads them (``ipam_range``)."""
from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from .range import Address, Span, contains, span_of

# More than anybody wants to see at once; an IPv6 range has more than fit into memory.
LIMIT = 65536


def spans_of(ranges: Any) -> list[Span]:
    """Return the Spans of ranges in the order given.

    :param ranges: list of dicts with ``start``, ``end``, ``subnet``; a text stands for a subnet or, with a dash, for
        first and last address
    :raises ValueError: naming the range that can't be read
    """
    if isinstance(ranges, (dict, str)):
        ranges = [ranges]
    spans = []
    for number, range_ in enumerate(ranges):
        try:
            spans.append(span_of(_as_range(range_)))
        except (ValueError, TypeError, AttributeError) as exc:
            raise ValueError(f"ranges[{number}]: found {range_}, expected start and end, or subnet ({exc})") from exc
    return spans


def _as_range(range_: Any) -> dict[str, Any]:
    if not isinstance(range_, str):
        return range_
    first, dash, last = range_.partition("-")
    return {"start": first.strip(), "end": last.strip()} if dash else {"subnet": range_.strip()}


def addresses(ranges: Any, exclude: Iterable[str] = (), limit: int | None = None) -> list[str]:
    """Return the addresses of ranges as texts, in the order in which IPAM hands them out, each once.

    :param exclude: addresses to leave out
    :param limit: how many to return at most; None for all
    :raises ValueError: when there are more than :data:`LIMIT`
    """
    left_out = set(address_of(item) for item in exclude)
    wanted = LIMIT + 1 if limit is None else min(limit, LIMIT + 1)
    found: list[Any] = []
    seen: list[Any] = []
    for span in spans_of(ranges):
        fresh = (address for address in _numbers(span)
                 if address not in left_out and not any(contains(other, address) for other in seen))
        found += itertools.islice(fresh, wanted - len(found))
        seen.append(span)
    if len(found) > LIMIT:
        raise ValueError(f"ranges: found more than {LIMIT} addresses, expected a limit")
    return [str(address) for address in found]


def _numbers(span: Span) -> Iterator[Address]:
    address = type(span.first)
    return (address(number) for number in range(int(span.first), int(span.last) + 1))


def has(ranges: Any, address: str) -> bool:
    """Say whether an address is in one of the ranges."""
    wanted = address_of(address)
    return any(contains(span, wanted) for span in spans_of(ranges))


def address_of(text: Any) -> Address:
    """Return an address as an ipaddress object.

    :raises ValueError: naming what was found
    """
    try:
        return ipaddress.ip_address(text)
    except ValueError as exc:
        raise ValueError(f"address: found {text!r}, expected an IP address") from exc
