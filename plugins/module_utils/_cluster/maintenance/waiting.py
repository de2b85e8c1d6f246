# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits for hosts that leave their clusters or come back, and says of each that is late what it waits for."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..._common.problems.errors import ReportedError
from ..._common.texts.formats import duration
from ..._common.waiting.wait_loop import WaitLoop
from ..._common.waiting.wait_report import FAILED, REACHED, WAITING, Awaited, Verdict
from ..._kube.responses.patient_poll import poll

# As kubectl drain asks again (``kubectl/pkg/drain``): a budget allows the next pod when the one before it is Ready.
INTERVAL_SECONDS = 5
STAY = "The hosts stay marked and their nodes cordoned; run again, or bring them back by state returned"


class DrainError(ReportedError):
    """Nodes were not drained, or did not come back, in time.

    :param message: what each of them waits for
    :param late: names of the hosts; none when the run cannot go on for the others either
    """

    def __init__(self, message: str, late: Iterable[str] = ()):
        super().__init__(message)
        self.late = list(late)
        # Of all hosts, for whoever goes on with the others.
        self.facts: dict[str, Any] = {}

    def result(self) -> dict[str, Any]:
        """Return what the failed module returns besides the text."""
        return dict(self.facts, late=self.late)


def until(goal: str, names: Iterable[str], read: Callable[[], Any], waits_for: Callable[[Any], str],
          timeout_seconds: int, progress: Any, clock: Callable[[], float], sleep: Callable[[float], Any],
          ending: str, lost: Callable[[Any], str] = lambda dummy: "") -> DrainError | None:
    """Wait until nothing is left for any host, or nothing that is waited for can come any more.

    :param goal: what is waited for, in a word
    :param names: names of the hosts
    :param read: callable that returns something for each host by name
    :param waits_for: callable that takes it and returns what the host waits for, empty for nothing
    :param timeout_seconds: how long to wait
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :param ending: what a message says of the hosts when that takes too long
    :param lost: callable that takes it and returns why the goal can't come any more, empty when it can
    :returns: the error with what each late host waits for, or why it does not come, None when there is none
    """
    def decide(observed: Any) -> Verdict:
        text = lost(observed)
        if text:
            return Verdict(FAILED, text, "")
        text = waits_for(observed)
        return Verdict(WAITING, text, "") if text else Verdict(REACHED, "", "")

    items = dict((name, Awaited(goal, clock(), decide)) for name in names)
    loop = WaitLoop("the clusters' API servers", progress, clock)
    loop.run(items, poll(read, clock() + timeout_seconds, INTERVAL_SECONDS, clock, sleep),
             lambda observed, name: observed[name])
    gone = dict((name, f"- {name}: {item.verdict.cause}") for name, item in items.items()
                if item.verdict.outcome == FAILED)
    late = dict((name, f"- {name}: waits for {item.verdict.cause or 'an answer'}") for name, item in items.items()
                if item.waiting)
    parts = [changed_text(goal, gone.values())] if gone else []
    if late:
        parts.append("\n".join([f"not {goal} within {duration(timeout_seconds)}:", *late.values()]
                               + ([f"- {loop.silence()}"] if loop.silence() else [])))
    return DrainError("\n".join([*parts, ending]), [*gone, *late]) if parts else None


def changed_text(goal: str, lines: Iterable[str]) -> str:
    """Return what ends a wait, because others have taken away or replaced what is waited for.

    :param goal: what was waited for, in a word
    :param lines: one for each host
    """
    return "\n".join([f"changed by others while the hosts were waited for to be {goal}:", *lines])
