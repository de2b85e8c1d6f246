# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Accounts of BMCs whose passwords are replaced: what is refused, which password is tried first, what came of it; pure.

Sources: DMTF's schemas AccountService (``MinPasswordLength``, ``MaxPasswordLength``) and ManagerAccount (``UserName``,
``Password``); IPMI 2.0, 22.30 (passwords of 20 bytes).
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..addresses.address import BmcAddress

CODE = "bmc-account"
FIELD, NEW_FIELD = "bmc.username", "bmc.new_password"
UNVERIFIED_FIELD = "bmc.disable_certificate_verification"
# What the BMC did. LOST: it refused both passwords; UNPROVEN: it did not answer to a login with the new one, or with
# the old one after it had refused the new one.
CHANGED, UNCHANGED, REFUSED, RESTORED, UNPROVEN, LOST, FAILED = (
    "changed", "unchanged", "refused", "restored", "unproven", "lost", "failed")
# With these the new password counts.
GOOD = (CHANGED, UNCHANGED)
SHORTEST, LONGEST, IPMI_LONGEST = 8, 127, 20
# Letters, digits and signs of ASCII: others are encoded in different ways by BMCs, and blanks are lost in files.
_CHARACTERS = re.compile(r"^[!-~]*\Z")
# What ipmitool reads as it is from a file of commands.
_IPMI_CHARACTERS = re.compile(r"^[A-Za-z0-9_.-]*\Z")
_TRY_LATER = ("the account may be locked: wait until the BMC lets it in again, or set a password at the BMC; then run "
              "again")


class Wanted(NamedTuple):
    """One account and the password that it is to have.

    :ivar names: the hosts that are reached by it, at least one
    :ivar address: BmcAddress of the first of them
    :ivar username: UserName of the account
    :ivar passwords: those to be tried, the likeliest first, at most two
    :ivar new: the password that it is to have
    :ivar any_certificate: whether any certificate is taken
    :ivar ca_cert: as a Target has it
    """

    names: tuple[str, ...]
    address: BmcAddress
    username: str
    passwords: tuple[str, ...]
    new: str
    any_certificate: bool
    ca_cert: str | None

    @property
    def secrets(self) -> set[str]:
        """All that no text may quote."""
        return {*self.passwords, self.new}


class Look(NamedTuple):
    """What is found of an account before anything is changed.

    :ivar works: the password that the BMC accepts, None when none was accepted
    :ivar error: why the password can not be replaced, empty when it can
    :ivar hint: what to do then
    """

    works: str | None
    error: str = ""
    hint: str = ""


class Outcome(NamedTuple):
    """What became of an account.

    :ivar status: ``changed``, ``unchanged``, ``refused``, ``restored``, ``unproven``, ``lost`` or ``failed``
    :ivar text: what the BMC said, empty for the first two
    """

    status: str
    text: str = ""


def tried(new: str, *present: str | None) -> tuple[str, ...]:
    """Return the passwords to be tried, at most two, so that no account is locked by a search.

    :param new: the password that the account is to have
    :param present: what it may have now, the likeliest first; the first one is tried before the new one
    """
    known = list(dict.fromkeys(text for text in present if text))
    if not known or known[0] == new:
        return tuple(dict.fromkeys([new, *known]))[:2]
    return known[0], new


def password_problem(name: str, address: BmcAddress, username: str, password: str) -> Problem | None:
    """Return what is wrong with a new password, None for nothing; it is never quoted.

    :param name: host, for the message
    """
    by_ipmi = address.driver.protocol == "ipmi"
    longest, characters = (IPMI_LONGEST, _IPMI_CHARACTERS) if by_ipmi else (LONGEST, _CHARACTERS)
    found = ""
    if not characters.match(password):
        found = "a character that is none of these"
    elif not SHORTEST <= len(password) <= longest:
        found = f"{len(password)} characters"
    elif username and username in password:
        found = "a text that holds the user name, which many BMCs refuse"
    if not found:
        return None
    return Problem(CODE, name, NEW_FIELD, found,
                   f"{SHORTEST} to {longest} letters, digits and "
                   + ("of the signs - _ . (by IPMI), without the user name" if by_ipmi
                      else "signs of ASCII, without blanks and the user name"),
                   "choose another one")


def group_problems(hosts: Sequence[Mapping[str, Any]]) -> list[Problem]:
    """Return what is wrong with hosts whose passwords must be the same, because they share an account or a Secret.

    :param hosts: dicts with ``name`` and ``new``
    """
    first = hosts[0]
    return [Problem(CODE, host["name"], NEW_FIELD, f"another password than that of {first['name']}",
                    "the same one: both are reached by one account, or have one Secret", "give both the same")
            for host in hosts[1:] if host["new"] != first["new"]]


def trust_problems(hosts: Sequence[Mapping[str, Any]]) -> list[Problem]:
    """Return what is wrong with hosts that are reached by one account: one login cannot be verified in several ways.

    :param hosts: dicts with ``name``, ``bmc`` and ``ca_cert``
    """
    first = hosts[0]
    problems = [Problem(CODE, host["name"], "ca_cert", f"another file than that of {first['name']}",
                        "the same one: both are reached by one account",
                        "give both the same (metal3_ca_file in an inventory)")
                for host in hosts[1:] if host["ca_cert"] != first["ca_cert"]]
    return problems + [
        Problem(CODE, host["name"], UNVERIFIED_FIELD, str(_is_unverified(host)).lower(),
                f"that of {first['name']}, {str(_is_unverified(first)).lower()}: both are reached by one account",
                "give both the same")
        for host in hosts[1:] if _is_unverified(host) != _is_unverified(first)]


def _is_unverified(host: Mapping[str, Any]) -> bool:
    return bool(host["bmc"].get("disable_certificate_verification"))


def policy_error(service: Mapping[str, Any], password: str) -> str:
    """Return why a BMC's own policy will refuse a password, empty when it does not say so.

    :param service: the resource AccountService
    """
    shortest, longest = (_number(service, name) for name in ("MinPasswordLength", "MaxPasswordLength"))
    size = len(password)
    if (shortest and size < shortest) or (longest and size > longest):
        return (f"the new password has {size} characters, the BMC takes {shortest or 'any number'} to "
                f"{longest or 'any number'}")
    return ""


def chosen(found: Iterable[tuple[str, Mapping[str, Any]]], username: str) -> tuple[str, str]:
    """Return ``(path, "")`` of the account of a user name, or ``("", why there is none)``.

    Vendors with fixed slots show empty ones, too: their user names are empty.

    :param found: ``(path, account)`` of each account that could be read
    :param username: as it is logged in with
    """
    paths = [path for path, account in found if account.get("UserName") == username]
    if len(paths) == 1:
        return paths[0], ""
    if paths:
        return "", f"{len(paths)} accounts have this user name: {', '.join(paths)}"
    return "", "no account that can be read has this user name; it may be of a directory such as LDAP"


def neither(tries: int) -> Look:
    """Return what is found of an account that accepts no password.

    :param tries: how many were tried
    """
    return Look(None, "neither the present nor the new password is accepted; each was tried once" if tries > 1
                else "the password is not accepted; it was tried once", _TRY_LATER)


def look_problem(wanted: Wanted, look: Look) -> list[Problem]:
    """Return why an account's password can not be replaced, for each of its hosts."""
    return [Problem(CODE, name, FIELD, look.error, "an account whose password can be replaced", look.hint)
            for name in wanted.names if look.error]


def advice(outcome: Outcome) -> str:
    """Return what a user is to know, and to do, about an account whose new password does not count."""
    return {
        REFUSED: "the BMC refused the new password (%s); the old one counts; choose another one",
        RESTORED: "the BMC took the new password and let nobody in with it (%s); the old one counts again; choose "
                  "another one, for example a shorter one",
        UNPROVEN: "the new password could not be proven (%s); run again: the run finds out which one counts",
        LOST: "the BMC accepts neither the new password nor the old one (%s); set one of them at the BMC, then run "
              "again",
        FAILED: "nothing was changed (%s); run again",
    }[outcome.status] % outcome.text


def _number(resource: Mapping[str, Any], name: str) -> int:
    value = resource.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
