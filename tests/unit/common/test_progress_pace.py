# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the reports of a running module are printed."""
from __future__ import annotations

import json

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress_pace import Pace


class Printed:
    """A Pace with a clock of its own, and the lines it printed with their times."""

    def __init__(self):
        self.now, self.lines = 0.0, []
        self.pace = Pace(lambda text: self.lines.append((self.now, text)), lambda: self.now)

    def feed(self, kind, text, detail=""):
        self.pace.feed(json.dumps({"kind": kind, "text": text, "detail": detail}))

    def run(self, until, state, detail=lambda seconds: ""):
        """Report a state every second."""
        while self.now < until:
            self.feed("status", state, detail(self.now))
            self.now += 1

    def be_silent(self, until):
        """Let time pass without a report."""
        while self.now < until:
            self.now += 1
            self.pace.tick()

    @property
    def texts(self):
        return [text for dummy, text in self.lines]


def test_the_same_state_is_printed_after_growing_pauses():
    printed = Printed()
    printed.run(300, "0/1 available", lambda seconds: f"longest: a {seconds:.0f} s")
    assert [now for now, dummy in printed.lines] == [0, 5, 15, 35, 75, 135, 195, 255]
    assert printed.texts[1] == "0/1 available; longest: a 5 s"


def test_one_host_of_seven_minutes_takes_twenty_lines():
    printed = Printed()
    for until, state in ((20, "registering"), (120, "inspecting"), (200, "preparing"), (450, "provisioning")):
        printed.run(until, f"0/1 provisioned, 1 {state}", lambda seconds: f"longest: a {seconds:.0f} s")
    assert len(printed.lines) == 20


def test_a_changed_state_is_printed_at_once_and_begins_the_pauses_again():
    printed = Printed()
    printed.run(50, "registering")
    printed.run(62, "inspecting")
    assert [line for line in printed.lines if line[0] >= 50] == [(50, "inspecting"), (55, "inspecting (after 55 s)")]


def test_states_that_change_all_the_time_are_printed_every_three_seconds():
    printed = Printed()
    for number in range(10):
        printed.now = number
        printed.feed("status", str(number))
    assert printed.lines == [(0, "0"), (3, "3"), (6, "6"), (9, "9")]


def test_an_event_is_printed_at_once():
    printed = Printed()
    printed.feed("status", "one")
    printed.now = 1
    printed.feed("event", "error")
    assert printed.lines == [(0, "one"), (1, "error")]


def test_an_unchanged_line_is_repeated_with_the_time_that_has_passed():
    printed = Printed()
    printed.run(20, "rolling out: Deployment a")
    assert printed.texts == ["rolling out: Deployment a", "rolling out: Deployment a (after 5 s)",
                             "rolling out: Deployment a (after 15 s)"]


def test_a_run_without_reports_is_never_silent_for_more_than_a_minute():
    printed = Printed()
    printed.be_silent(130)
    assert printed.lines == [(60, "still running (after 1 min)"), (120, "still running (after 2 min)")]


def test_an_event_that_takes_minutes_is_repeated_every_minute():
    printed = Printed()
    printed.feed("event", "Building etcd")
    printed.be_silent(125)
    assert printed.texts == ["Building etcd", "Building etcd (after 1 min)", "Building etcd (after 2 min)"]


def test_at_the_end_the_newest_state_is_printed_unless_an_event_came_after_it():
    printed = Printed()
    for kind, text in (("status", "0/2"), ("status", "1/2"), ("event", "second: rolled out")):
        printed.feed(kind, text)
    printed.pace.tick(last=True)
    assert printed.texts == ["0/2", "second: rolled out"]
    printed.feed("status", "2/2")
    printed.pace.tick(last=True)
    assert printed.texts == ["0/2", "second: rolled out", "2/2"]


def test_at_the_end_nothing_is_printed_twice():
    printed = Printed()
    printed.feed("status", "1/1")
    printed.pace.tick(last=True)
    assert printed.texts == ["1/1"]


def test_at_the_end_the_newest_detail_is_printed():
    printed = Printed()
    printed.feed("status", "asking BMCs", "1 of 2 asked")
    printed.feed("status", "asking BMCs", "2 of 2 asked")
    printed.pace.tick(last=True)
    assert printed.texts == ["asking BMCs; 1 of 2 asked", "asking BMCs; 2 of 2 asked"]


def test_what_is_no_report_is_dropped():
    printed = Printed()
    for line in ("", "x", "[]", "{}", '{"kind": "event"}', "3", '"text"'):
        printed.pace.feed(line)
    assert printed.lines == []


def test_a_status_fits_the_terminal_and_keeps_its_state():
    lines = []
    pace = Pace(lines.append, lambda: 0.0, width=30)
    pace.feed(json.dumps({"kind": "status", "text": "0/4 available", "detail": "longest: a-long-name 7 s, b 7 s"}))
    assert lines == ["0/4 available; longest: a-l..."]
    pace.feed(json.dumps({"kind": "status", "text": "a state that is itself longer than the line", "detail": "x" * 9}))
    pace.tick(last=True)
    assert lines[1] == "a state that is itself longer than the line..."
