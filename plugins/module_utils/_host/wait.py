# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for many hosts on one watch, with live progress and a verdict for each."""
from __future__ import annotations

from .._common.formats import duration
from .._common.object_shape import HOST, shaped
from .._kube.errors import KubeError
from .._kube.follow import follow
from .._metal3.kinds import KNOWN
from . import goals as host_goals


class HostWait:
    """Waits for hosts of one namespace.

    :param client: a KubeClient
    :param namespace: name of the namespace
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param text: callable that gives a text the names that the reader knows
    """

    def __init__(self, client, namespace, progress, clock, text=str):
        self._client = client
        self._namespace = namespace
        self._progress = progress
        self._clock = clock
        self._text = text

    def run(self, histories, deadline):
        """Follow the hosts until none is waited for any more, or until the deadline.

        :param histories: ``{name: HostHistory}``; brought up to date
        :param deadline: reading of the clock
        :raises KubeError: when the API server refuses, or has not answered at the deadline
        """
        if not any(history.waiting for history in histories.values()):
            return
        unreachable, error = None, None
        for step in follow(self._client, KNOWN["BareMetalHost"], self._namespace, deadline, clock=self._clock):
            now = self._clock()
            if step.unreachable_seconds is not None and unreachable is None:
                cause = f" ({step.error.cause})" if step.error and step.error.status else ""
                self._progress.event("API server %s does not answer%s, trying on until the deadline" % (
                    self._client.server, cause))
            elif step.unreachable_seconds is None and unreachable is not None:
                self._progress.event(f"API server {self._client.server} answers again")
            unreachable, error = step.unreachable_seconds, step.error
            if step.listed:
                self._judge(histories, step, now)
            self._progress.status(*host_goals.status_texts(histories, now, unreachable_seconds=unreachable))
            if not any(history.waiting for history in histories.values()):
                return
        if unreachable is not None:
            raise KubeError(
                f"API server {self._client.server} has not answered for {duration(unreachable)}, until the end of "
                f"wait_timeout_seconds: {error.cause if error else 'no answer'}", reason="Unreachable")

    def _judge(self, histories, step, now):
        for name, history in histories.items():
            # Who reached the goal has done so; a failed host may still recover while others are waited for.
            if history.verdict.outcome == host_goals.REACHED or (not history.waiting and name not in step.changed):
                continue
            for text in history.update(shaped(step.objects.get(name), HOST), now):
                self._progress.event(f"{name}: {self._text(text)}")

    def error(self, history, timeout_seconds):
        """Return why a host did not get to its goal, and the next step; empty when it did.

        :param history: its HostHistory, after :meth:`run`
        :param timeout_seconds: how long was waited at most
        """
        verdict = history.verdict
        if verdict.outcome == host_goals.FAILED:
            return self._text(f"{verdict.full_cause}; {verdict.next_step}")
        if verdict.outcome == host_goals.WAITING:
            step = verdict.next_step or "raise wait_timeout_seconds or look at the server's console"
            cause = host_goals.timeout_cause(history, self._clock())
            return self._text(f"not {history.goal} within {duration(timeout_seconds)}: {cause}; {step}")
        return ""
