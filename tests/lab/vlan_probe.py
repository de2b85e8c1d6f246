# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks for an address in a VLAN, and hears who sends in which, on machines whose kernel has no VLAN links (8021q)."""
from __future__ import annotations

import contextlib
import ipaddress
import socket
import struct
import time

import background

ALL_PROTOCOLS, VLAN_TAG, ARP, IPV6, ICMPV6 = 0x0003, 0x8100, 0x0806, 0x86DD, 58
NEIGHBOR_SOLICITATION, NEIGHBOR_ADVERTISEMENT = 135, 136
# linux/if_packet.h: the kernel takes the tag off a frame and hands it over beside it.
SOL_PACKET, PACKET_AUXDATA, TAG_VALID = 263, 8, 0x10
AUXDATA = struct.Struct("=IIIHHHH")
SHORTEST_FRAME = 60


def frame(mac, vlan, asking, asked):
    """Return the frame that asks who has an address: ARP, or neighbour solicitation (RFC 4861).

    :param mac: the asker's MAC address, bytes
    :param vlan: number of the VLAN, None for a frame without a tag
    :param asking: the asker's address, an ipaddress
    :param asked: the address asked for, of the same version
    """
    tag = b"" if vlan is None else struct.pack("!HH", VLAN_TAG, vlan)
    if asked.version == 4:
        body = struct.pack("!HHHBBH", ARP, 1, 0x0800, 6, 4, 1) + mac + asking.packed + bytes(6) + asked.packed
        return (b"\xff" * 6 + mac + tag + body).ljust(SHORTEST_FRAME, b"\0")
    group = ipaddress.ip_address("ff02::1:ff00:0").packed[:13] + asked.packed[13:]
    message = struct.pack("!BBHI", NEIGHBOR_SOLICITATION, 0, 0, 0) + asked.packed + b"\x01\x01" + mac
    pseudo = asking.packed + group + struct.pack("!II", len(message), ICMPV6) + message
    message = message[:2] + struct.pack("!H", _checksum(pseudo)) + message[4:]
    header = struct.pack("!IHBB", 6 << 28, len(message), ICMPV6, 255) + asking.packed + group
    return b"\x33\x33" + group[12:] + mac + tag + struct.pack("!H", IPV6) + header + message


def answer(data, asked):
    """Return the MAC address that a frame without its tag says an address has, or None.

    :param data: the frame, bytes
    :param asked: the address, an ipaddress
    """
    kind, body = int.from_bytes(data[12:14], "big"), data[14:]
    if asked.version == 4 and kind == ARP and body[6:8] == b"\0\x02" and body[14:18] == asked.packed:
        return body[8:14]
    if (asked.version == 6 and kind == IPV6 and body[6] == ICMPV6 and body[40] == NEIGHBOR_ADVERTISEMENT
            and body[48:64] == asked.packed):
        return data[6:12]
    return None


def ask(link, vlan, asking, asked, seconds):
    """Ask in a VLAN who has an address, and return the MAC address of who answers in it; None when nobody does.

    :param link: the link that carries the frames
    :param vlan: number of the VLAN, None to ask without a tag
    """
    with listening(link) as raw:
        question = frame(raw.getsockname()[4], vlan, asking, asked)
        end = time.monotonic() + seconds
        asked_at = 0.0
        while time.monotonic() < end:
            if time.monotonic() - asked_at > 1:
                raw.send(question)
                asked_at = time.monotonic()
            try:
                data, beside, _flags, _source = raw.recvmsg(2048, 256)
            except TimeoutError:
                continue
            found = answer(untagged(data, beside, vlan), asked)
            if found:
                return found
    return None


@contextlib.contextmanager
def listening(link):
    """Give a socket that sends and hears frames on a link, and hears beside each of them the VLAN that it is in.

    :param link: its name
    """
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS)) as raw:
        raw.bind((link, 0))
        raw.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        raw.settimeout(1)
        yield raw


@contextlib.contextmanager
def hearing(link):
    """Give a set that fills while the block runs: of each tagged frame the VLAN's number and the sender's MAC address.

    :param link: the link that carries the frames
    """
    heard = set()
    with listening(link) as raw, background.running("vlan-probe", _hear, raw, heard):
        yield heard


def _hear(raw, heard, ended):
    while not ended.is_set():
        with contextlib.suppress(TimeoutError):
            data, beside, _flags, _source = raw.recvmsg(2048, 256)
            vlan = _vlan(data, beside)[0]
            if vlan is not None:
                heard.add((vlan, ":".join(f"{byte:02x}" for byte in data[6:12])))


def untagged(data, beside, vlan):
    """Return a frame of a VLAN without its tag; empty for another frame.

    :param data: the frame as it was received, bytes
    :param beside: what was received beside it, as socket.recvmsg returns it
    :param vlan: number of the VLAN, None for frames without a tag
    """
    found, bare = _vlan(data, beside)
    return bare if found == vlan else b""


def _vlan(data, beside):
    """Return the number of the VLAN that a frame is in, None for none, and the frame without its tag."""
    for level, kind, value in beside:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA) and len(value) >= AUXDATA.size:
            status, *_lengths, tag, _protocol = AUXDATA.unpack(value[:AUXDATA.size])
            if status & TAG_VALID:
                return tag & 0xFFF, data
    if data[12:14] == struct.pack("!H", VLAN_TAG):
        return int.from_bytes(data[14:16], "big") & 0xFFF, data[:12] + data[16:]
    return None, data


def _checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
