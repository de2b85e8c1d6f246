# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON of others may be nested deeper than Python reads: a mistake of theirs, and no traceback in a run over all."""
from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOM = Path(__file__).resolve().parents[3] / "plugins" / "module_utils"
# What nobody else writes, with the reason.
OWN = {
    "_cluster/resource_set.py": "what it has made itself",
    "_common/progress_pace.py": "lines that a module of this collection reports to its action plugin",
    "_images/agent_ramdisk.py": "a program of the ramdisk that is being built",
    "_images/disk_image.py": "what qemu-img prints",
    "_ironic/actions/inventory.py": "the inventory",
    "_host/rules/data.py": "the inventory",
    "_host/rules/metadata.py": "the inventory",
    "_kube/diff.py": "keys of managedFields, which the API server makes of a value without structures in it",
    "_mirror/programs.py": "a file of the folder of programs, which nobody else may write into",
    "_network/pending.py": "a file of the module's own user",
    "_network/systems.py": "what ip prints",
    "_plane/cluster/release_service.py": "whoever calls the function that reads it has the guard",
    "_plane/upgrade/rollback.py": "keys of managedFields, as in _kube/diff.py",
    "_plane/process/kubeconfig.py": "a token that this collection has made",
    "_plane/process/supervisor_files.py": "files of the plane",
}


def _names(handler):
    if handler.type is None:
        return {"RecursionError"}
    return set(node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)) | set(
        node.attr for node in ast.walk(handler.type) if isinstance(node, ast.Attribute))


def unguarded(text):
    """Return the lines that read JSON outside of a ``try`` for what is nested too deeply."""
    found = []

    def walk(node, guarded):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("json.loads", "json.load") and not guarded:
            found.append(node.lineno)
        for field, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    inside = isinstance(node, ast.Try) and field == "body" and any(
                        _names(handler) & {"RecursionError", "FAULTS", "Exception"} for handler in node.handlers)
                    walk(child, guarded or inside)

    walk(ast.parse(text), False)
    return found


def test_the_search_finds_what_it_is_for():
    assert unguarded("import json\njson.loads(x)\n") == [2]
    assert unguarded("try:\n    json.loads(x)\nexcept ValueError:\n    pass\n") == [2]
    assert unguarded("try:\n    json.load(x)\nexcept (ValueError, RecursionError):\n    pass\n") == []


@pytest.mark.parametrize("path", sorted(ROOM.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOM)))
def test_json_of_others_may_be_nested_too_deeply(path):
    name = str(path.relative_to(ROOM))
    lines = unguarded(path.read_text())
    assert not lines or name in OWN or name.startswith("_lab/"), f"{name}: lines {lines}"
    assert lines or name not in OWN, f"{name} is guarded by now"
