# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is reported of a program that does not become ready."""
from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import file_lock
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import ports, process_group, readiness
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.supervisor_files import (
    Layout,
    SupervisorError,
)


class Dead:
    """A supervisord with one program, which always dies."""

    def __init__(self, lab_dir):
        self.layout = Layout(str(lab_dir / "supervisor"))

    def processes(self):
        return {"etcd": {"start": 1, "statename": "FATAL", "spawnerr": "Exited too quickly"}}


@pytest.fixture
def dead(tmp_path, monkeypatch):
    monkeypatch.setattr(readiness, "faults", lambda checks: dict.fromkeys(checks, "no answer"))
    monkeypatch.setattr(
        ports, "foreign", lambda figures: [f"port {figures['ports']['etcd']} (etcd) is taken by pid 1 (x)"])
    for folder in ("supervisor/conf.d", "log"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "supervisor" / "conf.d" / "etcd.conf").write_text("")
    (tmp_path / "lab.json").write_text(json.dumps(
        {"name": "x", "index": 0, "dir": str(tmp_path), "ports": {"etcd": 21000}, "bridge": {}}))
    return Dead(tmp_path)


class Starting:
    """A supervisord that does not answer before it has started."""

    def __init__(self, lab_dir):
        self.layout, self.starts = Layout(str(lab_dir / "supervisor")), []

    def write_config(self, check_mode):
        return False

    def processes(self):
        return {}

    def alive(self):
        return bool(self.starts)

    def start(self, python):
        # As another process finds it.
        with file_lock.tried(os.path.join(self.layout.directory, process_group.LOCK)) as is_alone:
            self.starts.append((python, is_alone))

    def reload(self, names):
        return {}

    def stop_programs(self, names):
        with file_lock.tried(os.path.join(self.layout.directory, process_group.LOCK)) as is_alone:
            self.starts.append((sorted(names), is_alone))


def test_no_other_run_ends_a_supervisord_that_this_one_starts(dead, tmp_path):
    (tmp_path / "lab.json").write_text(json.dumps({
        "name": "x", "index": 0, "dir": str(tmp_path), "ports": {}, "bridge": {}, "services_python": "python"}))
    starting = Starting(tmp_path)
    assert process_group.start(starting, []) == {"etcd": "started"}
    assert process_group.stop(starting, ["other"]) == {"other": "absent"}
    assert starting.starts == [("python", False), (["other"], False)]


class Running:
    """A supervisord whose program runs as configured."""

    def __init__(self, lab_dir, pid):
        self.layout, self._pid, self.calls = Layout(str(lab_dir / "supervisor")), pid, []

    def write_config(self, check_mode):
        return False

    def processes(self):
        return {"etcd": {"statename": "RUNNING", "pid": self._pid}}

    def alive(self):
        return True

    def pending(self):
        return {}

    def reload(self, names):
        return {}

    def stop_programs(self, names):
        self.calls.append(("stop", *names))

    def start_program(self, name, waiting=False):
        self.calls.append(("start", name))


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("folder, replaced, expected", [
    ("engine/bin", "by another one", "restarted"), ("engine/bin", "", "running"), ("engine/bin", "by none", "running"),
    ("elsewhere", "by another one", "running")])
def test_a_program_whose_file_was_replaced_is_restarted(dead, tmp_path, folder, replaced, expected, check_mode):
    """Of an image with another digest it is taken under the same path: the former one would run on.

    Programs of the system are replaced by its packages, whenever these want it.
    """
    (tmp_path / "lab.json").write_text(json.dumps({
        "name": "x", "index": 0, "dir": str(tmp_path), "ports": {}, "bridge": {},
        "engine_dir": str(tmp_path / "link")}))
    (tmp_path / "link").symlink_to(tmp_path / "engine")
    path = tmp_path / folder / "etcd"
    path.parent.mkdir(parents=True)
    shutil.copy("/bin/cat", path)
    named = str(path).replace(f"{tmp_path}/engine", f"{tmp_path}/link")
    programs = [{"name": "etcd", "command": [named]}]
    with subprocess.Popen([named], stdin=subprocess.PIPE) as running:
        try:
            if replaced:
                os.unlink(path)
            if replaced == "by another one":
                shutil.copy("/bin/cat", path)
            supervisor = Running(tmp_path, running.pid)
            os.makedirs(supervisor.layout.ready_dir)
            process_group.write_program(supervisor.layout, programs[0])
            assert process_group.start(supervisor, programs, check_mode) == {"etcd": expected}
            restarts = [("stop", "etcd"), ("start", "etcd")] if expected == "restarted" and not check_mode else []
            assert supervisor.calls == restarts
        finally:
            running.stdin.close()
            running.kill()


def last_lines(supervisor, log):
    with open(supervisor.layout.log_file("etcd"), "w", encoding="utf-8") as stream:
        stream.write(log)
    with pytest.raises(SupervisorError) as caught:
        process_group.wait(supervisor)
    return str(caught.value).splitlines()


def test_the_end_of_a_log_is_short(dead):
    lines = last_lines(dead, "".join(f"{number} {'x' * 5000}\n" for number in range(20)))
    assert lines[0].startswith("program etcd is not ready (FATAL, Exited too quickly): no answer. Its log ")
    assert [line.split()[0] for line in lines[1:]] == ["15", "16", "17", "18", "19"]
    assert max(len(line) for line in lines[1:]) == 300


def test_who_has_a_port_comes_first(dead):
    lines = last_lines(dead, '{"level":"fatal","error":"listen tcp 127.0.0.1:21000: bind: address already in use"}\n')
    assert lines[0] == "port 21000 (etcd) is taken by pid 1 (x)"
    assert lines[1].startswith("program etcd is not ready")
