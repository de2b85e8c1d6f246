# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders for what nobody else may read: gone at the end, and what killed runs have left is gone with the next one."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import private_folder

PREFIX = "metal3-test-"
HOLDER = """
import os, sys, tempfile, time
from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import private_folder
tempfile.tempdir = sys.argv[1]
with private_folder.folder("metal3-test-") as path:
    open(os.path.join(path, "secret"), "w").close()
    print(path, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def parent(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def age(path, seconds=3600):
    os.utime(path, (time.time() - seconds,) * 2)


def names(parent):
    return sorted(path.name for path in parent.iterdir())


def test_a_folder_is_its_owner_s_and_goes_at_the_end_and_by_an_error(parent):
    with private_folder.folder(PREFIX) as path:
        assert os.stat(path).st_mode & 0o777 == 0o700 and Path(path).parent == parent
    with pytest.raises(KeyError), private_folder.folder(PREFIX):
        raise KeyError
    assert names(parent) == []


def test_what_a_killed_run_has_left_goes_with_the_next_one_and_a_living_run_s_stays(parent):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(parent)], stdout=subprocess.PIPE, text=True,
                              env=dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))))
    try:
        path = Path(holder.stdout.readline().strip())
        age(path)
        with private_folder.folder(PREFIX):
            assert (path / "secret").exists()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert (path / "secret").exists()
        with private_folder.folder(PREFIX):
            assert not path.exists()
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


def test_what_is_young_of_another_name_or_behind_a_link_stays(parent, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "file").write_text("mine")
    age(elsewhere)
    (parent / (PREFIX + "link")).symlink_to(elsewhere)
    os.utime(parent / (PREFIX + "link"), (0, 0), follow_symlinks=False)
    for name in (PREFIX + "young", "other", PREFIX + "old"):
        (parent / name).mkdir()
    (parent / (PREFIX + "file")).write_text("a file")
    for name in ("other", PREFIX + "old", PREFIX + "file"):
        age(parent / name)
    with private_folder.folder(PREFIX):
        pass
    assert names(parent) == [PREFIX + "file", PREFIX + "link", PREFIX + "young", "other"]
    assert (elsewhere / "file").read_text() == "mine"


def test_folders_of_another_user_stay(parent, monkeypatch):
    (parent / (PREFIX + "a")).mkdir()
    age(parent / (PREFIX + "a"))
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with private_folder.folder(PREFIX):
        pass
    assert names(parent) == [PREFIX + "a"]
