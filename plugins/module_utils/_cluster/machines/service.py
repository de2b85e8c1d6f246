# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions on Machines of one cluster: read once, check all, write side by side, wait for all."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.problems.problem import text as problem_text
from ..._host.state import lock as host_lock
from ..._kube.api.cluster_clock import clock_of
from ..._kube.api.workload_client import workload_client
from ..._kube.objects.precondition import uid_of
from ..._kube.reconcile.plan import DELETE, UNCHANGED, UPDATE, Entry, deletion
from ..._kube.reconcile.reconcile import Reconcile, raise_refused
from ..._kube.reconcile.report import difference
from ..._metal3.kinds import KNOWN
from ..description.providers import Provider
from ..interruption.outlook import Outlook, say
from ..interruption.questions import replacement_outlook
from ..waiting.service import ClusterWait
from ..workflow.reading import snapshot_of
from ..workflow.rollout_stop import is_stopped, left_behind
from . import actions

_MACHINE = KNOWN["Machine"]


def entry_of(action: str, machine: dict[str, Any]) -> Entry:
    """Return the entry of an action on a Machine as it was read; unchanged when there is nothing to write."""
    if action == actions.REPLACE:
        return deletion(_MACHINE, machine)
    metadata, changes = machine["metadata"], actions.change(action, machine)
    known = metadata.get("annotations") or {}
    before = dict((name, known[name]) for name in changes if name in known)
    after = dict((name, value) for name, value in changes.items() if value is not None)
    return Entry(_MACHINE, metadata["namespace"], metadata["name"], UPDATE if changes else UNCHANGED, None, machine,
                 {"metadata": {"annotations": before}}, {"metadata": {"annotations": after}},
                 {"metadata": {"annotations": changes}})


class _Writes(Reconcile):
    """Patches and deletions of Machines."""

    def __init__(self, client, check_mode, progress, sleep, action, check):
        super().__init__(client, check_mode, progress, sleep)
        self._action, self._check = action, check

    def problems_again(self, entry, stored):
        return self._check(entry.name)

    def plan_again(self, entry, stored):
        return super().plan_again(entry, stored) if entry.action == DELETE else entry_of(self._action, stored)


class MachineActionService:
    """One run on a list of Machines.

    :param client: a KubeClient of the management cluster
    :param params: the module's parameters: ``namespace``, ``cluster_name``, ``machines``, ``action``, ``confirm``,
        ``wait``, ``wait_timeout_seconds``, ``node_startup_timeout_seconds``
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :param now: callable that returns the time in seconds since 1970, by default by the clock of the API server
    :param checked: ``{name: uid}`` of the Machines that the caller has checked; another one of the name is refused
    :param workload: callable that takes the client, a namespace and a cluster and returns a client of the cluster
    :param says_outlook: whether it is said what a replacement costs and what stands against it, unless the caller does
    """

    def __init__(self, client: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 sleep: Callable[[float], Any] = time.sleep, now: Callable[[], float] | None = None,
                 checked: Mapping[str, str | None] | None = None,
                 workload: Callable[[Any, str, str], Any] = workload_client, says_outlook: bool = True):
        self.client = client
        self._workload, self._says_outlook = workload, says_outlook
        self.checked = dict(checked or {})
        self.namespace, self.name = params["namespace"], params["cluster_name"]
        self.machines, self.action = params["machines"], params["action"]
        self.params = params
        self.check_mode = check_mode
        self.progress = progress
        self._now = now or clock_of(client)
        self.subject = f"cluster {self.namespace}/{self.name}"
        self.writes = _Writes(client, check_mode, progress, sleep, self.action, self._lines)
        # What has been done so far, for a run that fails later on.
        self.done: dict[str, Any] = {"changed": False}
        self.warnings: list[str] = []

    def run(self) -> dict[str, Any]:
        """Do it all and return the module's result.

        :raises RefusedError: with all that is wrong; nothing was written then
        :raises KubeError: when the API server can't be asked, or refuses
        :raises WaitFailedError: when the machines that take their place do not come
        """
        snapshot = self._checked()
        entries = [entry_of(self.action, snapshot.get("Machine", name)) for name in self.machines]
        found = actions.owners(self.machines, snapshot) if self.action == actions.REPLACE else []
        stopped = [owner for owner in found if is_stopped(snapshot.get(*owner))]
        left = [owner for owner in found if owner[1] in left_behind(snapshot)]
        owners = [(*owner, uid_of(snapshot.get(*owner))) for owner in found if owner not in stopped + left]
        self.warnings += [f"{kind} {name} is stopped at a rollout and makes no other machine before that goes on: run "
                          "the playbook cluster with cluster_rollout=resume, or with another description"
                          for kind, name in stopped]
        self.warnings += [f"{kind} {name}: a run that was killed has left MachineSets of it stopped, which make no "
                          "other machine: run the playbook cluster, which releases them" for kind, name in left]
        hosts = dict((name, _host_name(snapshot, name)) for name in self.machines)
        self.writes.announce(entries, len(entries), "Machines")
        written = self.writes.write(entries)
        self.done["changed"] = any(item.changed for item in written) and not self.check_mode
        raise_refused(self.client, written)
        result = {
            "changed": any(item.changed for item in written),
            "machines": [{"name": item.entry.name, "action": self.action, "changed": item.changed,
                          "host": hosts[item.entry.name]} for item in written],
            "diff": [difference(item.entry) for item in written if item.changed],
            "warnings": self.warnings}
        if owners and self.params["wait"] and not self.check_mode:
            self._wait(owners, snapshot.provider, result)
        return result

    def _checked(self) -> Any:
        snapshot = snapshot_of(self.client, self.namespace, self.name)
        found = self._problems(self.machines, snapshot)
        if found:
            raise RefusedError(found)
        if self.action == actions.REPLACE:
            self._ask(snapshot)
        return snapshot

    def _ask(self, snapshot: Any) -> None:
        """Ask for the confirmation, with what a replacement costs and what stands against it.

        What is being deleted was confirmed.

        :raises RefusedError: when it is missing, unless in check mode
        """
        machines = actions.to_delete(self.machines, snapshot)
        if not machines:
            return
        outlook = replacement_outlook(
            snapshot, machines, self.subject,
            lambda: self._workload(self.client, self.namespace, self.name)) if self._says_outlook else Outlook([], [])
        named = ", ".join(f"{name} on host {_host_name(snapshot, name) or '(none)'}" for name in machines)
        asked = None if confirmation.confirmed(self.params["confirm"], machines) else confirmation.problem(
            self.subject, self.params["confirm"], machines,
            f"machines that this deletes with what is on their disks ({named})")
        self.warnings += say(outlook, asked, self.check_mode, self.progress)

    def _lines(self, name: str) -> list[str]:
        snapshot = snapshot_of(self.client, self.namespace, self.name)
        return [problem_text(problem._replace(subject="")) for problem in self._problems([name], snapshot)]

    def _problems(self, names: list[str], snapshot: Any) -> list[Problem]:
        found = actions.identity_problems(names, self.checked, snapshot, self.subject) or actions.problems(
            self.action, names, snapshot, self.subject)
        if found or self.action != actions.REPLACE:
            return found
        hosts = [_host(snapshot, name) for name in actions.to_delete(names, snapshot)]
        return host_lock.problems(self.subject, "machines", hosts, self._now())

    def _wait(self, owners: list[tuple[str, str, str | None]], provider: Provider, result: dict[str, Any]) -> None:
        wait = ClusterWait(self.client, self.namespace, self.name, self.params["wait_timeout_seconds"], self.progress,
                           provider=provider)
        for kind, name, uid in owners:
            wait.until_rolled(kind, name, "available", self.params["node_startup_timeout_seconds"], uid)
        result["timeline"], result["seconds"] = wait.timeline, round(wait.clock() - wait.began_at, 1)


def _host(snapshot, name):
    return snapshot.host(snapshot.metal3_machine(snapshot.get("Machine", name)))


def _host_name(snapshot, name):
    host = _host(snapshot, name)
    return host["metadata"]["name"] if host else None
