# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An interface of this machine in a VLAN of a bridge, on machines whose kernel has no VLAN links (8021q)."""
from __future__ import annotations

import contextlib
import os
import selectors
import struct
from pathlib import Path

import background
import vlan_probe
from bridge_cable import ip
from machine_room.virtual import tap

# linux/if_packet.h
PACKET_OUTGOING = 4
LARGEST_FRAME = 65536


@contextlib.contextmanager
def joined(bridge, vlan, name, address):
    """Give the machine such an interface while the block runs; it goes with this process at the latest.

    :param bridge: name of the bridge, whose MAC address the interface has, so that the bridge hands its frames over
    :param vlan: number of the VLAN
    :param name: the interface's name
    :param address: its address, with the length of its network
    """
    with contextlib.ExitStack() as stack:
        descriptor = tap.opened(name)
        stack.callback(os.close, descriptor)
        ip("link", "set", "dev", name, "address", Path(f"/sys/class/net/{bridge}/address").read_text().strip())
        raw = stack.enter_context(vlan_probe.listening(bridge))
        stack.enter_context(background.running("vlan-link", _relay, descriptor, raw, vlan))
        ip("address", "add", address, "dev", name)
        ip("link", "set", "dev", name, "up")
        yield


def _relay(link, raw, vlan, ended):
    with selectors.DefaultSelector() as selector:
        selector.register(link, selectors.EVENT_READ)
        selector.register(raw, selectors.EVENT_READ)
        while not ended.is_set():
            for key, _events in selector.select(timeout=1):
                if key.fd == link:
                    _send(raw, os.read(link, LARGEST_FRAME), vlan)
                else:
                    _deliver(link, raw, vlan)


def _send(raw, data, vlan):
    raw.send(data[:12] + struct.pack("!HH", vlan_probe.VLAN_TAG, vlan) + data[12:])


def _deliver(link, raw, vlan):
    # The socket may have been readable for a frame that was dropped since.
    with contextlib.suppress(TimeoutError):
        data, beside, _flags, source = raw.recvmsg(LARGEST_FRAME, 256)
        bare = b"" if source[2] == PACKET_OUTGOING else vlan_probe.untagged(data, beside, vlan)
        if bare:
            os.write(link, bare)
