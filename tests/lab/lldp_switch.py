# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A switch that names the VLANs of its ports by LLDP (IEEE 802.1AB), for links whose cables lead to a bridge of Linux.

The bridge sends none, and hands those of others on to nobody.
"""
from __future__ import annotations

import contextlib
import socket
import struct

import background

LLDP, GROUP = 0x88CC, bytes.fromhex("0180c200000e")
CHASSIS, PORT, TIME_TO_LIVE, SYSTEM_NAME, OF_ORGANIZATION = 1, 2, 3, 5, 127
# Subtypes: a chassis by its MAC address, a port by its interface's name.
BY_MAC, BY_NAME = 4, 5
# IEEE 802.1Q, annex D: its number, and the subtype "VLAN name".
VLAN_NAME = bytes.fromhex("0080c2") + bytes([3])
SWITCH = bytes.fromhex("025c52ac0002")
SECONDS_TO_LIVE = 120
# Agents of labs listen for three seconds.
INTERVAL_SECONDS = 0.5


def frame(port, vlans):
    """Return the frame that a port of the switch sends.

    :param port: name of the port
    :param vlans: numbers of its VLANs
    """
    told = [(CHASSIS, bytes([BY_MAC]) + SWITCH), (PORT, bytes([BY_NAME]) + port.encode()),
            (TIME_TO_LIVE, struct.pack("!H", SECONDS_TO_LIVE)), (SYSTEM_NAME, b"switch")]
    for vlan in vlans:
        name = f"vlan{vlan}".encode()
        told.append((OF_ORGANIZATION, VLAN_NAME + struct.pack("!HB", vlan, len(name)) + name))
    body = b"".join(struct.pack("!H", kind << 9 | len(value)) + value for kind, value in told)
    return GROUP + SWITCH + struct.pack("!H", LLDP) + body + bytes(2)


@contextlib.contextmanager
def telling(ports):
    """Send such frames while the block runs, also on links that come or come again meanwhile.

    :param ports: name of a link → numbers of its VLANs
    """
    with background.running("lldp-switch", _tell, dict(ports)):
        yield


def _tell(ports, ended):
    while not ended.wait(INTERVAL_SECONDS):
        for link, vlans in ports.items():
            # The link of a server without power is gone.
            with contextlib.suppress(OSError), socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as raw:
                raw.bind((link, 0))
                raw.send(frame(link, vlans))
