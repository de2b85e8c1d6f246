# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the DHCP server of a provisioning network lends and keeps, for the rule on addresses that others have; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._common.addresses import ip_texts
from .._common.options import lending
from .._common.problems.problem import Problem

CODE = "provisioning-network"


def ranges_of(dhcp: Mapping[str, Any]) -> list[lending.Range]:
    """Return the ranges of a description's ``dhcp``, maybe one with mistakes."""
    return [lending.Range(f"dhcp.ranges[{place}]", given.get("first"), given.get("last"))
            for place, given in enumerate(dhcp.get("ranges") or ())]


def kept_of(dhcp: Mapping[str, Any]) -> list[lending.Kept]:
    """Return what a description's ``dhcp``, maybe one with mistakes, keeps for servers."""
    return [lending.Kept(f"dhcp.hosts[{place}].addresses[{at}]", text)
            for place, host in enumerate(dhcp.get("hosts") or ())
            for at, text in enumerate(host.get("addresses") or ())]


def fields_with(dhcp: Mapping[str, Any], address: ip_texts.Address) -> list[str]:
    """Return the fields of ranges that have an address, and of servers for which it is kept."""
    return [field for field, _text in (*lending.ranges_with(ranges_of(dhcp), address),
                                       *lending.kept_with(kept_of(dhcp), address))]


def problems(network: Mapping[str, Any], taken: Iterable[Mapping[str, Any]],
             reported: Iterable[str] = ()) -> list[Problem]:
    """Return what DHCP would give to servers of the addresses that machines of its plane have.

    :param network: a description, see ``description.problems``, which refuses the addresses that it has itself
    :param taken: see ``lending.taken_options``
    :param reported: addresses that another rule is about
    """
    dhcp = network.get("dhcp") or {}
    return lending.problems(CODE, f"network {network.get('name')}", ranges_of(dhcp), kept_of(dhcp),
                            lending.taken_by(taken), (*(network.get("addresses") or ()), *reported))
