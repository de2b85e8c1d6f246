# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""New passwords for the BMCs of hosts: on the BMC, proven by a login, in the Secret, taken by BMO; then the next batch.

A run that ended anywhere is taken up by the next one, because each begins with what is there: which password the BMC
accepts, what the Secret holds, and which of its versions BMO has used.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from ..._bmc.passwords.account_service import difference as account_difference
from ..._bmc.passwords.account_service import title
from ..._bmc.passwords.accounts import (
    CHANGED,
    GOOD,
    LOST,
    REFUSED,
    RESTORED,
    UNPROVEN,
    Wanted,
    advice,
    look_problem,
)
from ..._bmc.passwords.password_change import PasswordChange
from ..._bmc.protocols.gather import Settings
from ..._common.files.run_locks import RunLocks
from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem, renamed
from ..._common.problems.problem import text as problem_text
from ..._common.redaction.quoted_secrets import without_secrets
from ..._common.waiting import parallel
from ..._kube.api.cluster_clock import clock_of
from ..._kube.objects.finalizers import is_going
from ..._kube.reconcile.report import difference
from ..._kube.responses.errors import KubeError
from ..description.objects import stored_secret_name
from ..enrolment import credentials as host_credentials
from ..state import goals as host_goals
from ..state.reading import secret_of
from ..state.wait import follow_hosts
from . import rotation_rules as rules
from .claims import Claims
from .password_file import PasswordFile
from .rotation_group import NOT_BEGUN, Group
from .rotation_reading import RotationReading
from .secret_writes import SecretWrites

_SHORTEST_SECRET = 4


class RotationService:
    """One run over a list of hosts.

    :param client: a KubeClient
    :param settings: how BMCs are asked
    :param params: the module's parameters
    :param check_mode: only log in, read, and let the API server try the writes of Secrets
    :param progress: a Progress
    :param names: ``{option: name}`` by which the reader knows an option, or None
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :param now: callable that returns the time in seconds since 1970, by default by the clock of the API server
    :param locks: by which runs of this machine keep each other from one BMC; those of the user by default
    """

    def __init__(self, client: Any, settings: Settings, params: dict[str, Any], check_mode: bool, progress: Any,
                 names: Mapping[str, str] | None = None, clock: Callable[[], float] = time.monotonic,
                 sleep: Callable[[float], Any] = time.sleep, now: Callable[[], float] | None = None,
                 locks: RunLocks | None = None):
        self.client, self.params, self.namespace = client, params, params["namespace"]
        self.check_mode, self.progress, self.names = check_mode, progress, names
        self.clock, self.sleep, self.now = clock, sleep, now or clock_of(client)
        self.began_at = clock()
        self.diff: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self._workers = settings.concurrency
        self._change = PasswordChange(settings, progress)
        self._claims = Claims(client, self.namespace, progress, sleep, locks or RunLocks(), params["take_over"])
        self._known = RotationReading(client, params, names, self.now, self._claims)

    def run(self) -> dict[str, Any]:
        """Do it all and return the module's result.

        :raises RefusedError: with all that is wrong; nothing was changed then
        :raises KubeError: when the API server can't be asked
        """
        try:
            groups = self._known.groups()
        except OSError as exc:
            raise self._no_lock(exc) from exc
        self._look(groups)
        due = [group for group in groups if group.is_due(self._known.secrets)]
        self._try(due)
        self._confirmed([name for group in due for name in group.names])
        written = False
        if due and self._known.file and not self.check_mode:
            written = self._kept(self._known.file)
        for group in groups:
            group.error = "" if group not in due or self.check_mode else group.error
        if self.check_mode:
            for group in due:
                group.changed = True
                self._note(group)
        else:
            self._in_batches(groups, due)
            self._give_back([name for group in groups if group not in due for name in group.secrets
                             if self._claims.is_over(self._known.secrets[name])])
        return self._result(groups, written)

    # What there is

    def _look(self, groups: Sequence[Group]) -> None:
        """Log in at all BMCs.

        :raises RefusedError: when an account can not be changed
        """
        looks = iter(self._change.look([wanted for group in groups for wanted in group.accounts]))
        problems = []
        for group in groups:
            group.looks = [next(looks) for dummy in group.accounts]
            found = [problem for wanted, look in zip(group.accounts, group.looks)
                     for problem in look_problem(wanted, look)]
            problems += found or (self._known.taken_up(group) if group.has_claimed() else [])
            group.may_count = any(look.works == wanted.new for wanted, look in zip(group.accounts, group.looks))
        if problems:
            raise RefusedError(problems, self.names)

    def _try(self, due: Sequence[Group]) -> None:
        """Let the API server try all writes of Secrets: what it refuses is to be known before a BMC has a new password.

        :raises RefusedError: with all that it refuses
        """
        problems = []
        for group in due:
            writes = self._writes(group)
            for item in [*self._claims.dry_run(self._claims.entries(group.secrets, group.hosts[0]["new"])),
                         *writes.dry_run([writes.entry(self._known.secrets[name]) for name in group.secrets])]:
                if item.error is not None:
                    said = self._clean(group, item.error.message)
                    problems.append(Problem(rules.CODE, group.names[0], "", f"Secret {item.entry.name}: {said}",
                                            "a Secret that can be written", "correct what is in the way, or allow it"))
        if problems:
            raise RefusedError(problems, self.names)

    def _confirmed(self, names: list[str]) -> None:
        """Ask for the number of hosts whose passwords are replaced.

        :raises RefusedError: when it was not given
        """
        given, among = self.params["confirm"], self.params["confirm_among"]
        if not names or confirmation.confirmed(given, names, among):
            return
        problem = confirmation.problem(f"namespace {self.namespace}", given, names,
                                       f"hosts whose BMC gets another password: {', '.join(names)}", among)
        self.warnings += confirmation.required_by([problem], self.check_mode, self.names)

    # What is done

    def _kept(self, file: PasswordFile) -> bool:
        """Keep the generated passwords; return whether the file has changed.

        :raises RefusedError: when it can't be written, or has other passwords of the hosts by now
        """
        try:
            changed, problems = file.write(self._known.generated)
        except OSError as exc:
            raise RefusedError([Problem(
                "password-file", file.path, "password_file", exc.strerror or str(exc), "a file that can be written",
                "correct the path, or make room")], self.names) from exc
        if problems:
            raise RefusedError(problems, self.names)
        return changed

    def _in_batches(self, groups: Sequence[Group], due: list[Group]) -> None:
        # A run that ended between the Secret and BMO's answer is finished, too.
        untaken = [group for group in groups if group not in due and self._untaken(group)]
        if untaken and self.params["wait"]:
            self._wait(untaken)
        rest = due
        # One goes first: what is wrong with all is found at one.
        size = 1
        while rest and not any(group.error and group.error != NOT_BEGUN for group in groups):
            batch, rest = rest[:size], rest[size:]
            size = self.params["batch_size"]
            batch = self._alone(batch)
            if self.params["wait"]:
                self._wait([group for group in batch if not group.error])

    def _alone(self, batch: Sequence[Group]) -> list[Group]:
        """Change a batch while no other run does, and return what of it was begun.

        What another run has done until then, the second look finds; what it begins later is refused to it.
        """
        with ExitStack() as locks:
            claimed = [group for group in batch if self._is_claimed(group, locks)]
            self._check_again(claimed)
            begun = [group for group in claimed if group.error == NOT_BEGUN]
            if begun:
                self.progress.event(f"new passwords for {', '.join(name for group in begun for name in group.names)}")
            outcomes = parallel.run([partial(self._rotate, group) for group in begun], self._workers, KubeError)
            for group, outcome in zip(begun, outcomes):
                if outcome.error is not None:
                    group.error = f"{self._clean(group, outcome.error.message)}; run again: the run goes on from here"
            # Of a password that a BMC may have and its Secret has not, the claim knows.
            self._give_back([name for group in claimed if not group.error or not group.may_count
                             for name in group.secrets])
        return begun

    def _is_claimed(self, group: Group, locks: ExitStack) -> bool:
        try:
            said = self._claims.take(
                [self._known.secrets[name] for name in group.secrets], group.hosts[0]["new"], locks)
        except OSError as exc:
            said = [str(self._no_lock(exc))]
        if said:
            group.error = "; ".join([*(self._clean(group, text) for text in said), "nothing was changed", "run again"])
        return not said

    def _give_back(self, secrets: Sequence[str]) -> None:
        self.warnings += [f"{text}; the next run deletes it" for text in self._claims.give_back(secrets)]

    def _no_lock(self, exc: OSError) -> RefusedError:
        return RefusedError([Problem(
            rules.CODE, exc.filename or "", "", exc.strerror or str(exc), "a lock that can be made",
            "set XDG_STATE_HOME to a folder that you may write to")], self.names)

    def _check_again(self, batch: Sequence[Group]) -> None:
        """Look at hosts and Secrets once more, for batches may begin long after the first look."""
        others = self._known.read_again(batch)
        stored = self._known.hosts
        for group in batch:
            problems = rules.check_others(group.hosts, others)
            for host in group.hosts:
                bmh, secret = stored.get(host["name"]), secret_of(self.client, self.namespace, host["secret"])
                problems += rules.check(host, bmh, secret, self.namespace, self.now())
                present = stored_secret_name(bmh) if bmh is not None else host["secret"]
                if present != host["secret"]:
                    problems.append(Problem(rules.CODE, "", "", f"Secret {host['secret']}, now {present or 'none'}",
                                            "a host that keeps its Secret", "run again"))
                if rules.credentials_of(secret) != rules.credentials_of(self._known.secrets[host["secret"]]):
                    problems.append(Problem(rules.CODE, "", "", f"another Secret {host['secret']} than before",
                                            "one that nobody changes meanwhile",
                                            "run again: its password is read once more"))
                elif secret is not None:
                    self._known.secrets[host["secret"]] = secret
            if problems:
                said = [problem_text(problem._replace(subject=""), self.names) for problem in problems]
                group.error = "; ".join([*said, "nothing was changed", "run again"])

    def _untaken(self, group: Group) -> bool:
        return any(host_credentials.untried(self._known.hosts[host["name"]], self._known.secrets[host["secret"]])
                   for host in group.hosts)

    def _rotate(self, group: Group) -> None:
        """Change the accounts of a group, then its Secrets; ``error`` of the group says how far it came."""
        done: list[tuple[Wanted, str]] = []
        for wanted, look in zip(group.accounts, group.looks):
            old = look.works or ""
            outcome = self._change.change(wanted, old)
            if outcome.status not in GOOD:
                of_whom = f"{', '.join(wanted.names)}: " if len(group.names) > 1 else ""
                said, all_back = self._taken_back(done)
                group.may_count = group.may_count or not all_back or outcome.status in (UNPROVEN, LOST)
                group.error = "; ".join([of_whom + advice(outcome), *self._kept_one(group, outcome.status), *said])
                return
            if outcome.status == CHANGED:
                done.append((wanted, old))
        group.may_count = True
        for wanted, dummy in done:
            group.changed = True
            self.progress.wrote(title(wanted), "updated")
            self.diff.append(account_difference(wanted))
        writes = self._writes(group)
        for item in writes.write([writes.entry(self._known.secrets[name]) for name in group.secrets]):
            if item.error is not None:
                group.error = (f"the BMC has the new password, Secret {item.entry.name} does not: "
                               f"{self._clean(group, item.error.message)}; run again: the run goes on from here")
                return
            self._known.secrets[item.entry.name] = item.value
            if item.changed:
                group.changed = True
                self.diff.append(difference(item.entry))
        group.error = ""

    def _kept_one(self, group: Group, status: str) -> list[str]:
        """Return what it takes to have another password than one of the file's, which the next run would use again."""
        kept = [name for name in group.names if name in self._known.generated]
        if status not in (REFUSED, RESTORED) or not kept or self._known.file is None:
            return []
        return [f"remove {', '.join(kept)} from {self._known.file.path}, so that the next run generates another one, "
                f"of {renamed('password_length', self.names)} characters"]

    def _taken_back(self, done: Sequence[tuple[Wanted, str]]) -> tuple[list[str], bool]:
        """Set the old passwords of accounts again whose Secret keeps the old one; return what became of them.

        :returns: texts, and whether all have the old one again
        """
        said, all_back = [], True
        for wanted, old in done:
            outcome = self._change.change(wanted._replace(new=old, passwords=(wanted.new, old)), wanted.new)
            names = ", ".join(wanted.names)
            if outcome.status == CHANGED:
                said.append(f"{names}: the old password was set again, because they share a Secret")
                continue
            all_back = False
            self.progress.wrote(title(wanted), "updated")
            said.append(f"{names}: the BMC has the new password, and did not take the old one again "
                        f"({outcome.status}: {outcome.text})")
        return said, all_back

    def _writes(self, group: Group) -> SecretWrites:
        return SecretWrites(self.client, self.progress, self.sleep,
                            dict.fromkeys(group.secrets, group.hosts[0]["new"]), self._known.secrets)

    def _wait(self, groups: Sequence[Group]) -> None:
        """Wait until BMO has taken the new credentials of all hosts, and none is in an error that has come since."""
        now, seconds = self.clock(), self.params["wait_timeout_seconds"]
        histories = {}
        for group in groups:
            for host in group.hosts:
                bmh, secret = self._known.hosts[host["name"]], self._known.secrets[host["secret"]]
                history = host_goals.HostHistory(
                    "logged in to with the new password", bmh, now, self.params["error_limit"],
                    is_reached=partial(_is_well, bmh), lacking=partial(_untried, secret))
                histories[host["name"]] = history
        silence = follow_hosts(self.client, self.namespace, histories, now + seconds, self.progress, self.clock)
        for group in groups:
            errors = [histories[name].error(seconds, self.clock(), silence) for name in group.names]
            group.error = "; ".join(f"the BMC and the Secret have the new password, BMO does not use it: {error}"
                                    for error in errors if error)

    # Result

    def _note(self, group: Group) -> None:
        """Keep what check mode would change."""
        self.diff += [account_difference(wanted) for wanted, look in zip(group.accounts, group.looks)
                      if look.works != wanted.new]
        writes = self._writes(group)
        entries = [writes.entry(self._known.secrets[name]) for name in group.secrets]
        self.diff += [difference(entry) for entry in entries if entry.changes]

    def _clean(self, group: Group, text: str) -> str:
        return without_secrets(text, set().union(*(wanted.secrets for wanted in group.accounts)), _SHORTEST_SECRET)

    def _result(self, groups: Sequence[Group], written: bool) -> dict[str, Any]:
        found = dict((host["name"], {
            "name": host["name"], "secret": host["secret"], "changed": group.changed, "failed": bool(group.error),
            "error": group.error}) for group in groups for host in group.hosts)
        hosts = [found[host["name"]] for host in self.params["hosts"]]
        return {"changed": written or any(host["changed"] for host in hosts), "hosts": hosts, "diff": self.diff,
                "warnings": self._known.warnings + self.warnings, "seconds": round(self.clock() - self.began_at, 1)}


def _untried(secret: Any, bmh: Any) -> str:
    return host_credentials.untried(bmh, secret)


def _is_well(before: Any, bmh: Any) -> bool:
    """Return whether a host has no error but one that it had before and that is none of the BMC's."""
    if bmh is None or is_going(bmh):
        return False
    error = host_goals.error_of(bmh)
    of_bmc = "registration" in error[0] or "power" in error[0]
    return not error[0] or (not of_bmc and error[:2] == host_goals.error_of(before)[:2])
