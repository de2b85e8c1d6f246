# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Schemes of BMC addresses: which there are, and what each needs; pure.

The table follows ``pkg/hardwareutils/bmc`` of the Bare Metal Operator 0.13.
"""
from __future__ import annotations

from collections import namedtuple

# name: the part of the scheme before ``+``; protocol: what is spoken on the wire; driver: Ironic's hardware type;
# boot: how the deploy ramdisk is booted; needs_mac: bootMACAddress required even with inspection;
# provisioning_network: can't be used where BMO has no provisioning network; raid, secure_boot: supported by BMO.
Driver = namedtuple("Driver", [
    "name", "protocol", "driver", "boot", "needs_mac", "provisioning_network", "raid", "secure_boot"])

DRIVERS = (
    Driver("ipmi", "ipmi", "ipmi", "ipxe", False, True, False, False),
    Driver("libvirt", "ipmi", "ipmi", "ipxe", True, True, False, False),
    Driver("redfish", "redfish", "redfish", "ipxe", True, True, True, True),
    Driver("ilo5-redfish", "redfish", "redfish", "ipxe", True, True, True, True),
    Driver("idrac-redfish", "redfish", "idrac", "ipxe", True, True, True, True),
    Driver("redfish-virtualmedia", "redfish", "redfish", "virtual-media", False, False, True, True),
    Driver("ilo5-virtualmedia", "redfish", "redfish", "virtual-media", False, False, True, True),
    Driver("idrac-virtualmedia", "redfish", "idrac", "virtual-media", False, False, True, True),
    Driver("redfish-uefihttp", "redfish", "redfish", "uefi-http", True, False, True, True),
)

Scheme = namedtuple("Scheme", ["name", "driver", "transport", "default_port"])


def _schemes() -> dict[str, Scheme]:
    table = {}
    for driver in DRIVERS:
        if driver.protocol == "ipmi":
            table[driver.name] = Scheme(driver.name, driver, "udp", 623)
            continue
        for suffix, transport, port in (("", "https", 443), ("+http", "http", 80), ("+https", "https", 443)):
            name = driver.name + suffix
            table[name] = Scheme(name, driver, transport, port)
    return table


SCHEMES = _schemes()
STANDARD_PORTS = frozenset(scheme.default_port for scheme in SCHEMES.values())

# What the user guides still show, the BMO release that dropped it, and what to write instead.
REMOVED = {
    "idrac": ("0.6", "idrac-redfish or idrac-virtualmedia"),
    "ibmc": ("0.6", "redfish or redfish-virtualmedia"),
    "ilo4": ("0.12", "ipmi"),
    "ilo4-virtualmedia": ("0.12", "ipmi"),
    "ilo5": ("0.12", "ilo5-redfish or ilo5-virtualmedia"),
    "irmc": ("0.13", "redfish or redfish-virtualmedia"),
}
