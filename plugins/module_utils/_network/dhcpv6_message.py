# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DHCPv6 messages as bytes: a question as a client asks it, and what an answer says (RFC 8415, 5970); pure."""
from __future__ import annotations

import ipaddress
import struct
from typing import NamedTuple

from . import ipv6_frame
from .dhcp_message import text

SERVER_PORT, CLIENT_PORT = 547, 546
ALL_SERVERS = ipaddress.IPv6Address("ff02::1:2")
SOLICIT, ADVERTISE = 1, 2
_CLIENT, _SERVER, _LEASE, _ADDRESS, _WANTED, _ELAPSED, _DNS, _BOOT_FILE = 1, 2, 3, 5, 6, 8, 23, 59
# Of a card: the identity that a server can know a client by who has only its MAC address.
_DUID_LINK_LAYER, _ETHERNET = 3, 1
# RFC 8415, 11.1: with its type.
_LONGEST_DUID = 130


class Advertisement(NamedTuple):
    """What one server offers.

    :param server: its DUID, pairs of hexadecimal digits with colons, as dnsmasq's log has it
    :param server_address: its link-local address, or that of the relay on this wire
    :param server_mac: the card that sent the answer
    :param address: the address that it would lend, empty when it has none to lend
    :param boot_file: URL to boot from, empty when there is none; reduced to 255 characters of ASCII
    """

    server: str
    server_address: str
    server_mac: str
    address: str
    boot_file: str


def solicit(mac: str, transaction: int) -> bytes:
    """Return an Ethernet frame that asks all DHCPv6 servers of the wire for an offer, and takes no lease.

    :param mac: the client's address, six pairs with colons; its link-local address follows from it
    :param transaction: number that the answers repeat, 24 bits
    """
    options = [(_CLIENT, _identity(mac)), (_LEASE, struct.pack("!III", 1, 0, 0)),
               (_WANTED, struct.pack("!HH", _DNS, _BOOT_FILE)), (_ELAPSED, bytes(2))]
    message = struct.pack("!I", SOLICIT << 24 | transaction) + b"".join(
        struct.pack("!HH", number, len(content)) + content for number, content in options)
    udp = struct.pack("!HHHH", CLIENT_PORT, SERVER_PORT, 8 + len(message), 0) + message
    return ipv6_frame.frame(mac, None, ipv6_frame.link_local(mac), ALL_SERVERS, ipv6_frame.UDP, udp)


def _identity(mac: str) -> bytes:
    return struct.pack("!HH", _DUID_LINK_LAYER, _ETHERNET) + ipv6_frame.card(mac)


def read_advertisement(packet: ipv6_frame.Packet, mac: str, transaction: int) -> Advertisement | None:
    """Return what a packet offers to a client; None when it offers nothing, is for another one, or cut.

    :param packet: of any sender and content
    :param mac: as for :func:`solicit`
    :param transaction: as for :func:`solicit`
    """
    content = packet.content
    if packet.protocol != ipv6_frame.UDP or content[:4] != struct.pack("!HH", SERVER_PORT, CLIENT_PORT):
        return None
    if content[8:12] != struct.pack("!I", ADVERTISE << 24 | transaction):
        return None
    options = _options(content[12:])
    server = options.get(_SERVER, b"")
    # RFC 8415, 16.3: a client ignores an answer without these.
    if options.get(_CLIENT) != _identity(mac) or not 2 < len(server) <= _LONGEST_DUID:
        return None
    lent = _options(options.get(_LEASE, b"")[12:]).get(_ADDRESS, b"")
    return Advertisement(server.hex(":"), str(packet.source), packet.source_mac,
                         str(ipaddress.IPv6Address(lent[:16])) if len(lent) >= 16 else "",
                         text(options.get(_BOOT_FILE, b"")))


def _options(content: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    while len(content) >= 4:
        number, length = struct.unpack("!HH", content[:4])
        if len(content) < 4 + length:
            break
        # Of several the first one counts: of addresses, one is enough to show.
        found.setdefault(number, content[4:4 + length])
        content = content[4 + length:]
    return found
