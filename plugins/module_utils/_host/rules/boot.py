# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a server boots: its boot MAC address and its boot mode; pure."""
from __future__ import annotations

from ..._common.addresses.mac_address import mac_error
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..description import annotations as host_annotations

SECURE_BOOT = "UEFISecureBoot"


def is_loader_unsigned(host, address):
    """Return whether firmware with secure boot would be given iPXE, which distributions do not sign.

    :param address: the host's BmcAddress, None when it has none that can be read
    """
    return bool(host.get("boot_mode") == SECURE_BOOT and address and address.driver.boot == "ipxe"
                and address.driver.secure_boot)


def check(label, host, address):
    """Return the Problems of an entry's ``boot_mac_address`` and ``boot_mode``.

    :param address: the host's BmcAddress, None when it has none that can be read
    """
    problems = []
    mac = host.get("boot_mac_address")
    if mac is not None:
        problem = mac_error(mac)
        if problem:
            problems.append(Problem("boot-mac-invalid", label, "boot_mac_address", show(mac), problem, "set "
                                    "boot_mac_address to that of the NIC the server boots from; bmc_info lists them"))
    elif address and (address.driver.needs_mac or host_annotations.is_inspection_disabled(
            host.get("inspection_mode"), host.get("annotations"))):
        why = f"the scheme {address.scheme.name}" if address.driver.needs_mac else "a host without inspection"
        problems.append(Problem(
            "boot-mac-missing", label, "boot_mac_address", None, f"a MAC address, which {why} needs",
            "set boot_mac_address to the MAC of the NIC the server boots from"))
    if address and host.get("boot_mode") == SECURE_BOOT and not address.driver.secure_boot:
        problems.append(Problem("boot-mode", label, "boot_mode", '"UEFISecureBoot"',
                                f"UEFI or legacy ({address.scheme.name} does not support secure boot)",
                                "choose a Redfish scheme or another boot_mode"))
    if address and host.get("boot_mode") == "legacy" and address.driver.boot == "uefi-http":
        problems.append(Problem(
            "boot-mode", label, "boot_mode", '"legacy"', f"UEFI ({address.scheme.name} boots by UEFI HTTP)",
            "choose another scheme or boot_mode"))
    return problems
