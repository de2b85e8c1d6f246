# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses that DHCP would give to servers although others have them, whoever serves DHCP; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..addresses import ip_texts
from ..problems.problem import Problem
from .field_checks import show


class Range(NamedTuple):
    """A range that is lent, maybe one with mistakes.

    :ivar field: of the option
    """

    field: str
    first: Any
    last: Any


class Kept(NamedTuple):
    """An address that is kept for one server.

    :ivar field: of the option
    """

    field: str
    address: str


class Taken(NamedTuple):
    """An address that somebody has who gets none by DHCP.

    :ivar address: with or without the prefix of its network; anything else is passed over
    :ivar whose: words for it, as "the gateway's address"
    :ivar may_be_kept: whether it may be that of a server for which it is kept
    """

    address: Any
    whose: str
    may_be_kept: bool = False


def taken_options() -> dict[str, dict[str, Any]]:
    """Return the options of an address that somebody has, as an argument spec."""
    return {"owner": {"type": "str", "required": True}, "address": {"type": "str", "required": True},
            "may_be_kept": {"type": "bool", "default": False}}


def taken_by(given: Iterable[Mapping[str, Any]] | None) -> list[Taken]:
    """Return what was given by :func:`taken_options`."""
    return [Taken(item["address"], f"the address of {item['owner']}", bool(item.get("may_be_kept")))
            for item in given or ()]


def range_of(field: str, text: Any) -> list[Range]:
    """Return the range of a text ``first,last``, maybe with more behind it, as dnsmasq takes it; else none."""
    first, separator, rest = str(text or "").partition(",")
    return [Range(field, first.strip(), rest.partition(",")[0].strip())] if separator else []


def kept_in(field: str, entries: Iterable[Any]) -> list[Kept]:
    """Return the addresses of dnsmasq's lines ``dhcp-host``, in which each is one part between commas."""
    return [Kept(f"{field}[{place}]", part) for place, entry in enumerate(entries)
            for word in str(entry).split(",") for part in [word.strip().strip("[]")] if ip_texts.is_address(part)]


def ranges_with(ranges: Iterable[Range], address: ip_texts.Address) -> list[tuple[str, str]]:
    """Return ``(field, "first to last")`` of each range that has an address."""
    found = []
    for given in ranges:
        ends = [ip_texts.address(text) for text in (given.first, given.last) if ip_texts.is_address(str(text or ""))]
        if len(ends) == 2 and all(end.version == address.version for end in ends) and (
                int(ends[0]) <= int(address) <= int(ends[1])):
            found.append((given.field, f"{ends[0]} to {ends[1]}"))
    return found


def kept_with(kept: Iterable[Kept], address: ip_texts.Address) -> list[tuple[str, str]]:
    """Return ``(field, address)`` of each server for which an address is kept."""
    return [(item.field, item.address) for item in kept if ip_texts.is_same_host(item.address, str(address))]


def problems(code: str, subject: str, ranges: Sequence[Range], kept: Sequence[Kept], taken: Iterable[Taken],
             known: Iterable[Any] = ()) -> list[Problem]:
    """Return what DHCP would give to servers of the addresses that others have.

    :param code: of the problems
    :param subject: of the problems
    :param ranges: what is lent
    :param kept: what is kept for single servers
    :param taken: what others have; of one address only the first counts
    :param known: addresses that another rule is about, as texts
    """
    passed = set(map(_address, known))
    found = []
    for item in taken:
        address = _address(item.address)
        if address is None or address in passed:
            continue
        passed.add(address)
        reserved = kept_with(kept, address)
        if reserved and item.may_be_kept:
            # dnsmasq lends an address of a range that it keeps to nobody else.
            continue
        found += [Problem(code, subject, field, show(text), f"an address that is not {item.whose}",
                          "keep another one for the server") for field, text in reserved]
        found += [Problem(code, subject, field, show(ends), f"a range without {address}, {item.whose}",
                          "choose another range") for field, ends in ranges_with(ranges, address)]
    return found


def _address(text: Any) -> ip_texts.Address | None:
    try:
        return ip_texts.interface(str(text)).ip
    except ValueError:
        return None
