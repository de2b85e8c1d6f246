# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What addresses have of their pool, and keep when the pool changes; pure.

IPAM copies these fields into an IPAddress when it makes it, and changes none afterwards (``ippool_manager.go``,
``createAddress``). CAPM3 makes a machine's network data of that IPAddress once.
"""
from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any

from .range import contains, span_of

FIELDS = ("prefix", "gateway", "dns_servers")


def outdated(before: Mapping[str, Any], after: Mapping[str, Any],
             allocations: Iterable[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], list[str]]]:
    """Return the addresses that would be given with other fields now, each with the names of these fields.

    :param before: the pool as it is, as ``pool.describe`` returns it
    :param after: the pool as it becomes
    :param allocations: as ``usage.usage`` returns them
    """
    pairs = [(entry, [field for field in FIELDS if _of(before, entry, field) != _of(after, entry, field)])
             for entry in allocations]
    return [(entry, fields) for entry, fields in pairs if fields]


def _of(pool: Mapping[str, Any], entry: Mapping[str, Any], field: str) -> Any:
    """Return a field of the range that has an address, else the pool's."""
    address = ipaddress.ip_address(entry["address"])
    range_ = next((range_ for range_ in pool["ranges"] if _has(range_, address)), {})
    return range_.get(field) or pool.get(field) or None


def _has(range_: Mapping[str, Any], address: Any) -> bool:
    try:
        return contains(span_of(range_), address)
    except ValueError:
        return False
