# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts that are IP addresses or networks; pure."""
from __future__ import annotations

import ipaddress
from typing import Any, Callable, Union

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]
Interface = Union[ipaddress.IPv4Interface, ipaddress.IPv6Interface]
Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]


def address(text: str) -> Address:
    """Return an IPv4 or IPv6 address.

    :raises ValueError: for what is none, and for one with a zone, see :func:`_without_zone`
    """
    found: Address = _without_zone(ipaddress.ip_address, text)
    return found


def interface(text: str) -> Interface:
    """Return an address with the length of its network; raises as :func:`address`."""
    found: Interface = _without_zone(ipaddress.ip_interface, text)
    return found


def network(text: str) -> Network:
    """Return a network without bits of a host; raises as :func:`address`."""
    found: Network = _without_zone(ipaddress.ip_network, text)
    return found


def network_hint(text: str) -> str:
    """Return what to do about a text that is no network: of an address in one, which network that is."""
    try:
        return f"write {interface(text).network}, without bits of a host"
    except ValueError:
        return "write its first address, a slash and the length of its prefix"


def _without_zone(parse: Callable[[str], Any], text: str) -> Any:
    """Return what a text is, unless it has the zone of an IPv6 address.

    A zone may be any text to ``ipaddress``, one with line breaks, too, and has a meaning on one machine only.
    """
    if "%" in str(text):
        raise ValueError("an address with a zone")
    return parse(text)


def is_address(text: str) -> bool:
    """Return whether a text is an IPv4 or IPv6 address without a zone."""
    try:
        address(text)
    except ValueError:
        return False
    return True


def address_or_none(text: Any) -> Address | None:
    """Return an IPv4 or IPv6 address, None for what is none and for one with a zone."""
    return address(text) if is_address(text) else None


def is_same_host(one: str, other: str) -> bool:
    """Return whether two texts name one host: an address in whatever form, or a name in whatever letters."""
    return host_text(one) == host_text(other)


def host_text(text: str) -> str:
    """Return the one spelling of a host that all of its spellings have here.

    :param text: a name in whatever letters, or an address in whatever form: an IPv6 address can be written in many
        ways, an IPv4 address also as one of IPv6 (RFC 4291, 2.5.5.2)
    """
    text = text.strip("[]").lower()
    try:
        found = address(text)
    except ValueError:
        return text
    return str(getattr(found, "ipv4_mapped", None) or found)


def is_loopback(host: str) -> bool:
    """Return whether a host is the machine itself that asks for it; another one takes it for itself.

    :param host: a name, or an address in whatever form
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_shortest_address(text: str) -> bool:
    """Return whether a text is an IPv4 or IPv6 address as others write it, too: in its shortest form."""
    try:
        return str(address(text)) == text
    except ValueError:
        return False


def is_network(text: str) -> bool:
    """Return whether a text is an IPv4 or IPv6 network, without bits of a host."""
    try:
        network(text)
    except ValueError:
        return False
    return True
