# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are written whole, and what others may have put in their place."""
from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import whole_file


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "file"


def test_a_file_is_written_once_with_its_mode(path):
    assert whole_file.write(str(path), b"new", 0o640, True) == b"" and not path.exists()
    assert whole_file.write(str(path), b"new", 0o640, False) == b""
    assert path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == 0o640
    assert whole_file.write(str(path), b"new", 0o640, False) is None
    assert whole_file.write(str(path), b"new", 0o600, False) == b"new"
    assert whole_file.write(str(path), b"newer", 0o600, True) == b"new" and path.read_bytes() == b"new"
    assert os.listdir(path.parent) == ["file"]


def pipe(path):
    os.mkfifo(path)


def link_to_a_device(path):
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("put", [pipe, link_to_a_device])
@pytest.mark.parametrize("check_mode", [True, False])
def test_a_pipe_or_device_in_the_place_of_a_file_keeps_no_run_waiting_and_is_replaced(path, put, check_mode):
    """The folder may be one that a web server writes into."""
    path.parent.mkdir()
    put(path)
    assert whole_file.write(str(path), b"new", 0o644, check_mode) == b""
    assert check_mode or (stat.S_ISREG(path.lstat().st_mode) and path.read_bytes() == b"new")


def test_of_a_long_file_no_more_is_read_than_is_compared(path, monkeypatch):
    monkeypatch.setattr(whole_file, "_COMPARED_BYTES", 8)
    path.parent.mkdir()
    path.write_bytes(b"x" * 100)
    path.chmod(0o600)
    assert whole_file.write(str(path), b"new", 0o600, True) == b"x" * 9
    assert whole_file.write(str(path), b"x" * 100, 0o600, True) is None


HOLDER = """
import sys, time
from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import whole_file
with whole_file.writing(sys.argv[1], 0o600) as stream:
    stream.write(b"half")
    stream.flush()
    print(stream.name, flush=True)
    time.sleep(600)
"""


def age(path):
    os.utime(path, (time.time() - 3600,) * 2, follow_symlinks=False)


def test_what_a_killed_run_has_left_goes_with_the_next_one_and_a_living_run_s_stays(path):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True,
                              env=dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))))
    try:
        holder.stdout.readline()
        partial = next(path.parent.iterdir())
        age(partial)
        whole_file.write_private(str(path), b"new")
        assert partial.read_bytes() == b"half"
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert partial.exists()
        whole_file.write_private(str(path), b"newer")
        assert [item.name for item in path.parent.iterdir()] == ["file"]
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


def test_what_is_young_or_of_another_name_kind_or_owner_stays(path, monkeypatch):
    path.parent.mkdir()
    names = [".metal3-abcdefgh", ".metal3-abcdefghi", ".metal3-image-abcdefgh", "metal3-abcdefgh"]
    for name in names:
        (path.parent / name).write_text("somebody's")
    for name in names[1:]:
        age(path.parent / name)
    (path.parent / ".metal3-00000000").mkdir()
    (path.parent / ".metal3-11111111").symlink_to(path.parent / names[-1])
    for name in (".metal3-00000000", ".metal3-11111111"):
        age(path.parent / name)
    before = sorted(os.listdir(path.parent))
    whole_file.write_private(str(path), b"new")
    assert sorted(os.listdir(path.parent)) == sorted([*before, "file"])
    age(path.parent / names[0])
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 4711)
        whole_file.write_private(str(path), b"newer")
    assert Path(path.parent / names[0]).exists()


def test_a_folder_that_cannot_be_listed_is_written_to(path, monkeypatch):
    def refused(_path):
        raise PermissionError

    monkeypatch.setattr(os, "listdir", refused)
    whole_file.write_private(str(path), b"new")
    assert path.read_bytes() == b"new"
