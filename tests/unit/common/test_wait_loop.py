# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop that all waits share: goals, failures, a side that does not answer, and the report when the time is up."""
from __future__ import annotations

import pytest
from fakes.clock import Clock
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import ReportedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_loop import (
    Step,
    WaitLoop,
    poll,
    until_nothing,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_report import (
    FAILED,
    REACHED,
    WAITING,
    Awaited,
    Verdict,
)

VERDICTS = {"good": Verdict(REACHED, "", ""), "bad": Verdict(FAILED, "no disk", "add one"),
            "busy": Verdict(WAITING, "it writes", "look at it", "Writing image")}


def run(*looks, ends_at_failure=False):
    """Wait through looks, each ``{name: state}`` or an error; return the items, the loop, the reports and the looks."""
    clock, reports, answers = Clock(), Reports(), list(looks)
    names = next(look for look in looks if isinstance(look, dict))
    items = dict((name, Awaited("done", 0, VERDICTS.__getitem__)) for name in names)
    changed = [set(names)] * len(looks)

    def steps():
        while answers:
            answer = answers.pop(0)
            clock.now += 10
            if isinstance(answer, Exception):
                yield Step(names, set(), 10.0, answer, False)
            else:
                yield Step(answer, changed.pop(), None, None, True)

    loop = WaitLoop("server s", reports, clock)
    loop.run(items, steps(), lambda objects, name: objects[name], ends_at_failure=ends_at_failure)
    return items, loop, reports.lines, answers


def test_the_wait_ends_when_all_are_done_or_failed():
    items, loop, lines, left = run({"a": "busy", "b": "busy"}, {"a": "bad", "b": "busy"}, {"a": "bad", "b": "good"},
                                   {"a": "busy", "b": "busy"})
    assert [items[name].verdict.outcome for name in ("a", "b")] == [FAILED, REACHED] and len(left) == 1
    assert [items[name].seconds_taken(99) for name in ("a", "b")] == [20, 30]
    assert len([line for line in lines if "a: failed: no disk; add one" in line]) == 1 and loop.silence() == ""
    assert items["a"].error(60, 30) == "no disk; add one" and items["b"].error(60, 30) == ""


def test_what_has_failed_may_recover_while_others_are_waited_for_and_what_is_done_stays_so():
    items = run({"a": "bad", "b": "busy", "c": "good"}, {"a": "good", "b": "good", "c": "bad"})[0]
    assert [item.verdict.outcome for item in items.values()] == [REACHED] * 3


def test_the_first_failure_ends_a_wait_that_is_for_one_thing_in_all():
    items, dummy, lines, left = run({"a": "bad", "b": "busy"}, {"a": "bad", "b": "good"}, ends_at_failure=True)
    assert items["a"].verdict.outcome == FAILED and items["b"].waiting and len(left) == 1
    assert not [line for line in lines if "failed:" in line]


def test_the_report_when_the_time_is_up_has_the_last_state_and_what_to_do():
    item = run({"a": "busy"})[0]["a"]
    assert item.error(200, 200) == "not done within 3 min 20 s: it writes (Writing image); look at it"
    assert Awaited("done", 0).error(60, 60) == (
        "not done within 1 min: it could not be read for 1 min; raise wait_timeout_seconds")


def test_a_side_that_does_not_answer_is_reported_once_and_named_at_the_end():
    lost = ReportedError("refused")
    items, loop, lines, dummy = run({"a": "busy"}, lost, lost, {"a": "busy"}, lost)
    assert [line for line in lines if "answer" in line and "still trying" not in line] == [
        "server s does not answer, trying on until the deadline", "server s answers again",
        "server s does not answer, trying on until the deadline"]
    assert loop.silence() == ("server s has not answered for 10 s, until the end of wait_timeout_seconds: refused; "
                              "run again when it answers")
    assert items["a"].error(60, 60, loop.silence()) == (
        f"not done within 1 min: it writes (Writing image); {loop.silence()}; look at it")


def test_the_source_is_closed_when_the_wait_ends_with_a_defect():
    closed = []

    def steps():
        try:
            yield Step({"a": "no such state"}, {"a"}, None, None, True)
        finally:
            closed.append(True)

    with pytest.raises(KeyError):
        WaitLoop("server s", Reports(), Clock()).run(
            {"a": Awaited("done", 0, VERDICTS.__getitem__)}, steps(), lambda objects, name: objects[name])
    assert closed == [True]


def test_a_poll_asks_at_once_and_a_last_time_at_the_deadline():
    clock, asked = Clock(), []
    steps = list(poll(lambda: asked.append(clock.now), 25, 10, clock, clock.sleep))
    assert asked == [0, 10, 20, 25] and all(step.listed for step in steps)


def test_a_poll_goes_on_through_errors_that_pass_only():
    clock, answers = Clock(), [1, ReportedError("busy"), ReportedError("busy"), 2, ReportedError("no")]

    def read():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    seen = []
    with pytest.raises(ReportedError, match="no"):
        for step in poll(read, 99, 10, clock, clock.sleep, lambda error: str(error) == "busy"):
            seen.append((step.objects, step.unreachable_seconds, step.listed))
    assert seen == [(1, None, True), (None, 0, False), (None, 10, False), (2, None, True)]


@pytest.mark.parametrize("answers, seconds, result", [
    ([["a", "b"], ["b"], []], 20, []), ([["a"]] * 9, 30, ["a"]), ([[]], 0, [])])
def test_what_is_left_is_asked_for_until_it_is_nothing_or_the_time_is_up(answers, seconds, result):
    clock, answers = Clock(), iter(answers)
    assert until_nothing(lambda: next(answers), 30, 10, clock, clock.sleep) == result
    assert clock.now == seconds


def test_a_time_that_runs_out_while_nobody_answers_is_no_failure():
    """The last objects that were read stay as they were, and the clock goes on."""
    clock = Clock()
    item = Awaited("done", 0, lambda _observed: VERDICTS["bad" if clock.now > 25 else "busy"])

    def steps():
        for unreachable_seconds, changed in ((None, {"a"}), (5.0, set()), (15.0, set()), (None, {"a"})):
            clock.now += 10
            yield Step({"a": "busy"}, changed, unreachable_seconds, None, True)
            seen.append(item.verdict.outcome)

    seen = []
    WaitLoop("server s", Reports(), clock).run({"a": item}, steps(), lambda objects, name: objects[name])
    assert seen == [WAITING, WAITING, WAITING] and item.verdict.outcome == FAILED
