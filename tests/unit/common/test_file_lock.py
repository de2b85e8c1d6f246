# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks whose files are there only as long as somebody holds them, and of a user's runs on one thing."""
from __future__ import annotations

import fcntl
import os
import threading

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import file_lock, holder
from ansible_collections.metal3.baremetal.plugins.module_utils._common.files.run_locks import RunLocks


def test_a_lock_that_another_run_has_is_not_waited_for_and_leaves_no_file(tmp_path):
    path = str(tmp_path / "lock")
    with file_lock.tried(path) as first, file_lock.tried(path) as second:
        assert (first, second) == (True, False)
    assert os.listdir(tmp_path) == []
    with file_lock.tried(path) as again:
        assert again is True


def test_a_lock_that_was_removed_while_it_was_waited_for_is_taken_again(tmp_path, monkeypatch):
    """Else two runs would hold locks of one name."""
    path, waits, found = str(tmp_path / "lock"), threading.Event(), []
    flock = fcntl.flock

    def locking(stream, operation):
        if threading.current_thread() is second and operation == fcntl.LOCK_EX:
            waits.set()
        flock(stream, operation)

    def other():
        with file_lock.held_alone(path):
            found.append(os.path.exists(path))

    second = threading.Thread(target=other)
    monkeypatch.setattr(file_lock.fcntl, "flock", locking)
    with file_lock.held_alone(path):
        second.start()
        assert waits.wait(30) and found == []
    second.join(30)
    assert found == [True] and os.listdir(tmp_path) == []


def test_runs_on_one_thing_know_each_other_and_those_on_another_one_do_not(tmp_path):
    locks = RunLocks(str(tmp_path / "locks"))
    with locks.alone("uid/../a") as first, RunLocks(str(tmp_path / "locks")).alone("uid/../a") as again, \
            locks.alone("uid/..", "a") as other:
        assert (first, again, other) == (True, False, True)
    assert os.listdir(tmp_path / "locks") == []


def test_what_was_begun_elsewhere_is_taken_over_by_the_machines_name():
    here, there = holder.holder_of("a", "/locks"), holder.holder_of("b\n", "/locks")

    def problems(begun_by, take_over):
        return holder.elsewhere("code", "subject", ("it", "collide"), begun_by, here, take_over, "Ansible", "variable")

    assert problems("", None) == problems(here, None) == problems(holder.holder_of("b", "/x"), "b") == []
    problem, = problems(holder.holder_of("b", "/x"), "c")
    assert (problem.field, problem.actual, problem.expected) == ("take_over", "c", "b") and "variable=b" in str(problem)
    # Whoever writes the record writes no line of its own.
    assert "\n" not in str(problems(there, None)[0])
