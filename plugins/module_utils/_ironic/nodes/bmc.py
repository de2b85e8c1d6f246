# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which server's BMC a node has, and whether two nodes have the same; pure."""
from __future__ import annotations

import contextlib
import ipaddress
from collections import namedtuple
from typing import Any
from urllib.parse import urlsplit

from ..._common.addresses import web_ports

_IPMI_PORT = 623
# Doors to one BMC; at any other port there may be another one, behind one address.
_STANDARD_PORTS = frozenset((*web_ports.BY_SCHEME.values(), _IPMI_PORT))

# system: path of the system at the BMC; empty when the node names none, as is right for a BMC with one system.
# door: what distinguishes one BMC from another, whatever the way in.
Bmc = namedtuple("Bmc", ["address", "system", "door"])


def of(driver_info: dict[str, Any] | None) -> Bmc | None:
    """Return the :class:`Bmc` in a node's ``driver_info``, None when it has none.

    :param driver_info: dict, or None
    """
    info = driver_info or {}
    if info.get("redfish_address"):
        address = str(info["redfish_address"])
        return Bmc(_normal(address), "/" + str(info.get("redfish_system_id") or "").strip("/"), _door_of_url(address))
    if info.get("ipmi_address"):
        host, port = str(info["ipmi_address"]).lower(), info.get("ipmi_port") or _IPMI_PORT
        return Bmc(f"ipmi://{host}:{port}", "/", _door(host.strip("[]"), str(port)))
    return None


def same(one: Bmc | None, other: Bmc | None) -> bool:
    """Return whether two are the same; a BMC without a system is the same as one with any."""
    if one is None or other is None:
        return False
    return one.door == other.door and (one.system == other.system or "/" in (one.system, other.system))


def text(bmc: Bmc) -> str:
    """Return a :class:`Bmc` as text for messages."""
    return bmc.address + bmc.system.rstrip("/")


def _whole(address: str) -> str:
    # Ironic takes an address without a scheme for https.
    return address if "://" in address else "https://" + address


def _door_of_url(address: str) -> Any:
    try:
        parts = urlsplit(_whole(address))
        return _door(parts.hostname or "", str(parts.port or web_ports.BY_SCHEME.get(parts.scheme)))
    except ValueError:
        return _normal(address)


def _door(host: str, port: str) -> tuple[str, str]:
    # It may be a name.
    with contextlib.suppress(ValueError):
        host = str(ipaddress.ip_address(host))
    return host, "" if port in map(str, _STANDARD_PORTS) else port


def _normal(address: str) -> str:
    whole = _whole(address)
    try:
        parts = urlsplit(whole)
        host, port = parts.hostname or "", parts.port or web_ports.BY_SCHEME.get(parts.scheme)
    except ValueError:
        return whole.rstrip("/").lower()
    return "%s://%s:%s" % (parts.scheme, f"[{host}]" if ":" in host else host, port)
