# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The supported-hardware table, and which BMC address scheme fits a server.

Source of the table: "Supported hardware" in the Metal3 user guide, as of BMO 0.13.
"""
from __future__ import annotations

import re
from collections import namedtuple
from typing import Any

from . import address as bmc_address
from .schemes import Driver

# tested: regularly by the project; reported: users reported success; unusable: not by Redfish.
TESTED, REPORTED, UNUSABLE = "tested", "reported", "unusable"

# vendor: matched against the system's manufacturer; manager: against the BMC's model and firmware text, empty for any;
# prefix: which family of Redfish schemes ("redfish" or "idrac"); virtual_media_firmware, firmware: oldest firmware of
# the BMC with which virtual media, or anything at all, works, empty for any; note: printed with the verdict.
Hardware = namedtuple("Hardware", [
    "name", "vendor", "manager", "support", "prefix", "virtual_media_firmware", "firmware", "note"])

TABLE = (
    Hardware("Dell iDRAC 8", r"\bdell\b", r"\b13G\b", TESTED, "idrac", "2.75.75.75", "", ""),
    Hardware("Dell iDRAC 9", r"\bdell\b", r"\b1[456]G\b", TESTED, "idrac", "6.10.30.00", "", ""),
    Hardware("Dell iDRAC 10", r"\bdell\b", r"\b17G\b", TESTED, "idrac", "", "", ""),
    Hardware("Dell iDRAC 7 or older", r"\bdell\b", r"\b1[012]G\b", UNUSABLE, "idrac", "", "",
             "Redfish begins with iDRAC 8"),
    Hardware("Dell", r"\bdell\b", "", TESTED, "idrac", "", "", ""),
    Hardware("HPE iLO 4", r"\b(hpe?|hewlett.packard)\b", r"\biLO 4\b", UNUSABLE, "redfish", "", "",
             "its driver went away with BMO 0.12"),
    Hardware("HPE iLO 5", r"\b(hpe?|hewlett.packard)\b", r"\biLO 5\b", TESTED, "redfish", "", "",
             "no RAID management"),
    Hardware("HPE iLO 6", r"\b(hpe?|hewlett.packard)\b", r"\biLO 6\b", TESTED, "redfish", "", "1.57", ""),
    Hardware("HPE", r"\b(hpe?|hewlett.packard)\b", "", TESTED, "redfish", "", "", ""),
    Hardware("Supermicro", r"\bsuper ?micro\b", "", REPORTED, "redfish", "", "", ""),
    Hardware("Lenovo", r"\blenovo\b", "", REPORTED, "redfish", "", "", ""),
    Hardware("ZT Systems", r"\bzt ?systems\b", "", REPORTED, "redfish", "", "", ""),
    Hardware("Cisco UCS", r"\bcisco\b", "", REPORTED, "redfish", "", "", ""),
    # The simulated servers that the tests of this collection, and of the project, run on.
    Hardware("simulated by this collection's lab", r"^metal3\.baremetal$", "", TESTED, "redfish", "", "", ""),
    Hardware("simulated by sushy-tools", r"^sushy emulator$", "", TESTED, "redfish", "", "", ""),
)

# What Metal3 serves the deploy ramdisk by.
_MEDIA_PROTOCOLS = ("HTTP", "HTTPS")
DISC_TYPES = ("CD", "DVD")
_ALIASES = {"ilo5-redfish": "redfish", "ilo5-virtualmedia": "redfish-virtualmedia"}


def find(facts: dict[str, Any]) -> Hardware | None:
    """Return the Hardware a server is, None when the table has none.

    :param facts: the facts of :func:`redfish_facts.facts`
    """
    vendor = (facts.get("system") or {}).get("manufacturer") or (facts.get("service") or {}).get("vendor") or ""
    manager = facts.get("manager") or {}
    bmc = " ".join([manager.get("model") or "", manager.get("firmware_version") or ""])
    for entry in TABLE:
        if re.search(entry.vendor, vendor, re.I) and re.search(entry.manager, bmc, re.I):
            return entry
    return None


def version(text: str | None) -> tuple[int, ...]:
    """Return the numbers of the last dotted version in a text as a tuple: ``iLO 6 v1.57`` is ``(1, 57)``."""
    found = re.findall(r"[0-9]{1,9}(?:\.[0-9]{1,9})+", text or "")
    return tuple(int(number) for number in found[-1].split(".")) if found else ()


def older(text: str | None, oldest: str) -> bool:
    """Return whether a version is older than the oldest that will do; an unreadable one is not."""
    return bool(oldest) and bool(version(text)) and version(text) < version(oldest)


def virtual_media_obstacle(facts: dict[str, Any]) -> str:
    """Return why a server can't boot from virtual media, empty when nothing speaks against it.

    :param facts: the facts of :func:`redfish_facts.facts`
    """
    discs = [media for media in facts["virtual_media"] if set(media["media_types"]) & set(DISC_TYPES)]
    if not discs:
        return "no virtual media device takes a CD or DVD"
    able = [media for media in discs if media["insert_supported"]]
    if not able:
        return "no virtual CD or DVD can be inserted (a licence may be missing)"
    if not any(not media["transfer_protocols"] or set(media["transfer_protocols"]) & set(_MEDIA_PROTOCOLS)
               for media in able):
        return "virtual media is loaded by %s only" % ", ".join(
            sorted(set(protocol for media in able for protocol in media["transfer_protocols"])))
    entry = find(facts)
    firmware = (facts["manager"] or {}).get("firmware_version") or ""
    if entry and older(firmware, entry.virtual_media_firmware):
        return f"virtual media needs BMC firmware {entry.virtual_media_firmware} or newer, this is {firmware}"
    return ""


def choose(facts: dict[str, Any], address: bmc_address.BmcAddress) -> dict[str, Any]:
    """Return the BMC address to write, and why: ``{"scheme", "address", "reasons"}``.

    :param facts: the facts of :func:`redfish_facts.facts`, with a system
    :param address: the :class:`bmc_address.BmcAddress` that the BMC was reached by
    """
    entry = find(facts)
    prefix = entry.prefix if entry else "redfish"
    reasons = ["the vendor is Dell: Ironic has a driver of its own for it"] if prefix == "idrac" else []
    obstacle = virtual_media_obstacle(facts)
    targets = facts["system"]["boot"]["targets"]
    if not obstacle:
        scheme = prefix + "-virtualmedia"
        reasons.append("virtual media works: no DHCP and no provisioning network needed")
    elif "UefiHttp" in targets and prefix == "redfish":
        scheme = "redfish-uefihttp"
        reasons += [obstacle, "UEFI HTTP boot is offered; it needs DHCP"]
    else:
        scheme = {"idrac": "idrac-redfish", "redfish": "redfish"}[prefix]
        reasons += [obstacle, "network boot needs DHCP and a provisioning network"]
    if not address.uses_tls:
        scheme += "+http"
    return {"scheme": scheme, "reasons": reasons,
            "address": bmc_address.build(scheme, address.host, address.port, facts["system"]["path"])}


def fits(driver: Driver, facts: dict[str, Any]) -> tuple[str, str]:
    """Return why a driver can't or should not be used for a server: ``(problem, warning)``, both texts or empty.

    :param driver: a :class:`Driver` that speaks Redfish
    :param facts: the facts of :func:`redfish_facts.facts`
    """
    entry = find(facts)
    dell = entry is not None and entry.prefix == "idrac"
    if dell and driver.name in ("redfish-virtualmedia", "ilo5-virtualmedia"):
        return "must not be used for Dell machines", ""
    if driver.driver == "idrac" and entry is not None and not dell:
        return "is for Dell machines only", ""
    if dell and driver.driver != "idrac":
        return "", "is not made for Dell machines"
    if driver.name.startswith("ilo5-"):
        return "", f"is an alias of {_ALIASES[driver.name]} and should not be used any more"
    return "", ""
