# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DHCPv6 and neighbor discovery as bytes: what comes off the wire is data of an unknown sender."""
from __future__ import annotations

import ipaddress
import random
import struct

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._network import (
    dhcpv6_message,
    ipv6_frame,
    neighbor_message,
)

MAC, SERVER_MAC, TRANSACTION = "00:5c:52:31:3a:01", "52:54:00:00:aa:bb", 0x010203
OWN, SERVER = ipv6_frame.link_local(MAC), ipv6_frame.link_local(SERVER_MAC)
DUID = bytes.fromhex("000100012b3c4d5e52540000aabb")
ALL_NODES = ipaddress.IPv6Address("ff02::1")


def option(number, content):
    return struct.pack("!HH", number, len(content)) + content


def lease(address):
    return option(3, bytes(12) + option(5, ipaddress.IPv6Address(address).packed + bytes(8)))


IDENTITY = option(1, b"\0\3\0\1" + ipv6_frame.card(MAC))


def advertisement(*options, kind=dhcpv6_message.ADVERTISE, transaction=TRANSACTION, ports=(547, 546)):
    message = struct.pack("!I", kind << 24 | transaction) + b"".join(options)
    udp = struct.pack("!HHHH", *ports, 8 + len(message), 0) + message
    return ipv6_frame.frame(SERVER_MAC, MAC, SERVER, OWN, ipv6_frame.UDP, udp)


def neighbor(message, source=SERVER):
    return ipv6_frame.frame(SERVER_MAC, None, source, ALL_NODES, ipv6_frame.ICMP, message)


def router(options=b"", lifetime=1800, flags=0):
    return struct.pack("!BBHBBHII", 134, 0, 0, 64, flags, lifetime, 0, 0) + options


def prefix(network):
    found = ipaddress.IPv6Network(network)
    return struct.pack("!BBBBIII", 3, 4, found.prefixlen, 0xc0, 0, 0, 0) + found.network_address.packed


def solicitation(target=OWN):
    return struct.pack("!BBHI", 135, 0, 0, 0) + target.packed


def read(frame):
    """Return what each reader makes of a frame: an offer, a router, an answer."""
    packet = ipv6_frame.read(frame)
    if packet is None:
        return None, None, None
    return (dhcpv6_message.read_advertisement(packet, MAC, TRANSACTION), neighbor_message.read_router(packet),
            neighbor_message.answer(packet, MAC))


def test_a_question_is_a_whole_frame_with_the_clients_own_address():
    frame = dhcpv6_message.solicit(MAC, TRANSACTION)
    assert frame[:6] == bytes.fromhex("333300010002") and frame[6:12] == ipv6_frame.card(MAC)
    packet = ipv6_frame.read(frame)
    assert (str(packet.source), packet.protocol, packet.hop_limit) == ("fe80::25c:52ff:fe31:3a01", ipv6_frame.UDP, 255)
    assert packet.content[:4] == struct.pack("!HH", 546, 547) and packet.content[8:12] == b"\1\1\2\3"
    # RFC 1071: with its checksum, what it covers adds up to all ones.
    covered = frame[22:54] + struct.pack("!IHBB", len(packet.content), 0, 0, ipv6_frame.UDP) + packet.content
    assert sum(struct.unpack(f"!{len(covered) // 2}H", covered)) % 0xffff == 0


def test_an_offer_is_read():
    frame = advertisement(IDENTITY, option(2, DUID), lease("fd00:22::50"), option(59, b"http://a/\x1b[2Jb"))
    assert read(frame)[0] == dhcpv6_message.Advertisement(
        DUID.hex(":"), "fe80::5054:ff:fe00:aabb", SERVER_MAC, "fd00:22::50", "http://a/[2Jb")


def test_a_server_with_nothing_to_lend_is_one():
    offer = read(advertisement(IDENTITY, option(2, DUID), option(3, bytes(12) + option(13, b"\0\2none"))))[0]
    assert (offer.server, offer.address) == (DUID.hex(":"), "")


@pytest.mark.parametrize("frame", [
    advertisement(IDENTITY, option(2, DUID), transaction=5), advertisement(IDENTITY, option(2, DUID), kind=7),
    advertisement(IDENTITY, option(2, DUID), ports=(547, 547)), advertisement(option(2, DUID)), advertisement(IDENTITY),
    advertisement(option(1, b"\0\3\0\1" + bytes(6)), option(2, DUID)),
    advertisement(IDENTITY, option(2, bytes(131))), dhcpv6_message.solicit(MAC, TRANSACTION)],
    ids=["another transaction", "a reply", "to a relay", "for nobody", "of nobody", "for another client",
         "a DUID that is too long", "a question"])
def test_what_is_no_offer_to_the_client_is_none(frame):
    assert read(frame) == (None, None, None)


def test_a_router_is_read():
    found = read(neighbor(router(b"\1\1" + bytes(6) + prefix("fd00:1::/64") + prefix("fd00:2::/56"), flags=0x80)))[1]
    assert found == neighbor_message.Router(
        "fe80::5054:ff:fe00:aabb", SERVER_MAC, 1800, True, ("fd00:1::/64", "fd00:2::/56"))


def test_of_many_prefixes_some_are_kept():
    many = b"".join(prefix(f"fd00:{number:x}::/64") for number in range(20))
    assert len(read(neighbor(router(many)))[1].prefixes) == neighbor_message.MOST_PREFIXES


def test_what_has_been_forwarded_or_comes_from_elsewhere_is_no_router():
    whole = neighbor(router())
    assert read(whole)[1].lifetime_seconds == 1800
    assert read(whole[:21] + b"\x40" + whole[22:])[1] is None
    assert read(neighbor(router(), ipaddress.IPv6Address("fd00::1")))[1] is None
    assert read(neighbor(router()[:12]))[1] is None


def test_who_asks_for_the_clients_card_is_answered_alone():
    answer = read(neighbor(solicitation()))[2]
    assert answer[:12] == ipv6_frame.card(SERVER_MAC) + ipv6_frame.card(MAC)
    packet = ipv6_frame.read(answer)
    assert packet.content[:2] == b"\x88\0" and packet.content[8:] == OWN.packed + b"\2\1" + ipv6_frame.card(MAC)
    assert answer[38:54] == SERVER.packed


def test_a_server_that_tries_whether_its_address_is_free_keeps_it():
    assert read(neighbor(solicitation(), ipaddress.IPv6Address("::")))[2] is None
    assert read(neighbor(solicitation(SERVER)))[2] is None


def test_cut_and_changed_frames_end_in_no_error():
    wholes = [advertisement(IDENTITY, option(2, DUID), lease("fd00:22::50"), option(59, b"file")),
              neighbor(router(prefix("fd00:1::/64"))), neighbor(solicitation())]
    chance = random.Random(1)
    for whole in wholes:
        for length in range(len(whole)):
            assert read(whole[:length]) == (None, None, None)
        for _count in range(3000):
            frame = bytearray(whole)
            for _change in range(3):
                frame[chance.randrange(len(frame))] = chance.randrange(256)
            offer, _router, _answer = read(bytes(frame))
            assert offer is None or offer.boot_file.isprintable()
