# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Claims rotations of passwords, so that one run at a time is at a BMC, and gives them back.

A claim is written on the condition that nobody else has one. Two runs of one machine are kept apart by a lock that ends
with its process, so that the next run takes up what a killed one has left; two machines by the name of the holder.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from ..._common.files.run_locks import RunLocks
from ..._common.problems.problem import Problem
from ..._common.problems.problem import text as problem_text
from ..._kube.reconcile import plan
from ..._kube.reconcile.plan import CREATE, DELETE, DONE, UNCHANGED, UPDATE, Entry
from ..._kube.reconcile.reconcile import Reconcile, Written
from ..state.reading import SECRET, secret_of, secrets_of
from . import claim
from . import rotation_rules as rules

Object = Mapping[str, Any]


class Claims(Reconcile):
    """The claims of one namespace.

    :param client: a KubeClient
    :param namespace: of the credentials Secrets
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :param locks: of this machine
    :param take_over: name of the machine from which rotations are taken over, or None
    """

    def __init__(self, client: Any, namespace: str, progress: Any, sleep: Callable[[float], Any], locks: RunLocks,
                 take_over: str | None) -> None:
        super().__init__(client, False, progress, sleep)
        self._namespace, self._locks, self._take_over = namespace, locks, take_over
        self._stored: dict[str, Any] = {}

    def read(self) -> None:
        """Read what claims there are.

        :raises KubeError: when the API server can't be asked
        """
        self._stored = secrets_of(self.client, self._namespace, claim.SELECTOR)

    def password(self, secret: str) -> str:
        """Return the new password of a rotation that has not ended, empty without one."""
        return claim.password_of(self._stored.get(claim.name_of(secret)))

    def is_over(self, secret: Object) -> bool:
        """Return whether a claim is left over: the credentials Secret has its password."""
        return self.password(secret["metadata"]["name"]) == rules.credentials_of(secret)[1]

    def problems(self, host: str, secret: Object) -> list[Problem]:
        """Return why a password is not replaced now: another run is at it.

        :param host: of the BMC
        :param secret: its credentials Secret
        :raises OSError: when the lock's file can't be made
        """
        found = self._stored.get(claim.name_of(secret["metadata"]["name"]))
        if found is None or self.is_over(secret):
            return []
        with self._alone(secret) as is_alone:
            if not is_alone:
                return [claim.running(host)]
        return claim.elsewhere(host, found, self._locks.holder, self._take_over)

    def entries(self, secrets: Sequence[str], password: str) -> list[Entry]:
        """Return the entries of claims, by which they are tried or written."""
        return [self._planned(claim.claim(name, self._namespace, password, self._locks.holder),
                              self._stored.get(claim.name_of(name))) for name in secrets]

    def take(self, secrets: Sequence[Object], password: str, stack: ExitStack) -> list[str]:
        """Claim a rotation; return why it can't be.

        :param secrets: credentials Secrets that get one password, as they were read
        :param password: the new one
        :param stack: holds the locks
        :raises OSError: when a lock's file can't be made
        """
        for secret in sorted(secrets, key=lambda item: item["metadata"]["name"]):
            if not stack.enter_context(self._alone(secret)):
                return [problem_text(claim.running(""))]
        names = [secret["metadata"]["name"] for secret in secrets]
        written = self.write(self.entries(names, password))
        self._keep(written)
        said = [item.message for item in written if item.error is not None]
        if said:
            # What was there before may be the only one that knows what the BMC has.
            self.give_back([name for name, item in zip(names, written) if item.action == DONE[CREATE]])
        return said

    def give_back(self, secrets: Sequence[str]) -> list[str]:
        """Delete claims as they were written or read; return what could not be deleted."""
        found = [self._stored.pop(claim.name_of(name)) for name in secrets if claim.name_of(name) in self._stored]
        return [item.message for item in self.delete(SECRET, found) if item.error is not None]

    # What the base asks

    def read_again(self, entry: Entry) -> Any:
        """Return the claim in its shape."""
        return secret_of(self.client, entry.namespace or "", entry.name)

    def problems_again(self, entry: Entry, stored: Any) -> list[str]:
        """Return why a claim that has changed since is neither written nor deleted: it is another run's."""
        known = [_content(item) for item in (entry.desired, entry.current) if item is not None]
        return [] if stored is None or _content(stored) in known else [claim.taken_by(stored)]

    def plan_again(self, entry: Entry, stored: Any) -> Entry:
        """Return the entry for the claim as it is by now."""
        if entry.action == DELETE:
            return plan.deletion(entry.resource, stored)
        return self._planned(dict(entry.desired or {}), stored)

    # Below

    def _planned(self, desired: dict[str, Any], stored: Any) -> Entry:
        metadata = desired["metadata"]
        action = CREATE if stored is None else UNCHANGED if _content(stored) == _content(desired) else UPDATE
        return Entry(SECRET, metadata["namespace"], metadata["name"], action, desired, stored, {}, {})

    def _keep(self, written: Sequence[Written]) -> None:
        for item in written:
            if item.error is None:
                self._stored[item.entry.name] = item.value

    def _alone(self, secret: Object) -> AbstractContextManager[bool]:
        return self._locks.alone("bmc-password", str(secret["metadata"].get("uid")), secret["metadata"]["name"])


def _content(found: Object) -> tuple[str, str]:
    return claim.holder_in(found), claim.password_of(found)
