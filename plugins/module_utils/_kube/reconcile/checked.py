# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop below a reconcile: writes that rest on a check, with conflicts decided again and lost answers sent again."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

from ..._common.texts.formats import duration
from ..._common.waiting import parallel
from ..api import bulk
from ..responses.errors import KubeError

# So often may an object change between being read and being written; controllers write in bursts.
ROUNDS = 8


class Written(NamedTuple):
    """What became of a task: the last one, as it was written or was found to need no write."""

    value: Any
    error: KubeError | None
    task: Any


class Settled(NamedTuple):
    """What a decision returns when there is nothing (more) to write: the object as it is, or None."""

    value: Any = None
    task: Any = None


def write(tasks: Sequence[Any], send: Callable[[Any], Any], decide: Callable[[Any], Any],
          report: Callable[[str], Any], sleep: Callable[[float], Any]) -> list[Written]:
    """Write side by side; what another changed meanwhile is decided again, at most :data:`ROUNDS` times.

    What the API server did not answer is sent again for half a minute. When the first attempt was stored after all, the
    second is refused for its precondition, and the decision finds nothing left to do: so nothing is written over what
    others did in between.

    :param tasks: list of anything; each stands for one object
    :param send: callable that takes a task and writes it with its precondition
    :param decide: callable that takes a task that was refused with 409, reads and checks, and returns the task to be
        written now or a :class:`Settled`; it raises a KubeError when the write is no longer allowed
    :param report: callable that takes one line of text, for live progress
    :param sleep: callable that waits a number of seconds
    :returns: list of :class:`Written`, in the order of ``tasks``
    """
    results: list[Any] = [None] * len(tasks)
    due, unanswered = dict(enumerate(tasks)), set()
    rounds = 0
    delays = list(parallel.RETRY_DELAYS_SECONDS)
    while due:
        positions = sorted(due)
        conflicts, lost = [], []
        for position, outcome in zip(positions, bulk.run([_call(send, due[position]) for position in positions])):
            if outcome.error is not None and outcome.error.is_conflict:
                conflicts.append((position, outcome.error))
            elif outcome.error is not None and outcome.error.is_due_again and delays:
                lost.append((position, outcome.error))
            else:
                results[position] = Written(outcome.value, outcome.error, due.pop(position))
        unanswered.update(position for position, dummy in lost)
        rounds += bool(conflicts)
        if rounds > ROUNDS:
            for position, error in conflicts:
                results[position] = Written(None, _gave_up(error), due.pop(position))
            conflicts = []
        _decide_again([position for position, dummy in conflicts], due, results, decide, unanswered)
        if lost:
            delay_seconds = max([delays.pop(0)] + [error.retry_after_seconds or 0 for dummy, error in lost])
            report(f"{len(lost)} requests were not answered ({lost[0][1].message}); "
                   f"trying again in {duration(delay_seconds)}")
            sleep(delay_seconds)
    return results


def _call(function: Callable[[Any], Any], task: Any) -> Callable[[], Any]:
    return lambda: function(task)


def _decide_again(positions: list[int], due: dict[int, Any], results: list[Any], decide: Callable[[Any], Any],
                  unanswered: set[int]) -> None:
    for position, outcome in zip(positions, bulk.run([_call(decide, due[position]) for position in positions])):
        if outcome.error is not None:
            results[position] = Written(None, outcome.error, due.pop(position))
        elif isinstance(outcome.value, Settled):
            task = due.pop(position)
            # What was sent before without an answer has been stored: it was this run that did it.
            results[position] = Written(outcome.value.value, None, task if position in unanswered
                                        else outcome.value.task or task)
        else:
            due[position] = outcome.value


def _gave_up(error: KubeError) -> KubeError:
    return KubeError(f"{error.cause} (changed by others {ROUNDS} times in a row between reading and writing; run "
                     "again)", error.status, error.reason)
