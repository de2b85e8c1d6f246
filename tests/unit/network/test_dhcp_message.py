# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DHCP messages: what comes off the wire is data of an unknown sender."""
from __future__ import annotations

import random

from ansible_collections.metal3.baremetal.plugins.module_utils._network import dhcp_message

MAC, TRANSACTION = "00:5c:52:31:3a:01", 0x01020304


def answer(options, boot_file=b"", message_type=dhcp_message.OFFER, mac=MAC, transaction=TRANSACTION):
    """Return a server's frame, made from the client's question: the fields are at the same places."""
    question = dhcp_message.discover(mac, transaction)
    message = bytearray(question[42:42 + 236])
    message[0], message[16:20] = 2, bytes([172, 22, 0, 11])
    message[108:108 + len(boot_file)] = boot_file
    head = bytearray(question[:42])
    head[6:12], head[26:30], head[34:38] = bytes.fromhex("52540000aabb"), bytes([172, 22, 0, 2]), bytes([0, 67, 0, 68])
    return bytes(head) + bytes(message) + b"\x63\x82\x53\x63" + bytes([53, 1, message_type]) + options + b"\xff"


def read(frame):
    return dhcp_message.read_offer(frame, MAC, TRANSACTION)


def test_an_offer_is_read():
    router, name_servers = b"\x03\x04\xac\x16\x00\xfe", b"\x06\x08\xac\x16\x00\x02\xac\x16\x00\x03"
    frame = answer(b"\x36\x04\xac\x16\x00\x01" + router + name_servers, b"undionly.kpxe")
    assert read(frame) == dhcp_message.Offer(
        "172.22.0.1", "52:54:00:00:aa:bb", "172.22.0.11", "undionly.kpxe", "", ("172.22.0.254",),
        ("172.22.0.2", "172.22.0.3"))


def test_the_option_counts_before_the_field_and_a_long_one_comes_in_parts():
    assert read(answer(b"\x43\x03abc\x00\x43\x03def", b"other")).boot_file == "abcdef"


def test_a_server_without_identifier_is_named_by_its_packet():
    assert read(answer(b"")).server == "172.22.0.2"


def test_what_steers_a_terminal_is_taken_out_of_texts():
    assert read(answer(b"\x43\x06a\x1b[2Jb")).boot_file == "a[2Jb"


def test_answers_to_others_and_other_messages_are_none():
    assert read(answer(b"", mac="00:5c:52:31:3a:02")) is None
    assert read(answer(b"", transaction=5)) is None
    assert read(answer(b"", message_type=5)) is None
    assert read(dhcp_message.discover(MAC, TRANSACTION)) is None


def test_cut_and_changed_frames_end_in_no_error():
    whole = answer(b"\x36\x04\xac\x16\x00\x01\x03\x05\xac\x16\x00\xfe\x01", b"file")
    for length in range(len(whole)):
        read(whole[:length])
    chance = random.Random(1)
    for _count in range(3000):
        frame = bytearray(whole)
        for _change in range(3):
            frame[chance.randrange(len(frame))] = chance.randrange(256)
        offer = read(bytes(frame))
        assert offer is None or offer.boot_file.isprintable()


def test_a_text_of_many_parts_is_cut():
    assert len(read(answer((b"\x43\xff" + b"a" * 255) * 4)).boot_file) == 255
