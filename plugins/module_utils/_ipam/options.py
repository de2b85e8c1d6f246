# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a pool of addresses, as an argument spec: of the module ip_pool and of a cluster's networks."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Of an entry of the modules ip_pool and ip_claim.
STATE = {"type": "str", "choices": ["present", "absent"], "default": "present"}


def is_present(entry: Mapping[str, Any]) -> bool:
    """Say whether an entry's object must exist."""
    return entry.get("state") != "absent"


def range_options() -> dict[str, Any]:
    """Return the options of one range of an IP pool."""
    return {
        "start": {"type": "str"}, "end": {"type": "str"}, "subnet": {"type": "str"}, "prefix": {"type": "int"},
        "gateway": {"type": "str"}, "dns_servers": {"type": "list", "elements": "str"},
    }


def pool_options() -> dict[str, Any]:
    """Return the options that an IP pool has apart from its name."""
    return {
        "ranges": {"type": "list", "elements": "dict", "options": range_options()},
        "prefix": {"type": "int"}, "gateway": {"type": "str"},
        "dns_servers": {"type": "list", "elements": "str"}, "pre_allocations": {"type": "dict"},
        "allocation_strategy": {"type": "str", "choices": ["sequential", "random"]},
    }
