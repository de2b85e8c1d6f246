# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting until objects are rolled out: until they are, until they can't be, or until the time is up."""
from __future__ import annotations

import time

from .._common.errors import ReportedError
from .._common.formats import duration
from .._kube import bulk
from .._kube.patience import Patience
from .._kube.plan import by_name
from .._kube.resources import KNOWN
from . import rollout

INTERVAL_SECONDS = 1
# Registries and Secrets come late; what keeps a pod from starting for longer will go on doing so.
STUCK_SECONDS = 60


class RolloutError(ReportedError):
    """Something is not rolled out.

    :param lines: one for each object, with the cause
    """

    def __init__(self, message, lines):
        super().__init__("%s:\n%s" % (message, "\n".join("- " + line for line in lines)))


class RolloutWait:
    """Waits for objects of one cluster.

    :param client: a KubeClient
    :param entries: list of ``plan.Entry``; those of kinds that have no rollout are left out
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client, entries, progress, clock=time.monotonic, sleep=time.sleep):
        self.client = client
        self.waiting = [entry for entry in entries if entry.resource.kind in rollout.KINDS]
        self.progress = progress
        self.clock = clock
        self.sleep = sleep
        self._stuck_since = {}
        self._lost = False
        self._patience = Patience(clock)

    def until(self, timeout_seconds):
        """Wait until all are rolled out and return the seconds that it took.

        :raises RolloutError: when one can't be, or is not in time
        :raises KubeError: when the API server refuses to be asked
        """
        began_at = self.clock()
        lines = [f"{entry.title}: not found yet" for entry in self.waiting]
        while self.waiting:
            objects = self._read()
            if objects is not None:
                lines = self._judge(*objects)
                if not lines:
                    break
                self.progress.status(f"rolling out: {'; '.join(lines[:4])}")
            if self.clock() - began_at >= timeout_seconds:
                raise RolloutError(f"not rolled out within {duration(timeout_seconds)}", lines)
            self.sleep(INTERVAL_SECONDS)
        return round(self.clock() - began_at, 1)

    def _read(self):
        """Return ``(objects, pods)`` as they are now, None while the API server does not answer."""
        keys = sorted(set((entry.resource, entry.namespace) for entry in self.waiting), key=str)
        pods = sorted(set(entry.namespace for entry in self.waiting if entry.resource.kind in rollout.WITH_PODS))
        calls = [lambda key=key: by_name(self.client.list(*key)[0]) for key in keys]
        calls += [lambda namespace=namespace: self.client.list(KNOWN["Pod"], namespace)[0] for namespace in pods]
        outcomes = bulk.run(calls)
        errors = [outcome.error for outcome in outcomes if outcome.error is not None]
        for error in errors:
            if self._patience.is_final(error) or not (error.retriable or error.status == 401):
                raise error
        if not errors:
            self._patience.answered()
        if bool(errors) != self._lost:
            self._lost = bool(errors)
            self.progress.event("API server %s %s" % (
                self.client.server,
                "does not answer, trying on (%s)" % errors[0].cause if errors else "answers again"))
        if errors:
            return None
        values = [outcome.value for outcome in outcomes]
        return dict(zip(keys, values)), dict(zip(pods, values[len(keys):]))

    def _judge(self, objects, pods):
        """Return what each object lacks, in lines; forget those that lack nothing.

        :raises RolloutError: when waiting can't help
        """
        lines, failed, seen = [], [], set()
        for entry in list(self.waiting):
            stored = objects[(entry.resource, entry.namespace)].get(entry.name)
            text = rollout.missing(stored)
            if text is None:
                self.progress.event(f"{entry.title}: rolled out")
                self.waiting.remove(entry)
                continue
            troubles = self._troubles(stored, pods.get(entry.namespace) or [])
            lines.append("; ".join([f"{entry.title}: {text}"] + [line for _key, line, _due in troubles]))
            seen.update(key for key, _line, _due in troubles)
            cause = rollout.failure(stored)
            if cause or any(due for _key, _line, due in troubles):
                failed.append("; ".join([lines[-1]] + ([cause] if cause else [])))
        self._stuck_since = dict((key, since) for key, since in self._stuck_since.items() if key in seen)
        if failed:
            raise RolloutError("can't be rolled out", failed)
        return lines

    def _troubles(self, stored, pods):
        """Return ``(key, line, due)`` for each of an object's pods that is not ready; due when it stays so."""
        if stored is None or stored["kind"] not in rollout.WITH_PODS:
            return []
        result = []
        for pod, trouble in [(pod, rollout.pod_trouble(pod)) for pod in pods if rollout.selects(stored, pod)]:
            if trouble is None:
                continue
            reason, text = trouble
            key = (pod["metadata"]["namespace"], pod["metadata"]["name"], reason in rollout.STUCK_REASONS)
            since = self._stuck_since.setdefault(key, self.clock())
            due = reason in rollout.DEFINITIVE_REASONS or (
                reason in rollout.STUCK_REASONS and self.clock() - since >= STUCK_SECONDS)
            result.append((key, f"pod {pod['metadata']['name']}: {text}", due))
        return result
