# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The items of a preflight that look at the server behind a BMC that speaks Redfish.

Each is a function ``(host, facts, limits) -> Finding``; see :mod:`checks`.
"""
from __future__ import annotations

from typing import Any

from ..._common.addresses.mac_address import mac_error
from ..._common.options.field_checks import show
from ..._common.texts.formats import duration
from ..addresses import hardware as bmc_hardware
from ..protocols.redfish_facts import normal_mac
from .verdict import LATER, PROBLEM, WARNING, Finding, Limits, ok, unknown, unread

# What each way to boot the deploy ramdisk asks of the boot override.
_BOOT_TARGETS = {"ipxe": ("Pxe",), "virtual-media": ("Cd", "UsbCd"), "uefi-http": ("UefiHttp",)}
_POWER_STATES = ("On", "Off", "PoweringOn", "PoweringOff", "Paused")


def system(host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    """There is a system, and only one that can be meant."""
    if facts["system"]:
        system = facts["system"]
        about = " ".join(text for text in (system["manufacturer"], system["model"], system["serial_number"]) if text)
        return ok(f"{system['path']}: {about}")
    there, unlisted = ", ".join(facts["systems"]) or "none", facts["unread"].get("systems")
    wanted = host["address"].system
    if not wanted and unlisted:
        return Finding(PROBLEM, "bmc.address", f"no system path, and not all systems could be read ({unlisted})",
                       "the path of one, unless the BMC has exactly one", f"{LATER}, or add it to bmc.address")
    if not wanted:
        return Finding(PROBLEM, "bmc.address", f"no system path, and these systems: {there}",
                       "the path of one, unless the BMC has exactly one", "add it to bmc.address")
    if wanted in facts["systems"]:
        return Finding(PROBLEM, "bmc.address", f"{wanted}: {facts['unread'].get('system', 'not read')}",
                       "a system that the account may read", f"check that it may, and {LATER}")
    return Finding(PROBLEM, "bmc.address", f"{wanted}: {facts['unread'].get('system', 'not read')}; there is {there}",
                   "the path of a system of this BMC", "correct the path in bmc.address")


def power(dummy_host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    """The power state can be read, and set."""
    state, resets = facts["system"]["power_state"], facts["system"]["reset_types"]
    if state not in _POWER_STATES:
        return Finding(PROBLEM, "bmc.address", f"power state {state or 'missing'}", "On or Off",
                       "check whether the BMC is healthy; without a power state Ironic can't manage the server")
    lacking = [kind for kind in ("On", "ForceOff") if resets and kind not in resets]
    if lacking:
        return Finding(PROBLEM, "bmc.address", f"power {state}; reset types {', '.join(resets)}",
                       "the reset types On and ForceOff", "update the BMC's firmware")
    return ok(f"power {state.lower()}")


def boot_override(host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    """The server takes the boot device that the scheme sets."""
    boot = facts["system"]["boot"]
    wanted = _BOOT_TARGETS[host["address"].driver.boot]
    if not boot["targets"]:
        return unknown("the BMC does not report which boot targets it takes")
    if not set(wanted) & set(boot["targets"]):
        return Finding(PROBLEM, "bmc.address", f"boot targets {', '.join(boot['targets'])}",
                       f"{wanted[0]}, which the scheme {host['address'].scheme.name} boots by",
                       "use another scheme, or switch the boot method on in the firmware")
    legacy = host["boot_mode"] == "legacy"
    if boot["modes"] and ("Legacy" if legacy else "UEFI") not in boot["modes"]:
        return Finding(PROBLEM, "boot_mode", f"boot modes {', '.join(boot['modes'])}", "Legacy" if legacy else "UEFI",
                       "correct boot_mode, or the firmware's settings")
    if boot["override_mode"] and legacy != (boot["override_mode"] == "Legacy"):
        return Finding(WARNING, "boot_mode", f"boot mode {boot['override_mode']}",
                       f"{host['boot_mode'] or 'UEFI'}, as boot_mode says; Ironic changes it, which some servers "
                       "need a restart for",
                       "set it in the firmware beforehand")
    return ok(f"targets {', '.join(boot['targets'])}")


def virtual_media(host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    """An image can be inserted, where the scheme boots from one."""
    needed = host["address"].supports_virtual_media
    obstacle = bmc_hardware.virtual_media_obstacle(facts)
    if obstacle and not facts["virtual_media"] and facts["unread"].get("virtual_media"):
        obstacle = f"{obstacle} ({facts['unread']['virtual_media']})"
    if obstacle:
        if not needed:
            return unknown(f"not needed by this scheme: {obstacle}")
        return Finding(PROBLEM, "bmc.address", obstacle,
                       "a virtual CD that an image can be inserted into by HTTP or HTTPS",
                       "use a scheme that boots from the network, or license or update the BMC")
    busy = [media["name"] for media in facts["virtual_media"] if media["inserted"]]
    if busy and needed:
        return ok(f"there is; in use: {', '.join(busy)} (Ironic ejects it)")
    return ok("there is")


def secure_boot(host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    """Secure boot is as the boot mode wants it."""
    wanted = host["boot_mode"] == "UEFISecureBoot"
    secure_boot = facts["secure_boot"]
    if not secure_boot or secure_boot["enabled"] is None:
        if wanted:
            return Finding(PROBLEM, "boot_mode",
                           f"secure boot can't be read ({facts['unread'].get('secure_boot') or 'not reported'})",
                           "a server whose secure boot can be set", "set boot_mode to UEFI")
        return unread(facts, "secure_boot")
    state = "on" if secure_boot["enabled"] else "off"
    if wanted and secure_boot["mode"] == "SetupMode":
        return Finding(PROBLEM, "boot_mode", f"secure boot {state}, in setup mode without keys", "enrolled keys",
                       "restore the firmware's default keys")
    if secure_boot["enabled"] and not wanted:
        return Finding(WARNING, "boot_mode", "secure boot on",
                       "off, as boot_mode says: Ironic does not switch it off for UEFI, and unsigned ramdisks then "
                       "don't boot",
                       "set boot_mode to UEFISecureBoot, or switch it off")
    if wanted and host["address"].driver.boot == "ipxe":
        return Finding(WARNING, "boot_mode", f"secure boot {state}, and a scheme that boots by iPXE",
                       "a scheme with virtualmedia or uefihttp: distributions do not sign iPXE, and the firmware "
                       "refuses it",
                       "use such a scheme, or serve an iPXE that a key of the firmware has signed")
    return ok(f"secure boot {state}")


def bios(dummy_host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    """The BIOS has attributes, from which HostFirmwareSettings are made."""
    attributes = facts["bios"].get("attributes")
    if not attributes:
        return Finding(WARNING, "bmc.address", f"no BIOS attributes ({facts['unread'].get('bios') or 'none reported'})",
                       "attributes, which HostFirmwareSettings are made of",
                       "update the BMC, or do without firmware settings")
    return ok(f"{len(attributes)} attributes")


def clock(dummy_host: dict[str, Any], facts: dict[str, Any], limits: Limits) -> Finding:
    """The BMC's clock is right."""
    drift = (facts["manager"] or {}).get("clock_drift_seconds")
    if drift is None:
        return unread(facts, "manager")
    if abs(drift) > limits.clock_drift_seconds:
        return Finding(WARNING, "bmc.address",
                       f"the BMC's clock is {duration(abs(drift))} {'ahead' if drift > 0 else 'behind'}",
                       f"{duration(limits.clock_drift_seconds)} at most: with a wrong clock, certificates seem invalid",
                       "set the BMC's time server")
    return ok("the BMC's clock is right" if not drift else f"the BMC's clock is {duration(abs(drift))} off")


def hardware(dummy_host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    """Vendor, model and firmware are in the supported-hardware table."""
    entry = bmc_hardware.find(facts)
    system, firmware = facts["system"], (facts["manager"] or {}).get("firmware_version") or "?"
    if entry is None:
        return Finding(WARNING, "bmc.address", f"{system['manufacturer'] or '?'} {system['model'] or '?'}",
                       "a vendor of the supported-hardware table", "try one server before the others")
    if entry.support == bmc_hardware.UNUSABLE:
        return Finding(PROBLEM, "bmc.address", entry.name, f"hardware that Redfish is supported on: {entry.note}",
                       "use ipmi")
    if bmc_hardware.older(firmware, entry.firmware):
        return Finding(PROBLEM, "bmc.address", f"{entry.name}, BMC firmware {firmware}",
                       f"firmware {entry.firmware} or newer", "update the BMC")
    level = "" if entry.support == bmc_hardware.TESTED else ", users report that it works"
    return ok(f"{entry.name}{level}{f'; {entry.note}' if entry.note else ''}")


def scheme(host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    """The address's scheme fits the server; the best one is named."""
    name = host["address"].scheme.name
    choice = facts["recommended"]
    advice = f"{choice['address']} ({'; '.join(choice['reasons'])})"
    problem, warning = bmc_hardware.fits(host["address"].driver, facts)
    if problem or warning:
        return Finding(PROBLEM if problem else WARNING, "bmc.address", f"{name} {problem or warning}",
                       "a scheme that fits the server", f"write {advice}")
    return ok(f"{name}; best is {advice}")


def boot_mac(host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    """The boot MAC address is one of those that the BMC reports."""
    given = host["boot_mac_address"]
    malformed = mac_error(given) if given else None
    if malformed:
        return Finding(PROBLEM, "boot_mac_address", show(given), malformed, "correct boot_mac_address")
    wanted = normal_mac(given)
    nics = [nic for nic in facts["nics"] if nic["mac"]]
    if not nics:
        return unread(facts, "nics") if facts["unread"].get("nics") else unknown("the BMC reports no MAC address")
    there = ", ".join(f"{nic['name']} {nic['mac']}" + (f" ({nic['link']})" if nic["link"] else "") for nic in nics)
    if not wanted:
        if not host["address"].driver.needs_mac:
            return ok(f"not given, not needed; the BMC reports {there}")
        return Finding(PROBLEM, "boot_mac_address", None, f"one of the server's: {there}",
                       f"set boot_mac_address: {host['address'].scheme.name} needs it")
    nic = next((nic for nic in nics if nic["mac"] == wanted), None)
    if nic is None and facts["unread"].get("nics"):
        return unknown(f"{show(given)} is none of those that could be read ({there}), and not all could: "
                       f"{facts['unread']['nics']}")
    if nic is None:
        return Finding(PROBLEM, "boot_mac_address", show(given), f"one of the server's: {there}",
                       "correct boot_mac_address, or bmc.address if it leads to another server")
    if nic["link"] in ("LinkDown", "NoLink") and facts["system"]["power_state"] == "On":
        return Finding(WARNING, "boot_mac_address", f"{nic['name']} has no link", "a NIC with a link",
                       "check its cable and switch port")
    return ok(f"NIC {nic['name']}")
