# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The switch's side of LACP (IEEE 802.1AX), for bonds whose cables lead to a bridge of Linux, which has none.

It answers what a bond sends on each of its links as one system with one key, so that the links become one aggregate;
all other frames go through the bridge. The kernel hands a frame to this program before the bridge drops it.
"""
from __future__ import annotations

import contextlib
import select
import socket
import struct

import background

ALL_PROTOCOLS, SLOW, LACP, VERSION = 0x0003, 0x8809, 1, 1
GROUP = bytes.fromhex("0180c2000002")
ACTOR, PARTNER, COLLECTOR, TERMINATOR = 1, 2, 3, 0
# Of the side that a TLV is about: priority and MAC of the system, key, priority and number of the port, state.
SIDE = struct.Struct("!H6sHHHB3x")
# Active, asks for a frame each second, may be aggregated, in sync, collects, distributes.
STATE = 0x3F
SYSTEM = bytes.fromhex("025c52ac0001")
PRIORITY, KEY = 0x8000, 7
RETRY_SECONDS = 1


def side(data):
    """Return the actor of a frame as its TLV has it, None of a frame that is no LACP.

    :param data: the frame, bytes
    """
    if data[12:14] != struct.pack("!H", SLOW) or data[14:15] != bytes([LACP]) or len(data) < 38 or \
            data[16:18] != bytes([ACTOR, 2 + SIDE.size]):
        return None
    return data[18:18 + SIDE.size]


def frame(mac, port, theirs):
    """Return the frame that answers a side.

    :param mac: of the link that sends it, bytes
    :param port: number of the port, different for each link
    :param theirs: from :func:`side`
    """
    ours = SIDE.pack(PRIORITY, SYSTEM, KEY, PRIORITY, port, STATE)
    body = bytes([LACP, VERSION, ACTOR, 2 + SIDE.size]) + ours + bytes([PARTNER, 2 + SIDE.size]) + theirs
    body += bytes([COLLECTOR, 16]) + bytes(14) + bytes([TERMINATOR, 0]) + bytes(50)
    return GROUP + mac + struct.pack("!H", SLOW) + body


@contextlib.contextmanager
def answering(links):
    """Answer on links while the block runs, also on those that come or come again meanwhile.

    :param links: names of the links; their order gives the numbers of the ports
    """
    with background.running("lacp-partner", _answer, list(links), join_seconds=10 * RETRY_SECONDS):
        yield


def _answer(links, ended):
    with contextlib.ExitStack() as opened:
        sockets = {}
        while not ended.is_set():
            for link in links:
                # Without the link, or with a link that is gone meanwhile, there is one of that name later.
                if link not in sockets.values():
                    with contextlib.suppress(OSError):
                        sockets[opened.enter_context(_listening(link))] = link
            ready, _write, _error = select.select(list(sockets), [], [], RETRY_SECONDS)
            for raw in ready:
                try:
                    data, source = raw.recvfrom(2048)
                    theirs = None if source[2] == socket.PACKET_OUTGOING else side(data)
                    if theirs:
                        raw.send(frame(raw.getsockname()[4], links.index(sockets[raw]) + 1, theirs))
                except OSError:
                    raw.close()
                    del sockets[raw]


def _listening(link):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    try:
        raw.bind((link, 0))
    except OSError:
        raw.close()
        raise
    return raw
