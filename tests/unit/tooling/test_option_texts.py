# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An option that several modules have is described in a fragment, and not in each of them."""
from __future__ import annotations

import ast
import json
from collections import defaultdict
from pathlib import Path

from tooling import ansible_yaml

MODULES = Path(__file__).parents[3] / "plugins" / "modules"


def documentation(path):
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "DOCUMENTATION":
            return ansible_yaml.load(node.value.value)
    return {}


def test_no_two_modules_describe_the_same_suboptions():
    found = defaultdict(list)
    for path in sorted(MODULES.glob("*.py")):
        for name, option in (documentation(path).get("options") or {}).items():
            if len(option.get("suboptions") or {}) > 1:
                found[json.dumps(option["suboptions"], sort_keys=True)].append(f"{path.stem}: {name}")
    assert [places for places in found.values() if len(places) > 1] == []
