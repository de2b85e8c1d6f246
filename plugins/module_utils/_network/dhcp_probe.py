# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking a wire which DHCP servers are there, without taking a lease."""
from __future__ import annotations

import secrets
import time
from collections.abc import Callable

from . import dhcp_message, wire_probe

# No wire has more servers; what answers more often is not listened to for ever.
MOST_OFFERS = 64


def offers(interface: str, mac: str, seconds: float, architecture: int | None = None, user_class: str = "",
           wanted: int = MOST_OFFERS, clock: Callable[[], float] = time.monotonic) -> list[dhcp_message.Offer]:
    """Return what DHCP servers offer on an interface, one offer for each server, by address.

    :param interface: as for :func:`wire_probe.ask`
    :param mac: the client for whom is asked
    :param seconds: how long to listen: servers that first ask whether an address is free take 3 seconds, and more
    :param architecture: as for ``dhcp_message.discover``
    :param user_class: as for ``dhcp_message.discover``
    :param wanted: how many servers end the wait
    :raises ProbeError: as :func:`wire_probe.ask`
    """
    transaction = secrets.randbits(32)
    question = dhcp_message.discover(mac, transaction, architecture, user_class)
    found: dict[tuple[str, str], dhcp_message.Offer] = {}

    def take(frame: bytes) -> None:
        offer = dhcp_message.read_offer(frame, mac, transaction)
        if offer:
            found.setdefault((offer.server, offer.server_mac), offer)

    wire_probe.ask(interface, dhcp_message.ETHERTYPE, [question], seconds, take,
                   lambda: len(found) >= min(wanted, MOST_OFFERS), clock)
    return [found[key] for key in sorted(found)]
