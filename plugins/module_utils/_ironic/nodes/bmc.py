# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which server's BMC a node has, and whether two nodes have the same; pure."""
from __future__ import annotations

from collections import namedtuple
from typing import Any
from urllib.parse import urlsplit

_PORTS = {"https": 443, "http": 80}

# system: path of the system at the BMC; empty when the node names none, as is right for a BMC with one system.
Bmc = namedtuple("Bmc", ["address", "system"])


def of(driver_info: dict[str, Any] | None) -> Bmc | None:
    """Return the :class:`Bmc` in a node's ``driver_info``, None when it has none.

    :param driver_info: dict, or None
    """
    info = driver_info or {}
    if info.get("redfish_address"):
        return Bmc(_normal(str(info["redfish_address"])), "/" + str(info.get("redfish_system_id") or "").strip("/"))
    if info.get("ipmi_address"):
        return Bmc(f"ipmi://{str(info['ipmi_address']).lower()}:{info.get('ipmi_port') or 623}", "/")
    return None


def same(one: Bmc | None, other: Bmc | None) -> bool:
    """Return whether two are the same; a BMC without a system is the same as one with any."""
    if one is None or other is None:
        return False
    return one.address == other.address and (one.system == other.system or "/" in (one.system, other.system))


def text(bmc: Bmc) -> str:
    """Return a :class:`Bmc` as text for messages."""
    return bmc.address + bmc.system.rstrip("/")


def _normal(address: str) -> str:
    # Ironic takes an address without a scheme for https.
    whole = address if "://" in address else "https://" + address
    try:
        parts = urlsplit(whole)
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return whole.rstrip("/").lower()
    return "%s://%s:%s" % (parts.scheme, f"[{host}]" if ":" in host else host, port)
