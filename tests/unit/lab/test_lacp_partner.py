# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bond of Linux 6.1 sends by LACP is answered; a frame of a VLAN is told from one without a tag."""
from __future__ import annotations

import ipaddress

import lacp_partner
import pytest
import vlan_probe

MAC = bytes.fromhex("00155d000001")
# Priority 65535, system 00:5c:52:00:00:40, key 15, priority 255, port 1, state 61.
THEIRS = bytes.fromhex("ffff005c52000040000f00ff00013d000000")
SENT = lacp_partner.GROUP + MAC + bytes.fromhex("880901010114") + THEIRS + bytes(90)


def test_the_answer_repeats_the_bond_s_side_and_is_in_sync():
    assert lacp_partner.side(SENT) == THEIRS
    answer = lacp_partner.frame(MAC, 2, THEIRS)
    # IEEE 802.1AX, 6.4.2: 110 bytes behind the type.
    assert len(answer) == 14 + 110 and answer[:14] == lacp_partner.GROUP + MAC + bytes.fromhex("8809")
    assert answer[14:18] == bytes.fromhex("01010114") and answer[36:38] == bytes.fromhex("0214")
    assert answer[38:56] == THEIRS and answer[56:58] == bytes.fromhex("0310")
    ours = lacp_partner.SIDE.unpack(lacp_partner.side(answer))
    assert ours[1] == lacp_partner.SYSTEM and ours[4] == 2 and ours[5] & 0x3C == 0x3C


@pytest.mark.parametrize("data", [b"", SENT[:30], SENT[:14] + b"\2" + SENT[15:], SENT[:12] + b"\x08\x00" + SENT[14:]],
                         ids=["nothing", "too short", "marker protocol", "IPv4"])
def test_other_frames_are_not_answered(data):
    assert lacp_partner.side(data) is None


@pytest.mark.parametrize(("asking", "asked"), [("198.19.253.1", "198.19.253.2"), ("fd5c:54::1", "fd5c:54::2")])
def test_a_question_without_a_tag_is_the_one_in_a_vlan_without_its_tag(asking, asked):
    pair = ipaddress.ip_address(asking), ipaddress.ip_address(asked)
    tagged, untagged = vlan_probe.frame(MAC, 100, *pair), vlan_probe.frame(MAC, None, *pair)
    assert (tagged[:12] + tagged[16:]).ljust(vlan_probe.SHORTEST_FRAME, b"\0") == untagged
    assert vlan_probe.untagged(tagged, [], None) == b"" and vlan_probe.untagged(untagged, [], None) == untagged
    assert vlan_probe.untagged(untagged, [], 100) == b""
