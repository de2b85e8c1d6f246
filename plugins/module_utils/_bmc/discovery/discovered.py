# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server that was found by discovery, as it goes into an inventory."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._common.addresses.mac_address import mac_error
from ..._common.problems.problem import Problem
from ..addresses import address as bmc_address
from ..addresses import hardware as bmc_hardware
from ..addresses.schemes import SCHEMES, Driver
from ..preflight.verdict import LATER

# What keeps a server from being found, by stage: the option it is about, what is expected, what to do.
_EXPECTED = {
    "tls": ("", "a certificate of an authority that is given",
            "give the authority of its certificate as ca_cert, or set disable_certificate_verification; no credentials "
            "were sent"),
    "busy": ("", "a Redfish service that answers", LATER),
    "credentials": ("username", "credentials", "set username and set password"),
    "login": ("username", "credentials that the BMC accepts",
              "set username and set password to those of the BMC; they were tried once and not again, so as not to "
              "lock the account"),
    "system": ("", "systems that can be read",
               "check that the account may read systems, and whether the BMC is healthy"),
}


def describe(facts: dict[str, Any], address: bmc_address.BmcAddress, drivers: Sequence[str]) -> dict[str, Any]:
    """Return a server found by Redfish as plain data.

    :param facts: its facts, as ``bmc.gather`` returns them
    :param address: the BmcAddress that its BMC was reached by
    :param drivers: names of the schemes that may be chosen, best first, without transport; empty for the recommended
    """
    system, manager = facts["system"], facts["manager"] or {}
    nics = [nic for nic in facts["nics"] if nic["mac"] and mac_error(nic["mac"]) is None]
    scheme, reasons = _scheme(facts, address, drivers)
    return {
        "address": bmc_address.build(scheme, address.host, address.port, system["path"]),
        "scheme": scheme,
        "reasons": reasons,
        "bmc": _where(address),
        "system_path": system["path"],
        "manufacturer": system["manufacturer"],
        "model": system["model"],
        "serial_number": system["serial_number"],
        "sku": system["sku"],
        "uuid": system["uuid"],
        "hostname": system["hostname"],
        "bmc_model": manager.get("model") or "",
        "nics": [{"name": nic["name"], "mac": nic["mac"], "link": nic["link"]} for nic in nics],
        "boot_mac_candidates": candidates(nics),
    }


def problems(servers: list[dict[str, Any]], refusals: list[dict[str, Any]], silent: int, hosts: int) -> list[Problem]:
    """Return what is wrong with the outcome of a discovery, empty when nothing is.

    A host that answers, but has no Redfish service, is none: in a network there are other things than BMCs.

    :param servers: what was found
    :param refusals: what answered but could not be read
    :param silent: how many hosts did not answer
    :param hosts: how many hosts were asked
    """
    found = refused(refusals)
    if not servers and not found:
        found = [Problem("discovery-nothing", "", "addresses",
                         f"no server: {silent} of {hosts} addresses did not answer, {hosts - silent} answered without "
                         "a Redfish service", "at least one BMC",
                         "set addresses, set ports or set transports to those of BMCs")]
    return found


def refused(refusals: list[dict[str, Any]]) -> list[Problem]:
    """Return a problem of each BMC that answered but could not be read.

    :param refusals: what answered but could not be read
    """
    found = []
    for refusal in refusals:
        if refusal["stage"] in _EXPECTED:
            field, expected, hint = _EXPECTED[refusal["stage"]]
            found.append(Problem(f"discovery-{refusal['stage']}", f"{refusal['host']}:{refusal['port']}", field,
                                 refusal["text"], expected, hint))
    # Several accounts of one BMC meet the same certificate.
    return list(dict.fromkeys(found))


def line(refusal: dict[str, Any]) -> str:
    """Return what answered but could not be read as a line."""
    return f"{refusal['host']}:{refusal['port']}: {refusal['stage']}: {refusal['text']}"


def describe_ipmi(facts: dict[str, Any], address: bmc_address.BmcAddress) -> dict[str, Any]:
    """Return a server found by IPMI as plain data; IPMI reports no NIC."""
    ipmi = facts["ipmi"]
    return {
        "address": str(address), "scheme": "ipmi", "reasons": ["no Redfish service was found"],
        "bmc": _where(address), "system_path": "",
        "manufacturer": ipmi.get("manufacturer") or ipmi.get("board_manufacturer") or "",
        "model": ipmi.get("model") or "",
        "serial_number": ipmi.get("serial_number") or ipmi.get("chassis_serial") or "",
        "sku": ipmi.get("sku") or "", "uuid": "", "hostname": "", "bmc_model": ipmi.get("bmc_product") or "",
        "nics": [], "boot_mac_candidates": [],
    }


def candidates(nics: list[dict[str, Any]]) -> list[str]:
    """Return the MAC addresses that a server may boot from: those with a link if there are any, else all.

    :param nics: the NICs of :func:`redfish_facts.facts`
    """
    usable = [nic for nic in nics if nic["mac"] and nic["enabled"]]
    linked = [nic for nic in usable if nic["link"] == "LinkUp"]
    return [nic["mac"] for nic in linked or usable]


def _where(address: bmc_address.BmcAddress) -> dict[str, Any]:
    return {"host": address.host, "port": address.effective_port}


def _scheme(facts: dict[str, Any], address: bmc_address.BmcAddress, drivers: Sequence[str]) -> tuple[Any, Any]:
    recommended = facts["recommended"]
    if not drivers:
        return recommended["scheme"], recommended["reasons"]
    suffix = "" if address.uses_tls else "+http"
    obstacles = []
    for name in drivers:
        driver = SCHEMES[name].driver
        obstacle = _obstacle(driver, facts)
        if not obstacle:
            return name + suffix, obstacles or ["the first of those allowed that fits"]
        obstacles.append(f"not {name}: {obstacle}")
    return recommended["scheme"], obstacles + recommended["reasons"]


def _obstacle(driver: Driver, facts: dict[str, Any]) -> str:
    problem, dummy = bmc_hardware.fits(driver, facts)
    if problem:
        return problem
    if driver.boot == "virtual-media":
        return bmc_hardware.virtual_media_obstacle(facts)
    if driver.boot == "uefi-http" and "UefiHttp" not in facts["system"]["boot"]["targets"]:
        return "UEFI HTTP boot is not offered"
    return ""
