# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking a wire which DHCPv6 servers and routers are there, without taking a lease."""
from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from . import dhcpv6_message, ipv6_frame, neighbor_message, wire_probe

# As for DHCP servers of IPv4: what answers more often is not listened to for ever.
MOST_ANSWERS = 64


class Found(NamedTuple):
    """Who was found.

    :param servers: one offer for each DHCPv6 server, by DUID
    :param routers: one advertisement for each router, by address
    """

    servers: list[dhcpv6_message.Advertisement]
    routers: list[neighbor_message.Router]


def ask(interface: str, macs: Sequence[str], seconds: float, wanted: int = MOST_ANSWERS,
        clock: Callable[[], float] = time.monotonic) -> Found:
    """Return which DHCPv6 servers and routers answer on an interface.

    A server sends its answer to the client's own address, for which it first asks whose card that is: this is answered
    for each client, and frames for other cards are taken in.

    :param interface: as for :func:`wire_probe.ask`
    :param macs: the clients for whom is asked; the last of them asks for routers, too
    :param seconds: how long to listen: routers wait for half a second, and for 3 after an advertisement
    :param wanted: how many servers and routers end the wait
    :raises ProbeError: as :func:`wire_probe.ask`
    """
    clients = {mac: secrets.randbits(24) for mac in macs}
    servers: dict[tuple[str, str], dhcpv6_message.Advertisement] = {}
    routers: dict[tuple[str, str], neighbor_message.Router] = {}

    def take(frame: bytes) -> bytes | None:
        packet = ipv6_frame.read(frame)
        if packet is None:
            return None
        router = neighbor_message.read_router(packet)
        if router:
            routers.setdefault((router.address, router.mac), router)
        for mac, transaction in clients.items():
            answer = neighbor_message.answer(packet, mac)
            if answer:
                return answer
            offer = dhcpv6_message.read_advertisement(packet, mac, transaction)
            if offer:
                servers.setdefault((offer.server, offer.server_mac), offer)
        return None

    questions = [dhcpv6_message.solicit(mac, transaction) for mac, transaction in clients.items()]
    wire_probe.ask(interface, ipv6_frame.ETHERTYPE, [*questions, neighbor_message.router_solicitation(macs[-1])],
                   seconds, take, lambda: len(servers) + len(routers) >= min(wanted, MOST_ANSWERS), clock, True)
    return Found([servers[key] for key in sorted(servers)], [routers[key] for key in sorted(routers)])
