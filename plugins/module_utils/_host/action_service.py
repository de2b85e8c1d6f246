# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions on many hosts: read once, check all, patch side by side, wait for all on one watch."""
from __future__ import annotations

import time
from collections import namedtuple

from .._kube import bulk, checked
from .._kube.errors import KubeError
from . import (
    annotations as host_annotations,
)
from . import (
    goals as host_goals,
)
from . import (
    inventory as host_inventory,
)
from . import (
    messages as host_messages,
)
from . import (
    table as host_table,
)
from .actions import ACTIONS, NOTHING, difference, patch
from .reading import BMH, hardware_data_of, host_of, hosts_of
from .rules import action as host_action_rules
from .service import HostListError
from .wait import HostWait

# current: the host that the change was planned for.
_Write = namedtuple("_Write", ["request", "current", "change"])

# Their annotations hold a structure that the webhook decodes strictly: all are tried before any is written.
_TRIED_FIRST = ("save_status", "restore_status", "set_hardware")

# BMO takes their annotations away when it acts, so that a lost answer can't be told from a lost request.
_TAKEN_AWAY = ("reboot", "inspect")


class Outcome:
    """What became of one request: the host before and after, its change, error and time taken."""

    def __init__(self, request, bmh):
        self.request = request
        self.current = bmh
        self.stored = bmh
        self.change = ACTIONS[request.action].plan(bmh, request)
        self.error = ""
        self.seconds = 0.0

    @property
    def changed(self):
        """True when there is something to write."""
        return self.change != NOTHING

    def result(self):
        """Return the host's result as plain data."""
        facts = host_table.summary(self.stored) if self.stored else host_table.absent(
            self.request.name, self.current["metadata"]["namespace"])
        facts.update(action=self.request.action, changed=self.changed, failed=bool(self.error), error=self.error,
                     seconds=round(self.seconds, 1), annotations=host_annotations.of(self.stored or {}))
        return facts


class HostActionService:
    """One run over a list of requests.

    :param client: a KubeClient
    :param requests: list of ``host_actions.Request``
    :param params: the module's parameters: namespace, force_hosts, wait, wait_timeout_seconds, error_limit
    :param check_mode: let the API server judge writes without storing them
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client, requests, params, check_mode, progress, clock=time.monotonic, sleep=time.sleep):
        self.client = client
        self.requests = requests
        self.namespace = params["namespace"]
        self.forced = frozenset(params["force_hosts"])
        self.waits = params["wait"]
        self.timeout_seconds = params["wait_timeout_seconds"]
        self.error_limit = params["error_limit"]
        self.names = host_inventory.ACTION_VARIABLES if params.get("field_names") == "variables" else None
        self.check_mode = check_mode
        self.progress = progress
        self.clock = clock
        self.sleep = sleep
        self.began_at = clock()
        self.unanswered = set()

    def run(self):
        """Do it all and return the module's result.

        :raises HostListError: when a request was refused; nothing was written then
        :raises KubeError: when the API server can't be asked
        """
        outcomes = self._checked()
        due = [item for item in outcomes if item.changed]
        self._try([item for item in due if item.request.action in _TRIED_FIRST])
        if due:
            self.progress.event("%s %d of %d hosts" % (
                "checking changes to" if self.check_mode else "writing", len(due), len(outcomes)))
        for item, answer in zip(due, self._patch(due, self.check_mode)):
            if answer.error is not None:
                item.error = answer.error.message
            elif not self.check_mode:
                item.stored = answer.value
                item.current, item.change = answer.task.current, answer.task.change
        if self.waits and not self.check_mode:
            self._wait([item for item in outcomes if not item.error])
        hosts = [item.result() for item in outcomes]
        return {
            "changed": any(item.changed for item in outcomes),
            "hosts": hosts,
            "counts": {"total": len(hosts), "changed": sum(facts["changed"] for facts in hosts),
                       "failed": sum(facts["failed"] for facts in hosts)},
            "diff": [self._diff(item) for item in due if item.changed],
            "seconds": round(self.clock() - self.began_at, 3),
        }

    def _checked(self):
        problems = host_action_rules.check_requests(self.requests)
        if problems:
            raise HostListError(problems, self.names)
        current, hardware_data = self._read()
        problems = host_action_rules.check_hosts(
            self.requests, current, hardware_data, self.namespace, self.forced)
        if problems:
            raise HostListError(problems, self.names)
        return [Outcome(request, current[request.name]) for request in self.requests]

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
        problems = [host_action_rules.Problem(
            item.request.name, item.request.action, "a change that the API server refuses", answer.error.message,
            "correct what was given") for item, answer in zip(outcomes, self._patch(outcomes, True))
            if answer.error is not None]
        if problems:
            raise HostListError(problems, self.names)

    def _patch(self, outcomes, dry_run):
        """Write the changes, each only while its host is as it was checked."""
        return checked.write(
            [_Write(item.request, item.current, item.change) for item in outcomes],
            lambda task: self._send(task, dry_run), self._decide, self.progress.event, self.sleep)

    def _send(self, task, dry_run):
        try:
            return self.client.patch(BMH, self.namespace, task.request.name, patch(task.change), dry_run=dry_run,
                                     checked=task.current)
        except KubeError as exc:
            if exc.retriable and not dry_run:
                self.unanswered.add(task.request.name)
            raise

    def _decide(self, task):
        """Check a host that has changed since it was read, and return what is to be written now."""
        request = task.request
        bmh = host_of(self.client, self.namespace, request.name)
        current, hardware_data = {} if bmh is None else {request.name: bmh}, {}
        if request.action == "set_hardware":
            hardware_data = hardware_data_of(self.client, self.namespace)
        problems = host_action_rules.check_hosts([request], current, hardware_data, self.namespace, self.forced)
        if problems:
            raise KubeError("changed by somebody else during this run: %s" % "; ".join(
                host_messages.line(problem, self.names) for problem in problems), 409)
        change = ACTIONS[request.action].plan(bmh, request)
        if change != NOTHING and request.action in _TAKEN_AWAY and request.name in self.unanswered:
            raise KubeError("the API server did not answer, and the host has changed since: it may be that the request "
                            "was stored and BMO has acted on it; look at the host, then run again if need be")
        task = _Write(request, bmh, change)
        return checked.Settled(bmh, task) if change == NOTHING else task

    def _diff(self, item):
        before, after = difference(item.current, item.change)
        header = f"BareMetalHost {self.namespace}/{item.request.name}"
        return {"before_header": header, "after_header": header, "before": before, "after": after}

    # Waiting

    def _wait(self, outcomes):
        now = self.clock()
        goals = set(ACTIONS[item.request.action].goal for item in outcomes)
        words = goals.pop() if len(goals) == 1 else "done"
        histories = dict((item.request.name, self._history(item, words, now)) for item in outcomes)
        wait = HostWait(self.client, self.namespace, self.progress, self.clock,
                        lambda text: host_messages.renamed(text, self.names))
        wait.run(histories, now + self.timeout_seconds)
        now = self.clock()
        for item in outcomes:
            history = histories[item.request.name]
            item.stored, item.seconds = history.bmh, history.seconds_taken(now)
            item.error = wait.error(history, self.timeout_seconds)

    def _history(self, item, words, now):
        action = ACTIONS[item.request.action]
        history = host_goals.HostHistory(
            words, item.current, now, self.error_limit, tolerated=action.tolerates,
            is_reached=lambda bmh: bmh is not None and action.reached(item.current, bmh, item.request))
        history.update(item.stored, now)
        return history
