# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a server's inventory variables, the same as for a BareMetalHost, to an entry for ``ironic_node``; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._bmc.addresses import address as bmc_address
from ..._common.options.field_checks import shown, truth, type_error
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem

# What the entry of one node may set or overrule.
OWN_VARIABLE = "ironic_node"
_BOOT_INTERFACES = {
    ("redfish", "virtual-media"): "redfish-virtual-media", ("idrac", "virtual-media"): "idrac-redfish-virtual-media",
    ("redfish", "uefi-http"): "redfish-https",
}
# BMO sets these for each node of the driver (pkg/hardwareutils/bmc).
_DRIVER_INTERFACES = {
    "ipmi": {"raid": "no-raid"},
    "redfish": {"firmware": "redfish", "raid": "redfish"},
    "idrac": dict((name, "idrac-redfish") for name in ("bios", "management", "power", "raid", "vendor")),
}
_BOOT_MODES = {
    "legacy": "boot_mode:bios", "UEFI": "boot_mode:uefi", "UEFISecureBoot": "boot_mode:uefi,secure_boot:true"}


def entry(name: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a node.

    The driver, its settings and interfaces are those that the Bare Metal Operator would give to a host with the same
    variables (``bmc_address``, ``bmc_username``, ``bmc_password``, ``bmc_disable_certificate_verification``,
    ``boot_mac``, ``bmh_boot_mode``, ``bmh_architecture``); the dictionary ``ironic_node`` adds to them and wins.

    :param name: name of the server in the inventory
    :param variables: mapping of its variables
    :raises RefusedError: when there is no BMC address or one that is none, or when the boot mode is unknown
    """
    address = _address(name, variables.get("bmc_address"))
    boot_mode = variables.get("bmh_boot_mode") or "UEFI"
    if boot_mode not in _BOOT_MODES:
        raise RefusedError([Problem(
            "boot-mode", name, "bmh_boot_mode", shown(boot_mode), " or ".join(sorted(_BOOT_MODES)))])
    unverified = variables.get("bmc_disable_certificate_verification")
    if unverified is not None and type_error("bool", unverified):
        raise RefusedError([Problem("value", name, "bmc_disable_certificate_verification", shown(unverified),
                                    "true or false", "correct it")])
    options = {
        "name": name,
        "driver": address.driver.driver,
        "driver_info": _driver_info(address, variables),
        "interfaces": dict(_DRIVER_INTERFACES[address.driver.driver], inspect="agent", boot=_BOOT_INTERFACES.get(
            (address.driver.driver, address.driver.boot), "ipxe")),
        "properties": {"cpu_arch": variables.get("bmh_architecture") or "x86_64",
                       "capabilities": _BOOT_MODES[boot_mode]},
    }
    if variables.get("boot_mac"):
        options["ports"] = [{"address": variables["boot_mac"], "pxe_enabled": True}]
    for option, value in (variables.get(OWN_VARIABLE) or {}).items():
        both = isinstance(value, dict) and isinstance(options.get(option), dict)
        options[option] = dict(options[option], **value) if both else value
    return options


def _address(name: str, text: str | None) -> bmc_address.BmcAddress:
    if not text:
        raise RefusedError([Problem("bmc-address", name, "bmc_address", None, "the address of the server's BMC")])
    try:
        return bmc_address.parse(text)
    except bmc_address.AddressError as exc:
        raise RefusedError([Problem(
            "bmc-address", name, "bmc_address", shown(bmc_address.redacted(text)), exc.expected, exc.hint)]) from exc


def _driver_info(address: bmc_address.BmcAddress, variables: Mapping[str, Any]) -> dict[str, Any]:
    username, password = variables.get("bmc_username"), variables.get("bmc_password")
    if address.driver.protocol == "ipmi":
        info = {"ipmi_address": address.host, "ipmi_port": address.effective_port, "ipmi_username": username,
                "ipmi_password": password, "ipmi_priv_level": address.query.get("privilegelevel") or "ADMINISTRATOR"}
    else:
        info = {"redfish_address": address.endpoint, "redfish_username": username, "redfish_password": password}
        if address.system:
            info["redfish_system_id"] = address.system
        if truth(variables.get("bmc_disable_certificate_verification")):
            info["redfish_verify_ca"] = False
    return dict((key, value) for key, value in info.items() if value is not None)
