# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbook ``maintain`` asks for once, before the pods of a server are evicted."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from fakes import playbook

ROLE = Path(__file__).resolve().parents[3] / "roles" / "maintenance"
TASKS = dict((task["name"], task) for name in ("main.yml", "round.yml")
             for step in yaml.safe_load((ROLE / "tasks" / name).read_text()) for task in step.get("block", [step]))
INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  children: {baremetal: {hosts: {h1: , h2: , h3: }}}
"""


def play(tmp_path, confirm, live, serial):
    """Run the confirmations of the step firmware, that of the role and that of the role hosts before a reboot."""
    given = TASKS["Change BIOS settings and firmware"]["vars"]
    text = json.dumps([{
        "hosts": "baremetal", "gather_facts": False, "serial": serial, "any_errors_fatal": True,
        "vars_files": [str(ROLE / "vars" / "main.yml"), str(ROLE / "defaults" / "main.yml")],
        "vars": {"maintenance_step": "firmware", "pending": live}, "tasks": [
            TASKS["Ask for confirmation"], {"debug": {"msg": "drains"}, "run_once": True},
            {"import_role": {"name": "metal3.baremetal.hosts", "tasks_from": "firmware_confirm"}, "run_once": True,
             "vars": dict(given, hosts_firmware_live="{{ pending | select('in', ansible_play_batch) }}")},
            {"debug": {"msg": "reboots"}, "run_once": True}]}])
    # As if something were to change on all of them.
    return playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(
        {"metal3_confirm": confirm, "maintenance_round": "{{ maintenance_names }}"}))


@pytest.mark.parametrize("confirm, live, serial", [("3", ["h2"], 3), ("h3,h2,h1", [], 3), ("h1,h2,h3", ["h2"], 1)])
def test_what_was_confirmed_is_not_asked_for_again_after_the_servers_were_drained(tmp_path, confirm, live, serial):
    """The number of those that are rebooted was, which no run could give beside that of those that are drained."""
    code, output = play(tmp_path, confirm, live, serial)
    assert code == 0 and output.count('"reboots"') == 3 // serial, output


@pytest.mark.parametrize("confirm, serial", [("1", 3), ("1", 1)])
def test_nothing_is_drained_by_the_number_of_those_that_are_rebooted(tmp_path, confirm, serial):
    code, output = play(tmp_path, confirm, ["h2"], serial)
    assert code != 0 and '"drains"' not in output, output
