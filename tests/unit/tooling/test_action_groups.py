# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""meta/runtime.yml: each action group holds the modules whose options it is meant to default, and no other."""
from __future__ import annotations

import ast
import pathlib

import pytest
from tooling import ansible_yaml

REPOSITORY = pathlib.Path(__file__).parents[3]
GROUPS = ansible_yaml.read(REPOSITORY / "meta" / "runtime.yml")["action_groups"]
MODULES = sorted((REPOSITORY / "plugins" / "modules").glob("*.py"))


def documentation(path):
    """Return a module's DOCUMENTATION as a dict, without importing the module."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "DOCUMENTATION":
            return ansible_yaml.load(ast.literal_eval(node.value))
    raise AssertionError(f"{path} has no DOCUMENTATION")


def fragments(path):
    """Return the documentation fragments a module names."""
    named = documentation(path).get("extends_documentation_fragment", [])
    return [named] if isinstance(named, str) else named


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_group_is_complete(group):
    using = [path.stem for path in MODULES if f"metal3.baremetal.{group}" in fragments(path)]
    assert using, f"no module uses the fragment metal3.baremetal.{group}"
    assert sorted(using) == GROUPS[group]
