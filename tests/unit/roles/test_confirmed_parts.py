# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What install has confirmed is all that a part's role may interrupt: a number counts once, for what was named then."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from fakes import playbook

ROLES = Path(__file__).resolve().parents[3] / "roles"
INVENTORY = "all: {hosts: {one: {ansible_connection: local}}}\n"
FILES = sorted((role, path.name) for role in ("bmo", "capi", "capm3", "cert_manager", "ipam")
               for path in (ROLES / role / "tasks").glob("*.yml") if "_confirmed_parts" in path.read_text())


def expressions(role, file):
    """Return what a role's tasks give as a confirmation."""
    return [arguments["confirm"] for task in yaml.safe_load((ROLES / role / "tasks" / file).read_text())
            for arguments in task.values() if isinstance(arguments, dict) and "confirm" in arguments]


def test_each_role_that_writes_parts_is_looked_at():
    assert len(FILES) == 9


@pytest.mark.parametrize("role, file", FILES)
def test_a_number_does_not_count_again_after_what_was_confirmed(tmp_path, role, file):
    (expression,) = expressions(role, file)
    cases = [({}, ""), ({"metal3_confirm": "1"}, "1"), ({"metal3_confirm": "1", f"{role}_confirmed_parts": []}, ""),
             ({"metal3_confirm": "1", f"{role}_confirmed_parts": ["a", "b"]}, "a,b")]
    text = json.dumps([{
        "hosts": "all", "gather_facts": False, "vars_files": [str(ROLES / role / "defaults" / "main.yml")],
        "vars": given, "tasks": [{"assert": {
            "that": f"found == {json.dumps(expected)}", "fail_msg": "found {{ found }}"}, "vars": {
                "found": expression}}]} for given, expected in cases])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
    assert code == 0, output
