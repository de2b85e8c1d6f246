# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How clusterctl is run: its arguments, its failures, and never two at a time, whoever has been killed."""
from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import threading
import time

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import clusterctl

SOURCE, TARGET = {"kubeconfig": "/a/here", "context": None}, {"kubeconfig": "/a/there", "context": "admin@there"}


@pytest.fixture
def program(tmp_path):
    def write(script):
        path = tmp_path / "clusterctl"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(stat.S_IRWXU)
        return str(path)
    return write


def run(program, tmp_path, lines):
    work = str(tmp_path / "work")
    with clusterctl.alone(work, lines.append) as lock:
        clusterctl.move(program, SOURCE, TARGET, "metal3", work, lines.append, lock)


def test_it_gets_both_planes_and_asks_nobody_for_a_newer_version(program, tmp_path):
    lines = []
    run(program('echo "$@"; echo $CLUSTERCTL_DISABLE_VERSIONCHECK $XDG_CONFIG_HOME >&2'), tmp_path, lines)
    assert lines == [
        "clusterctl: move --namespace metal3 --kubeconfig /a/here --to-kubeconfig /a/there "
        "--to-kubeconfig-context admin@there", f"clusterctl: true {tmp_path}/work"]


def test_a_failure_has_its_last_lines_without_what_steers_a_terminal(program, tmp_path):
    with pytest.raises(clusterctl.MoveError, match=r"ended with code 3: .*Error: no route.*run again") as failed:
        run(program(r"printf '\033[31mError: no route\n'; exit 3"), tmp_path, [])
    assert "\033" not in str(failed.value)


def test_what_is_no_program_is_named(tmp_path):
    with pytest.raises(clusterctl.MoveError, match="found /nonexistent, which cannot be run"):
        run("/nonexistent", tmp_path, [])


def test_the_next_run_waits_for_a_clusterctl_that_a_killed_run_has_left(program, tmp_path):
    os.makedirs(tmp_path / "work")
    lines, waiting = [], threading.Event()

    def tell(line):
        lines.append(line)
        waiting.set()
    with open(tmp_path / "work" / "move.lock", "w") as left:
        fcntl.flock(left, fcntl.LOCK_EX)
        thread = threading.Thread(target=clusterctl.restore, args=(
            program("echo moved"), TARGET, str(tmp_path), str(tmp_path / "work"), tell))
        thread.start()
        assert waiting.wait(10) and "another clusterctl move runs on this machine" in lines[0]
        assert len(lines) == 1
    thread.join(30)
    assert lines[1:] == ["clusterctl: moved"]


def test_a_clusterctl_that_goes_on_keeps_the_lock(program, tmp_path):
    """The run that has started it is killed, and ends without it."""
    work = str(tmp_path / "work")
    slow = program(f"touch {tmp_path}/begun; while [ ! -e {tmp_path}/end ]; do sleep 0.05; done")
    killed = subprocess.Popen([sys.executable, "-c", (
        f"from {clusterctl.__name__} import alone, move\n"
        f"with alone({work!r}, print) as lock:\n"
        f"    move({slow!r}, {SOURCE!r}, {TARGET!r}, 'metal3', {work!r}, print, lock)\n")],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    while not (tmp_path / "begun").exists():
        assert killed.poll() is None
        time.sleep(0.05)
    killed.kill()
    killed.wait()
    lines = []

    def tell(line):
        lines.append(line)
        (tmp_path / "end").touch()

    with clusterctl.alone(work, tell):
        assert (tmp_path / "end").exists()
    assert "another clusterctl move runs on this machine" in lines[0]
