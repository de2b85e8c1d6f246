# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Live progress: what a module writes, and that it can't steer the terminal."""
from __future__ import annotations

import json

from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts.plain_text import gist, plain, shortened
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import (
    PROGRESS_FILE_VARIABLE,
    Progress,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress_pace import Pace
from ansible_collections.metal3.baremetal.plugins.plugin_utils._progress import Display, ProgressAction


def reports(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_reports_are_lines_of_json(tmp_path):
    path = tmp_path / "progress"
    progress = Progress(str(path))
    progress.status("1/2 available")
    progress.status("1/2 available", "longest: a\n7 s")
    progress.event("a: two\nlines")
    assert reports(path) == [
        {"kind": "status", "text": "1/2 available"},
        {"kind": "status", "text": "1/2 available", "detail": "longest: a 7 s"},
        {"kind": "event", "text": "a: two lines"}]


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


def test_what_comes_from_outside_does_not_steer_the_terminal(monkeypatch):
    shown = []
    monkeypatch.setattr(Display(), "display", lambda text, **options: shown.append(text))
    action = ProgressAction.__new__(ProgressAction)
    pace = Pace(action.show, clock=lambda: 0.0)
    text = "a \x1b]0;title\x07\x1b[2J\r \x9b1m \u202etxt.exe \ud800 \x7f b"
    pace.feed(json.dumps({"kind": "event", "text": text}))
    assert shown == ["a \\x1b]0;title\\x07\\x1b[2J\\r \\x9b1m \\u202etxt.exe \\ud800 \\x7f b"]


def test_plain_text():
    assert plain("a\tb\n\x1b\x00") == "a\\tb\\n\\x1b\\x00"
    assert plain("a\tb\n\x1b", keep_lines=True) == "a\tb\n\\x1b"
    assert plain("Grüße 漢字 \U0001f600 {{ x }}") == "Grüße 漢字 \U0001f600 {{ x }}"
    assert shortened("a  b\n" + "c" * 500, 10) == "a b cccccc..."


def test_the_gist_of_a_condition_is_its_first_point_and_the_number_of_the_others():
    message = ("* Control plane is not ready:\n  * Machine a:\n    * NodeHealthy: waits for a Node\n"
               "    * EtcdHealthy: unknown\n  * Machine b:\n    * NodeHealthy: waits for a Node\n")
    assert gist(message) == "Control plane is not ready: Machine a: NodeHealthy: waits for a Node (and 2 more)"


def test_the_gist_of_one_line_is_the_line():
    assert gist("the only  line\n") == "the only line"
    assert gist("\n \n") == gist("") == ""
    assert gist("x" * 300, 10) == "x" * 10 + "..."
