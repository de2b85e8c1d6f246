# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a log gets from now on."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._boot import log_tail


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "access.log"
    path.write_text("before\n")
    return path


def test_only_new_and_whole_lines(log):
    tail = log_tail.LogTail(str(log))
    assert tail.lines() == []
    with log.open("a") as file:
        file.write("one\ntwo\nthr")
    assert tail.lines() == ["one", "two"]
    with log.open("a") as file:
        file.write("ee\n")
    assert tail.lines() == ["three"] and tail.lines() == []


@pytest.mark.parametrize("rotates", [
    lambda log: (log.rename(log.with_suffix(".1")), log.write_text("after\n")),
    lambda log: log.write_text("after\n"[:6]),
])
def test_a_rotated_log_goes_on(log, rotates):
    log.write_text("a long line before\n")
    tail = log_tail.LogTail(str(log))
    rotates(log)
    assert tail.lines() == ["after"]


def test_a_log_that_comes_later_is_read_from_its_beginning(tmp_path):
    tail = log_tail.LogTail(str(tmp_path / "later.log"))
    assert tail.lines() == []
    (tmp_path / "later.log").write_text("first\n")
    assert tail.lines() == ["first"]


def test_of_much_at_once_the_end_is_read(log, monkeypatch):
    monkeypatch.setattr(log_tail, "_LOOK_BYTES", 10)
    tail = log_tail.LogTail(str(log))
    with log.open("a") as file:
        file.write("line\n" * 10)
    assert tail.lines() == ["line", "line"]
    assert tail.lines() == []


def test_bytes_of_no_text_are_no_failure(log):
    tail = log_tail.LogTail(str(log))
    with log.open("ab") as file:
        file.write(b"\xff\xfe\n")
    assert len(tail.lines()) == 1


def test_it_is_there_when_it_was_found_last(tmp_path, log):
    assert log_tail.LogTail(str(log)).is_there
    tail = log_tail.LogTail(str(tmp_path / "later.log"))
    assert not tail.is_there
    (tmp_path / "later.log").write_text("first\n")
    assert tail.lines() == ["first"] and tail.is_there
    (tmp_path / "later.log").unlink()
    assert tail.lines() == [] and not tail.is_there


@pytest.mark.parametrize("failure", [PermissionError(13, "Permission denied"), NotADirectoryError(20, "Not a dir")])
def test_a_path_that_leads_nowhere_is_an_error_when_it_is_read(log, monkeypatch, failure):
    def refuse(path):
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(log_tail.os, "stat", refuse)
        tail = log_tail.LogTail(str(log))
    assert not tail.is_there
    with pytest.raises(NotADirectoryError):
        log_tail.LogTail(str(log / "below.log")).lines()


def test_what_is_no_file_is_an_error(tmp_path):
    with pytest.raises(OSError):
        log_tail.LogTail(str(tmp_path)).lines()
