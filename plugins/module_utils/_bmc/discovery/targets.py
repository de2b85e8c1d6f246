# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The addresses that a user gave to look for BMCs at: names, single addresses, ranges and networks."""
from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any

from ..._common.addresses import ip_texts
from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..addresses import address as bmc_address


def expand(texts: Sequence[Any], limit: int) -> tuple[list[str], list[Problem]]:
    """Return the hosts that texts stand for, each once, in the given order; and the mistakes.

    :param texts: each a name, an IP address, a range ``192.0.2.10-192.0.2.50`` (the end may be the last number only),
        or a network ``192.0.2.0/24``, of which network and broadcast address are left out
    :param limit: how many hosts there may be in all
    :returns: ``(list of hosts, list of problems)``
    """
    bounds, problems = _read(texts)
    hosts, total = {}, 0
    for text, first, last in bounds:
        if first is None:
            hosts[text] = None
            total += 1
            continue
        total += int(last) - int(first) + 1
        if total <= limit:
            for number in range(int(first), int(last) + 1):
                hosts[str(type(first)(number))] = None
    if total > limit:
        problems.append(Problem("discovery-targets", "", "addresses", f"{total} addresses", f"{limit} at most",
                                "give fewer, or raise address_limit if all of them are meant"))
    return list(hosts), problems


def mistakes(texts: Sequence[Any]) -> list[Problem]:
    """Return a problem of each text that names nothing.

    :param texts: as for :func:`expand`
    """
    return _read(texts)[1]


def named(texts: Sequence[Any], address: Any) -> bool:
    """Return whether texts, of which any may be mistaken, name an address.

    :param texts: as for :func:`expand`, of any size
    :param address: an ``ipaddress`` address
    """
    return any(first is not None and first.version == address.version and first <= address <= last
               for dummy, first, last in _read(texts)[0])


def outside(hosts: Sequence[str], texts: Sequence[Any]) -> list[str]:
    """Return those of hosts that texts do not name; a name is named by itself alone, wherever it leads to.

    :param hosts: as :func:`expand` returns them
    :param texts: as for :func:`expand`, of any size
    """
    bounds = _read(texts)[0]
    names = set(text.lower() for text, first, _last in bounds if first is None)

    def is_named(host: str) -> bool:
        address = _address(host)
        if address is None:
            return host.lower() in names
        return any(first is not None and first.version == address.version and first <= address <= last
                   for _text, first, last in bounds)

    return [host for host in hosts if not is_named(host)]


def _read(texts: Sequence[Any]) -> tuple[list[tuple[str, Any, Any]], list[Problem]]:
    """Return each text with its first and last address, None twice for a name; and a problem of each other text."""
    bounds, problems = [], []
    for text in (str(item).strip() for item in texts):
        try:
            bounds.append((text, *_bounds(text)))
        except ValueError as exc:
            problems.append(Problem("discovery-targets", "", "addresses", shown(text), str(exc),
                                    ip_texts.network_hint(text) if "/" in text else "write it as one of these"))
    return bounds, problems


def _bounds(text: str) -> tuple[Any, Any]:
    """Return the first and last address of a text, None twice for a name."""
    if "/" in text:
        try:
            network = ipaddress.ip_network(text)
        except ValueError as exc:
            raise ValueError(f"a network like 192.0.2.0/24 ({exc})") from exc
        # Not by hosts(), which makes a list of them for some networks.
        edge = 1 if network.version == 4 and network.prefixlen < 31 else 0
        return network[edge], network[-1 - edge]
    start, dash, end = (part.strip() for part in text.partition("-"))
    if dash and _address(start) is not None:
        first = _address(start)
        if end.isdigit() and first.version == 4:
            end = start.rpartition(".")[0] + "." + end
        last = _address(end)
        if last is None or last.version != first.version or last < first:
            raise ValueError("a range like 192.0.2.10-192.0.2.50")
        return first, last
    only = _address(text)
    if only is not None:
        return only, only
    try:
        if bmc_address.parse(f"redfish://{text}").host != text.lower():
            raise ValueError("more than a name")
    except ValueError as exc:
        raise ValueError(
            "a name, an IP address, a range 192.0.2.10-192.0.2.50 or a network 192.0.2.0/24") from exc
    return None, None


def _address(text: str) -> Any:
    try:
        # A zone means something on one machine only, and BMO refuses it.
        return None if "%" in text else ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None
