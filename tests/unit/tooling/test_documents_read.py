# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON and YAML are read in one place, which knows what Python makes of what others write."""
from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[3] / "plugins"
READER = "module_utils/_common/documents/document_text.py"
READING = re.compile(r"json\.(loads?|JSONDecoder|decoder)|yaml\.(\w+_)?(load|compose)(_all)?"
                     r"|.*\.(raw_decode|get_single_data|get_single_node)")
# The last part of what READING is for: to write each attribute as text is most of the search.
READING_ATTRIBUTE = re.compile(r"loads?|JSONDecoder|decoder|(\w+_)?(load|compose)(_all)?"
                               r"|raw_decode|get_single_data|get_single_node")
LIBRARIES = ("json", "yaml")
FAULTS = {"RecursionError", "YAMLError"}
# Who else may know of these faults, with the reason.
KNOWING = {
    "module_utils/_common/documents/yaml_bounds.py": "events of YAML are read before anything is loaded",
    "module_utils/_common/documents/tar_headers.py": "tarfile reads one header inside of the other",
    "module_utils/_logs/log_texts.py": "as tar_headers.py, with all that may be compressed",
}


def direct(tree):
    """Return the lines that read JSON or YAML themselves."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            # The second is an answer of requests, too.
            reads = READING_ATTRIBUTE.fullmatch(node.attr) and READING.fullmatch(ast.unparse(node))
        elif isinstance(node, ast.Call):
            reads = isinstance(node.func, ast.Attribute) and node.func.attr == "json" and not node.args
        elif isinstance(node, ast.ImportFrom):
            reads = node.level == 0 and str(node.module).partition(".")[0] in LIBRARIES
        else:
            reads = isinstance(node, ast.Import) and any(alias.name in LIBRARIES and alias.asname
                                                         for alias in node.names)
        if reads:
            found.append(node.lineno)
    return sorted(found)


def faults(tree):
    """Return the lines that name what is raised for a document, or any depth."""
    return sorted(node.lineno for node in ast.walk(tree) if (
        node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None) in FAULTS)


@pytest.mark.parametrize("line", [
    "json.loads(x)", "json.load(x)", "read = json.loads", "json.JSONDecoder().decode(x)", "yaml.load(x, Loader=y)",
    "yaml.load_all(x, y)", "yaml.safe_load(x)", "yaml.safe_load_all(x)", "yaml.full_load(x)",
    "loader.get_single_data()", "response.json()", "from json import loads", "from yaml import safe_load",
    "import json as j", "from json.decoder import JSONDecoder"])
def test_the_search_finds_what_it_is_for(line):
    assert direct(ast.parse(line)) == [1]


@pytest.mark.parametrize("line", [
    "json.dumps(x)", "yaml.safe_dump(x)", "yaml.SafeLoader", "yaml.parse(x, y)", "loader.load(x)", "import json",
    "load(x)", "from .json import read", "from_json(x)", "text = 'json.loads(x)'", "response.json"])
def test_the_search_finds_nothing_else(line):
    assert not direct(ast.parse(line))


def test_the_search_finds_the_faults():
    text = "try:\n    pass\nexcept (ValueError, RecursionError):\n    pass\nexcept yaml.YAMLError:\n    pass\n"
    assert faults(ast.parse(text)) == [3, 5]
    assert not faults(ast.parse("try:\n    pass\nexcept ValueError:\n    'RecursionError'\n"))


@pytest.mark.parametrize("path", sorted(PLUGINS.rglob("*.py")), ids=lambda path: str(path.relative_to(PLUGINS)))
def test_documents_are_read_in_one_place(path):
    name, tree = str(path.relative_to(PLUGINS)), ast.parse(path.read_text(encoding="utf-8"))
    reading, knowing = direct(tree), faults(tree)
    if name == READER:
        assert reading and knowing
        return
    assert not reading, f"{name}: lines {reading}: read it by from_json or from_yaml of {READER}"
    assert bool(knowing) == (name in KNOWING), f"{name}: lines {knowing}: {READER} raises DocumentError"
