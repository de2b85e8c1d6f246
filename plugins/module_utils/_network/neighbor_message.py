# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of neighbor discovery as bytes: routers that are asked for, neighbors that are answered (RFC 4861); pure."""
from __future__ import annotations

import ipaddress
import struct
from typing import NamedTuple

from . import ipv6_frame

ALL_ROUTERS = ipaddress.IPv6Address("ff02::2")
_ROUTER_SOLICITATION, _ROUTER_ADVERTISEMENT, _SOLICITATION, _ADVERTISEMENT = 133, 134, 135, 136
_TARGET_CARD, _PREFIX = 2, 3
_MANAGED = 0x80
_SOLICITED, _OVERRIDE = 0x40000000, 0x20000000
_UNSPECIFIED = ipaddress.IPv6Address("::")
# A router of a provisioning network has one or two, and what somebody else sends is shown in one line.
MOST_PREFIXES = 8


class Router(NamedTuple):
    """What one router advertises.

    :param address: its link-local address
    :param mac: the card that sent the advertisement
    :param lifetime_seconds: how long it is a default router, 0 for not at all
    :param managed: whether it says that addresses come by DHCPv6
    :param prefixes: networks that it names, at most 8
    """

    address: str
    mac: str
    lifetime_seconds: int
    managed: bool
    prefixes: tuple[str, ...]


def router_solicitation(mac: str) -> bytes:
    """Return an Ethernet frame that asks all routers of the wire for an advertisement.

    Its sender has no address, as a machine that boots: routers answer to all then.

    :param mac: the card that asks, six pairs with colons
    """
    message = struct.pack("!BBHI", _ROUTER_SOLICITATION, 0, 0, 0)
    return ipv6_frame.frame(mac, None, _UNSPECIFIED, ALL_ROUTERS, ipv6_frame.ICMP, message)


def read_router(packet: ipv6_frame.Packet) -> Router | None:
    """Return what a packet advertises; None when it is no router's, not of this wire, or cut.

    :param packet: of any sender and content
    """
    content = packet.content
    # RFC 4861, 6.1.2.
    if not _is(packet, _ROUTER_ADVERTISEMENT) or not packet.source.is_link_local or len(content) < 16:
        return None
    lifetime, = struct.unpack("!H", content[6:8])
    return Router(str(packet.source), packet.source_mac, lifetime, bool(content[5] & _MANAGED), _prefixes(content[16:]))


def answer(packet: ipv6_frame.Packet, mac: str) -> bytes | None:
    """Return the frame by which a card says whose its link-local address is, to who asks for it; None for all else.

    A machine that only tries whether the address is free gets no answer: it would not take it, and may be the one whose
    it is.

    :param packet: of any sender and content
    :param mac: the card, six pairs with colons
    """
    own = ipv6_frame.link_local(mac)
    if not _is(packet, _SOLICITATION) or packet.content[8:24] != own.packed or packet.source.is_unspecified:
        return None
    message = struct.pack("!BBHI", _ADVERTISEMENT, 0, 0, _SOLICITED | _OVERRIDE) + own.packed + bytes(
        [_TARGET_CARD, 1]) + ipv6_frame.card(mac)
    return ipv6_frame.frame(mac, packet.source_mac, own, packet.source, ipv6_frame.ICMP, message)


def _is(packet: ipv6_frame.Packet, kind: int) -> bool:
    # What a router has forwarded, or has another code, is no message of neighbors.
    return packet.protocol == ipv6_frame.ICMP and packet.hop_limit == 255 and packet.content[:2] == bytes([kind, 0])


def _prefixes(options: bytes) -> tuple[str, ...]:
    found: list[str] = []
    while len(options) >= 8 and options[1] and len(found) < MOST_PREFIXES:
        length = options[1] * 8
        if options[0] == _PREFIX and length == 32 and len(options) >= 32 and options[2] <= 128:
            network = ipaddress.IPv6Network((options[16:32], options[2]), strict=False)
            if str(network) not in found:
                found.append(str(network))
        options = options[length:]
    return tuple(found)
