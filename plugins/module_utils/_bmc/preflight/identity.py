# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether two that report one UUID are one server: some vendors give a UUID to several; pure."""
from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NamedTuple

# What boards have where nobody has set anything (SMBIOS tables).
_NO_UUID = frozenset(("03000200-0400-0500-0006-000700080009",))
_NO_SERIAL = frozenset((
    "0123456789", "123456789", "default string", "n/a", "none", "not applicable", "not available", "not specified",
    "o.e.m.", "serial number", "system serial number", "to be filled by o.e.m.", "unknown"))


class Hardware(NamedTuple):
    """By what a server is known again; each part may be empty.

    :ivar uuid: of its board, in small letters
    :ivar serial_number: its own
    :ivar macs: MAC addresses of its network cards, in small letters
    """

    uuid: str
    serial_number: str
    macs: frozenset[str]


class Verdict(enum.Enum):
    """What cards and serial numbers say of two that report one UUID."""

    SAME = "same"
    OTHER = "other"
    UNKNOWN = "unknown"


def hardware(uuid: str | None, serial_number: str | None, macs: Iterable[str]) -> Hardware:
    """Return the Hardware of what a BMC reports, without what says nothing."""
    board, serial = str(uuid or "").strip().lower(), str(serial_number or "").strip()
    if board in _NO_UUID or not board.strip("0-") or not board.strip("f-"):
        board = ""
    if serial.lower() in _NO_SERIAL or not serial.strip("0 .-"):
        serial = ""
    return Hardware(board, serial, frozenset(mac.lower() for mac in macs))


def compared(one: Hardware, other: Hardware) -> Verdict:
    """Return what else two report that report one UUID.

    Cards go before serial numbers: a MAC address is of one card, and whoever gives one UUID to several boards may give
    them one serial number, too. All cards of a server may be new.
    """
    serials = bool(one.serial_number) and bool(other.serial_number)
    is_serial_same = serials and one.serial_number == other.serial_number
    if one.macs and other.macs:
        if one.macs & other.macs:
            return Verdict.SAME
        return Verdict.UNKNOWN if is_serial_same else Verdict.OTHER
    if not serials:
        return Verdict.UNKNOWN
    return Verdict.SAME if is_serial_same else Verdict.OTHER
