# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one record of a problem: how it reads, what modules return of it, and that rules and documentation know it."""
from __future__ import annotations

import ast
import ipaddress
import pathlib
import re

import pytest
from tooling import ansible_yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import show
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.problem import (
    Problem,
    as_results,
    message,
    text,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._lint import rules as lint_rules

PLUGINS = pathlib.Path(__file__).parents[3] / "plugins"
MISSING = Problem("boot-mac-missing", "rack1-03", "boot_mac_address", None, "a MAC address", "set boot_mac_address")
NAMES = {"boot_mac_address": "boot_mac", "bmc.address": "bmc_address"}
# What the lint runs: each code in them is one of its rules.
LINTED = ["_host/rules/boot.py", "_host/rules/bmc.py", "_host/rules/data.py", "_host/rules/goal.py",
          "_host/rules/hint.py", "_host/rules/identity.py", "_host/rules/image.py", "_host/rules/metadata.py",
          "_host/rules/obsolete.py", "_host/rules/raid.py", "_cluster/checks/validation.py", "_cluster/checks/links.py",
          "_cluster/checks/networks.py", "_cluster/checks/groups.py", "_cluster/checks/user_data.py",
          "_cluster/checks/image.py", "_cluster/checks/address.py", "_cluster/checks/node_labels.py",
          "_cluster/checks/versions.py", "_cluster/checks/hosts.py", "_ipam/validation.py"]


def codes(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Problem" \
                and node.args and isinstance(node.args[0], ast.Constant):
            yield node.args[0].value


@pytest.mark.parametrize("problem, line", [
    (MISSING, "rack1-03: boot_mac_address: not set, expected a MAC address; set boot_mac_address"),
    (Problem("a", "", "ports", 0, "1 to 65535"), "ports: found 0, expected 1 to 65535"),
    (Problem("a", "b", "", "c", "d"), "b: found c, expected d"),
    (Problem("a", "", None, "c", "d"), "found c, expected d")])
def test_a_problem_reads_like_this(problem, line):
    assert text(problem) == str(problem) == line


@pytest.mark.parametrize("value, shown", [
    ("a b", '"a b"'),
    ("a\nb\r\n", '"a\\nb\\r\\n"'),
    ("\x1b[31mred\u202e", '"\\x1b[31mred\\u202e"'),
    ("x" * 121, '"' + "x" * 120 + '..."'),
    (7, "7"), (None, "null"), (["a", "b\n"], '["a", "b\\n"]'),
    (ipaddress.ip_address("192.0.2.1"), '"192.0.2.1"'),
    ("https://me:secret-word@192.0.2.1/", '"https://***@192.0.2.1/"')])
def test_a_value_is_shown_on_one_line_quoted_and_shortened(value, shown):
    assert show(value) == shown
    assert str(Problem("a", "b", "c", show(value), "d")) == f"b: c: found {shown}, expected d"


def test_a_phrase_that_quotes_somebody_else_steers_no_terminal():
    assert str(Problem("a", "", "", "no answer\n\x1b[2J", "d")) == "found no answer\\n\\x1b[2J, expected d"


def test_options_bear_the_names_that_the_reader_knows():
    assert text(MISSING, NAMES) == "rack1-03: boot_mac: not set, expected a MAC address; set boot_mac"


def test_all_problems_are_one_message_and_one_result():
    refused = RefusedError([MISSING, MISSING], NAMES)
    assert str(refused) == message([MISSING, MISSING], NAMES)
    assert str(refused).splitlines()[0] == "2 problems, nothing was changed:"
    assert refused.results() == as_results([MISSING] * 2, NAMES)
    assert list(refused.results()[0]) == ["code", "subject", "field", "actual", "expected", "hint", "text"]


def test_no_password_of_a_url_is_in_the_record():
    assert "secret-word" not in repr(Problem("a", "b", "c", "https://me:secret-word@192.0.2.1/", "d"))


def test_every_code_is_in_kebab_case():
    found = [code for path in sorted((PLUGINS / "module_utils").rglob("*.py")) for code in codes(path)]
    assert len(found) > 300 and all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in found)


@pytest.mark.parametrize("path", LINTED)
def test_every_code_that_the_lint_can_meet_is_one_of_its_rules(path):
    found = set(codes(PLUGINS / "module_utils" / path))
    assert found and found - set(lint_rules.BY_NAME) <= {"unknown-secret"}


def test_every_module_documents_its_problems_in_the_same_words():
    documented = {}
    for path in sorted((PLUGINS / "modules").glob("*.py")):
        returned = re.search(r'^RETURN = r?"""(.*?)"""', path.read_text(), re.DOTALL | re.MULTILINE)
        problems = (ansible_yaml.load(returned.group(1)) or {}).get("problems") if returned else None
        if problems:
            documented[path.stem] = problems
    # Theirs are what was found of BMCs, of an Ironic, of a network and of a plane, beside what was refused.
    for name in ("bmc_discovery", "ironic_check", "network_check", "plane_check"):
        assert documented.pop(name)["contains"] == documented["ip_pool"]["contains"]
    assert len(documented) > 15
    assert all(item == documented["ip_pool"] for item in documented.values())
    assert list(documented["ip_pool"]["contains"]) == [*Problem._fields, "text"]


def test_nothing_of_a_problem_steers_a_terminal():
    """Playbooks print its text in assertions, which Ansible shows as they are: names are those that objects have."""
    steering = "a\x1b[2J\x9b31m\u202eb"
    found = str(Problem("code", steering, "field", steering, steering, f"{steering}:\n    x"))
    assert not {"\x1b", "\x9b", "\u202e"} & set(found) and found.endswith("b:\n    x")
