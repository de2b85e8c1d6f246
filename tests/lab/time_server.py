# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server of time by NTP (RFC 5905) with this machine's clock, and a note of who has asked it."""
from __future__ import annotations

import contextlib
import socket
import struct
import time

import background

PORT = 123
# From 1900, where NTP begins, to 1970.
EPOCH_SECONDS = 2208988800
# Leap indicator and version and mode, stratum, poll, precision, root delay and dispersion, reference; then four times.
PACKET = struct.Struct("!BBbbII4s8s8s8s8s")
CLIENT, SERVER, STRATUM, POLL, PRECISION = 3, 4, 1, 4, -20
DISPERSION = 1 << 4


def timestamp(seconds):
    """Return a time as NTP has it: whole seconds and the fraction."""
    whole = int(seconds)
    return struct.pack("!II", (whole + EPOCH_SECONDS) % 2 ** 32, int((seconds - whole) * 2 ** 32))


def answer(question, received, sent):
    """Return the answer to a client's packet, or None to what is none.

    :param received: when it came, in seconds since 1970
    :param sent: when the answer goes
    """
    if len(question) < PACKET.size or question[0] & 7 != CLIENT:
        return None
    asked = PACKET.unpack(question[:PACKET.size])[-1]
    version = question[0] & 0x38
    return PACKET.pack(version | SERVER, STRATUM, POLL, PRECISION, 0, DISPERSION, b"TEST", timestamp(received), asked,
                       timestamp(received), timestamp(sent))


@contextlib.contextmanager
def running(address):
    """Answer at an address, and give the list of the addresses that have asked."""
    asked = []

    def serve(server, ended):
        while not ended.is_set():
            with contextlib.suppress(TimeoutError):
                question, client = server.recvfrom(1024)
                reply = answer(question, time.time(), time.time())
                if reply:
                    asked.append(client[0])
                    server.sendto(reply, client)

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((address, PORT))
        server.settimeout(1)
        with background.running("time server", serve, server):
            yield asked
