# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions on many hosts: read once, check all, patch side by side, wait for all on one watch."""
from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Callable

from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem, renamed
from ..._common.problems.problem import text as problem_text
from ..._common.texts.formats import timestamp
from ..._kube.api import bulk
from ..._kube.api.cluster_clock import clock_of
from ..._kube.objects.precondition import uid_of
from ..._kube.reconcile.plan import UNCHANGED, UPDATE, Entry
from ..._kube.reconcile.reconcile import Reconcile
from ..._kube.reconcile.report import difference as difference_of
from ..._kube.responses.errors import KubeError
from ..description import annotations as host_annotations
from ..description import inventory as host_inventory
from ..state import goals as host_goals
from ..state import table as host_table
from ..state.reading import BMH, hardware_data_of, host_of, hosts_of
from ..state.wait import follow_hosts
from . import (
    action_request,
    interruptions,
)
from . import action_rules as host_action_rules
from .actions import ACTIONS, NOTHING, difference, is_reboot_begun, patch
from .held_firmware import HeldFirmware

# Their annotations hold a structure that the webhook decodes strictly: all are tried before any is written.
_TRIED_FIRST = ("save_status", "restore_status", "set_hardware")

# BMO takes their annotations away when it acts, so that a lost answer cannot be distinguished from a lost request.
_TAKEN_AWAY = ("reboot", "inspect")


def entry_of(namespace: str, request: Any, bmh: dict[str, Any]) -> Entry:
    """Return the entry of a request for a host as it was read; unchanged when there is nothing to write."""
    change = ACTIONS[request.action].plan(bmh, request)
    before, after = difference(bmh, change)
    return Entry(BMH, namespace, request.name, UNCHANGED if change == NOTHING else UPDATE, None, bmh, before, after,
                 patch(change))


class Outcome:
    """What became of one request: the host before and after, its error and time taken."""

    def __init__(self, request, entry):
        self.request = request
        self.entry = entry
        self.stored = entry.current
        self.changed = entry.changes
        self.error = ""
        self.seconds = 0.0

    def result(self):
        """Return the host's result as plain data."""
        facts = host_table.summary(self.stored) if self.stored else host_table.absent(
            self.request.name, self.entry.current["metadata"]["namespace"])
        facts.update(action=self.request.action, changed=self.changed, failed=bool(self.error), error=self.error,
                     seconds=round(self.seconds, 1), annotations=host_annotations.of(self.stored or {}))
        return facts


class ActionWrites(Reconcile):
    """Patches of hosts.

    :param request_of: callable that takes a host's name and returns its Request
    :param lines: callable that takes a request and its host by now, or None, and returns why it must not be written
    """

    def __init__(self, client: Any, check_mode: bool, progress: Any, sleep: Callable[[float], Any],
                 request_of: Callable[[str], Any], lines: Callable[[Any, Any], list[str]]):
        super().__init__(client, check_mode, progress, sleep)
        self._request_of = request_of
        self._lines = lines
        self._unanswered: set[str] = set()

    def send(self, entry: Entry, dry_run: bool) -> Any:
        """Send the patch, and remember when there was no answer."""
        try:
            return super().send(entry, dry_run)
        except KubeError as exc:
            if exc.retriable and not dry_run:
                self._unanswered.add(entry.name)
            raise

    def read_again(self, entry: Entry) -> Any:
        """Return the host in its shape."""
        return host_of(self.client, entry.namespace, entry.name)

    def problems_again(self, entry: Entry, stored: Any) -> list[str]:
        """Return why the host must not be written now."""
        return self._lines(self._request_of(entry.name), stored)

    def plan_again(self, entry: Entry, stored: Any) -> Entry:
        """Return the entry for the host as it is by now."""
        request = self._request_of(entry.name)
        fresh = entry_of(entry.namespace or "", request, stored)
        if fresh.changes and request.action in _TAKEN_AWAY and entry.name in self._unanswered:
            raise KubeError("the API server did not answer, and the host has changed since: it may be that the request "
                            "was stored and BMO has acted on it; look at the host, then run again if need be")
        return fresh


class HostActionService:
    """One run over a list of requests.

    :param client: a KubeClient
    :param requests: list of ``host_actions.Request``; their time is that of the API server when the hosts are read
    :param params: the module's parameters: namespace, force_hosts, confirm, confirm_among, wait, wait_timeout_seconds,
        error_limit
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :param phase: says where a server is, for the wait's progress, as ``goals.HostHistory`` takes it
    :param checked: ``{name: Identity}`` as the caller has checked them (``rules.action``); a request is refused for
        another host of the name, and for one that has another consumer by now
    :param now: callable that returns the time in seconds since 1970, by default by the clock of the API server
    """

    def __init__(self, client: Any, requests: list[Any], params: dict[str, Any], check_mode: bool, progress: Any,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep,
                 phase: Callable[[dict[str, Any], float], str] | None = None,
                 checked: Mapping[str, Any] | None = None, now: Callable[[], float] | None = None):
        self.client = client
        self.checked = dict(checked or {})
        self.phase = phase
        self.requests = requests
        self.namespace = params["namespace"]
        self.forced = frozenset(params["force_hosts"])
        self.confirm, self.confirm_among = params["confirm"], params["confirm_among"]
        self.costs: dict[str, str] = {}
        self.warnings: list[str] = []
        self.waits = params["wait"]
        self.timeout_seconds = params["wait_timeout_seconds"]
        self.error_limit = params["error_limit"]
        self.names = host_inventory.ACTION_VARIABLES if params.get("field_names") == "variables" else None
        self.check_mode = check_mode
        self.progress = progress
        self.clock = clock
        self.began_at = clock()
        self._now = now or clock_of(client)
        self._firmware = HeldFirmware(client, self.namespace, clock)
        self._by_name: dict[str, Any] = {}
        self.writes = ActionWrites(client, check_mode, progress, sleep, lambda name: self._by_name[name],
                                   self._lines_again)

    def run(self):
        """Do it all and return the module's result.

        :raises RefusedError: when a request was refused; nothing was written then
        :raises KubeError: when the API server can't be asked
        """
        outcomes = self._checked()
        for item in outcomes:
            if is_reboot_begun(item.stored, item.request):
                self.progress.event(f"{item.request.name}: not rebooted again, since a run before has begun it")
        self._try([item for item in outcomes if item.changed and item.request.action in _TRIED_FIRST])
        self.writes.announce([item.entry for item in outcomes], len(outcomes), "hosts")
        for item, written in zip(outcomes, self.writes.write([item.entry for item in outcomes])):
            item.changed = written.changed
            if written.error is not None:
                item.error = written.error.message
                continue
            item.entry = written.entry
            if not self.check_mode:
                item.stored = written.value
        if self.waits and not self.check_mode:
            self._wait([item for item in outcomes if not item.error])
        hosts = [item.result() for item in outcomes]
        return {
            "changed": any(item.changed for item in outcomes),
            "hosts": hosts,
            "counts": {"total": len(hosts), "changed": sum(facts["changed"] for facts in hosts),
                       "failed": sum(facts["failed"] for facts in hosts)},
            "diff": [dict(difference_of(item.entry), host=item.request.name) for item in outcomes if item.changed],
            "warnings": self.warnings + self._firmware.warnings,
            "seconds": round(self.clock() - self.began_at, 3),
        }

    def _checked(self):
        problems = action_request.check_requests(self.requests)
        if problems:
            raise RefusedError(problems, self.names)
        current, hardware_data = self._read()
        now = timestamp(self._now())
        self.requests = [request._replace(now=now) for request in self.requests]
        self._by_name = dict((request.name, request) for request in self.requests)
        problems = action_request.check_ends(self.requests) + self._problems(self.requests, current, hardware_data)
        if problems:
            raise RefusedError(problems, self.names)
        self.costs = dict((request.name, text) for request in self.requests
                          for text in [interruptions.cost(request, current[request.name])] if text)
        self.warnings = confirmation.required_by(self._unconfirmed(), self.check_mode, self.names)
        return [Outcome(request, entry_of(self.namespace, request, current[request.name]))
                for request in self.requests]

    def _unconfirmed(self):
        names = sorted(self.costs)
        if not names or confirmation.confirmed(self.confirm, names, self.confirm_among):
            return []
        described = ", ".join(f"{name} ({self.costs[name]})" for name in names)
        return [confirmation.problem("hosts", self.confirm, names, f"hosts on which the action costs something: "
                                     f"{described}", self.confirm_among)]

    def _problems(self, requests, current, hardware_data):
        return host_action_rules.check_identity(requests, current, self.checked) + host_action_rules.check_hosts(
            requests, current, hardware_data, self.namespace, self.forced)

    def _read(self):
        calls = [lambda: hosts_of(self.client, self.namespace)]
        if any(request.action == "set_hardware" for request in self.requests):
            calls.append(lambda: hardware_data_of(self.client, self.namespace))
        answers = bulk.run(calls)
        for answer in answers:
            if answer.error is not None:
                raise answer.error
        return answers[0].value, answers[1].value if len(answers) > 1 else {}

    def _try(self, outcomes):
        if self.check_mode:
            return
        tried = self.writes.dry_run([item.entry for item in outcomes])
        problems = [
            Problem(
                "host-action",
                item.request.name,
                item.request.action,
                "a change that the API server refuses",
                answer.error.message,
                "correct what was given",
            )
            for item, answer in zip(outcomes, tried)
            if answer.error is not None
        ]
        if problems:
            raise RefusedError(problems, self.names)

    def _lines_again(self, request, bmh):
        """Return why a request must not be carried out on a host that has changed since it was read."""
        current, hardware_data = {} if bmh is None else {request.name: bmh}, {}
        if request.action == "set_hardware":
            hardware_data = hardware_data_of(self.client, self.namespace)
        problems = self._problems([request], current, hardware_data)
        cost = interruptions.cost(request, bmh) if bmh is not None and not problems else ""
        if cost and request.name not in self.costs:
            problems = [Problem("confirmation-missing", request.name, "confirm", f"a host that has changed: {cost}",
                                "one on which the action costs nothing, as when it was read",
                                "look at it, then run again")]
        return [problem_text(problem._replace(subject=""), self.names) for problem in problems]

    # Waiting

    def _wait(self, outcomes):
        now = self.clock()
        goals = set(ACTIONS[item.request.action].goal for item in outcomes)
        words = goals.pop() if len(goals) == 1 else "done"
        histories = dict((item.request.name, self._history(item, words, now)) for item in outcomes)
        silence = follow_hosts(self.client, self.namespace, histories, now + self.timeout_seconds, self.progress,
                               self.clock, lambda text: renamed(text, self.names))
        now = self.clock()
        for item in outcomes:
            history = histories[item.request.name]
            item.stored, item.seconds = history.bmh, history.seconds_taken(now)
            item.error = renamed(history.error(self.timeout_seconds, now, silence), self.names)

    def _history(self, item, words, now):
        action = ACTIONS[item.request.action]

        def is_reached(bmh):
            return bmh is not None and action.reached(item.entry.current, bmh, item.request)

        history = host_goals.HostHistory(
            words, item.entry.current, now, self.error_limit, tolerated=action.tolerates, is_reached=is_reached,
            lacking=lambda bmh: self._firmware.lacking(bmh) if action.holds and is_reached(bmh) else "",
            phase=self.phase, uid=uid_of(item.entry.current))
        history.update(item.stored, now)
        return history
