# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A question by DHCPv6 as UEFI firmware and iPXE ask it, RFC 8415 and RFC 5970, and what was offered."""
from __future__ import annotations

import secrets
import socket
import struct
import time

ALL_SERVERS, CLIENT_PORT, SERVER_PORT = "ff02::1:2", 546, 547
SOLICIT, ADVERTISE = 1, 2
CLIENT_ID, IA_NA, IA_ADDRESS, ORO, ELAPSED, USER_CLASS, VENDOR_CLASS = 1, 3, 5, 6, 8, 15, 16
BOOT_FILE, ARCHITECTURE = 59, 61
REPEAT_SECONDS = 1
ETHERNET, DUID_LL = 1, 3


def option(code, value):
    return struct.pack("!HH", code, len(value)) + value


def options(data):
    """Return the options of a message as a mapping of code to value."""
    found = {}
    while len(data) >= 4:
        code, length = struct.unpack("!HH", data[:4])
        found[code], data = data[4:4 + length], data[4 + length:]
    return found


def offered(interface, mac, architecture, user_class, seconds):
    """Return what a server offers, a dict of address, boot_file and http; None when nobody answers.

    :param interface: name of an interface that is up and has a link-local address
    :param mac: its MAC address
    :param architecture: IANA's number of the firmware's processor architecture; None for a system
    :param user_class: as iPXE says it, or empty
    :param seconds: how long to listen
    """
    transaction = secrets.token_bytes(3)
    asked = [option(CLIENT_ID, struct.pack("!HH", DUID_LL, ETHERNET) + bytes.fromhex(mac.replace(":", ""))),
             option(IA_NA, struct.pack("!III", 1, 0, 0)), option(ORO, struct.pack("!HH", BOOT_FILE, VENDOR_CLASS)),
             option(ELAPSED, bytes(2))]
    if architecture is not None:
        asked.append(option(ARCHITECTURE, struct.pack("!H", architecture)))
    if user_class:
        asked.append(option(USER_CLASS, struct.pack("!H", len(user_class)) + user_class.encode()))
    question = bytes([SOLICIT]) + transaction + b"".join(asked)
    end = time.monotonic() + seconds
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
        client.bind(("::", CLIENT_PORT))
        client.settimeout(REPEAT_SECONDS)
        while time.monotonic() < end:
            client.sendto(question, (ALL_SERVERS, SERVER_PORT, 0, socket.if_nametoindex(interface)))
            try:
                answer = client.recv(65535)
            except TimeoutError:
                continue
            if answer[:4] == bytes([ADVERTISE]) + transaction:
                return read(options(answer[4:]))
    return None


def read(found):
    address = options(found[IA_NA][12:]).get(IA_ADDRESS) if IA_NA in found else None
    # EDK II takes an offer for one to boot by HTTP by this (HttpBootDhcp6.c, HttpBootParseDhcp6Packet).
    vendor = found.get(VENDOR_CLASS, b"")
    return {"address": socket.inet_ntop(socket.AF_INET6, address[:16]) if address else None,
            "boot_file": found.get(BOOT_FILE, b"").decode(),
            "http": len(vendor) >= 16 and vendor[6:16] == b"HTTPClient"}
