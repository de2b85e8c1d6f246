# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a wait is for: verdict and history of each thing, and the texts of its progress and of its end; pure."""
from __future__ import annotations

from collections import Counter, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from ..texts.formats import duration
from ..texts.plain_text import gist

WAITING, REACHED, FAILED = "waiting", "reached", "failed"

# How much of a cause a line of progress shows, beside other things.
_CAUSE_LIMIT = 60


class Verdict(namedtuple("Verdict", ["outcome", "cause", "next_step", "detail"], defaults=[""])):
    """How a thing stands to its goal: outcome (waiting, reached, failed) and, where known, cause, next step and the
    controller's own words."""

    __slots__ = ()

    @property
    def full_cause(self) -> str:
        """The cause with the controller's own words."""
        return f"{self.cause} ({self.detail})" if self.detail else self.cause

    @property
    def text(self) -> str:
        """The full cause with the next step, where there is one."""
        return "; ".join(part for part in (self.full_cause, self.next_step) if part)


class Awaited:
    """One thing that is waited for, and what it went through meanwhile.

    :param goal: its goal in words, which follow "not"
    :param now: reading of the wait's clock, in seconds
    :param decide: callable that takes the newest state and returns a Verdict
    :param advice: what to do when the time is up and the verdict has no next step
    """

    # What a line of progress counts and names.
    state = WAITING

    def __init__(self, goal: str, now: float, decide: Callable[[Any], Verdict] | None = None,
                 advice: str = "raise wait_timeout_seconds") -> None:
        self.goal = goal
        self.advice = advice
        self.began_at = self.state_since = now
        self.settled_at: float | None = None
        self.verdict = Verdict(WAITING, "", "")
        self._verdict_on = decide

    def update(self, observed: Any, now: float) -> list[str]:
        """Take the newest state.

        :param observed: what ``decide`` takes
        :param now: reading of the wait's clock, in seconds
        :returns: texts of what happened since the last update, for live progress
        """
        return self.settle(self._verdict_on(observed), now) if self._verdict_on else []

    def settle(self, verdict: Verdict, now: float) -> list[str]:
        """Take the newest verdict.

        :param now: reading of the wait's clock, in seconds
        :returns: texts of what happened, for live progress
        """
        before, self.verdict = self.verdict.outcome, verdict
        if verdict.outcome == WAITING:
            self.settled_at = None
        elif before == WAITING:
            self.settled_at = now
            if verdict.outcome == FAILED:
                return ["failed: " + verdict._replace(detail="").text]
        return []

    @property
    def waiting(self) -> bool:
        """True while neither the goal nor a failure is reached."""
        return self.verdict.outcome == WAITING

    @property
    def is_read(self) -> bool:
        """Whether anything is known of it."""
        return bool(self.verdict.cause)

    def seconds_in_state(self, now: float) -> float:
        """Seconds since the state last changed, as this wait has observed it."""
        return max(0, now - self.state_since)

    def seconds_taken(self, now: float) -> float:
        """Seconds from the beginning of the wait to its end for this thing."""
        return max(0, (now if self.settled_at is None else self.settled_at) - self.began_at)

    def timeout_cause(self, now: float) -> str:
        """Return the last state and error of what did not get to its goal in time."""
        return self.verdict.full_cause or f"it could not be read for {duration(now - self.began_at)}"

    def error(self, timeout_seconds: float, now: float, silence: str = "") -> str:
        """Return why the goal was not reached, and the next step; empty when it was.

        :param timeout_seconds: how long was waited at most
        :param now: reading of the wait's clock, in seconds
        :param silence: why nothing newer is known, empty when the other side answers
        """
        if self.verdict.outcome == FAILED:
            return self.verdict.text
        if self.verdict.outcome == WAITING:
            known = "" if silence and not self.is_read else self.timeout_cause(now)
            cause = "; ".join(part for part in (known, silence) if part)
            return (f"not {self.goal} within {duration(timeout_seconds)}: {cause}; "
                    f"{self.verdict.next_step or self.advice}")
        return ""


def status_texts(items: Mapping[Any, Any], now: float, slowest: int = 3) -> tuple[str, str]:
    """Return how far a wait is: counts of each state, and the things that have been longest in theirs.

    :param items: ``{name: Awaited}``
    :param now: reading of the wait's clock, in seconds
    :param slowest: how many things to name
    :returns: state and detail, as ``Progress.status`` takes them
    """
    goal = next(iter(items.values())).goal
    done = sum(1 for item in items.values() if item.verdict.outcome == REACHED)
    failed = sum(1 for item in items.values() if item.verdict.outcome == FAILED)
    waiting = [(name, item) for name, item in items.items() if item.waiting]
    parts = [f"{done}/{len(items)} {goal}"] + ([f"{failed} failed"] if failed else [])
    states = Counter(item.state for dummy, item in waiting)
    state = ", ".join(parts + [f"{count} {state}" for state, count in sorted(states.items())])
    waiting.sort(key=lambda pair: (-pair[1].seconds_in_state(now), pair[0]))
    named = [f"{name} {item.state} {duration(item.seconds_in_state(now))}"
             + (f" ({gist(item.verdict.cause, _CAUSE_LIMIT)})" if item.verdict.cause else "")
             for name, item in waiting[:slowest]]
    return state, f"longest: {', '.join(named)}" if named else ""
