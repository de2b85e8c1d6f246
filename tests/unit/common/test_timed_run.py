# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that do not end in time: they are ended, and what they have started with them."""
from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
from fakes.time_limits import ends

from ansible_collections.metal3.baremetal.plugins.module_utils._common import timed_run

# Starts a program that starts another one, as go does git; each prints its number, and all wait.
NESTED = "sh -c 'sh -c \"echo \\$\\$; exec sleep 3600\" & echo $$; wait' & echo $$; wait"


def is_there(pid):
    """Return whether a process runs: one that has ended and is not yet waited for does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stream:
            return stream.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def gone(pids, seconds=10):
    deadline = time.monotonic() + seconds
    while any(map(is_there, pids)):
        assert time.monotonic() < deadline, [pid for pid in pids if is_there(pid)]
        os.sched_yield()
    return True


def test_what_a_late_program_has_started_ends_with_it(tmp_path):
    output = tmp_path / "pids"
    with open(output, "w", encoding="ascii") as stream, ends(), pytest.raises(
            timed_run.LateError, match=r"^did not end within 1 s, and was ended$"):
        timed_run.run(["sh", "-c", NESTED], 1, stdout=stream)
    pids = [int(line) for line in output.read_text().split()]
    assert len(pids) == 3 and gone(pids)


def test_a_program_that_holds_the_output_is_not_waited_for():
    with ends(), pytest.raises(timed_run.LateError):
        timed_run.run(["sh", "-c", NESTED], 0.5, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def test_an_interrupted_run_ends_its_program(tmp_path, monkeypatch):
    started = []

    def interrupted(self, *dummy, **dummy_too):
        started.append(self.pid)
        raise KeyboardInterrupt
    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        timed_run.run(["sleep", "60"], 60)
    assert gone(started)


def test_a_program_that_gets_on_has_its_time_again(tmp_path):
    done = timed_run.run(["sh", "-c", "read word; for n in 1 2 3 4 5 6 7 8; do echo $word; sleep 0.2; done"], 0.5,
                         timed_run.bytes_moved, input="all of it\n", stdout=subprocess.PIPE)
    assert done.stdout == "all of it\n" * 8


def test_of_a_process_that_is_gone_nothing_is_known():
    assert timed_run.bytes_moved(2 ** 22 + 1) is None and timed_run.bytes_moved(os.getpid()) > 0


def test_a_program_in_time_is_run_as_by_subprocess():
    done = timed_run.run([sys.executable, "-c", "import sys; print(sys.stdin.read()); sys.exit(3)"], 60,
                         input="given", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert (done.returncode, done.stdout) == (3, "given\n")
    # Without an input of its own it has none.
    assert timed_run.run(["cat"], 60, stdout=subprocess.PIPE).stdout == ""
    with pytest.raises(FileNotFoundError):
        timed_run.run(["/nonexistent/program"], 60)
