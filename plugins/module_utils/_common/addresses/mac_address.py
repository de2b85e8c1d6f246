# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MAC addresses: which can be a network card's, and the one spelling that BareMetalHosts take.

That is six pairs of small digits with colons.
"""
from __future__ import annotations

import re
from typing import Any

_OF_CRD = re.compile(r"^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}\Z")
_SPELLINGS = (
    re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}"),
    re.compile(r"[0-9a-f]{2}(-[0-9a-f]{2}){5}"),
    re.compile(r"[0-9a-f]{4}(\.[0-9a-f]{4}){2}"),
    re.compile(r"[0-9a-f]{6}[-:][0-9a-f]{6}"),
    re.compile(r"[0-9a-f]{12}"),
)


def normal(text: Any) -> Any:
    """Return a MAC address in its normal form.

    :param text: with colons, dashes, in groups of four digits with dots, of six with a dash, or digits alone
    :raises ValueError: when it is none of these
    """
    small = text.strip().lower() if isinstance(text, str) else ""
    if not any(spelling.fullmatch(small) for spelling in _SPELLINGS):
        raise ValueError(f"MAC address: found {text!r}, expected 12 hexadecimal digits, as 00:5c:52:31:3a:01")
    digits = re.sub("[^0-9a-f]", "", small)
    return ":".join(digits[at:at + 2] for at in range(0, 12, 2))


def mac_error(mac: str) -> str | None:
    """Return what was expected when a boot MAC address is none, else None.

    :param mac: text; six pairs of hexadecimal digits with colons (CRD), of one card (neither group nor zero address)
    """
    if not _OF_CRD.match(mac):
        # YAML 1.1 counts in sixties: 52:54:00:12:34:56 without quotes is a number.
        return "six pairs of hexadecimal digits separated by colons" + (", in quotes" if mac.isdigit() else "")
    first = int(mac[:2], 16)
    if mac.lower() == "ff:ff:ff:ff:ff:ff" or first & 1:
        return "the address of one network card (not a group or broadcast address)"
    if mac == "00:00:00:00:00:00":
        return "the address of a network card (not all zeros)"
    return None
