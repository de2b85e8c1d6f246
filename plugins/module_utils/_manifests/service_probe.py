# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking a Service through the API server, until enough different answers have come."""
from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from .._common.problems.errors import ReportedError
from .._common.texts.formats import duration
from .._kube.kinds.resources import KNOWN
from .._kube.responses.patient_poll import poll

INTERVAL_SECONDS = 0.2
REQUEST_TIMEOUT_SECONDS = 10


class ProbeError(ReportedError):
    """A Service did not answer as expected in time."""


class ServiceProbe:
    """Asks one Service by the API server's proxy, which takes another of its pods each time.

    :param client: a KubeClient of the Service's cluster
    :param params: ``namespace``, ``name``, ``port`` (number or name), ``scheme``, ``path``, ``answers`` (how many
        different ones are wanted) and ``wait_timeout_seconds``
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client: Any, params: dict[str, Any], progress: Any,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep):
        self.client = client
        self.params = params
        self.progress = progress
        self.clock = clock
        self.sleep = sleep
        service = f"{'https:' if params['scheme'] == 'https' else ''}{params['name']}:{params['port']}"
        self.path = f"{KNOWN['Service'].path(params['namespace'], service)}/proxy/{params['path'].lstrip('/')}"
        self.title = f"Service {params['namespace']}/{params['name']}"

    def run(self) -> dict[str, Any]:
        """Ask until enough different answers have come; return them and the seconds that it took.

        :raises ProbeError: when they do not come in time
        :raises KubeError: when the API server refuses to ask
        """
        began_at, answers = self.clock(), set()
        timeout_seconds, wanted = self.params["wait_timeout_seconds"], self.params["answers"]
        error = "no answer"
        # A Service that is not there yet, or whose pods do not answer yet, is what this waits for.
        for step in poll(lambda: self._ask(began_at + timeout_seconds - self.clock()), began_at + timeout_seconds,
                         INTERVAL_SECONDS, self.clock, self.sleep):
            if step.listed:
                answers.add(step.objects)
                if len(answers) >= wanted:
                    return {"answers": sorted(answers), "seconds": round(self.clock() - began_at, 1)}
            else:
                error = step.error.message
            self.progress.status(f"{self.title}: {len(answers)} of {wanted} different answers")
        raise ProbeError(f"{self.title}: found {len(answers)} different answers within {duration(timeout_seconds)} "
                         f"({', '.join(sorted(answers)) or 'none'}), expected {wanted}; last error: {error}")

    def _ask(self, remaining_seconds: float) -> Any:
        # Once, however little time is left.
        seconds = min(REQUEST_TIMEOUT_SECONDS, max(1, remaining_seconds))
        answer = self.client.request("GET", self.path, subject=self.title, timeout_seconds=seconds, any_content=True)
        return answer if isinstance(answer, str) else json.dumps(answer, sort_keys=True)
