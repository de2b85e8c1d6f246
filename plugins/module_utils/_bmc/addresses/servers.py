# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers by the addresses of their BMCs, whatever the way in: two hosts of one server interrupt what runs on it."""
from __future__ import annotations

from typing import Any

from . import address as bmc_address


class Servers:
    """What is known of servers, found again by any address that may lead to the same one.

    By IPMI, and by Redfish without a system, a BMC's only server is meant: that is any other one of the same BMC. By
    Redfish with a system, those are others that have another one.
    """

    def __init__(self) -> None:
        self._systems: dict[tuple[str, int | None], dict[str, Any]] = {}

    def add(self, address: Any, value: Any) -> None:
        """Remember a server; one whose address can't be read is left out.

        :param address: of its BMC
        :param value: what is known of it
        """
        parts = bmc_address.readable(address)
        if parts is not None:
            self._systems.setdefault(parts.bmc, {}).setdefault(_system(parts), value)

    def find(self, address: Any) -> Any:
        """Return what is known of the server at an address, None for nothing."""
        parts = bmc_address.readable(address)
        known = self._systems.get(parts.bmc) if parts is not None else None
        if not known or parts is None:
            return None
        system = _system(parts)
        if system in known or not system:
            return known.get(system, next(iter(known.values())))
        return known.get("")


def is_same(one: Any, other: Any) -> bool:
    """Say whether two addresses lead to one server; False when one can't be read."""
    servers = Servers()
    servers.add(one, True)
    return servers.find(other) is not None


def _system(parts: bmc_address.BmcAddress) -> str:
    return parts.system if parts.driver.protocol == "redfish" else ""
