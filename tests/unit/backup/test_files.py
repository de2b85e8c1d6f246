# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and records of backups, which of them go, and what is refused of the options."""
from __future__ import annotations

import hashlib
import json
import os
import shutil

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._backup import files
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress

PREFIX = files.prefix_of("metal3", "uid-1")
NAMES = [files.name_of(PREFIX, f"2026-01-0{day}T00:00:00Z") for day in (1, 2, 3, 4)]
NEW = files.name_of(PREFIX, "2026-02-01T00:00:00Z")


def write(folder, name, usable=True):
    """Write a backup as a run does."""
    content = name.encode()
    facts = str(folder / name), len(content), hashlib.sha256(content).hexdigest()
    files.record(*facts, False)
    (folder / name).write_bytes(content)
    if usable:
        files.record(*facts, True)


def record_of(name):
    return f".{name}.json"


def outdated(folder, keep, name=NEW):
    found = files.outdated_in(str(folder), PREFIX, keep, name)
    return [os.path.basename(path) for path in found.paths], found.warnings


def test_names_of_one_cluster_sort_by_time_and_are_no_other_clusters():
    assert sorted(NAMES) == NAMES
    assert PREFIX not in (files.prefix_of("metal3", "uid-2"), files.prefix_of("other", "uid-1"))


@pytest.mark.parametrize("keep, expected", [(None, []), (5, []), (4, NAMES[:1]), (1, NAMES)])
def test_all_but_the_newest_are_outdated(tmp_path, keep, expected):
    for name in ["notes.txt", files.name_of(files.prefix_of("metal3", "uid-2"), "2025-01-01T00:00:00Z"),
                 files.name_of(f"{PREFIX}-b", "2025-01-01T00:00:00Z"), *reversed(NAMES)]:
        write(tmp_path, name)
    assert outdated(tmp_path, keep) == (expected, [])


def test_the_new_one_counts_before_it_is_there_and_does_not_go(tmp_path):
    assert outdated(tmp_path / "absent", 1) == ([], [])
    for name in NAMES[:2]:
        write(tmp_path, name)
    assert outdated(tmp_path, 2, NAMES[2]) == (NAMES[:1], [])


def _copied(folder):
    shutil.copyfile(folder / NAMES[1], folder / NAMES[0])
    return NAMES[0]


def _half(folder):
    (folder / NAMES[2]).write_bytes(b"half")
    return NAMES[2]


def _renamed(folder):
    os.rename(folder / NAMES[1], folder / NAMES[0])
    os.rename(folder / record_of(NAMES[1]), folder / record_of(NAMES[0]))
    return NAMES[0]


def _linked(folder):
    os.rename(folder / NAMES[1], folder / "elsewhere")
    os.symlink(folder / "elsewhere", folder / NAMES[1])
    return NAMES[1]


def _recorded_wrongly(folder):
    (folder / record_of(NAMES[1])).write_text(json.dumps(["no record"]))
    return NAMES[1]


@pytest.mark.parametrize("change", [_copied, _half, _renamed, _linked, _recorded_wrongly])
def test_what_no_run_has_written_neither_counts_nor_goes(tmp_path, change):
    for name in NAMES[1:]:
        write(tmp_path, name)
    other = change(tmp_path)
    mine = [name for name in NAMES[1:] if name != other and (tmp_path / name).exists()]
    # As many as are kept with the new one: if it counted, one of them would go for it.
    assert outdated(tmp_path, len(mine) + 1)[0] == []
    going, warnings = outdated(tmp_path, 1)
    assert going == mine and len(warnings) == 1 and other in warnings[0]


def test_another_content_of_the_same_length_does_not_go(tmp_path):
    for name in NAMES[:2]:
        write(tmp_path, name)
    (tmp_path / NAMES[0]).write_bytes(b"x" * len(NAMES[0]))
    going, warnings = outdated(tmp_path, 1)
    assert going == NAMES[1:2] and NAMES[0] in warnings[0]


def test_those_that_cannot_be_used_take_no_places_and_go_with_those_of_their_time(tmp_path):
    write(tmp_path, NAMES[0])
    for name in NAMES[1:]:
        write(tmp_path, name, usable=False)
    assert outdated(tmp_path, 2) == ([], [])
    assert outdated(tmp_path, 1) == (NAMES, [])


def test_what_a_wrong_clock_has_dated_ahead_takes_no_places(tmp_path):
    ahead = [files.name_of(PREFIX, f"2036-01-0{day}T00:00:00Z") for day in (1, 2)]
    for name in [*NAMES, *ahead]:
        write(tmp_path, name)
    assert outdated(tmp_path, 2) == (NAMES[:3], [])


def test_a_record_goes_with_its_backup_and_when_that_is_gone(tmp_path):
    for name in NAMES[:3]:
        write(tmp_path, name)
    (tmp_path / NAMES[1]).unlink()
    progress = Progress(None)
    found = files.outdated_in(str(tmp_path), PREFIX, 2, NEW)
    assert files.remove(found, progress) == [str(tmp_path / NAMES[0])]
    assert [item["object"] for item in progress.written] == [str(tmp_path / NAMES[0])]
    assert sorted(os.listdir(tmp_path)) == [record_of(NAMES[2]), NAMES[2]]


def test_what_another_run_has_removed_already_is_not_missed(tmp_path):
    for name in NAMES[:2]:
        write(tmp_path, name)
    found = files.outdated_in(str(tmp_path), PREFIX, 1, NEW)
    (tmp_path / NAMES[0]).unlink()
    (tmp_path / record_of(NAMES[0])).unlink()
    progress = Progress(None)
    assert files.remove(found, progress) == [str(tmp_path / NAMES[1])] and os.listdir(tmp_path) == []
    assert [item["object"] for item in progress.written] == [str(tmp_path / NAMES[1])]


def test_a_backup_is_on_the_disk_before_others_go_for_it(tmp_path, monkeypatch):
    """A machine that loses its power would have neither."""
    stored = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: stored.append(os.fstat(descriptor).st_ino))
    write(tmp_path, NAMES[0], usable=False)
    assert stored == []
    write(tmp_path, NAMES[0])
    assert stored == [os.stat(path).st_ino for path in (tmp_path / NAMES[0], tmp_path)]


def test_a_record_is_its_owners_alone(tmp_path):
    write(tmp_path, NAMES[0])
    assert os.stat(tmp_path / record_of(NAMES[0])).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("recipients, keep, fields", [
    (["age1"], None, []), (["age1"], 1, []), (["age1"], 0, ["keep"]), ([], None, ["recipients"]),
    ([], -1, ["keep", "recipients"])])
def test_what_is_wrong_with_the_options_is_named(recipients, keep, fields):
    assert [problem.field for problem in files.option_problems(recipients, keep)] == fields
