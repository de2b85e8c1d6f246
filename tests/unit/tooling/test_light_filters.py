# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters and tests import what they need when they are called.

For one name Ansible loads all files of the folder up to its own, in the process of each task (Jinja2Loader).
"""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
_LOAD_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module("ansible_collections.metal3.baremetal.plugins." + name)
print(*(name for name in sys.modules if ".plugins.module_utils" in name or ".plugins.plugin_utils" in name))
"""


@pytest.mark.parametrize("folder", ["filter", "test"])
def test_loading_them_loads_nothing_else(folder):
    names = [f"{folder}.{path.stem}" for path in sorted((REPOSITORY / "plugins" / folder).glob("*.py"))]
    assert names
    loaded = subprocess.run([sys.executable, "-c", _LOAD_ALL, *names], check=True, capture_output=True, text=True,
                            cwd=REPOSITORY / ".build").stdout.split()
    assert loaded == []
