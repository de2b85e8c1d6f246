# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking for BMCs at addresses that a user gave: a bounded number at once, one login for each host and account."""
from __future__ import annotations

from collections import namedtuple
from functools import partial

from .. import parallel
from ..metal3 import bmc_address, bmc_discovered
from . import gather
from .redfish import RedfishError

# hosts: names or IP addresses; transports: "https" and "http" in the order to try; ipmi_port: None for no IPMI.
Scan = namedtuple("Scan", ["hosts", "ports", "transports", "username", "password", "certificate_unseen", "ipmi_port"])


def discover(scans, drivers, settings, progress=None):
    """Return what answers at the hosts of scans.

    :param scans: list of Scan
    :param drivers: names of the schemes that may be chosen, best first; empty for the recommended one
    :param settings: a ``gather.Settings``
    :param progress: a Progress, or None
    :returns: ``(servers, refusals, silent)``: servers as :func:`bmc_discovered.describe` returns them, each once; what
        answered but could not be read, as ``{"host", "port", "stage", "text"}``; and how many hosts did not answer
    """
    calls = [partial(_ask_host, host, scan, drivers, settings) for scan in scans for host in scan.hosts]
    done = gather.Counter(len(calls), progress, "addresses looked at")
    outcomes = parallel.run([partial(_counted, call, done) for call in calls], settings.concurrency, RedfishError)
    servers, refusals, silent = {}, [], 0
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
        found, refused, answered = outcome.value
        for server in found:
            servers.setdefault(bmc_address.parse(server["address"]).identity, server)
        refusals += refused
        silent += not answered
    return list(servers.values()), refusals, silent


def _counted(call, done):
    try:
        return call()
    finally:
        done.add(1)


def _ask_host(host, scan, drivers, settings):
    """Return ``(servers, refusals, whether anything answered)`` of one host.

    Ports and transports come one after the other: where one of them refuses the credentials, or shows a certificate
    that nobody vouches for, the others, which may be other doors to the same account, are not tried.
    """
    answered, refusals = False, []
    for port, transport in _doors(scan):
        address = bmc_address.parse(_text("redfish+" + transport, host, port))
        target = gather.Target(host, address, scan.username, scan.password, scan.certificate_unseen)
        facts, systems = gather.explore(target, settings)
        answered = answered or facts["reached"]
        if systems:
            return [bmc_discovered.describe(system, address, drivers) for system in systems], [], True
        if facts["reached"]:
            error = facts["error"] or {"stage": "system", "kind": "not_found", "text": "no system that may be read"}
            refusals.append({"host": host, "port": port, "stage": error["stage"], "text": error["text"]})
            # After a certificate that is not vouched for, a door without TLS would be what an attacker wants.
            if facts["login"]["attempts"] or error["stage"] == "tls":
                return [], refusals, True
    if scan.ipmi_port:
        address = bmc_address.parse(_text("ipmi", host, scan.ipmi_port))
        facts = gather.explore_ipmi(
            gather.Target(host, address, scan.username, scan.password, scan.certificate_unseen), settings)
        if facts["login"]["ok"]:
            return [bmc_discovered.describe_ipmi(facts, address)], [], True
        if facts["reached"]:
            answered = True
            refusals.append({"host": host, "port": scan.ipmi_port, "stage": facts["error"]["stage"],
                             "text": facts["error"]["text"]})
    return [], refusals, answered


def _doors(scan):
    """Yield port and transport; without ports the standard one of each transport."""
    for transport in scan.transports:
        for port in scan.ports or [bmc_address.SCHEMES["redfish+" + transport].default_port]:
            yield port, transport


def _text(scheme, host, port):
    return "%s://%s:%d" % (scheme, "[%s]" % host if ":" in host else host, port)
