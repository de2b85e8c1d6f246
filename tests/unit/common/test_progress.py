# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Live progress: what a module writes, and when the controller shows it."""
from __future__ import annotations

import json

from ansible_collections.metal3.baremetal.plugins.module_utils._common.plain_text import plain, shortened
from ansible_collections.metal3.baremetal.plugins.module_utils._common.progress import PROGRESS_FILE_VARIABLE, Progress
from ansible_collections.metal3.baremetal.plugins.plugin_utils._progress import Display, ProgressAction, Throttle


def reports(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_reports_are_lines_of_json(tmp_path):
    path = tmp_path / "progress"
    progress = Progress(str(path))
    progress.status("1/2 available")
    progress.event("a: two\nlines")
    assert reports(path) == [{"kind": "status", "text": "1/2 available"}, {"kind": "event", "text": "a: two lines"}]


def test_the_file_is_named_by_the_environment(tmp_path, monkeypatch):
    path = tmp_path / "progress"
    monkeypatch.setenv(PROGRESS_FILE_VARIABLE, str(path))
    Progress().event("x")
    assert len(reports(path)) == 1


def test_without_a_file_nothing_happens(tmp_path, monkeypatch):
    monkeypatch.delenv(PROGRESS_FILE_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    Progress().event("x")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_can_not_be_written_does_not_fail_the_module(tmp_path):
    progress = Progress(str(tmp_path / "missing" / "progress"))
    progress.event("x")
    (tmp_path / "missing").mkdir()
    progress.event("y")
    assert list((tmp_path / "missing").iterdir()) == []


class Shown:
    """A Throttle with a clock of its own, and what it showed."""

    def __init__(self):
        self.now, self.lines = 0.0, []
        self.throttle = Throttle(self.lines.append, lambda: self.now, interval_seconds=3)

    def feed(self, kind, text):
        self.throttle.feed(json.dumps({"kind": kind, "text": text}))


def test_events_are_shown_at_once_and_statuses_at_intervals():
    shown = Shown()
    shown.feed("status", "one")
    shown.now = 1
    shown.feed("status", "two")
    shown.feed("event", "error")
    shown.now = 2
    shown.feed("status", "three")
    assert shown.lines == ["one", "error"]
    shown.now = 3
    shown.throttle.tick()
    assert shown.lines == ["one", "error", "three"]


def test_at_the_end_the_newest_status_is_shown_unless_an_event_came_after_it():
    shown = Shown()
    for kind, text in (("status", "0/2"), ("status", "1/2"), ("event", "second: rolled out")):
        shown.feed(kind, text)
    shown.throttle.tick(last=True)
    assert shown.lines == ["0/2", "second: rolled out"]
    shown.feed("status", "2/2")
    shown.throttle.tick(last=True)
    assert shown.lines == ["0/2", "second: rolled out", "2/2"]


def test_an_unchanged_status_is_not_repeated():
    shown = Shown()
    for now in range(10):
        shown.now = now
        shown.feed("status", "one")
        shown.throttle.tick()
    assert shown.lines == ["one"]


def test_the_last_status_is_shown_whatever_the_time():
    shown = Shown()
    shown.feed("status", "one")
    shown.feed("status", "two")
    shown.throttle.tick(last=True)
    assert shown.lines == ["one", "two"]


def test_what_is_no_report_is_dropped():
    shown = Shown()
    for line in ("", "x", "[]", "{}", '{"kind": "event"}', "3"):
        shown.throttle.feed(line)
    assert shown.lines == []


def test_what_comes_from_outside_does_not_steer_the_terminal(monkeypatch):
    shown = []
    monkeypatch.setattr(Display(), "display", lambda text, **options: shown.append(text))
    action = ProgressAction.__new__(ProgressAction)
    throttle = Throttle(action.show, clock=lambda: 0.0)
    text = "a \x1b]0;title\x07\x1b[2J\r \x9b1m \u202etxt.exe \ud800 \x7f b"
    throttle.feed(json.dumps({"kind": "event", "text": text}))
    assert shown == ["a \\x1b]0;title\\x07\\x1b[2J\\r \\x9b1m \\u202etxt.exe \\ud800 \\x7f b"]


def test_plain_text():
    assert plain("a\tb\n\x1b\x00") == "a\\tb\\n\\x1b\\x00"
    assert plain("a\tb\n\x1b", keep_lines=True) == "a\tb\n\\x1b"
    assert plain("Grüße 漢字 \U0001f600 {{ x }}") == "Grüße 漢字 \U0001f600 {{ x }}"
    assert shortened("a  b\n" + "c" * 500, 10) == "a b cccccc..."
