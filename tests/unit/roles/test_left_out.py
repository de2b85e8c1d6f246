# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks that destroy or interrupt where the task that asks was left out alone (``--step``), and all else has run."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from fakes import playbook

ROLES = Path(__file__).resolve().parents[3] / "roles"
INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  children:
    management: {hosts: {one: , two: }}
"""
PLAN = {"due": True, "handover": {"starts": True, "address": True, "dhcp": False}}
RESTORE = {"due": True, "objects": {"BareMetalHost": 1}, "created": ["BareMetalHost lost"], "namespace": "metal3",
           "to_release": ["lost"], "verdicts": [{"name": "lost", "is_there": False, "is_held": False}]}
# Role, file, what of it was read before, and what is missing.
CASES = {
    "pivot": ("pivot", "moved.yml", {
        "pivot_plan": dict(PLAN, confirmation="repeat how many"), "pivot_nodes_deleted": {"changed": True}},
        "repeat how many"),
    "undone": ("pivot", "undone.yml", {"pivot_state": "undone", "pivot_back": dict(PLAN, confirmation="how many")},
               "how many"),
    "restore": ("restore", "main.yml", {"restore_plan": RESTORE, "restore_release": True}, "set metal3_confirm=1"),
    "firmware": ("hosts", "firmware.yml", {
        "hosts_firmware_live": ["h1"], "hosts_firmware_asked": [], "hosts_names": []},
        "This reboots 1 server (h1), in use by a deployed system. To continue, set metal3_confirm=1."),
    "plane": ("bootstrap_plane", "main.yml", {
        "bootstrap_plane_found": {"existed": True}, "bootstrap_plane_upgrade": {"confirmation": "repeat etcd"},
        "bootstrap_plane_confirmable": True}, "repeat etcd"),
    "lab": ("lab", "main.yml", {"lab_found": {"existed": True}, "bootstrap_plane_upgrade": {
        "confirmation": "repeat etcd"}}, "repeat etcd"),
}
TASKS = [
    ("pivot", "Hold the hosts and save their status"), ("pivot", "Stop the Ironic of the plane that lets go"),
    ("pivot", "Let the Ironic that takes over have what the former one had"), ("pivot", "Move hosts and clusters"),
    ("undone", "Have address and DHCP again"), ("undone", "Take the move back"),
    ("restore", "Restore what is not there"), ("restore", "Release the hosts and wait until they are what they were"),
    ("firmware", "Reboot the servers in use for which something is pending"), ("plane", "Give the plane its figures"),
    ("lab", "Give the lab its figures")]
CONFIRMED = {"pivot": {"pivot_plan": dict(PLAN, confirmation="")}, "undone": {"pivot_back": PLAN},
             "restore": {"metal3_confirm": "lost"}, "firmware": {"metal3_confirm": "1"},
             "plane": {"bootstrap_plane_upgrade": {"confirmation": ""}},
             "lab": {"bootstrap_plane_upgrade": {"confirmation": ""}}}


def play(tmp_path, case, name, *arguments, **given):
    """Run a task that says what it would do, with the condition and variables of the one of this name."""
    role, file, read, _words = CASES[case]
    task = next(task for task in yaml.safe_load((ROLES / role / "tasks" / file).read_text()) if task["name"] == name)
    folder = ROLES / role
    text = json.dumps([{
        "hosts": "management", "gather_facts": False,
        "vars_files": [str(folder / "defaults" / "main.yml"), str(folder / "vars" / "main.yml")],
        "tasks": [{"debug": {"msg": "goes on"}, "when": task["when"], "vars": task.get("vars", {})}]}])
    (tmp_path / "given.json").write_text(json.dumps(dict(read, **given)))
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", "@given.json", *arguments)
    return code, '"goes on"' in output, " ".join(output.split())


@pytest.mark.parametrize(("case", "name"), TASKS)
def test_what_was_not_asked_is_not_done(tmp_path, case, name):
    code, is_done, output = play(tmp_path, case, name, "--limit", "one")
    assert code != 0 and not is_done and CASES[case][3] in output, output
    code, is_done, output = play(tmp_path, case, name, "--limit", "one", **CONFIRMED[case])
    assert code == 0 and is_done, output


@pytest.mark.parametrize(("case", "name"), [item for item in TASKS if item[0] in ("pivot", "undone", "restore")])
def test_one_number_is_for_one_plane(tmp_path, case, name):
    code, is_done, output = play(tmp_path, case, name, **CONFIRMED[case])
    assert code != 0 and not is_done and "(one, two) in this play, expected one" in output, output


@pytest.mark.parametrize(("role", "file", "module"), [
    ("cluster", "machines.yml", "machine_action"), ("etcd", "restore.yml", "etcd_restore")])
def test_of_several_clusters_none_is_given_the_confirmation(tmp_path, role, file, module):
    (expression,) = (task[f"metal3.baremetal.{module}"]["confirm"] for task in yaml.safe_load(
        (ROLES / role / "tasks" / file).read_text()) if f"metal3.baremetal.{module}" in task)
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [
        {"debug": {"msg": "given(" + expression + ")"}}]}])
    for limit, given in (("one", "given(3)"), ("one,two", "given()")):
        code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "--limit", limit, "-e", "metal3_confirm=3")
        assert code == 0 and f'"{given}"' in output, output


def test_an_upgrade_that_nobody_confirmed_interrupts_no_part(tmp_path):
    """The parts of the plan were given to the roles as confirmed, whatever the plan asks for."""
    play_vars = yaml.safe_load((ROLES.parent / "playbooks" / "install.yml").read_text())[-1]["vars"]
    names = ("install_unconfirmed", "install_interrupted")
    text = json.dumps([{"hosts": "one", "gather_facts": False, "vars": {name: play_vars[name] for name in names},
                        "tasks": [{"debug": {"msg": "parts {{ install_interrupted | join('+') }}."}}]}])
    upgrades = [{"part": "capi", "interrupts": True}, {"part": "ipam", "interrupts": False}]
    cases = [
        ({"install_plan": {"upgrades": upgrades, "confirmation": "repeat 1"}}, [], "parts ."),
        ({"install_plan": {"upgrades": upgrades, "confirmation": "repeat 1"}}, ["--check"], "parts capi."),
        ({"install_plan": {"upgrades": upgrades, "confirmation": ""}}, [], "parts capi."),
        ({"install_plan": {"skipped": True}, "bootstrap_plane_upgrade": {
            "upgrades": upgrades, "confirmation": "repeat 1"}}, [], "parts ."),
        ({}, [], "parts .")]
    for given, arguments, words in cases:
        code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(given), *arguments)
        assert code == 0 and f'"{words}"' in output, (given, output)
