# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts that are IP addresses or networks; pure."""
from __future__ import annotations

import ipaddress


def is_shortest_address(text: str) -> bool:
    """Return whether a text is an IPv4 or IPv6 address as others write it, too: in its shortest form."""
    try:
        return str(ipaddress.ip_address(text)) == text
    except ValueError:
        return False


def is_network(text: str) -> bool:
    """Return whether a text is an IPv4 or IPv6 network, without bits of a host."""
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True
