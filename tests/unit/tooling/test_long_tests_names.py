# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests and benchmarks that run for hours, and seldom, name only what the collection has."""
from __future__ import annotations

import ast
import importlib
import types
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]
FILES = sorted(path for folder in ("lab", "benchmark", "awx", "metalstack") for path in (TESTS / folder).rglob("*.py"))
COLLECTION = "ansible_collections.metal3.baremetal."


def _imported(tree):
    """Yield ``(name, what)`` of all that a file imports from the collection."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(COLLECTION):
            package = importlib.import_module(node.module)
            for alias in node.names:
                if not hasattr(package, alias.name):
                    importlib.import_module(f"{node.module}.{alias.name}")
                yield alias.asname or alias.name, getattr(package, alias.name)


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(TESTS)) for path in FILES])
def test_what_a_file_names_is_there(path):
    tree = ast.parse(path.read_text())
    # A package has its modules only once somebody has imported them.
    modules = dict((name, what) for name, what in _imported(tree)
                   if isinstance(what, types.ModuleType) and not hasattr(what, "__path__"))
    assert [f"line {node.lineno}: {node.value.id}.{node.attr}" for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            and node.value.id in modules and not hasattr(modules[node.value.id], node.attr)] == []
