# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and checks all but the BMCs before passwords are replaced: hosts, their Secrets, the file, who shares a BMC."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..._bmc.passwords.account_service import parsed, repeated
from ..._common.matching.connected import connected
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._kube.api import bulk
from ..description.objects import stored_secret_name
from ..state.reading import hosts_and_secrets, hosts_everywhere, secret_of
from . import claim
from . import rotation_rules as rules
from .claims import Claims
from .password_file import PasswordFile
from .password_file import generated as random_password
from .rotation_group import Group


class RotationReading:
    """What is there before a rotation.

    :param client: a KubeClient
    :param params: the module's parameters
    :param names: ``{option: name}`` by which the reader knows an option, or None
    :param now: callable that returns the time in seconds since 1970
    :param claims: the Claims of the namespace
    :ivar file: the PasswordFile, None without one
    :ivar generated: host's name → its password, where that is not a given one
    :ivar hosts: BareMetalHosts by name
    :ivar secrets: their credentials Secrets by name
    :ivar warnings: texts of what was not checked
    """

    def __init__(self, client: Any, params: dict[str, Any], names: Mapping[str, str] | None,
                 now: Callable[[], float], claims: Claims) -> None:
        self._claims = claims
        self._client, self._params, self._names, self._now = client, params, names, now
        self._namespace = params["namespace"]
        self.file = PasswordFile(params["password_file"]) if params["password_file"] else None
        self.generated: dict[str, str] = {}
        self.hosts: dict[str, Any] = {}
        self.secrets: dict[str, Any] = {}
        self.warnings: list[str] = []

    def groups(self) -> list[Group]:
        """Read and check everything but the BMCs, and return what belongs together.

        :raises RefusedError: with all that is wrong
        """
        hosts, problems = [], repeated([host["name"] for host in self._params["hosts"]])
        for host in self._params["hosts"]:
            address, found = parsed(host["name"], (host.get("bmc") or {}).get("address"))
            problems += found
            if address is not None:
                hosts.append({"name": host["name"], "address": address, "bmc": host["bmc"],
                              "ca_cert": host.get("ca_cert")})
        if self.file:
            problems += self.file.read()
        if problems:
            raise RefusedError(problems, self._names)
        elsewhere = self._read(hosts)
        self._claims.read()
        full = []
        for host in hosts:
            bmh = self.hosts.get(host["name"])
            secret = self.secrets.get(stored_secret_name(bmh)) if bmh else None
            found = rules.check(host, bmh, secret, self._namespace, self._now())
            # Nobody logs in at a BMC whose password another run is about to change: it would be a wrong one.
            if bmh and secret is not None and not found:
                found = self._claims.problems(host["name"], secret)
            problems += found
            if bmh and secret is not None and not found:
                username, password = rules.credentials_of(secret)
                full.append(dict(host, username=username, stored=password, secret=stored_secret_name(bmh),
                                 namespace=self._namespace,
                                 claimed="" if self._claims.is_over(secret) else self._claims.password(
                                     stored_secret_name(bmh))))
        groups = [Group(self._with_passwords(hosts)) for hosts in connected(
            full, lambda host: [("secret", host["secret"]), ("account", *host["address"].bmc, host["username"])])]
        others = self._others(groups, elsewhere)
        problems += [problem for group in groups for problem in rules.check_others(group.hosts, others)]
        for group in groups:
            problems += group.password_problems() + group.trust_problems()
        if problems:
            raise RefusedError(problems, self._names)
        return groups

    def _read(self, hosts: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Read hosts and Secrets; return the hosts of other namespaces."""
        def wanted(stored: Mapping[str, Any]) -> set[str]:
            found = (stored_secret_name(stored[host["name"]]) for host in hosts if host["name"] in stored)
            return set(filter(None, found))

        (self.hosts, elsewhere, warning), self.secrets = hosts_and_secrets(self._client, self._namespace, wanted)
        self.warnings += [warning] if warning else []
        return elsewhere

    def read_again(self, groups: Sequence[Group]) -> list[tuple[Any, Any]]:
        """Read all hosts once more; return those outside of the run, as ``rules.check_others`` takes them.

        :param groups: those of the batch that begins
        :raises KubeError: when the API server can't be asked
        """
        self.hosts, elsewhere, dummy = hosts_everywhere(self._client, self._namespace)
        return self._others(groups, elsewhere)

    def _others(self, groups: Sequence[Group], elsewhere: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Return the hosts outside of the run, with the Secrets of those that have a BMC of the groups."""
        mine = set(host["name"] for host in self._params["hosts"])
        ours = set(host["address"].bmc for group in groups for host in group.hosts)
        outside = [*(bmh for name, bmh in self.hosts.items() if name not in mine), *elsewhere]
        near = [bmh for bmh in outside if stored_secret_name(bmh)
                and (address := rules.address_of(bmh)) is not None and address.bmc in ours]
        others: list[tuple[Any, Any]] = [(bmh, None) for bmh in outside if bmh not in near]
        for bmh, outcome in zip(near, bulk.run([partial(
                secret_of, self._client, bmh["metadata"]["namespace"], stored_secret_name(bmh)) for bmh in near])):
            if outcome.error is not None and outcome.error.status != 403:
                raise outcome.error
            if outcome.error is not None:
                self._warn(
                    f"host {bmh['metadata']['namespace']}/{bmh['metadata']['name']} has the same BMC; whether by the "
                    "same account could not be read: allow reading Secrets of its namespace")
            others.append((bmh, outcome.value))
        return others

    def taken_up(self, group: Group) -> list[Problem]:
        """Let a group have the password of an earlier rotation that its BMC has already; return why it can't.

        Only a password that was made for this run gives way to it.
        """
        if self.file is None or any(host["bmc"].get("new_password") for host in group.hosts) \
                or self.file.of(group.names):
            return [claim.unfinished(group.names[0], group.secrets[0], self.file is not None)]
        group.take_up()
        self.generated.update((host["name"], host["new"]) for host in group.hosts)
        return []

    def _warn(self, text: str) -> None:
        # Each batch looks again.
        if text not in self.warnings:
            self.warnings.append(text)

    def _with_passwords(self, hosts: Sequence[Any]) -> list[Any]:
        """Return hosts with the password that they are to have: given, of the file, or a random one."""
        given = next((host["bmc"]["new_password"] for host in hosts if host["bmc"].get("new_password")), "")
        new = given
        if not new and self.file:
            new = self.file.of([host["name"] for host in hosts]) or random_password(self._params["password_length"])
            self.generated.update((host["name"], new) for host in hosts)
        return [dict(host, new=host["bmc"].get("new_password") or new) for host in hosts]
