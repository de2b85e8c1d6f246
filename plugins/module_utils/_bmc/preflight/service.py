# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a list of hosts to what their BMCs say: read the addresses, ask all, decide."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ..._common.options.field_checks import show
from ..._elsewhere import asking
from ..addresses import address as bmc_address
from ..protocols.gather import Settings, Target, blank, gather
from . import checks as bmc_checks
from . import reach
from .verdict import PROBLEM, WARNING, Limits, Verdict, unknown, worst


def survey(
        hosts: list[dict[str, Any]], settings: Settings, progress: Any = None,
        work: Callable[..., list[dict[str, Any]]] | None = None,
) -> list[tuple[dict[str, Any], dict[str, Any], bmc_address.AddressError | None]]:
    """Ask the BMCs of a list of hosts.

    :param hosts: entries with ``name``, ``bmc``, ``boot_mac_address``, ``boot_mode`` and ``ca_cert``
    :param settings: a ``bmc.gather.Settings``
    :param progress: a Progress, or None
    :param work: what is done in a BMC's session, see ``bmc.gather``
    :returns: list of ``(host, facts, error)`` in the order of the entries: ``host`` as :func:`bmc_checks.verdicts`
        takes it, its ``address`` None and ``error`` an AddressError where the address can't be read
    """
    read = [_host(entry) for entry in hosts]
    targets = [Target(host["name"], host["address"], (entry.get("bmc") or {}).get("username"),
                      (entry.get("bmc") or {}).get("password"), host["any_certificate"], entry.get("ca_cert"))
               for entry, (host, error) in zip(hosts, read) if error is None]
    answers = iter(gather(targets, settings, progress, work))
    return [(host, next(answers) if error is None else blank(), error) for host, error in read]


def _host(entry: dict[str, Any]) -> tuple[dict[str, Any], bmc_address.AddressError | None]:
    bmc = entry.get("bmc") or {}
    host = {"name": entry["name"], "address": None, "boot_mac_address": entry.get("boot_mac_address"),
            "boot_mode": entry.get("boot_mode"),
            "any_certificate": bool(bmc.get("disable_certificate_verification"))}
    try:
        host["address"] = bmc_address.parse(bmc.get("address"))
    except bmc_address.AddressError as exc:
        return host, exc
    return host, None


def info(hosts: list[dict[str, Any]], settings: Settings, progress: Any = None) -> list[dict[str, Any]]:
    """Return the facts of a list of hosts as plain data."""
    return [dict(facts, name=host["name"], address=str(host["address"] or ""),
                 error=_address_error(entry, error) if error else facts["error"])
            for entry, (host, facts, error) in zip(hosts, survey(hosts, settings, progress))]


def _address_error(entry: dict[str, Any], error: Any) -> dict[str, Any]:
    return {"stage": "address", "kind": "invalid", "text": f"{_shown(entry) or 'not set'}: {error}"}


def _shown(entry: dict[str, Any]) -> str | None:
    address = (entry.get("bmc") or {}).get("address")
    return show(bmc_address.redacted(address)) if address else None


def preflight(hosts: list[dict[str, Any]], settings: Settings, certificate_days: int, clock_drift_seconds: int,
              progress: Any = None, names: Mapping[str, str] | None = None,
              asked: asking.Asked | None = None) -> list[dict[str, Any]]:
    """Return what a preflight says of a list of hosts.

    :param hosts: entries with ``name``, ``bmc``, ``boot_mac_address`` and ``boot_mode``
    :param settings: a ``bmc.gather.Settings``; with ``login_only`` nothing but the login is checked
    :param certificate_days: a certificate that is valid for fewer days is a warning
    :param clock_drift_seconds: a clock that is more wrong is a warning
    :param names: ``{option: name}`` by which the reader knows an option, or None
    :param asked: where Ironic runs, from where BMCs are to be reached; None does not ask there
    :returns: list of ``{"name", "address", "verdict", "checks", "recommended", "facts"}``; checks as
        :meth:`Verdict.result` returns them
    """
    surveyed = survey(hosts, settings, progress)
    from_ironic = reach.verdicts(dict((entry["name"], (entry.get("bmc") or {}).get("address")) for entry in hosts),
                                 asked) if asked else {}
    limits = Limits(certificate_days, clock_drift_seconds, time.time())
    same = bmc_checks.shared([(host["name"], facts) for host, facts, dummy in surveyed])
    decide = (lambda *given: [bmc_checks.login_verdict(*given)]) if settings.login_only else bmc_checks.verdicts
    results = []
    for entry, (host, facts, error) in zip(hosts, surveyed):
        if error is not None and settings.login_only:
            # Reported by what writes hosts, with all other mistakes in them.
            found = [Verdict("login", host["name"], *unknown("not tried: the address can't be read"))]
        elif error is not None:
            found = [Verdict("address", host["name"], PROBLEM, "bmc.address", _shown(entry), error.expected,
                             error.hint)]
        else:
            found = decide(host, facts, limits)
        found += [named[host["name"]] for named in (same, from_ironic) if host["name"] in named]
        results.append({
            "name": host["name"],
            "address": str(host["address"] or ""),
            "verdict": worst(found),
            "checks": [verdict.result(names) for verdict in found],
            "recommended": facts["recommended"],
            "facts": _without_attributes(facts),
        })
    return results


def shortened(result: dict[str, Any]) -> dict[str, Any]:
    """Return what a preflight says of a server without facts and without what is in order."""
    result = dict(result, checks=[check for check in result["checks"] if check["status"] in (WARNING, PROBLEM)])
    del result["facts"]
    return result


def _without_attributes(facts: dict[str, Any]) -> dict[str, Any]:
    """Hundreds of BIOS attributes for each server are for ``bmc_info``."""
    return dict(facts, bios=dict((key, value) for key, value in facts["bios"].items() if key != "attributes"))
