# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check mode builds the tools that it looks with (docs/decisions/0705), and nothing that is installed."""
from __future__ import annotations

from pathlib import Path

from tooling import ansible_yaml

REPOSITORY = Path(__file__).parents[3]
MODULE = "metal3.baremetal.plane_programs"
# What is built is what is installed, or gathered for another site.
INSTALLED = {"roles/lab/tasks/main.yml", "roles/bootstrap_plane/tasks/main.yml", "playbooks/mirror_gather.yml"}


def tasks(item):
    """Yield all tasks of a file, those of plays and blocks too."""
    if isinstance(item, list):
        for entry in item:
            yield from tasks(entry)
    elif isinstance(item, dict):
        yield item
        for part in ("pre_tasks", "tasks", "post_tasks", "block", "rescue", "always"):
            yield from tasks(item.get(part) or [])


def test_tools_are_built_in_check_mode_and_what_is_installed_is_not():
    found = {}
    for path in [*REPOSITORY.glob("roles/*/tasks/*.yml"), *REPOSITORY.glob("playbooks/**/*.yml")]:
        for task in tasks(ansible_yaml.read(path)):
            # With check_mode: true nothing is built at all.
            if MODULE in task and task.get("check_mode") is not True:
                found.setdefault(str(path.relative_to(REPOSITORY)), []).append(task.get("check_mode"))
    assert found.keys() > INSTALLED
    assert all(modes == [None if path in INSTALLED else False] for path, modes in found.items()), found
