# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificate and accounts of a server's BMC, compared with what a site expects of them; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._common.documents.tolerant import dict_in, dicts_in
from .._common.options.field_checks import show, shown
from .._common.problems.problem import Problem
from .._common.texts.plain_text import plain

_DAY_SECONDS = 86400
_NOT_ASKED = "give what bmc_info returns in bmcs (the playbook compliance does)"
_IPMI = "ipmi"
# Redfish Standard Registry of Privileges: to read accounts that are not one's own.
_SEES_OTHERS = "ConfigureUsers"


def options() -> dict[str, dict[str, Any]]:
    """Return the options of what is expected of a BMC; documented in the module ``host_compliance``."""
    return {
        "certificate": {"type": "dict", "options": {
            "days_minimum": {"type": "int", "default": 30}, "verified": {"type": "bool", "default": True},
            "issuer": {"type": "str"}}},
        "accounts": {"type": "list", "elements": "dict", "options": {
            "name": {"type": "str", "required": True}, "role": {"type": "str"},
            "required": {"type": "bool", "default": True}}},
    }


def mistakes(subject: str, expected: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with what is expected of a BMC.

    :param subject: what messages call the host
    """
    names = [account["name"] for account in expected.get("accounts") or []]
    found = [Problem("compliance-profile", subject, "expected.accounts", f"{plain(name)} twice", "each account once")
             for name in sorted(set(names)) if names.count(name) > 1]
    days = (expected.get("certificate") or {}).get("days_minimum", 0)
    if days < 0:
        found.append(Problem("compliance-profile", subject, "expected.certificate.days_minimum", shown(days),
                             "0 or more"))
    return found


def findings(subject: str, expected: Mapping[str, Any], bmc: Mapping[str, Any] | None, now: float) -> list[Problem]:
    """Return where a BMC is not what is expected.

    :param subject: what messages call the host
    :param expected: the options of :func:`options`
    :param bmc: what the BMC has said, an entry of what ``bmc_info`` returns; None when it was not asked
    :param now: seconds since 1970
    """
    found = []
    if expected.get("certificate") is not None:
        found += _certificate(subject, expected["certificate"], bmc, now)
    # An empty list is an expectation: that no account is enabled but those that nobody sees.
    if expected.get("accounts") is not None:
        found += _accounts(subject, expected["accounts"], bmc)
    return found


def _certificate(subject: str, expected: Mapping[str, Any], bmc: Mapping[str, Any] | None, now: float) -> list[Problem]:
    def unknown(hint: str) -> list[Problem]:
        return [Problem("certificate-unknown", subject, "certificate", None, "the certificate of the BMC", hint)]

    if bmc is None:
        return unknown(_NOT_ASKED)
    if _text(bmc, "address").startswith(_IPMI):
        return unknown("IPMI has none; enrol the server by Redfish, or expect nothing of its certificate")
    if not bmc.get("reached"):
        return unknown(_error(bmc) or "look whether the BMC answers")
    tls = dict_in(bmc, "tls")
    if not tls:
        return [Problem("certificate-differs", subject, "certificate", "no TLS", "TLS",
                        "switch HTTPS on at the BMC, and write bmc_address without +http")]
    certificate = dict_in(tls, "certificate")
    if not certificate and not tls.get("verified"):
        # A handshake that broke off shows none.
        return unknown(_text(tls, "error") or "look whether the BMC answers")
    found = []
    if expected.get("verified", True) and not tls.get("verified"):
        found.append(Problem("certificate-differs", subject, "certificate.verified",
                             shown(_text(tls, "error") or "not verified"), "a certificate that verifies",
                             "renew it, or give the authority that has signed it in ca_cert"))
    until, since = (_seconds(certificate, name) for name in ("valid_until", "valid_from"))
    if until is None or since is None:
        return found + unknown("the certificate could not be read; the package cryptography reads it (42 or newer)")
    days = int((until - now) // _DAY_SECONDS)
    if days < expected.get("days_minimum", 0):
        found.append(Problem("certificate-differs", subject, "certificate.days_minimum",
                             "expired" if until <= now else f"{days} days left",
                             f"{expected['days_minimum']} or more", "renew it at the BMC"))
    if since > now:
        found.append(Problem("certificate-differs", subject, "certificate", "one that is not valid yet",
                             "one that is valid", "look at the clocks of the BMC and of this machine"))
    issuer = expected.get("issuer")
    if issuer is not None and _text(certificate, "issuer") != issuer:
        found.append(Problem("certificate-differs", subject, "certificate.issuer",
                             shown(_text(certificate, "issuer") or None), show(issuer)))
    return found


def _accounts(subject: str, expected: list[Mapping[str, Any]], bmc: Mapping[str, Any] | None) -> list[Problem]:
    unread = _NOT_ASKED if bmc is None else _unread(bmc)
    found = []
    if unread:
        found.append(Problem("accounts-unknown", subject, "accounts", None, "the accounts of the BMC", unread))
    # What a BMC does not say is no reason to pass over an account.
    enabled = [item for item in dicts_in(bmc or {}, "accounts") if item.get("enabled") is not False]
    wanted = dict((account["name"], account) for account in expected)
    for item in enabled:
        name, role = _text(item, "name"), _text(item, "role")
        field = f"accounts.{plain(name)}"
        if name not in wanted:
            found.append(Problem("accounts-differ", subject, field, shown(f"enabled{f' as {role}' if role else ''}"),
                                 "no enabled account of this name", "disable it at the BMC, or add it to accounts"))
        elif wanted[name].get("role") is not None and role != wanted[name]["role"]:
            found.append(Problem("accounts-differ", subject, f"{field}.role", shown(role or None),
                                 show(wanted[name]["role"])))
    if unread:
        # What is missing may be among what was not read.
        return found
    names = set(_text(item, "name") for item in enabled)
    found += [Problem("accounts-differ", subject, f"accounts.{plain(name)}", "none", "an enabled account",
                      "create or enable it at the BMC, or write required: false")
              for name, account in sorted(wanted.items()) if account.get("required", True) and name not in names]
    return found


def _unread(bmc: Mapping[str, Any]) -> str:
    """Return why the accounts of a BMC were not read, or not all of them, empty when they were."""
    if _text(bmc, "address").startswith(_IPMI):
        return "they are read by Redfish only"
    reason = _error(bmc) or _text(dict_in(bmc, "unread"), "accounts")
    if reason:
        return reason
    if not dicts_in(bmc, "accounts"):
        # The one that asks is one of them.
        return "ask for them (accounts)"
    asking = dict_in(bmc, "account")
    privileges = asking.get("privileges")
    if isinstance(privileges, list) and privileges and _SEES_OTHERS not in privileges:
        return (f"BMCs show others to an account with {_SEES_OTHERS} only; ask with one of the role Administrator in "
                f"place of {_text(asking, 'role') or 'this one'}")
    return ""


def _error(bmc: Mapping[str, Any]) -> str:
    error = dict_in(bmc, "error")
    return f"{_text(error, 'stage')}: {_text(error, 'text')}" if error else ""


def _text(mapping: Mapping[str, Any], name: str) -> str:
    value = mapping.get(name)
    return plain(value) if isinstance(value, str) else ""


def _seconds(mapping: Mapping[str, Any], name: str) -> int | None:
    value = mapping.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
