# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The wait for a set of things, on whatever yields their state: a watch (``_kube/api/follow.py``) or a poll."""
from __future__ import annotations

import contextlib
import time
from collections import namedtuple
from collections.abc import Callable, Generator, Mapping
from typing import Any

from ..problems.errors import ReportedError
from ..texts.formats import duration
from .wait_report import FAILED, status_texts

# objects: the state of everything, as its source describes it.
# changed: keys of what was added, modified or deleted since the step before; empty where the source does not know.
# unreachable_seconds: how long the other side has not answered, None when it does.
# listed: whether objects can be trusted: of a watch once all is listed, of a poll when this question was answered.
Step = namedtuple("Step", ["objects", "changed", "unreachable_seconds", "error", "listed"])


class WaitLoop:
    """Waits for a set of things, with live progress and a verdict for each.

    :param peer: who is asked, as texts name it, for example ``API server https://192.0.2.1:6443``
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param text: callable that gives a text the names that the reader knows
    """

    def __init__(self, peer: str, progress: Any, clock: Callable[[], float],
                 text: Callable[[str], str] = str) -> None:
        self._peer = peer
        self._progress = progress
        self._clock = clock
        self._text = text
        self._unreachable_seconds: float | None = None
        self._error: Any = None

    def run(self, items: Mapping[Any, Any], steps: Generator[Step, None, None], find: Callable[[Any, Any], Any],
            status: Callable[[Mapping[Any, Any], float], tuple[str, str] | None] = status_texts,
            looked: Callable[[], Any] | None = None, ends_at_failure: bool = False) -> None:
        """Wait until nothing is waited for any more, or until the steps end.

        A thing that has reached its goal keeps that verdict; one that has failed may recover while others are waited
        for, when it changes.

        :param items: ``{key: Awaited}``, brought up to date; the key is the name that progress shows
        :param steps: generator of Steps, which ends at the deadline
        :param find: callable that takes ``objects`` and a key and returns what ``update`` of the item takes
        :param status: see :func:`wait_report.status_texts`; None is not printed
        :param looked: called after each look at all items; it may give an item another goal
        :param ends_at_failure: whether the first failure ends the wait for all
        :raises Exception: whatever ends the steps, a defect of one of their threads included
        """
        with contextlib.closing(steps):
            if not any(item.waiting for item in items.values()):
                return
            for step in steps:
                self._note_connection(step)
                # A time that runs out while nobody answers says nothing: what it waits for may have come.
                if step.listed and (step.changed or step.unreachable_seconds is None):
                    self._look(items, step, find, ends_at_failure)
                    if looked is not None:
                        looked()
                shown = status(items, self._clock())
                if shown is not None:
                    self._progress.status(shown[0], shown[1] if self._unreachable_seconds is None else
                                          f"{self._unanswered()}, still trying")
                outcomes = [item.verdict.outcome for item in items.values()]
                if not any(item.waiting for item in items.values()) or (ends_at_failure and FAILED in outcomes):
                    return

    def _look(self, items: Mapping[Any, Any], step: Step, find: Callable[[Any, Any], Any], is_quiet: bool) -> None:
        now = self._clock()
        for key, item in items.items():
            if not item.waiting and not (item.verdict.outcome == FAILED and key in step.changed):
                continue
            lines = item.update(find(step.objects, key), now)
            # The failure that ends the wait is its error.
            if not (is_quiet and item.verdict.outcome == FAILED):
                for line in lines:
                    self._progress.event(f"{key}: {self._text(line)}")

    def _note_connection(self, step: Step) -> None:
        lost, was_lost = step.unreachable_seconds is not None, self._unreachable_seconds is not None
        self._unreachable_seconds, self._error = step.unreachable_seconds, step.error
        if lost and not was_lost:
            cause = f" ({_cause(step.error)})" if getattr(step.error, "status", None) else ""
            self._progress.event(f"{self._peer} does not answer{cause}, trying on until the deadline")
        elif was_lost and not lost:
            self._progress.event(f"{self._peer} answers again")

    def _unanswered(self) -> str:
        return f"{self._peer} has not answered for {duration(self._unreachable_seconds or 0)}"

    @property
    def is_answered(self) -> bool:
        """Say whether the other side answers all that it is asked."""
        return self._unreachable_seconds is None

    def silence(self) -> str:
        """Return that the other side did not answer when the wait ended, empty when it did."""
        if self._unreachable_seconds is None:
            return ""
        return (f"{self._unanswered()}, until the end of wait_timeout_seconds: {_cause(self._error)}; "
                "run again when it answers")


def _cause(error: Any) -> str:
    return "no answer" if error is None else getattr(error, "cause", None) or str(error)


def poll(read: Callable[[], Any], deadline: float, interval_seconds: float,
         clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep,
         is_passing: Callable[[Any], bool] = lambda dummy: False) -> Generator[Step, None, None]:
    """Yield a Step at once and then at each interval, the last one at the deadline.

    :param read: callable that returns the state of everything
    :param deadline: reading of ``clock`` at which to stop
    :param interval_seconds: from the end of one question to the next
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :param is_passing: callable that takes a ReportedError of ``read`` and says whether to try on in spite of it
    :raises ReportedError: of ``read``, when it does not pass
    """
    lost_at: float | None = None
    while True:
        objects, error = None, None
        try:
            objects, lost_at = read(), None
        except ReportedError as exc:
            if not is_passing(exc):
                raise
            error, lost_at = exc, clock() if lost_at is None else lost_at
        yield Step(objects, frozenset(), None if lost_at is None else clock() - lost_at, error, error is None)
        left = deadline - clock()
        if left <= 0:
            return
        sleep(min(interval_seconds, left))


def until_nothing(left: Callable[[], Any], timeout_seconds: float, interval_seconds: float,
                  clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep) -> Any:
    """Ask what is left until it is nothing or the time is up.

    :param left: callable that returns what is left, anything that is empty or false for nothing
    :param timeout_seconds: how long to ask, at least once
    :param interval_seconds: from the end of one question to the next
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :returns: the last answer
    """
    answer = None
    for step in poll(left, clock() + timeout_seconds, interval_seconds, clock, sleep):
        answer = step.objects
        if not answer:
            break
    return answer
