# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the endpoint of a cluster that comes up, in the background: nothing else says that nobody holds its address."""
from __future__ import annotations

import threading
from typing import Any

from ..._common.texts.formats import duration
from ..._kube.objects.conditions import is_true
from ..checks.network_questions import endpoint_answers
from ..workflow.steps import machine_steps

# The machine is deployed and boots, or its Node is looked for: now its API server is to answer.
_STEPS = (13, 14)
_INTERVAL_SECONDS = 5
# How long a machine may boot before the silence is worth a line, and how often it is repeated.
REPORT_AFTER_SECONDS = 60


class EndpointWatch:
    """Measures how long nobody has answered on an endpoint that a deployed control plane machine should serve.

    :param clock: monotonic clock, in seconds
    :param answers: callable that takes host and port and says whether an API server answers there
    """

    def __init__(self, clock, answers=endpoint_answers):
        self._clock = clock
        self._answers = answers
        self._endpoint: Any = None
        self._machine: Any = None
        self._silent_since = None
        self._asked_at = None
        self._reported_at = None
        self._question = None
        self._answer = None

    def look(self, snapshot):
        """Take the cluster's present state: begin or end asking.

        :param snapshot: a workflow Snapshot
        """
        endpoint = ((snapshot.infrastructure or {}).get("spec") or {}).get("controlPlaneEndpoint") or {}
        waiting = [step for step in machine_steps(snapshot)
                   if step["role"] == "control-plane" and step["step"] in _STEPS and not step["deleting"]]
        if is_true(snapshot.control_plane, "Initialized") or not waiting or not endpoint.get("host"):
            self._endpoint = self._silent_since = self._reported_at = None
            return
        self._endpoint, self._machine = (endpoint["host"], endpoint.get("port") or 6443), waiting[0]
        if self._silent_since is None:
            self._silent_since = self._clock()
        self._ask()

    def _ask(self):
        """Ask on a thread of its own: an address that nobody has costs seconds."""
        if self._question is not None and self._question.is_alive():
            return
        if self._answer:
            self._silent_since = self._reported_at = None
        if self._asked_at is not None and self._clock() - self._asked_at < _INTERVAL_SECONDS:
            return
        self._asked_at, self._answer = self._clock(), None
        self._question = threading.Thread(target=self._note, args=self._endpoint, daemon=True)
        self._question.start()

    def _note(self, host, port):
        self._answer = self._answers(host, port)

    def silence(self):
        """Return a line on the endpoint that nobody answers on, None while all is well or it is too early to say."""
        if self._endpoint is None or self._silent_since is None or self._answer:
            return None
        seconds = int(self._clock() - self._silent_since)
        if seconds < REPORT_AFTER_SECONDS:
            return None
        return ("nobody answers on endpoint %s:%d, asked from here for %s, although machine %s (host %s) is "
                "deployed: check that something holds the address (endpoint.holder: keepalived or kube-vip, or a load "
                "balancer), that it is reachable from here, and the machine's console" % (
                    *self._endpoint, duration(seconds), self._machine["machine"], self._machine["host"]))

    def news(self):
        """Return the same line when it has not been returned for a while, else None."""
        line = self.silence()
        if line is None or (self._reported_at is not None and self._clock() - self._reported_at < REPORT_AFTER_SECONDS):
            return None
        self._reported_at = self._clock()
        return line
