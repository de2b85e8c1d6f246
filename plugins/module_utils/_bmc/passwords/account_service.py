# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a list of hosts with new passwords to BMCs that have them: all are looked at, then all are changed."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ..._common.matching.connected import connected
from ..._common.options import confirmation
from ..._common.options.field_checks import show
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.redaction.redaction import hidden_difference
from ..._common.waiting import parallel
from ..addresses import address as bmc_address
from ..protocols.gather import Settings
from ..protocols.redfish import RedfishError
from .accounts import (
    CHANGED,
    CODE,
    GOOD,
    Outcome,
    Wanted,
    advice,
    group_problems,
    look_problem,
    password_problem,
    tried,
    trust_problems,
)
from .password_change import PasswordChange


class AccountRun:
    """One run over a list of hosts.

    :param settings: how BMCs are asked
    :param check_mode: only log in and find the accounts
    :param progress: a Progress
    :param names: ``{option: name}`` by which the reader knows an option, or None
    :param confirm: how many hosts' BMCs get another password, or the hosts' names with commas between; None for nothing
    :param among: names that ``confirm`` may have when other tasks get it, too
    """

    def __init__(self, settings: Settings, check_mode: bool, progress: Any, names: Mapping[str, str] | None,
                 confirm: str | None = None, among: Sequence[str] = ()):
        self._confirm, self._among = confirm, among
        self._settings, self._check_mode, self._progress, self._names = settings, check_mode, progress, names
        self._change = PasswordChange(settings, progress)

    def run(self, hosts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Do it all and return the module's result.

        :param hosts: entries with ``name``, ``bmc`` and ``ca_cert``
        :raises RefusedError: when an entry is wrong, an account can not be changed, or the number was not repeated;
            nothing was changed then
        """
        accounts = self._accounts(hosts)
        looks = self._change.look(accounts)
        problems = [problem for wanted, look in zip(accounts, looks) for problem in look_problem(wanted, look)]
        if problems:
            raise RefusedError(problems, self._names)
        warnings = confirmation.required_by(self._unconfirmed(
            [name for wanted, look in zip(accounts, looks) if look.works != wanted.new for name in wanted.names]),
            self._check_mode, self._names)
        outcomes = self._changed(accounts, [look.works or "" for look in looks])
        found = dict((name, outcome) for wanted, outcome in zip(accounts, outcomes) for name in wanted.names)
        return {
            "changed": any(outcome.status == CHANGED for outcome in outcomes),
            "hosts": [_result(host, found[host["name"]]) for host in hosts],
            "diff": [difference(wanted) for wanted, outcome in zip(accounts, outcomes) if outcome.status == CHANGED],
            "warnings": warnings,
        }

    def _unconfirmed(self, due: Sequence[str]) -> list[Problem]:
        if not due or confirmation.confirmed(self._confirm, list(due), self._among):
            return []
        return [confirmation.problem("hosts", self._confirm, due,
                                     f"hosts whose BMC gets another password: {', '.join(due)}", self._among)]

    def _changed(self, accounts: Sequence[Wanted], works: Sequence[str]) -> list[Outcome]:
        if self._check_mode:
            return [Outcome("unchanged" if password == wanted.new else CHANGED)
                    for wanted, password in zip(accounts, works)]
        return parallel.values(parallel.run(
            [partial(self._one, wanted, password) for wanted, password in zip(accounts, works)],
            self._settings.concurrency, RedfishError))

    def _one(self, wanted: Wanted, works: str) -> Outcome:
        outcome = self._change.change(wanted, works)
        if outcome.status == CHANGED:
            self._progress.wrote(title(wanted), "updated")
        return outcome

    def _accounts(self, hosts: Sequence[Mapping[str, Any]]) -> list[Wanted]:
        """Return the accounts that hosts are reached by.

        :raises RefusedError: with all that is wrong
        """
        problems, read = [], []
        for host in hosts:
            bmc = host["bmc"]
            address, found = parsed(host["name"], bmc["address"])
            problems += found
            if address is not None:
                wrong = password_problem(host["name"], address, bmc["username"], bmc["new_password"])
                problems += [wrong] if wrong else []
                read.append({"name": host["name"], "address": address, "bmc": bmc, "new": bmc["new_password"],
                             "ca_cert": host.get("ca_cert")})
        groups = connected(read, lambda item: [(*item["address"].bmc, item["bmc"]["username"])])
        problems += [problem for group in groups for problem in group_problems(group) + trust_problems(group)]
        problems += [
            Problem(CODE, item["name"], "bmc.password", f"another password than that of {group[0]['name']}",
                    "the same one: both are reached by one account", "correct one of them")
            for group in groups for item in group[1:] if item["bmc"]["password"] != group[0]["bmc"]["password"]]
        problems += repeated([host["name"] for host in hosts])
        if problems:
            raise RefusedError(problems, self._names)
        return [Wanted(tuple(item["name"] for item in group), group[0]["address"], group[0]["bmc"]["username"],
                       tried(group[0]["new"], group[0]["bmc"]["password"]), group[0]["new"],
                       bool(group[0]["bmc"].get("disable_certificate_verification")), group[0]["ca_cert"])
                for group in groups]


def parsed(name: str, text: str | None) -> tuple[bmc_address.BmcAddress | None, list[Problem]]:
    """Return a host's address, or None and what is wrong with it."""
    try:
        return bmc_address.parse(text), []
    except bmc_address.AddressError as exc:
        return None, [Problem("bmc-address", name, "bmc.address", show(bmc_address.redacted(text)) if text else None,
                              exc.expected, exc.hint)]


def repeated(names: Sequence[str]) -> list[Problem]:
    """Return what is wrong with names that are given more than once."""
    return [Problem(CODE, name, "name", "named twice", "each host once", "remove one of them")
            for name in dict.fromkeys(names) if names.count(name) > 1]


def title(wanted: Wanted) -> str:
    """Return how messages and diffs name an account."""
    return f"account {wanted.username} of {wanted.address.endpoint}"


def difference(wanted: Wanted) -> dict[str, Any]:
    """Return an account's part of Ansible's diff, without its passwords."""
    before, after = hidden_difference({"password": "(the present one)"}, {"password": "(the new one)"})
    return {"before_header": title(wanted), "after_header": title(wanted), "before": before, "after": after}


def failure(hosts: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of a failure, a line for each failed host; empty when there is none."""
    failed = [host for host in hosts if host["failed"]]
    if not failed:
        return ""
    return "\n".join([f"{len(failed)} of {len(hosts)} hosts do not have the new password:",
                      *(f"- {host['name']}: {host['error']}" for host in failed)])


def _result(host: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
    good = outcome.status in GOOD
    return {"name": host["name"], "status": outcome.status, "changed": outcome.status == CHANGED, "failed": not good,
            "error": "" if good else advice(outcome)}
