# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual routers, by whose numbers machines that hold an address in turn know each other (VRRP); pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from . import ip_texts

# What all examples of keepalived have.
DEFAULT_NUMBER = 51
# Of Metal³'s image of keepalived, which Ironic's pod has: nobody can set it.
IRONIC_NUMBER = 1


class VirtualRouter(NamedTuple):
    """What keepalived knows the holders of an address by.

    :param address: the address
    :param number: of the virtual router; others on one wire must have others, of IPv4 and of IPv6 each
    :param network: the network of the address, None where nobody says it
    """

    address: Any
    number: int
    network: Any = None


def others_options() -> dict[str, dict[str, Any]]:
    """Return the options of another virtual router, as an argument spec."""
    return {"owner": {"type": "str", "required": True}, "address": {"type": "str", "required": True},
            "number": {"type": "int", "required": True}}


def others_of(given: Iterable[Mapping[str, Any]]) -> list[tuple[str, VirtualRouter]]:
    """Return ``(whose it is, VirtualRouter)`` of each that has an address.

    :param given: see :func:`others_options`
    """
    found = [(item["owner"], of_text(item["address"], item["number"])) for item in given]
    return [(owner, router) for owner, router in found if router is not None]


def of_text(address: str, number: int) -> VirtualRouter | None:
    """Return a virtual router, None for what is no address.

    :param address: with or without the prefix of its network
    :param number: of the virtual router
    """
    try:
        parsed = ip_texts.interface(address)
    except ValueError:
        return None
    return VirtualRouter(parsed.ip, number, parsed.network if "/" in address else None)


def clashing(own: VirtualRouter | None, others: Iterable[tuple[str, VirtualRouter]],
             networks: Iterable[Any]) -> list[tuple[str, VirtualRouter]]:
    """Return those of others that have the number of a virtual router and are on its network.

    :param own: the virtual router, None for none
    :param others: ``(whose it is, VirtualRouter)`` of each
    :param networks: those that the address of the first one is in, beside what each says of itself
    """
    # Each family has numbers of its own; the same address is a mistake of another kind.
    same = [(owner, other) for owner, other in others if own is not None and other.number == own.number
            and other.address.version == own.address.version and other.address != own.address]
    known = list(networks)
    return [(owner, other) for owner, other in same if own is not None and any(
        own.address in network and other.address in network
        for network in (*known, own.network, other.network) if network is not None)]
