# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of the cache: complete or not there, whatever ended the run that made them; their names."""
from __future__ import annotations

import os

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import cache_entry, file_lock
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress


def test_a_failed_build_leaves_nothing(tmp_path):
    directory = str(tmp_path / "cache" / "key")
    with pytest.raises(RuntimeError), cache_entry.making(directory, Progress()) as partial:
        (tmp_path / "cache" / "key.partial" / "half").write_text("x")
        assert os.path.isdir(partial)
        raise RuntimeError
    assert sorted(os.listdir(tmp_path / "cache")) == ["key.lock"]


def test_nobody_else_can_hold_the_lock(tmp_path):
    """Who may read it may lock it; earlier releases let everybody."""
    lock = tmp_path / "key.lock"
    lock.write_text("")
    lock.chmod(0o644)
    with cache_entry.making(str(tmp_path / "key"), Progress()):
        assert lock.stat().st_mode & 0o777 == 0o600
    lock.unlink()
    lock.symlink_to(tmp_path / "somebody's")
    with pytest.raises(OSError), cache_entry.making(str(tmp_path / "key"), Progress()):
        raise AssertionError
    assert not (tmp_path / "somebody's").exists()


def test_what_a_killed_build_left_is_not_taken_for_complete(tmp_path):
    directory = str(tmp_path / "key")
    os.makedirs(directory + ".partial")
    (tmp_path / "key.partial" / "half").write_text("x")
    with cache_entry.making(directory, Progress()) as partial:
        assert os.listdir(partial) == []
        (tmp_path / "key.partial" / "whole").write_text("x")
    assert os.listdir(directory) == ["whole"]
    with cache_entry.making(directory, Progress()) as partial:
        assert partial is None


def test_what_killed_builds_of_other_entries_have_left_goes_with_the_next_one(tmp_path):
    """Gigabytes of a system, of which nobody asks again once an option was changed."""
    for name in ("killed", "running", "of-another-kind"):
        (tmp_path / f"{name}.partial" / "work").mkdir(parents=True)
    for name in ("killed", "running"):
        (tmp_path / f"{name}.lock").write_text("")
    with file_lock.held(str(tmp_path / "running.lock")), cache_entry.making(str(tmp_path / "key"), Progress()):
        assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == [
            "key.partial", "of-another-kind.partial", "running.partial"]


def test_another_part_or_another_order_is_another_name():
    parts = ["recipe", "x86_64", b"\xff"]
    assert cache_entry.key(parts) == cache_entry.key(iter(parts))
    names = {cache_entry.key(other) for other in (parts, ["recipe", "x86_64"], ["x86_64", "recipe", b"\xff"],
                                                  ["recipex86_64", b"\xff"], ["recipe", "x86_64", b"\xfe"])}
    assert len(names) == 5 and all(len(name) == 16 for name in names)


def test_the_name_of_an_entry_stays_what_it_is():
    # What is in the caches of users is made again otherwise, which takes minutes to an hour.
    assert cache_entry.key(("1", "go1.26.8", b"text")) == "93d379ff66ae58c0"
