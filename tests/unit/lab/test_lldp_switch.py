# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab's switch says of its VLANs is what IPA and Ironic read; whoever sends in a VLAN is heard."""
from __future__ import annotations

import socket
import struct

import lldp_switch
import pytest
import vlan_probe

SENDER = bytes.fromhex("005c52010020")


def told(data):
    """Read a frame as ironic_python_agent.netutils does: type and value of each part, until the end."""
    assert data[:14] == lldp_switch.GROUP + lldp_switch.SWITCH + bytes.fromhex("88cc")
    rest, found = data[14:], []
    while rest:
        head = int.from_bytes(rest[:2], "big")
        found.append((head >> 9, rest[2:2 + (head & 0x1FF)]))
        rest = rest[2 + (head & 0x1FF):]
    return found


def test_a_port_names_its_vlans():
    parts = told(lldp_switch.frame("m3v1-2n0", [200, 300]))
    # IEEE 802.1AB: chassis, port and time to live come first, in this order, and the end last.
    assert [kind for kind, _value in parts] == [1, 2, 3, 5, 127, 127, 0]
    assert [value.hex() for kind, value in parts if kind == 127] == [
        "0080c203" + "00c8" + "07" + b"vlan200".hex(), "0080c203" + "012c" + "07" + b"vlan300".hex()]
    assert parts[1][1] == b"\5m3v1-2n0" and parts[2][1] == bytes([0, 120])


def test_frames_are_sent_until_the_block_ends_and_a_link_that_is_not_there_is_no_error(monkeypatch):
    sent = []

    class Raw:
        def __init__(self, *_arguments):
            self.link = None

        def __enter__(self):
            return self

        def __exit__(self, *_error):
            return None

        def bind(self, address):
            if address[0] == "gone":
                raise OSError("No such device")
            self.link = address[0]

        def send(self, data):
            sent.append((self.link, data))

    class Waited:
        def __init__(self, rounds):
            self.rounds = rounds

        def wait(self, _seconds):
            self.rounds -= 1
            return self.rounds < 0

    monkeypatch.setattr(socket, "socket", Raw)
    lldp_switch._tell({"gone": [1], "there": [200]}, Waited(2))
    assert sent == [("there", lldp_switch.frame("there", [200]))] * 2


@pytest.mark.parametrize(("data", "beside", "expected"), [
    (bytes(6) + SENDER + bytes.fromhex("8100 0064 0800") + bytes(46), [], {(100, "00:5c:52:01:00:20")}),
    (bytes(6) + SENDER + bytes.fromhex("0800") + bytes(46),
     [(263, 8, struct.pack("=IIIHHHH", 0x10, 60, 60, 0, 14, 200, 0x8100))], {(200, "00:5c:52:01:00:20")}),
    (bytes(6) + SENDER + bytes.fromhex("0800") + bytes(46),
     [(263, 8, struct.pack("=IIIHHHH", 0, 60, 60, 0, 14, 0, 0))], set()),
], ids=["tag in the frame", "tag taken off by the kernel", "none"])
def test_who_sends_in_which_vlan_is_heard(data, beside, expected):
    class Ended:
        asked = 0

        def is_set(self):
            self.asked += 1
            return self.asked > 2

    class Raw:
        frames = [TimeoutError(), (data, beside, 0, None)]

        def recvmsg(self, _length, _ancillary):
            found = self.frames.pop(0)
            if isinstance(found, Exception):
                raise found
            return found

    heard = set()
    vlan_probe._hear(Raw(), heard, Ended())
    assert heard == expected
