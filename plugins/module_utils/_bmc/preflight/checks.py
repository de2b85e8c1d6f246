# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a preflight says of one server: a verdict for each item, from facts that were gathered before.

Nothing here asks a BMC. Order is that of the way in: what fails early leaves the later items unknown.
"""
from __future__ import annotations

import time
from typing import Any

from ..._common.texts.formats import duration
from . import identity
from . import system_checks as bmc_system_checks
from .verdict import LATER, PROBLEM, WARNING, Finding, Limits, Verdict, ok, stopped, unknown, unread

DAY_SECONDS = 86400
# Redfish Standard Registry of Privileges: what it takes to set boot and power, and virtual media.
_NEEDED_PRIVILEGE = "ConfigureComponents"
_WANTED_PRIVILEGE = "ConfigureManager"
# BMO and Ironic ask again on their own; a threshold below this locks an account before somebody reads the error.
_LOW_LOCKOUT_THRESHOLD = 3


def verdicts(host: dict[str, Any], facts: dict[str, Any], limits: Limits) -> list[Verdict]:
    """Return the verdicts of one server, in the order of :data:`CHECKS`.

    :param host: ``{"name", "address", "boot_mac_address", "boot_mode", "any_certificate"}``; ``address`` is a
        :class:`bmc_address.BmcAddress`
    :param facts: what ``bmc.gather`` returns for it
    :param limits: Limits
    """
    protocol = host["address"].driver.protocol
    found = []
    for name, protocols, needs, decide in CHECKS:
        if protocol not in protocols:
            continue
        if needs == "login" and not facts["login"]["ok"]:
            finding = unread(facts)
        elif needs == "system" and not facts["system"]:
            finding = unread(facts, "system")
        else:
            finding = decide(host, facts, limits)
        found.append(Verdict(name, host["name"], *finding))
    return found


def login_verdict(host: dict[str, Any], facts: dict[str, Any], limits: Limits) -> Verdict:
    """Return the one verdict of a server of which only the login was tried.

    Refused credentials are the problem. What kept them from being tried is a warning: those that use the BMC later may
    reach it by another way, and trust other certificate authorities.

    :param host: see :func:`verdicts`
    :param facts: what ``bmc.gather`` returns for it, with ``login_only``
    :param limits: Limits
    """
    error = facts["error"]
    if not error:
        return Verdict("login", host["name"], *ok(f"logged in by {facts['login']['method']}"))
    if error["stage"] == "credentials":
        return Verdict("login", host["name"], *unknown("not tried: no user name and password are given"))
    if error["kind"] in ("unauthorized", "privilege", "unsendable"):
        return Verdict("login", host["name"], *_login(host, facts, limits))
    protocol = host["address"].driver.protocol
    decide = next(decide for name, protocols, dummy, decide in CHECKS
                  if name == error["stage"] and protocol in protocols)
    found = Verdict("login", host["name"], *decide(host, facts, limits))
    return found._replace(status=WARNING if found.status == PROBLEM else found.status,
                          actual=f"not tried: {found.actual}")


def shared(servers: list[tuple[str, dict[str, Any]]]) -> dict[str, Verdict]:
    """Return a verdict for each server that looks like another one of the list, by its name.

    Two addresses that lead to one server are two hosts that take it from each other.

    :param servers: list of ``(name, facts)``
    """
    by_uuid: dict[str, dict[str, identity.Hardware]] = {}
    for name, facts in servers:
        own = identity.hardware(facts["system"].get("uuid"), facts["system"].get("serial_number"), [
            nic["mac"] for nic in facts["nics"] if nic.get("mac")])
        if own.uuid:
            by_uuid.setdefault(own.uuid, {})[name] = own
    return dict((name, _of_one_uuid(name, group)) for group in by_uuid.values() if len(group) > 1 for name in group)


def _of_one_uuid(name: str, group: dict[str, identity.Hardware]) -> Verdict:
    """Return the verdict of a server whose UUID others report as well.

    :param group: these servers, by name
    """
    own, others = group[name], [other for other in group if other != name]
    # Both were asked just now: cards that differ are those of two servers, whatever their serial numbers are.
    distinct = [other for other in others if identity.compared(own, group[other]) is identity.Verdict.OTHER
                or (own.macs and group[other].macs and not own.macs & group[other].macs)]
    same = [other for other in others if other not in distinct]
    if same:
        return Verdict("unique", name, PROBLEM, "bmc.address",
                       f"the same server (UUID {own.uuid}) as {', '.join(same)}", "a server of its own",
                       "correct bmc.address")
    return Verdict(
        "unique", name, WARNING, "bmc.address",
        f"UUID {own.uuid}, which {', '.join(distinct)} report, too, with other network cards or another serial number",
        "a UUID of its own", "have the vendor set it; here servers are distinguished by cards and serial numbers")


# The way in ---------------------------------------------------------------------------------------------------------

def _reach(host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    where = host["address"].authority
    if facts["reached"]:
        return ok(f"{where} answers in {facts['connect_seconds'] * 1000:.0f} ms")
    return Finding(PROBLEM, "bmc.address", f"{where}: {facts['error']['text']}", "a BMC that takes connections",
                   "check its power and network, and host and port in bmc.address")


def _tls(host: dict[str, Any], facts: dict[str, Any], limits: Limits) -> Finding:
    if not host["address"].uses_tls:
        return Finding(WARNING, "bmc.address", "no TLS", "TLS: credentials cross the network in clear",
                       "use a scheme without +http if the BMC has TLS")
    if not facts["reached"]:
        return unread(facts)
    tls = facts["tls"]
    certificate = tls.get("certificate") or {}
    about = f"certificate of {certificate['subject']}" if certificate else "certificate"
    left = (certificate.get("valid_until", limits.now + 10 ** 10) - limits.now) / DAY_SECONDS
    if left < 0:
        about += f", expired on {_date(certificate['valid_until'])}"
    if not tls["verified"]:
        if host["any_certificate"]:
            return Finding(WARNING, "bmc.disable_certificate_verification",
                           f"{about}: {tls['error']}; not verified, as set", "a certificate that is verified",
                           "install one of your certificate authority, then drop bmc.disable_certificate_verification")
        return Finding(PROBLEM, "bmc.address", f"{about}: {tls['error']}",
                       "a certificate that the given certificate authorities vouch for",
                       "give the BMC's certificate authority as ca_cert, or install a certificate of yours, or set "
                       "bmc.disable_certificate_verification for this host; no credentials were sent")
    if left < limits.certificate_days:
        return Finding(WARNING, "bmc.address",
                       f"{about}, valid until {_date(certificate['valid_until'])} ({int(left)} days)",
                       f"{limits.certificate_days} days at least", "renew it")
    until = f", valid until {_date(certificate['valid_until'])}" if certificate else ""
    return ok(f"{about} verified{until}")


def _service(dummy_host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    if stopped(facts, "service"):
        if facts["error"]["kind"] in ("unreachable", "unavailable"):
            return Finding(PROBLEM, "bmc.address", facts["error"]["text"], "an answer of the Redfish service", LATER)
        return Finding(PROBLEM, "bmc.address", facts["error"]["text"], "a Redfish service below /redfish/v1",
                       "check that Redfish is switched on in the BMC, and port and scheme of bmc.address")
    if not facts["service"].get("redfish_version"):
        return unread(facts)
    return ok(f"Redfish {facts['service']['redfish_version']}")


def _login(host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    login = facts["login"]
    if stopped(facts, "credentials"):
        return Finding(WARNING, "bmc.username", facts["error"]["text"], "bmc.username and bmc.password",
                       "give them to have login and all that follows checked")
    if stopped(facts, "login"):
        error = facts["error"]
        if error["kind"] == "missing":
            return unknown(error["text"])
        if error["kind"] == "privilege":
            return ok("refused for the privilege level only")
        if error["kind"] == "unauthorized":
            method = f" by {login['method']}" if login["method"] else ""
            return Finding(PROBLEM, "bmc.username", f"{error['text']}, after one attempt{method}",
                           "credentials that the BMC accepts",
                           "correct bmc.username and bmc.password; nothing was tried again, so as not to lock the "
                           "account")
        if error["kind"] == "unsendable":
            return Finding(PROBLEM, "bmc.username", error["text"],
                           "credentials in ASCII, for IPMI of 16 bytes (user name) and 20 bytes (password) at most",
                           "set others at the BMC and here; nothing was tried")
        return Finding(PROBLEM, "bmc.address", error["text"], "an answer to the login", LATER)
    if not login["ok"]:
        return unread(facts)
    return ok(f"logged in by {login['method']}")


# The account --------------------------------------------------------------------------------------------------------

def _privileges(dummy_host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    account = facts["account"]
    if account.get("password_change_required"):
        return Finding(PROBLEM, "bmc.username", "the password must be changed first",
                       "an account that is ready for use", "set a password at the BMC")
    if not account.get("privileges"):
        if account.get("role") in ("Administrator", "Operator"):
            return ok(f"role {account['role']}")
        if account.get("role") == "ReadOnly":
            return _too_little(account)
        return unread(facts, "role", "account", "account_service")
    if _NEEDED_PRIVILEGE not in account["privileges"]:
        return _too_little(account)
    if _WANTED_PRIVILEGE not in account["privileges"]:
        return Finding(WARNING, "bmc.username", f"role {account['role'] or '?'} without {_WANTED_PRIVILEGE}",
                       f"{_WANTED_PRIVILEGE}, which many BMCs ask for virtual media and secure boot",
                       "give the account the role Administrator")
    return ok(f"role {account['role'] or 'with ' + ', '.join(account['privileges'])}")


def _too_little(account: dict[str, Any]) -> Finding:
    return Finding(PROBLEM, "bmc.username", f"role {account['role'] or '?'} without {_NEEDED_PRIVILEGE}",
                   f"{_NEEDED_PRIVILEGE}, to set power and boot device",
                   "give the account the role Operator or Administrator")


def _lockout(dummy_host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    account = facts["account"]
    threshold, lock_seconds = account.get("lockout_threshold"), account["lockout_duration_seconds"]
    if account.get("locked"):
        return Finding(PROBLEM, "bmc.username", "the account is locked", "an account that is not",
                       f"unlock it at the BMC{f', or wait {duration(lock_seconds)}' if lock_seconds else ''}")
    if threshold is None:
        return unread(facts, "account_service")
    if threshold == 0:
        return ok("the account is never locked")
    locked = (f"locked after {threshold} wrong passwords "
              f"{f'for {duration(lock_seconds)}' if lock_seconds else 'until somebody unlocks it'}")
    if threshold < _LOW_LOCKOUT_THRESHOLD:
        return Finding(WARNING, "bmc.username", locked,
                       f"{_LOW_LOCKOUT_THRESHOLD} attempts or more: Ironic tries again on its own",
                       "raise the threshold, or change passwords only by playbook rotate_bmc_credentials or with the "
                       "host detached")
    return ok(locked)


# IPMI ---------------------------------------------------------------------------------------------------------------

def _ipmi_reach(host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    where = f"{host['address'].authority}/udp"
    if stopped(facts, "reach"):
        return Finding(PROBLEM, "bmc.address", f"{where}: {facts['error']['text']}", "a BMC that answers IPMI over LAN",
                       "check its power and network, and that IPMI over LAN is switched on in it")
    return ok(f"{where} answers") if facts["reached"] else unread(facts)


def _ipmi_privilege(host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    level = host["address"].query.get("privilegelevel", "ADMINISTRATOR")
    if stopped(facts, "login") and facts["error"]["kind"] == "privilege":
        return Finding(PROBLEM, "bmc.username", f"{level} is refused", f"an account with the level {level}",
                       "raise the account's level, or add ?privilegelevel=OPERATOR to bmc.address")
    return ok(level) if facts["login"]["ok"] else unread(facts)


def _ipmi_power(dummy_host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    if not facts["ipmi"]["power"]:
        return Finding(PROBLEM, "bmc.address", "no power state", "on or off", "check whether the BMC is healthy")
    return ok(f"power {facts['ipmi']['power']}")


def _ipmi_scheme(host: dict[str, Any], facts: dict[str, Any], dummy_limits: Limits) -> Finding:
    if facts["redfish_version"]:
        return ok(f"{host['address'].scheme.name}; the BMC supports Redfish {facts['redfish_version']} too, which can "
                  "do more: try redfish-virtualmedia")
    if not facts["reached"]:
        return unread(facts)
    return ok(f"{host['address'].scheme.name}: no Redfish service was found")


_REDFISH, _IPMI = ("redfish",), ("ipmi",)
# name; protocols; needs: what the item needs; decide: a function ``(host, facts, limits) -> Finding``.
CHECKS = (
    ("reach", _REDFISH, "", _reach),
    ("reach", _IPMI, "", _ipmi_reach),
    ("tls", _REDFISH, "", _tls),
    ("service", _REDFISH, "", _service),
    ("login", _REDFISH + _IPMI, "", _login),
    ("privileges", _REDFISH, "login", _privileges),
    ("privileges", _IPMI, "", _ipmi_privilege),
    ("lockout", _REDFISH, "login", _lockout),
    ("system", _REDFISH, "login", bmc_system_checks.system),
    ("power", _REDFISH, "system", bmc_system_checks.power),
    ("power", _IPMI, "login", _ipmi_power),
    ("boot_override", _REDFISH, "system", bmc_system_checks.boot_override),
    ("virtual_media", _REDFISH, "system", bmc_system_checks.virtual_media),
    ("secure_boot", _REDFISH, "system", bmc_system_checks.secure_boot),
    ("bios", _REDFISH, "system", bmc_system_checks.bios),
    ("clock", _REDFISH, "system", bmc_system_checks.clock),
    ("hardware", _REDFISH, "system", bmc_system_checks.hardware),
    ("scheme", _REDFISH, "system", bmc_system_checks.scheme),
    ("scheme", _IPMI, "", _ipmi_scheme),
    ("boot_mac", _REDFISH, "system", bmc_system_checks.boot_mac),
)


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))
