# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses that DHCP would give to servers although others have them; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._common.addresses import ip_texts
from .._common.options.field_checks import show
from .._common.problems.problem import Problem


def taken_options() -> dict[str, dict[str, Any]]:
    """Return the options of an address that somebody has, as an argument spec."""
    return {"owner": {"type": "str", "required": True}, "address": {"type": "str", "required": True},
            "may_be_kept": {"type": "bool", "default": False}}


def ranges_with(dhcp: Mapping[str, Any], address: ip_texts.Address) -> list[tuple[str, str]]:
    """Return ``(field, "first to last")`` of each range that has an address.

    :param dhcp: of a description, maybe one with mistakes
    """
    return [(f"dhcp.ranges[{place}]", f"{ip_texts.address(given['first'])} to {ip_texts.address(given['last'])}")
            for place, given in enumerate(dhcp.get("ranges") or ())
            if _is_between(address, given.get("first"), given.get("last"))]


def hosts_with(dhcp: Mapping[str, Any], address: ip_texts.Address) -> list[tuple[str, str]]:
    """Return ``(field, address)`` of each server for which an address is kept.

    :param dhcp: of a description, maybe one with mistakes
    """
    return [(f"dhcp.hosts[{place}].addresses[{at}]", text) for place, host in enumerate(dhcp.get("hosts") or ())
            for at, text in enumerate(host.get("addresses") or ()) if ip_texts.is_same_host(text, str(address))]


def problems(network: Mapping[str, Any], taken: Iterable[Mapping[str, Any]],
             reported: Iterable[str] = ()) -> list[Problem]:
    """Return what DHCP would give to servers of the addresses that machines of its plane have.

    :param network: a description, see ``description.problems``, which refuses the addresses that it has itself
    :param taken: ``owner`` and ``address`` of each, with or without the prefix of its network, and ``may_be_kept``,
        whether it may be that of a server for which it is kept
    :param reported: addresses that another rule is about
    """
    dhcp, subject = network.get("dhcp") or {}, f"network {network.get('name')}"
    known = {_address(text) for text in (*(network.get("addresses") or ()), *reported)}
    found = []
    for item in taken:
        address = _address(item["address"])
        if address is None or address in known:
            continue
        known.add(address)
        kept = hosts_with(dhcp, address)
        if kept and item.get("may_be_kept"):
            # dnsmasq lends an address of a range that it keeps to nobody else.
            continue
        found += [Problem("provisioning-network", subject, field, show(ends),
                          f"a range without {address}, which {item['owner']} has", "choose another range")
                  for field, ends in ranges_with(dhcp, address)]
        found += [Problem("provisioning-network", subject, field, show(text),
                          f"an address that nobody has: {item['owner']} has it", "keep another one for the server")
                  for field, text in kept]
    return found


def _address(text: str) -> ip_texts.Address | None:
    try:
        return ip_texts.interface(text).ip
    except ValueError:
        return None


def _is_between(address: ip_texts.Address, first: Any, last: Any) -> bool:
    ends = [ip_texts.address(text) for text in (first, last) if ip_texts.is_address(str(text or ""))]
    return len(ends) == 2 and all(end.version == address.version for end in ends) and (
        int(ends[0]) <= int(address) <= int(ends[1]))
