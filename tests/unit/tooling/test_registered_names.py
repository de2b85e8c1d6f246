# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tasks register must not have an option's name: a task that is skipped registers, too, in place of a default."""
from __future__ import annotations

from pathlib import Path

import pytest
from tooling.ansible_yaml import read

ROLES = Path(__file__).resolve().parents[3] / "roles"
# Which plane the roles after it work on is what this role is for.
_SET_ON_PURPOSE = {("bootstrap_plane", "management_plane")}


def _options():
    found = set()
    for path in ROLES.glob("*/meta/argument_specs.yml"):
        for point in read(path)["argument_specs"].values():
            found |= set(point.get("options") or {})
    for path in ROLES.glob("*/defaults/main.yml"):
        found |= set(read(path) or {})
    return found


def _tasks(items):
    for task in items or []:
        yield task
        for part in ("block", "rescue", "always"):
            yield from _tasks(task.get(part))


def _names(role):
    for folder in ("tasks", "handlers"):
        for path in (role / folder).rglob("*.yml"):
            for task in _tasks(read(path)):
                facts = task.get("ansible.builtin.set_fact")
                for name in ([task["register"]] if "register" in task else []) + list(
                        facts if isinstance(facts, dict) else []):
                    yield f"{path.relative_to(ROLES)}: {task.get('name')}", name


@pytest.mark.parametrize("role", sorted(path.name for path in ROLES.iterdir()))
def test_nothing_that_is_registered_has_the_name_of_an_option(role):
    options = _options()
    assert [(where, name) for where, name in _names(ROLES / role)
            if name in options and (role, name) not in _SET_ON_PURPOSE] == []


def test_options_and_registered_names_are_found():
    assert "ironic_database" in _options()
    assert "ironic_database_step" in {name for _where, name in _names(ROLES / "ironic")}
