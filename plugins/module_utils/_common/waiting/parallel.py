# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many calls side by side, one outcome for each: for requests to any service."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..texts.formats import duration

Outcome = namedtuple("Outcome", ["value", "error"])

# A service that restarts is back within seconds.
RETRY_DELAYS_SECONDS = (1, 2, 4, 8, 15)


def run(calls: list[Callable[..., Any]], workers: int, refusal: Any) -> list[Outcome]:
    """Run callables on threads and return their outcomes in the given order.

    A refusal becomes the ``error`` of that call's outcome, so that it does not hide what happened to the others; any
    other exception is a defect and is raised.

    :param calls: list of callables without arguments
    :param workers: how many run at once
    :param refusal: class of the exceptions by which the service says no
    :returns: list of :class:`Outcome`
    """
    def guarded(call: Callable[..., Any]) -> Outcome:
        try:
            return Outcome(call(), None)
        except refusal as exc:
            return Outcome(None, exc)

    if len(calls) <= 1:
        return [guarded(call) for call in calls]
    with ThreadPoolExecutor(max_workers=min(workers, len(calls))) as pool:
        return list(pool.map(guarded, calls))


def values(outcomes: Iterable[Outcome]) -> list[Any]:
    """Return the values of calls that must all have succeeded.

    :raises Exception: the first refusal
    """
    found = []
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
        found.append(outcome.value)
    return found


def _is_due(error: Any) -> bool:
    return getattr(error, "is_due_again", error.retriable)


def persist(calls: list[Callable[..., Any]], workers: int, refusal: Any, report: Callable[[str], Any],
            sleep: Callable[[float], Any]) -> list[Outcome]:
    """Run callables like :func:`run`, and those whose refusal is ``retriable`` again, for half a minute.

    :param calls: list of callables without arguments, each of which may be repeated
    :param workers: how many run at once
    :param refusal: class of the exceptions by which the service says no, with ``message`` and ``retriable``, and maybe
        ``retry_after_seconds``: the pause that the service asks for, bounded by who has read it
    :param report: callable that takes one line of text, for live progress
    :param sleep: callable that waits for a number of seconds
    :returns: list of :class:`Outcome`
    """
    outcomes = run(calls, workers, refusal)
    for delay_seconds in RETRY_DELAYS_SECONDS:
        again = [position for position, outcome in enumerate(outcomes)
                 if outcome.error is not None and _is_due(outcome.error)]
        if not again:
            break
        asked_for = [getattr(outcomes[position].error, "retry_after_seconds", None) for position in again]
        delay_seconds = max([delay_seconds] + [seconds for seconds in asked_for if seconds])
        report(f"{len(again)} requests were not answered ({outcomes[again[0]].error.message}); "
               f"trying again in {duration(delay_seconds)}")
        sleep(delay_seconds)
        for position, outcome in zip(again, run([calls[position] for position in again], workers, refusal)):
            outcomes[position] = outcome
    return outcomes
