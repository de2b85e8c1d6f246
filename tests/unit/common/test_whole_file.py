# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are written whole, and what others may have put in their place."""
from __future__ import annotations

import os
import stat

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
