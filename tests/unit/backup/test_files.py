# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of backups, which of them go, and what is refused of the options."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._backup import files
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress

PREFIX = files.prefix_of("metal3", "uid-1")
NAMES = [files.name_of(PREFIX, f"2026-01-0{day}T00:00:00Z") for day in (1, 2, 3)]


def test_names_of_one_cluster_sort_by_time_and_are_no_other_clusters():
    assert sorted(NAMES) == NAMES
    assert PREFIX not in (files.prefix_of("metal3", "uid-2"), files.prefix_of("other", "uid-1"))


@pytest.mark.parametrize("keep, expected", [(None, []), (3, []), (2, NAMES[:1]), (1, NAMES[:2])])
def test_all_but_the_newest_are_outdated(keep, expected):
    others = ["notes.txt", files.name_of(files.prefix_of("metal3", "uid-2"), "2025-01-01T00:00:00Z"),
              files.name_of(f"{PREFIX}-b", "2025-01-01T00:00:00Z")]
    assert files.outdated([*others, *reversed(NAMES)], PREFIX, keep) == expected


def test_the_new_one_counts_before_it_is_there_and_does_not_go(tmp_path):
    assert files.outdated_in(str(tmp_path / "absent"), PREFIX, 1, NAMES[2]) == []
    for name in NAMES[:2]:
        (tmp_path / name).touch()
    assert files.outdated_in(str(tmp_path), PREFIX, 2, NAMES[2]) == [str(tmp_path / NAMES[0])]


def test_what_another_run_has_removed_already_is_not_missed(tmp_path):
    paths = [tmp_path / name for name in NAMES[:2]]
    paths[1].touch()
    progress = Progress(None)
    assert files.remove(map(str, paths), progress) == [str(paths[1])] and not paths[1].exists()
    assert [item["object"] for item in progress.written] == [str(paths[1])]


@pytest.mark.parametrize("recipients, keep, fields", [
    (["age1"], None, []), (["age1"], 1, []), (["age1"], 0, ["keep"]), ([], None, ["recipients"]),
    ([], -1, ["keep", "recipients"])])
def test_what_is_wrong_with_the_options_is_named(recipients, keep, fields):
    assert [problem.field for problem in files.option_problems(recipients, keep)] == fields
