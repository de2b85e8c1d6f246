# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting until objects are rolled out: until they are, until they can't be, or until the time is up."""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from .._common.problems.errors import ReportedError
from .._common.texts.formats import duration
from .._common.waiting.wait_loop import WaitLoop, poll
from .._common.waiting.wait_report import FAILED, REACHED, WAITING, Awaited, Verdict
from .._kube.api import bulk
from .._kube.kinds.resources import KNOWN
from .._kube.objects.label_selector import selects
from .._kube.reconcile.plan import Entry, by_name
from .._kube.responses.errors import KubeError
from .._kube.responses.patience import REFUSALS, Patience
from . import rollout

INTERVAL_SECONDS = 1
# Registries and Secrets come late; what keeps a pod from starting for longer will go on doing so.
STUCK_SECONDS = 60


class RolloutError(ReportedError):
    """Something is not rolled out.

    :param lines: one for each object, with the cause
    """

    def __init__(self, message: str, lines: list[str]):
        super().__init__("%s:\n%s" % (message, "\n".join("- " + line for line in lines)))


class RolloutItem(Awaited):
    """One object on its way.

    :param entry: its ``plan.Entry``
    :param clock: monotonic clock, in seconds
    """

    def __init__(self, entry: Entry, clock: Callable[[], float]):
        super().__init__("rolled out", clock())
        self.entry = entry
        self._clock = clock
        self._stuck_since = {}
        # Of each pod when it was read first. What ended before the wait may be over: an API server that did not answer.
        self._restarts_before: dict[str, int] = {}

    def update(self, observed: Any, now: float) -> Any:
        """Take ``(objects, pods)`` as :meth:`RolloutWait._read` returns them."""
        objects, pods = observed
        stored = objects[(self.entry.resource, self.entry.namespace)].get(self.entry.name)
        text = rollout.missing(stored)
        if text is None:
            self.settle(Verdict(REACHED, "", ""), now)
            return ["rolled out"]
        troubles = self._troubles(stored, pods.get(self.entry.namespace) or [])
        self._stuck_since = dict((key, since) for key, since in self._stuck_since.items()
                                 if key in [key for key, _line, _due in troubles])
        cause = rollout.failure(stored)
        failed = cause or any(due for _key, _line, due in troubles)
        parts = [text] + [line for _key, line, _due in troubles] + ([cause] if cause else [])
        return self.settle(Verdict(FAILED if failed else WAITING, "; ".join(parts), ""), now)

    def _troubles(self, stored: Any, pods: list[dict[str, Any]]) -> list[tuple[tuple[str, bool], str, bool]]:
        """Return ``(key, line, due)`` for each of the object's pods that is not ready; due when it stays so."""
        if stored is None or stored["kind"] not in rollout.WITH_PODS:
            return []
        result = []
        refused = rollout.refused(stored)
        if refused:
            key = ("", True)
            since = self._stuck_since.setdefault(key, self._clock())
            result.append((key, refused, self._clock() - since >= STUCK_SECONDS))
        for pod, trouble in [(pod, rollout.pod_trouble(pod)) for pod in pods if selects(stored, pod)]:
            if trouble is None:
                continue
            reason, text = trouble
            key = (pod["metadata"]["name"], reason in rollout.STUCK_REASONS)
            since = self._stuck_since.setdefault(key, self._clock())
            restarts = rollout.restarts(pod)
            before = self._restarts_before.setdefault(pod["metadata"]["name"], restarts)
            due = reason in rollout.DEFINITIVE_REASONS or (
                reason in rollout.STUCK_REASONS and self._clock() - since >= STUCK_SECONDS
                and (reason != rollout.LATE_REASON or restarts > before))
            result.append((key, f"pod {pod['metadata']['name']}: {text}; {rollout.next_step(pod, reason, text)}", due))
        return result


class RolloutWait:
    """Waits for objects of one cluster.

    It asks at an interval, by one LIST of each kind and namespace: the address of a cluster that is being built moves
    between its machines, and a watch on the one that is lost would be silent for longer than a minute.

    :param client: a KubeClient
    :param entries: list of ``plan.Entry``; those of kinds that have no rollout are left out
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :param interval_seconds: how long after an answer it asks again
    """

    def __init__(self, client: Any, entries: Sequence[Entry], progress: Any,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep,
                 interval_seconds: float = INTERVAL_SECONDS):
        self.client = client
        self.entries = [entry for entry in entries if entry.resource.kind in rollout.KINDS]
        self.progress = progress
        self.clock = clock
        self.sleep = sleep
        self.interval_seconds = interval_seconds
        self._patience = Patience(clock)

    def until(self, timeout_seconds: float) -> float:
        """Wait until all are rolled out and return the seconds that it took.

        :raises RolloutError: when one can't be, or is not in time
        :raises KubeError: when the API server refuses to be asked
        """
        began_at = self.clock()
        items = dict((entry.title, RolloutItem(entry, self.clock)) for entry in self.entries)
        loop = WaitLoop(f"API server {self.client.server}", self.progress, self.clock)
        loop.run(items, poll(lambda: self._read(items), began_at + timeout_seconds, self.interval_seconds,
                             self.clock, self.sleep, self._is_passing), lambda found, dummy: found,
                 ends_at_failure=True)
        for outcome, message in ((FAILED, "can't be rolled out"),
                                 (WAITING, f"not rolled out within {duration(timeout_seconds)}")):
            lines = [f"{title}: {item.verdict.cause or 'not found yet'}" for title, item in items.items()
                     if item.verdict.outcome == outcome]
            if lines:
                raise RolloutError(message, lines + [line for line in (loop.silence(),) if line])
        return round(self.clock() - began_at, 1)

    def _is_passing(self, error: KubeError) -> bool:
        return not self._patience.is_final(error) and (error.retriable or error.status in REFUSALS)

    def _read(self, items: dict[str, RolloutItem]) -> tuple[dict[Any, Any], dict[str, Any]]:
        """Return ``(objects, pods)`` of what is waited for, as they are now."""
        waiting = [item.entry for item in items.values() if item.waiting]
        keys = sorted(set((entry.resource, entry.namespace) for entry in waiting), key=str)
        namespaces = sorted(set(entry.namespace or "" for entry in waiting if entry.resource.kind in rollout.WITH_PODS))
        calls = [lambda key=key: by_name(self.client.list(*key)[0]) for key in keys]
        calls += [lambda namespace=namespace: self.client.list(KNOWN["Pod"], namespace)[0] for namespace in namespaces]
        outcomes = bulk.run(calls)
        errors = [outcome.error for outcome in outcomes if outcome.error is not None]
        if errors:
            # One that lasts ends the wait, whatever the others are.
            raise next((error for error in errors if not self._is_passing(error)), errors[0])
        self._patience.answered()
        values = [outcome.value for outcome in outcomes]
        return dict(zip(keys, values)), dict(zip(namespaces, values[len(keys):]))
