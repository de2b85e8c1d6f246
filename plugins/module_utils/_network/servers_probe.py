# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking a wire by IPv4 and IPv6 at once which DHCP servers and routers are there."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .._common.waiting import parallel
from . import dhcp_probe, ipv6_probe
from .dhcp_message import Offer
from .other_servers import Answers
from .wire_probe import ProbeError

Probe = Callable[[str, str, float], Sequence[Offer]]
Probe6 = Callable[[str, Sequence[str], float], ipv6_probe.Found]


def ask(interface: str, macs: Sequence[str], seconds: float, with_ipv6: bool, probe: Probe = dhcp_probe.offers,
        probe6: Probe6 = ipv6_probe.ask) -> Answers:
    """Return what DHCP servers offer to clients, for whom it asks at once, and with IPv6 what routers advertise.

    :param interface: as for :func:`wire_probe.ask`
    :param macs: the clients for whom is asked, see :func:`ipv6_probe.ask`
    :param seconds: how long to listen
    :param with_ipv6: whether DHCPv6 servers and routers are asked, too
    :raises ProbeError: as :func:`wire_probe.ask`
    """
    calls: list[Callable[[], Any]] = [functools.partial(probe, interface, mac, seconds) for mac in macs]
    if with_ipv6:
        calls.append(functools.partial(probe6, interface, macs, seconds))
    found = parallel.values(parallel.run(calls, len(calls), ProbeError))
    offers = [offer for answer in found[:len(macs)] for offer in answer]
    return Answers(offers, *found[len(macs)]) if with_ipv6 else Answers(offers, [], [])
