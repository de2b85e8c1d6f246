# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ethernet frames of IPv6 as bytes, with UDP or ICMPv6 in them (RFC 2464, 4291, 8200); pure."""
from __future__ import annotations

import ipaddress
import struct
from typing import NamedTuple

ETHERTYPE = 0x86DD
UDP, ICMP = 17, 58
# Where each protocol has its checksum.
_CHECKSUM_AT = {UDP: 6, ICMP: 2}
_ETHERNET, _HEAD = 14, 40


class Packet(NamedTuple):
    """A packet of IPv6 and who sent it.

    :param source_mac: the card that sent the frame
    :param source: address of the sender
    :param protocol: number of the next header
    :param hop_limit: 255 for what no router has forwarded (RFC 4861)
    :param content: what follows IPv6's own header, without padding
    """

    source_mac: str
    source: ipaddress.IPv6Address
    protocol: int
    hop_limit: int
    content: bytes


def card(mac: str) -> bytes:
    """Return a MAC address, six pairs with colons, as bytes."""
    return bytes.fromhex(mac.replace(":", ""))


def link_local(mac: str) -> ipaddress.IPv6Address:
    """Return the link-local address that a card gives itself (RFC 4291, appendix A).

    :param mac: six pairs with colons
    """
    own = card(mac)
    return ipaddress.IPv6Address(
        b"\xfe\x80" + bytes(6) + bytes([own[0] ^ 2]) + own[1:3] + b"\xff\xfe" + own[3:])


def frame(mac: str, target_mac: str | None, source: ipaddress.IPv6Address, target: ipaddress.IPv6Address, protocol: int,
          content: bytes) -> bytes:
    """Return a frame whose checksum is filled in.

    :param mac: the card that sends it, six pairs with colons
    :param target_mac: who gets it; None for a group (RFC 2464, 7)
    :param protocol: ``UDP`` or ``ICMP``
    :param content: the protocol's message with a checksum of 0
    """
    at = _CHECKSUM_AT[protocol]
    pseudo = source.packed + target.packed + struct.pack("!IHBB", len(content), 0, 0, protocol)
    content = content[:at] + struct.pack("!H", _checksum(pseudo + content)) + content[at + 2:]
    head = struct.pack("!IHBB", 6 << 28, len(content), protocol, 255) + source.packed + target.packed
    receiver = card(target_mac) if target_mac else b"\x33\x33" + target.packed[12:]
    return receiver + card(mac) + struct.pack("!H", ETHERTYPE) + head + content


def _checksum(content: bytes) -> int:
    content += bytes(len(content) % 2)
    total = sum(struct.unpack(f"!{len(content) // 2}H", content))
    total = (total & 0xffff) + (total >> 16)
    # RFC 8200, 8.1: UDP has no 0 there.
    return (~(total + (total >> 16)) & 0xffff) or 0xffff


def read(content: bytes) -> Packet | None:
    """Return the packet of a frame; None for a frame of anything else, and for one that is cut.

    :param content: as it came off the wire: of any sender and content
    """
    if len(content) < _ETHERNET + _HEAD or content[12:14] != struct.pack("!H", ETHERTYPE) or content[14] >> 4 != 6:
        return None
    length, protocol, hop_limit = struct.unpack("!HBB", content[18:22])
    if len(content) < _ETHERNET + _HEAD + length:
        return None
    return Packet(content[6:12].hex(":"), ipaddress.IPv6Address(content[22:38]), protocol, hop_limit,
                  content[_ETHERNET + _HEAD:_ETHERNET + _HEAD + length])
