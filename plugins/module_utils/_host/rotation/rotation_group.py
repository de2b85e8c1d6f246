# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts whose BMCs get one password, together, and how far they came; pure."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._bmc.passwords.accounts import Look, Wanted, group_problems, password_problem, tried, trust_problems
from ..._common.matching.connected import connected
from ..._common.problems.problem import Problem
from . import rotation_rules as rules

NOT_BEGUN = "not begun: a host of an earlier batch failed"


class Group:
    """Hosts that share a BMC's account or a Secret, also by way of others: they get one password, together.

    :param hosts: dicts with ``name``, ``address``, ``bmc``, ``ca_cert``, ``username``, ``stored`` (the password in the
        Secret), ``secret`` (its name), ``namespace``, ``new`` and ``claimed`` (the new password of an earlier rotation
        that has not ended, empty without one)
    :ivar claimed: the new password of an earlier rotation that has not ended, where it is not theirs; else empty
    :ivar may_count: whether a BMC may have the new password
    """

    def __init__(self, hosts: Sequence[Mapping[str, Any]]):
        self.hosts = hosts
        self.names = [host["name"] for host in hosts]
        self.claimed = next((host["claimed"] for host in hosts if host["claimed"] not in ("", host["new"])), "")
        self.accounts = _accounts(hosts, self.claimed)
        self.may_count = False
        self.looks: list[Look] = []
        self.secrets = list(dict.fromkeys(host["secret"] for host in hosts))
        self.changed = False
        self.error = NOT_BEGUN

    def password_problems(self) -> list[Problem]:
        """Return what is wrong with the password that the hosts are to have."""
        if not self.hosts[0]["new"]:
            return [Problem(rules.CODE, name, "bmc.new_password", None, "a password, or password_file to generate one",
                            "set one of both") for name in self.names]
        found = [password_problem(host["name"], host["address"], host["username"], host["new"]) for host in self.hosts]
        return [problem for problem in found if problem] + group_problems(self.hosts)

    def trust_problems(self) -> list[Problem]:
        """Return what is wrong with how the BMCs are verified."""
        return [problem for shared in _by_account(self.hosts) for problem in trust_problems(shared)]

    def has_claimed(self) -> bool:
        """Return whether a BMC has the password of an earlier rotation that has not ended."""
        return bool(self.claimed) and any(look.works == self.claimed for look in self.looks)

    def take_up(self) -> None:
        """Let the hosts have the password of the earlier rotation, in place of one that was made for this run."""
        self.hosts = [dict(host, new=self.claimed) for host in self.hosts]
        self.accounts = [wanted._replace(new=self.claimed) for wanted in self.accounts]
        self.claimed = ""

    def is_due(self, secrets: Mapping[str, Any]) -> bool:
        """Return whether a BMC or a Secret does not have the new password."""
        return any(look.works != wanted.new for wanted, look in zip(self.accounts, self.looks)) or any(
            rules.credentials_of(secrets[name])[1] != self.hosts[0]["new"] for name in self.secrets)


def _by_account(hosts: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    return connected(hosts, lambda host: [(*host["address"].bmc, host["username"])])


def _accounts(hosts: Sequence[Mapping[str, Any]], claimed: str) -> list[Wanted]:
    accounts = []
    for shared in _by_account(hosts):
        first = shared[0]
        present = [host["stored"] for host in shared] + [host["bmc"].get("password") for host in shared]
        accounts.append(Wanted(
            tuple(host["name"] for host in shared), first["address"], first["username"],
            # Of an earlier rotation that has not ended, the BMC may have the password; that of this one it has not yet.
            tried(claimed or first["new"], *present), first["new"],
            bool(first["bmc"].get("disable_certificate_verification")), first["ca_cert"]))
    return accounts
