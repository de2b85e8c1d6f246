# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role ``pivot`` releases no host in check mode before its move has ended or is taken back: that is refused."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from fakes import playbook

TASKS = Path(__file__).resolve().parents[3] / "roles" / "pivot" / "tasks"
INVENTORY = ("all: {hosts: {m1: {ansible_connection: local, "
             "ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}")


@pytest.mark.parametrize("file, registered", [("moved.yml", "pivot_plan"), ("undone.yml", "pivot_undone")])
def test_hosts_are_released_when_their_move_has_ended(tmp_path, file, registered):
    release = next(task for task in yaml.safe_load((TASKS / file).read_text())
                   if task.get("metal3.baremetal.plane_move_hosts", {}).get("state") == "released")
    for due, arguments, is_released in ((True, ["--check"], False), (False, ["--check"], True), (True, [], True)):
        text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars": {registered: {"due": due}}, "tasks": [
            {"debug": {"msg": "releases"}, "when": release["when"]}]}])
        code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", *arguments)
        assert code == 0 and ('"releases"' in output) is is_released, output


@pytest.mark.parametrize("file, registered", [("moved.yml", "pivot_plan"), ("undone.yml", "pivot_undone")])
def test_check_mode_warns_of_the_confirmation_that_is_missing(tmp_path, file, registered):
    warn = next(task for task in yaml.safe_load((TASKS / file).read_text())
                if task["name"] == "Report what a run without check mode asks for")
    for found, arguments, warns in (({"confirmation": "repeat how many"}, ["--check"], True),
                                    ({"confirmation": ""}, ["--check"], False), ({}, ["--check"], False),
                                    ({"confirmation": "repeat how many"}, [], False)):
        text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars": {registered: found}, "tasks": [warn]}])
        code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", *arguments)
        assert code == 0 and ("would be refused: repeat how many" in output) is warns, output
