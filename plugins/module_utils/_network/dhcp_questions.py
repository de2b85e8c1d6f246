# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A question for the DHCP servers and routers of a wire: its mistakes, and what the answers say; pure."""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._common.addresses import ip_texts
from .._common.addresses.mac_address import mac_error
from .._common.options.field_checks import show
from .._common.problems.problem import Problem
from .other_servers import Answers, is_server

# As messages and dnsmasq's log have it; RFC 8415, 11.1: a type of 2 bytes, and at most 128 bytes more.
_DUID = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){2,129}\Z")


def problems(subject: str, entry: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the mistakes of a question, see :func:`reach.check`."""
    wrong = mac_error(entry["mac"]) if entry.get("mac") else None
    if wrong:
        yield Problem("value", subject, "mac", show(entry["mac"]), wrong)
    if entry["seconds"] < 1:
        yield Problem("value", subject, "seconds", entry["seconds"], "at least 1 second")
    for option in ("expected_servers", "allowed_servers"):
        for text in entry.get(option) or ():
            if not (ip_texts.is_address(text) or _DUID.match(text)):
                yield Problem("value", subject, option, show(text),
                              "an address of a DHCPv4 server, or a DHCPv6 server's DUID or link-local address")
    for text in entry.get("allowed_routers") or ():
        if not ip_texts.is_address(text) or _is_ipv4(text) or not ip_texts.address(text).is_link_local:
            yield Problem("value", subject, "allowed_routers", show(text), "a router's link-local address of IPv6")
    by_ipv6 = [text for text in entry.get("expected_servers") or () if not _is_ipv4(text)]
    if entry.get("ipv6") is False and by_ipv6:
        yield Problem("value", subject, "expected_servers", show(by_ipv6[0]), "servers of IPv4 with ipv6: false",
                      "remove it, or set ipv6: true")


def is_ipv6_asked(entry: Mapping[str, Any], has_ipv6: bool) -> bool:
    """Return whether a question for DHCP servers asks by IPv6, too.

    :param entry: of ``dhcp``
    :param has_ipv6: whether the interface has an address of IPv6
    """
    if entry.get("ipv6") is not None:
        return bool(entry["ipv6"])
    named = [*(entry.get("expected_servers") or ()), *(entry.get("allowed_servers") or ()),
             *(entry.get("allowed_routers") or ())]
    return has_ipv6 or not all(map(_is_ipv4, named))


def found_text(found: Answers) -> str:
    """Return in words which DHCP servers and routers answered."""
    texts = [f"{offer.server} offers {offer.address}" for offer in found.offers]
    texts += [f"{offer.server_address} offers {offer.address or 'no address'}" for offer in found.servers]
    if not texts:
        texts = ["no offer"]
    return ", ".join([*texts, *(f"router {router.address} advertises {', '.join(router.prefixes) or 'no network'}"
                                for router in found.routers)])


def missing_servers(interface: str, mac: str, found: Answers, expected: Sequence[str]) -> list[Problem]:
    """Return a Problem for each expected DHCP server that offers nothing.

    :param mac: the client for whom was asked
    :param expected: addresses; of DHCPv6 servers DUIDs and link-local addresses
    """
    there = {offer.server for offer in found.offers}
    return [Problem("unreachable", f"interface {interface}", "dhcp", f"no offer from {server}", f"an offer for {mac}",
                    "look at that DHCP server, at its relay, and whether it knows the client")
            for server in expected
            if server not in there and not any(is_server(server, offer) for offer in found.servers)]


def _is_ipv4(text: str) -> bool:
    return ip_texts.is_address(text) and ip_texts.address(text).version == 4
