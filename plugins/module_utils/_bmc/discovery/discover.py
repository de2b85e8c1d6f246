# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking for BMCs at addresses that a user gave: a bounded number at once, no password sent to a host twice."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ..._common.waiting import parallel
from ..addresses import address as bmc_address
from ..addresses.schemes import SCHEMES
from ..protocols import gather
from ..protocols.redfish import RedfishError
from . import discovered as bmc_discovered

# hosts: names or IP addresses; transports: "https" and "http" in the order to try; ipmi_port: None for no IPMI.
Scan = namedtuple("Scan", ["hosts", "ports", "transports", "username", "password", "any_certificate", "ipmi_port"])
# servers: as bmc_discovered.describe returns them. refusal: what answered but could not be read, or None; with servers
# when other systems of the same BMC could be. final: no other door of the host is tried with these credentials. busy:
# there is a service that does not answer now.
_Answer = namedtuple("_Answer", ["servers", "refusal", "reached", "final", "busy"], defaults=[False])


def discover(scans: list[Scan], drivers: list[str], settings: gather.Settings,
             progress: Any = None) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """Return what answers at the hosts of scans.

    Scans that name the same host with the same credentials are gone through one after the other. What two of them name
    (a port and its transport) is asked once, as the first one says.

    :param scans: list of Scan
    :param drivers: names of the schemes that may be chosen, best first; empty for the recommended one
    :param settings: a ``gather.Settings``
    :param progress: a Progress, or None
    :returns: ``(servers, refusals, silent)``: servers as :func:`bmc_discovered.describe` returns them, each once; what
        answered but could not be read, as ``{"host", "port", "stage", "text"}``; and how many hosts did not answer
    """
    groups = {}
    for scan in scans:
        for host in scan.hosts:
            groups.setdefault((host.lower(), scan.username, scan.password), []).append(scan)
    calls = [partial(_ask_host, host, group, drivers, settings) for (host, *dummy), group in groups.items()]
    done = gather.Counter(len(calls), progress, "addresses looked at")
    outcomes = parallel.run([partial(_counted, call, done) for call in calls], settings.concurrency, RedfishError)
    servers, refusals, answered = {}, [], set()
    for (host, *dummy), outcome in zip(groups, outcomes):
        if outcome.error is not None:
            raise outcome.error
        found, refused, reached = outcome.value
        for server in found:
            servers.setdefault(bmc_address.parse(server["address"]).identity, server)
        refusals += refused
        answered.update([host] if reached else [])
    return list(servers.values()), refusals, len(set(host for host, *dummy in groups) - answered)


def _counted(call: Callable[[], Any], done: gather.Counter) -> Any:
    try:
        return call()
    finally:
        done.add(1)


def _ask_host(host: str, scans: list[Scan], drivers: list[str],
              settings: gather.Settings) -> tuple[list[dict[str, Any]], list[dict[str, Any]], bool]:
    """Return ``(servers, refusals, whether anything answered)`` of one host, asked with one account.

    Ports and transports come one after the other: where one of them refuses the credentials, or shows a certificate
    that nobody vouches for, the others, which may be other doors to the same account, are not tried. Of a host whose
    Redfish service is busy nobody knows that it has IPMI only.
    """
    asked, servers, refusals = {}, [], []
    for scan in scans:
        refused = []
        for door in _doors(scan):
            if door[0] == "ipmi" and any(answer.busy for answer in asked.values()):
                continue
            known = door in asked
            answer = asked[door] if known else _ask(host, door, scan, drivers, settings)
            asked[door] = answer
            unknown = [answer.refusal] if answer.refusal and not known else []
            if answer.servers:
                servers += answer.servers
                refused = unknown
                break
            refused += unknown
            if answer.final:
                return servers, refusals + refused, True
        refusals += refused
    return servers, refusals, any(answer.reached for answer in asked.values())


def _doors(scan: Scan) -> Iterator[tuple[str, int]]:
    """Yield transport and port, IPMI last; without ports the standard one of each transport."""
    for transport in scan.transports:
        for port in scan.ports or [SCHEMES["redfish+" + transport].default_port]:
            yield transport, port
    if scan.ipmi_port:
        yield "ipmi", scan.ipmi_port


def _ask(host: str, door: tuple[str, int], scan: Scan, drivers: list[str], settings: gather.Settings) -> _Answer:
    transport, port = door
    scheme = "ipmi" if transport == "ipmi" else "redfish+" + transport
    address = bmc_address.parse(_text(scheme, host, port))
    target = gather.Target(host, address, scan.username, scan.password, scan.any_certificate)
    if transport == "ipmi":
        facts = gather.explore_ipmi(target, settings)
        servers = [bmc_discovered.describe_ipmi(facts, address)] if facts["login"]["ok"] else []
    else:
        facts, systems = gather.explore(target, settings)
        servers = [bmc_discovered.describe(system, address, drivers) for system in systems]
    unread = facts["unread"].get("systems")
    if not facts["reached"] or (servers and not unread):
        return _Answer(servers, None, facts["reached"], False)
    error = facts["error"] or {"stage": "system", "text": unread or "no system that may be read"}
    busy = error["stage"] == "service" and error["kind"] == "unavailable"
    # After a certificate that is not vouched for, a door without TLS would be what an attacker wants.
    refusal = {"host": host, "port": port, "stage": "busy" if busy else error["stage"], "text": error["text"]}
    return _Answer(servers, refusal, True, bool(facts["login"]["attempts"]) or error["stage"] == "tls", busy)


def _text(scheme: str, host: str, port: int) -> str:
    return "%s://%s:%d" % (scheme, f"[{host}]" if ":" in host else host, port)
