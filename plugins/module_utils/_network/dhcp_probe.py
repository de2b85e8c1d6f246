# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking a wire which DHCP servers are there, without taking a lease."""
from __future__ import annotations

import secrets
import select
import socket
import time
from collections.abc import Callable
from typing import Any

from .._common.problems.errors import ReportedError
from . import dhcp_message

# Every IPv4 frame that comes in; ETH_P_IP of linux/if_ether.h.
_IPV4_FRAMES = 0x0800
# A question may be lost while a switch's port learns; firmware repeats it, too.
REPEAT_SECONDS = 1.0
_LONGEST_FRAME = 9216 + 14
# No wire has more servers; what answers more often is not listened to for ever.
MOST_OFFERS = 64


class DhcpProbeError(ReportedError):
    """The wire could not be asked."""


def offers(interface: str, mac: str, seconds: float, architecture: int | None = None, user_class: str = "",
           wanted: int = MOST_OFFERS, clock: Callable[[], float] = time.monotonic) -> list[dhcp_message.Offer]:
    """Return what DHCP servers offer on an interface, one offer for each server, by address.

    Needs the right to open packet sockets, since the interface may have no address yet, and port 68 may be taken.

    :param interface: name of a network interface of this machine
    :param mac: the client for whom is asked
    :param seconds: how long to listen: servers that first ask whether an address is free take 3 seconds, and more
    :param architecture: as for ``dhcp_message.discover``
    :param user_class: as for ``dhcp_message.discover``
    :param wanted: how many servers end the wait
    :raises DhcpProbeError: when the interface is missing or down, or the right is
    """
    transaction = secrets.randbits(32)
    question = dhcp_message.discover(mac, transaction, architecture, user_class)
    found: dict[tuple[str, str], dhcp_message.Offer] = {}
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_IPV4_FRAMES)) as wire:
            wire.bind((interface, _IPV4_FRAMES))
            end, again_at = clock() + seconds, clock()
            while len(found) < min(wanted, MOST_OFFERS):
                now = clock()
                if now >= end:
                    break
                if now >= again_at:
                    wire.send(question)
                    again_at = now + REPEAT_SECONDS
                if not _readable(wire, min(end, again_at) - now):
                    continue
                offer = dhcp_message.read_offer(wire.recv(_LONGEST_FRAME), mac, transaction)
                if offer:
                    found.setdefault((offer.server, offer.server_mac), offer)
    except OSError as exc:
        raise DhcpProbeError(f"interface {interface}: {exc.strerror or exc}; check that it exists and is up, and run "
                             "as root") from exc
    return [found[key] for key in sorted(found)]


def _readable(wire: Any, seconds: float) -> bool:
    return bool(select.select([wire], [], [], max(0.0, seconds))[0])
