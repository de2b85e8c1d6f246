# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of what DHCP lends, which all modules that are given it share; pure."""
from __future__ import annotations

from typing import Any


def lent_options() -> dict[str, Any]:
    """Return the options of the addresses that DHCP lends, and of those that it keeps."""
    return {
        "ranges": {"type": "list", "elements": "dict", "default": [], "options": {
            "first": {"type": "str", "required": True}, "last": {"type": "str", "required": True},
            "network": {"type": "str"}, "router": {"type": "str"}}},
        "hosts": {"type": "list", "elements": "dict", "default": [], "options": {
            "name": {"type": "str"}, "mac": {"type": "str", "required": True},
            "addresses": {"type": "list", "elements": "str", "default": []}}},
    }
