# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions of tasks give a boolean: ansible-core refuses a text or a list at run time, when the task is reached."""
from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from jinja2 import Environment, nodes
from tooling import ansible_yaml

REPOSITORY = Path(__file__).parents[3]
READERS = ("bool", "metal3.baremetal.boolean")
KEYS = {"when", "that", "until", "failed_when", "changed_when"}


class _Loader(yaml.SafeLoader):
    """Reads files with tags of Ansible."""


_Loader.add_multi_constructor("!", lambda _loader, _suffix, _node: None)


def options(spec):
    """Yield the name and type of each option of an argument_specs file."""
    for name, value in (spec or {}).items():
        if isinstance(value, dict):
            if isinstance(value.get("type"), str):
                yield name, value["type"]
            yield from options(value)


BOOLEANS, OTHERS = set(), set()
for _path in REPOSITORY.glob("roles/*/meta/argument_specs.yml"):
    for _name, _type in options(ansible_yaml.read(_path)):
        (BOOLEANS if _type == "bool" else OTHERS).add(_name)


def conditions(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key in KEYS:
                yield from (text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str))
            yield from conditions(value)
    elif isinstance(node, list):
        for item in node:
            yield from conditions(item)


def leaves(node):
    """Yield the expressions of which one is the value of a condition."""
    if isinstance(node, (nodes.And, nodes.Or)):
        yield from leaves(node.left)
        yield from leaves(node.right)
    elif isinstance(node, nodes.CondExpr):
        yield from leaves(node.expr1)
        yield from leaves(node.expr2)
    else:
        yield node


def is_boolean(leaf):
    """Say whether an expression gives a boolean, as far as it shows: names of no option may be one."""
    if isinstance(leaf, (nodes.Compare, nodes.Test, nodes.Not)):
        return True
    if isinstance(leaf, nodes.Const):
        return isinstance(leaf.value, bool)
    if isinstance(leaf, nodes.Filter):
        return leaf.name in READERS or (leaf.name == "default" and len(leaf.args) == 1 and is_boolean(leaf.args[0])
                                        and is_boolean(leaf.node))
    return isinstance(leaf, nodes.Getattr) or (isinstance(leaf, nodes.Name) and leaf.name not in OTHERS - BOOLEANS)


def texts(text):
    """Return the parts of a condition that may be no boolean."""
    parsed = Environment(autoescape=True)._parse("{{ " + text + " }}", None, None)
    return [leaf for leaf in leaves(parsed.body[0].nodes[0]) if not is_boolean(leaf)]


@pytest.mark.parametrize("text, is_found", [
    ("lab_url | length > 0", False), ("lab_url is defined and lab_kind == 'x'", False), ("not lab_url", False),
    ("pivot_rehearsal | metal3.baremetal.boolean", False), ("lab_answer.changed", False), ("true", False),
    ("lab_answer.due | default(false)", False), ("lab_answer.url | default('')", True),
    ("pivot_to_kubeconfig", True), ("lab_options.url | default('') or true", True), ("lab_list | select", True)])
def test_a_text_is_found(text, is_found):
    assert bool(texts(text)) is is_found


def test_conditions_give_a_boolean():
    found, count = [], 0
    for path in sorted([*REPOSITORY.glob("roles/*/tasks/*.yml"), *REPOSITORY.glob("roles/*/handlers/*.yml"),
                        *REPOSITORY.glob("playbooks/**/*.yml")]):
        for document in yaml.load_all(path.read_text(encoding="utf-8"), _Loader):
            for text in conditions(document):
                count += 1
                if "{{" not in text and texts(text):
                    found.append(f"{path.relative_to(REPOSITORY)}: {text}")
    assert found == [] and count > 300
