# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DHCP messages as bytes: a question as firmware asks it, and what an answer says (RFC 2131, 2132, 4578); pure."""
from __future__ import annotations

import ipaddress
import struct
from typing import NamedTuple

SERVER_PORT, CLIENT_PORT = 67, 68
_COOKIE = b"\x63\x82\x53\x63"
# ETH_P_IP of linux/if_ether.h.
ETHERTYPE, _UDP = 0x0800, 17
_REQUEST, _REPLY = 1, 2
DISCOVER, OFFER = 1, 2
_PAD, _END = 0, 255
_ROUTER, _NAME_SERVER, _MESSAGE, _SERVER, _VENDOR, _FILE, _USER_CLASS, _ARCHITECTURE = 3, 6, 53, 54, 60, 67, 77, 93
# Of a file's name or URL: an option that comes in parts may fill a whole frame, and each server's is in a message.
_LONGEST_TEXT = 255
# Ethernet, IP and UDP headers, then the fixed part of a message.
_FIXED = 236


class Offer(NamedTuple):
    """What one server offers; texts are as the server wrote them, reduced to 255 characters of ASCII.

    :param server: its address: the server identifier, else the sender's
    :param server_mac: the card that sent the answer
    :param address: the address that it would lend
    :param boot_file: file or URL to boot from, empty when there is none
    :param vendor_class: option 60, ``HTTPClient`` for a boot by HTTP
    :param routers: addresses
    :param name_servers: addresses of DNS servers
    """

    server: str
    server_mac: str
    address: str
    boot_file: str
    vendor_class: str
    routers: tuple[str, ...]
    name_servers: tuple[str, ...] = ()


def discover(mac: str, transaction: int, architecture: int | None = None, user_class: str = "") -> bytes:
    """Return an Ethernet frame that asks all DHCP servers of the wire for an offer, and takes no lease.

    :param mac: the client's address, six pairs with colons
    :param transaction: number that the answers repeat, 32 bits
    :param architecture: option 93 as the firmware sets it, or None
    :param user_class: option 77, ``iPXE`` as iPXE sets it
    """
    card = bytes.fromhex(mac.replace(":", ""))
    # The broadcast flag: the client has no address to which an answer could be sent.
    fixed = struct.pack("!BBBBIHH16x16s64x128x", _REQUEST, 1, 6, 0, transaction, 0, 0x8000, card)
    options = _option(_MESSAGE, bytes([DISCOVER]))
    options += _option(55, bytes([1, _ROUTER, _NAME_SERVER, 15, 43, _VENDOR, 66, _FILE]))
    if architecture is not None:
        vendor = "HTTPClient" if architecture >= 15 else "PXEClient"
        options += _option(_VENDOR, f"{vendor}:Arch:{architecture:05d}:UNDI:003000".encode())
        options += _option(_ARCHITECTURE, struct.pack("!H", architecture))
    if user_class:
        options += _option(_USER_CLASS, user_class.encode())
    return _frame(card, fixed + _COOKIE + options + bytes([_END]))


def _option(number: int, content: bytes) -> bytes:
    return bytes([number, len(content)]) + content


def _frame(card: bytes, message: bytes) -> bytes:
    # A checksum of 0 means none in UDP over IPv4 (RFC 768).
    udp = struct.pack("!HHHH", CLIENT_PORT, SERVER_PORT, 8 + len(message), 0) + message
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, _UDP, 0, b"\0" * 4, b"\xff" * 4)
    head = head[:10] + struct.pack("!H", _checksum(head)) + head[12:]
    return b"\xff" * 6 + card + struct.pack("!H", ETHERTYPE) + head + udp


def _checksum(content: bytes) -> int:
    total = sum(struct.unpack(f"!{len(content) // 2}H", content))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def read_offer(frame: bytes, mac: str, transaction: int) -> Offer | None:
    """Return what a frame offers to a client; None when it is none, another's, or cut.

    :param frame: as it came off the wire: of any sender and content
    :param mac: as for :func:`discover`
    :param transaction: as for :func:`discover`
    """
    if len(frame) < 14 + 20 or frame[12:14] != struct.pack("!H", ETHERTYPE) or frame[14] >> 4 != 4:
        return None
    udp = 14 + (frame[14] & 0xf) * 4
    if frame[23] != _UDP or len(frame) < udp + 8 or frame[udp:udp + 4] != struct.pack("!HH", SERVER_PORT, CLIENT_PORT):
        return None
    message = frame[udp + 8:]
    if len(message) < _FIXED + 4 or message[0] != _REPLY or message[_FIXED:_FIXED + 4] != _COOKIE:
        return None
    if message[4:8] != struct.pack("!I", transaction) or message[28:34] != bytes.fromhex(mac.replace(":", "")):
        return None
    options = _options(message[_FIXED + 4:])
    if options.get(_MESSAGE) != bytes([OFFER]):
        return None
    server = options.get(_SERVER, b"")
    return Offer(
        _address(server if len(server) == 4 else frame[26:30]), ":".join(f"{byte:02x}" for byte in frame[6:12]),
        _address(message[16:20]), text(options.get(_FILE) or message[108:236]), text(options.get(_VENDOR, b"")),
        _addresses(options.get(_ROUTER, b"")), _addresses(options.get(_NAME_SERVER, b"")))


def _options(content: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    at = 0
    while at < len(content) and content[at] != _END:
        if content[at] == _PAD:
            at += 1
            continue
        if at + 2 > len(content) or at + 2 + content[at + 1] > len(content):
            break
        # RFC 3396: a long option comes in parts.
        found[content[at]] = found.get(content[at], b"") + content[at + 2:at + 2 + content[at + 1]]
        at += 2 + content[at + 1]
    return found


def _address(content: bytes) -> str:
    return str(ipaddress.IPv4Address(content))


def _addresses(content: bytes) -> tuple[str, ...]:
    return tuple(_address(content[at:at + 4]) for at in range(0, len(content) - 3, 4))


def text(content: bytes) -> str:
    """Return what a server has written, up to its first zero, reduced to 255 printable characters of ASCII."""
    return "".join(chr(byte) for byte in content[:_LONGEST_TEXT].split(b"\0")[0] if 32 <= byte < 127)
