# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that reported themselves: which of the addresses they name are asked, and which servers they are; pure.

Whoever can boot on the provisioning network can report anything, under any number of names. So an address gets
credentials only when the user named it too, and a server is written only when its BMC confirms what was reported.
"""
from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any

from ..._common.addresses import mac_address
from ..._common.options.field_checks import show, shown
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from . import targets as bmc_targets

_TEXTS = ("node", "boot_mac", "serial_number")
_CODE = "discovery-reported"


def mistakes(machines: Sequence[Any]) -> list[Problem]:
    """Return what is wrong with machines, which is nothing when ``ironic_discovery`` returned them."""
    found = []
    for number, machine in enumerate(machines):
        wrong = [field for field in _TEXTS if not isinstance(machine.get(field), str)]
        addresses, nics = machine.get("bmc_addresses"), machine.get("nics")
        if not isinstance(addresses, list) or not all(isinstance(text, str) for text in addresses):
            wrong.append("bmc_addresses")
        if not isinstance(nics, list) or not all(map(_is_nic, nics)):
            wrong.append("nics")
        found += [Problem(_CODE, f"machines[{number}]", field, shown(machine.get(field)),
                          "what ironic_discovery returns") for field in wrong]
    return found


def _is_nic(nic: Any) -> bool:
    return isinstance(nic, dict) and all(isinstance(nic.get(field), str) for field in ("name", "mac")) and (
        mac_address.mac_error(nic["mac"]) is None)


def hosts(texts: Sequence[Any], machines: Sequence[dict[str, Any]]) -> list[str]:
    """Return the addresses that machines reported as their BMCs' and that texts name, each once.

    :param texts: as for ``bmc_targets.expand``; a name is no address, so that it is not among them
    :param machines: what ``ironic_discovery`` returned
    """
    reported = dict.fromkeys(address for machine in machines for address in _addresses(machine))
    return [str(address) for address in reported if bmc_targets.named(texts, address)]


def _addresses(machine: dict[str, Any]) -> list[Any]:
    found = []
    for text in machine["bmc_addresses"]:
        try:
            found.append(ipaddress.ip_address(text))
        except ValueError:
            continue
    return found


def matched(machines: Sequence[dict[str, Any]], servers: Sequence[dict[str, Any]],
            asked: Sequence[str]) -> tuple[list[dict[str, Any]], list[str], list[Problem], list[str]]:
    """Return the servers that machines are, those machines' nodes, a Problem for each other machine, and lines.

    :param machines: what ``ironic_discovery`` returned
    :param servers: what answered at the addresses, as ``bmc_discovered.describe`` returns it
    :param asked: the addresses that were asked
    :returns: ``(servers, nodes, problems, lines)``; of a server the NIC that the machine booted from is its boot NIC,
        if the BMC names it; lines say of which servers only the machine names cards, which are not taken over
    """
    pairs = [(machine, [server for server in servers if _same(machine, server, servers)]) for machine in machines]
    claims: dict[str, int] = {}
    for _machine, own in pairs:
        for server in own:
            claims[server["address"]] = claims.get(server["address"], 0) + 1
    found, nodes, problems, lines = [], [], [], []
    for machine, own in pairs:
        if len(own) == 1 and claims[own[0]["address"]] == 1:
            found.append(_booted(own[0], machine))
            nodes.append(machine["node"])
            lines += [] if own[0]["nics"] else [_unconfirmed(own[0], machine)]
        else:
            problems.append(_problem(machine, own, asked))
    return found, nodes, problems, lines


def _same(machine: dict[str, Any], server: dict[str, Any], servers: Sequence[dict[str, Any]]) -> bool:
    """Return whether a server can be the machine: its BMC has the address, and knows a card or the serial number."""
    if server["bmc"]["host"] not in [str(address) for address in _addresses(machine)]:
        return False
    macs = set(nic["mac"].lower() for nic in server["nics"])
    if macs:
        return bool(macs & set(_macs(machine)))
    # By IPMI, and at some BMCs by Redfish, there is no card to compare.
    alone = len([other for other in servers if other["bmc"] == server["bmc"]]) == 1
    return alone and bool(machine["serial_number"]) and machine["serial_number"] == server["serial_number"]


def _macs(machine: dict[str, Any]) -> list[str]:
    return [nic["mac"].lower() for nic in machine["nics"]]


def _booted(server: dict[str, Any], machine: dict[str, Any]) -> dict[str, Any]:
    """Return a server with the card that the machine booted from, if its BMC names that card.

    Address and serial number of another machine's BMC can be learned on the provisioning network; with them and a card
    of its own a false report would make its sender the machine that is booted and gets the image in that one's place.
    """
    macs = [nic["mac"] for nic in server["nics"]]
    booted = next((mac for mac in macs if mac.lower() == machine["boot_mac"].lower()), None)
    return dict(server, boot_mac_candidates=[booted]) if booted else server


def _unconfirmed(server: dict[str, Any], machine: dict[str, Any]) -> str:
    booted = show(machine["boot_mac"]) if machine["boot_mac"] else "a card that it does not name"
    return (f"{server['address']}: boot_mac is not set, for its BMC names no network card; the machine with its serial "
            f"number reports that it booted from {booted} and has {few(_macs(machine), 4) or 'no card'}, which nothing "
            "confirms: compare them with the server itself, and set boot_mac for it")


def _problem(machine: dict[str, Any], own: Sequence[dict[str, Any]], asked: Sequence[str]) -> Problem:
    subject = f"machine {few(_macs(machine), 2) or 'without a card'} (node {machine['node']})"
    addresses = [str(address) for address in _addresses(machine)]
    if not addresses:
        return Problem(_CODE, subject, "", "no BMC address in its report", "the address of its BMC",
                       f"look for its BMC without its report; its serial number is {show(machine['serial_number'])}")
    if not set(addresses) & set(asked):
        return Problem(_CODE, subject, "addresses", ", ".join(addresses) + " as its BMC's address",
                       "an address that you name, too",
                       "if that is the BMC of a server of yours, set addresses so that it is among them; it was not "
                       "asked, and got no credentials")
    if own:
        return Problem(_CODE, subject, "", few([server["address"] for server in own], 4),
                       "a server that no other machine reports, and no second one",
                       "look which machine it is; nothing was taken over")
    return Problem(_CODE, subject, "", f"no system at {', '.join(addresses)} that has one of its cards, or where none "
                   "are named its serial number", "the system that it reports",
                   "see what else is reported of that address; if nothing is, the BMC is another machine's, or the "
                   "report is false")
