# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role capm3: what its process and its Deployment get, whatever word of Ansible a boolean is given by."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from fakes import playbook

ROLE = Path(__file__).resolve().parents[3] / "roles" / "capm3"
INVENTORY = "management: {hosts: {m1: {ansible_connection: local, ansible_python_interpreter: " \
            "'{{ ansible_playbook_python }}'}}}"
PROCESS = yaml.safe_load((ROLE / "tasks" / "process.yml").read_text(encoding="utf-8"))[0]


@pytest.mark.parametrize(("given", "expected"), [("yes", "true"), ("off", "false"), (None, "false")])
def test_go_gets_a_word_that_it_knows(tmp_path, given, expected):
    """A flag that Go cannot read ends the program at its start; text comes from ``-e`` and from INI inventories."""
    path = tmp_path / "shown.json"
    (provider,) = PROCESS["metal3.baremetal.plane_provider"]["providers"]
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [
        {"include_vars": str(ROLE / "defaults" / "main.yml")}, {"include_vars": str(ROLE / "vars" / "main.yml")},
        {"copy": {"content": "{{ [process.arguments, capm3_parts[0].arguments] | to_json }}", "dest": str(path),
                  "mode": "0600"}, "vars": {"process": provider}}]}])
    variables = {"management_plane": {}} | ({} if given is None else {"capm3_name_based_preallocation": given})
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(variables))
    assert code == 0, output
    assert json.loads(path.read_text()) == [[f"--enable-bmh-name-based-preallocation={expected}"]] * 2
