# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs whose supervisord was killed: they go on, are known by their environment, and are stopped with others."""
from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import sys

import pytest
from fakes.api_server import eventually
from fakes.time_limits import ENDLESS_SECONDS

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import orphans, process_group
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.supervisor import Supervisor
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.supervisor_files import (
    LAB_DIR_VARIABLE,
    NAME_VARIABLE,
    Layout,
)

OBEYS = "import sys; print(flush=True); sys.stdin.read()"
IGNORES = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); sys.stdin.read()"


@contextlib.contextmanager
def program(folder, name, text=OBEYS):
    """Run a process as a program of a plane's supervisord; yields it when it has begun."""
    environment = dict(os.environ, **{LAB_DIR_VARIABLE: str(folder)}, **({NAME_VARIABLE: name} if name else {}))
    with subprocess.Popen([sys.executable, "-c", text], env=environment, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as found:
        try:
            found.stdout.readline()
            yield found
        finally:
            found.stdin.close()
            found.kill()


@pytest.fixture
def plane(tmp_path):
    """A plane with the configuration of two programs and no supervisord."""
    layout = Layout(str(tmp_path / "supervisor"))
    for folder in (layout.programs_dir, layout.ready_dir):
        os.makedirs(folder)
    for name in ("ironic", "etcd"):
        with open(layout.program_file(name), "w", encoding="utf-8") as stream:
            stream.write(f"[program:{name}]\n")
    return Supervisor(layout)


def test_processes_are_known_by_folder_and_program(tmp_path):
    with program(tmp_path, "ironic") as one, program(tmp_path / "other", "ironic-api") as two, \
            program(tmp_path, "") as three:
        found = [item for item in orphans.programs() if item.lab_dir.startswith(str(tmp_path))]
        assert sorted(found, key=lambda item: item.pid) == sorted(
            [orphans.Program(str(tmp_path), "ironic", one.pid),
             orphans.Program(str(tmp_path / "other"), "ironic-api", two.pid),
             orphans.Program(str(tmp_path), "", three.pid)], key=lambda item: item.pid)
        assert {str(tmp_path), str(tmp_path / "other")} <= orphans.lab_dirs()


@contextlib.contextmanager
def titled(plane, title):
    """Run a process that has written a title over its environment, as Ironic does, in the supervisord's session.

    Its session is its own: that of the tests may have begun outside a container, and is 0 then.
    """
    with subprocess.Popen([title], executable="/bin/cat", env={}, cwd=plane.layout.lab_dir, start_new_session=True,
                          stdin=subprocess.PIPE) as found:
        try:
            with open(plane.layout.pid_file, "w", encoding="utf-8") as stream:
                stream.write(str(found.pid))
            # Its files are closed, by which it counts as started, somewhat before the kernel knows its title.
            known = pathlib.Path(f"/proc/{found.pid}/cmdline")
            assert eventually(lambda: title.encode() in known.read_bytes(), ENDLESS_SECONDS)
            yield found
        finally:
            found.stdin.close()
            found.kill()


@pytest.mark.parametrize("title, name", [
    ("ironic: master process [ironic]", "ironic"), ("ironic-conductor: worker(0)", "ironic-conductor-2")])
def test_a_lost_program_that_hides_its_environment_is_stopped(plane, title, name):
    with titled(plane, title) as lost:
        found = [item for item in orphans.programs(lab_dir=plane.layout.lab_dir) if item.pid == lost.pid]
        assert [item.is_of(name) for item in found] == [True] and not found[0].is_of("ironic-api")
        process_group.stop(plane, ["ironic-api"])
        assert lost.poll() is None
        process_group.stop(plane, [name])
        assert lost.wait(10) < 0


def test_a_program_that_hides_its_environment_is_known_in_a_folder_whose_path_has_a_link(plane, tmp_path):
    """The second run would be refused, since Ironic's port were taken by a foreign process."""
    link = str(tmp_path.parent / f"{tmp_path.name}-link")
    os.symlink(tmp_path, link)
    with titled(plane, "ironic: master process [ironic]") as lost:
        assert lost.pid in orphans.processes(link)
        assert lost.pid in [item.pid for item in orphans.programs(lab_dir=link)]


def test_what_is_mounted_is_known_in_a_folder_whose_path_has_a_link(tmp_path):
    """The kernel names paths without links."""
    (tmp_path / "real" / "root").mkdir(parents=True)
    link, mounts, blocks = tmp_path / "link", tmp_path / "mountinfo", tmp_path / "block"
    link.symlink_to(tmp_path / "real")
    mounts.write_text(f"36 35 98:0 / {tmp_path}/real/root rw - ext4 /dev/loop7 rw\n")
    (blocks / "loop7" / "loop").mkdir(parents=True)
    (blocks / "loop7" / "loop" / "backing_file").write_text(f"{tmp_path}/real/disk.img\n")
    assert orphans.mounts(str(link), str(mounts)) == [f"{tmp_path}/real/root"]
    assert orphans.loop_devices(str(link), str(blocks)) == ["/dev/loop7"]


def test_a_folder_that_somebody_names_is_not_waited_for(tmp_path):
    """Any process may name any folder as its lab's, with anything in it."""
    os.makedirs(tmp_path / "supervisor")
    os.mkfifo(Layout(str(tmp_path / "supervisor")).pid_file)
    with program(tmp_path, "ironic") as one:
        assert orphans.Program(str(tmp_path), "ironic", one.pid) in orphans.programs()


@pytest.mark.parametrize("text", [OBEYS, IGNORES], ids=["polite", "hard"])
def test_a_program_whose_supervisord_was_killed_is_stopped(plane, monkeypatch, text):
    """It would be taken for one that has stopped: an Ironic goes on with power over servers."""
    monkeypatch.setattr(orphans, "TERMINATE_SECONDS", 0.2)
    folder = plane.layout.lab_dir
    with program(folder, "ironic", text) as lost, program(folder, "etcd") as stays, \
            program(folder + "-2", "ironic") as others:
        assert process_group.stop(plane, ["ironic"], check_mode=True) == {"ironic": "stopped"}
        assert lost.poll() is None
        assert process_group.stop(plane, ["ironic"]) == {"ironic": "stopped"}
        assert lost.wait(10) < 0 and stays.poll() is None and others.poll() is None
    assert not os.path.exists(plane.layout.program_file("ironic"))


def test_one_that_survives_is_named(plane, monkeypatch):
    monkeypatch.setattr(orphans, "TERMINATE_SECONDS", 0.1)
    monkeypatch.setattr(orphans, "KILL_SECONDS", 0.1)
    monkeypatch.setattr(orphans, "_signal", lambda *_arguments: None)
    with program(plane.layout.lab_dir, "ironic") as lost, pytest.raises(
            orphans.CleanupError, match=rf"processes {lost.pid} survive SIGKILL"):
        process_group.stop(plane, ["ironic"])
    # The next run knows by it that it is there.
    assert os.path.exists(plane.layout.program_file("ironic"))
