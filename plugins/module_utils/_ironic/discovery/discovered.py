# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that Ironic made by itself of machines that booted and reported themselves; pure.

What is in such a report was written by that machine, which anybody may own: it is reduced here to plain texts, IP
addresses and MAC addresses, and nothing else of it goes further.
"""
from __future__ import annotations

import ipaddress
from typing import Any

from ..._common.addresses import mac_address
from ..._common.documents.tolerant import dict_in, dicts_in
from ..._common.texts.plain_text import shortened

FIELDS = ("uuid", "name", "driver", "driver_info", "provision_state", "target_provision_state", "instance_uuid",
          "protected", "last_error")
STATE = "enroll"
# Of ironic.drivers.modules.inspect_utils: Ironic sets it itself, whatever the machine says.
FLAG = "auto_discovered"
# No server has as many; a report may.
MOST_NICS = 64


def is_made_by_ironic(node: dict[str, Any]) -> bool:
    """Return whether a node looks as Ironic makes it: without a name, a BMC and an instance, never managed.

    :param node: a node with :data:`FIELDS`
    """
    return (node["provision_state"] == STATE and not node.get("target_provision_state") and not node.get("name")
            and not node.get("driver_info") and not node.get("instance_uuid") and not node.get("protected"))


def machine(node: dict[str, Any], data: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a machine reported as plain data, None when it is no report of an unknown machine.

    :param node: a node that :func:`is_made_by_ironic`
    :param data: what Ironic keeps of its inspection, ``{"inventory", "plugin_data"}``, empty without any
    """
    inventory, plugin_data = (dict_in(data, name) for name in ("inventory", "plugin_data"))
    if plugin_data.get(FLAG) is not True:
        return None
    vendor, boot = (dict_in(inventory, name) for name in ("system_vendor", "boot"))
    nics = _nics(dicts_in(inventory, "interfaces"))
    booted = _pxe_mac(boot.get("pxe_interface"))
    return {
        "node": node["uuid"],
        "bmc_addresses": [address for address in (_bmc_address(inventory.get(name)) for name in (
            "bmc_address", "bmc_v6address")) if address],
        "boot_mac": booted if booted in [nic["mac"] for nic in nics] else "",
        "nics": nics,
        "manufacturer": _text(vendor.get("manufacturer")),
        "model": _text(vendor.get("product_name")),
        "serial_number": _text(vendor.get("serial_number")),
    }


def line(found: dict[str, Any]) -> str:
    """Return a machine as a line of text."""
    what = " ".join(found[field] for field in ("manufacturer", "model") if found[field]) or "a machine"
    return "node %s: %s, serial number %s, BMC %s, booted from %s" % (
        found["node"], what, found["serial_number"] or "not reported",
        " and ".join(found["bmc_addresses"]) or "not reported", found["boot_mac"] or "a card that it does not name")


def _text(value: Any) -> str:
    return shortened(value) if isinstance(value, str) else ""


def _bmc_address(value: Any) -> str:
    """Return an IP address, empty for none: an agent that finds no BMC reports ``0.0.0.0`` and ``::/0``."""
    try:
        address = ipaddress.ip_address(value) if isinstance(value, str) and "%" not in value else None
    except ValueError:
        address = None
    if address is None or address.is_unspecified or address.is_multicast or address.is_link_local:
        return ""
    return str(address)


def _nics(reported: list[dict[str, Any]]) -> list[dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for nic in reported:
        mac = _mac(nic.get("mac_address"))
        if mac and len(found) < MOST_NICS:
            found.setdefault(mac, {"name": _text(nic.get("name")) or mac, "mac": mac})
    return list(found.values())


def _mac(value: Any) -> str:
    try:
        mac = mac_address.normal(value)
    except ValueError:
        return ""
    return mac if mac_address.mac_error(mac) is None else ""


def _pxe_mac(value: Any) -> str:
    """Return the card that a machine booted from; PXELINUX puts the type of hardware before it, as ``01-``."""
    text = value if isinstance(value, str) else ""
    return _mac(text.partition("-")[2] if text.count("-") == 6 else text)
