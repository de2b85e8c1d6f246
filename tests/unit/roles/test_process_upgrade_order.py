# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An upgrade of a plane of processes is planned, and asked for, before anything of the plane is written."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

ROLES = Path(__file__).parents[3] / "roles"
PREFIX = "metal3.baremetal."
# Says on which terms it was called, and answers what the test wants.
STAND_IN = """\
from ansible.module_utils.basic import AnsibleModule
module = AnsibleModule({"name": {"type": "str"}, "log": {"type": "str"}, "confirm": {"type": "str"},
                        "parts": {"type": "list"}, "result": {"type": "dict"}}, supports_check_mode=True)
with open(module.params["log"], "a") as stream:
    stream.write(" ".join([module.params["name"], "checks" if module.check_mode else "writes",
                           module.params["confirm"] or "-", ",".join(module.params["parts"] or ["-"])]) + "\\n")
module.exit_json(**module.params["result"])
"""
INVENTORY = """\
management: {hosts: {bastion: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}}}
"""
FIGURES = {"name": "rack1", "dir": "/nowhere/rack1"}
# Last task of each role that matters, and what it writes by.
ENDS = {"bootstrap_plane": "Give the plane its figures", "lab": "Give the lab its figures"}
EVERY = "etcd,kubernetes,ironic,capi,cabpk,kcp,ipam,bmo,capm3"


def replaced(tasks, log, results):
    """Return tasks whose modules of the collection are stand-ins."""
    found = []
    for task in tasks:
        item = dict(task)
        for key in list(item):
            if key.startswith(PREFIX):
                given = item.pop(key)
                name = key.removeprefix(PREFIX)
                item["stand_in"] = {"name": name, "log": str(log), "result": results.get(name, {}), **dict(
                    (option, given[option]) for option in ("confirm", "parts") if option in given)}
        if (item.get("ansible.builtin.import_role") or {}).get("tasks_from") == "upgrade":
            del item["ansible.builtin.import_role"]
            item["ansible.builtin.import_tasks"] = "upgrade.yml"
        found.append(item)
    return found


def ran(folder, role, confirmation, *arguments, existed=True, is_asked=True, **variables):
    """Run the begin of a role; return its exit status, what it printed, and the calls of modules.

    :param is_asked: whether the task that asks for the confirmation is run
    """
    log = folder / "calls"
    figures = {"existed": existed, "management_plane": FIGURES, "lab": FIGURES,
               "service": {"unit": "", "reason": ""}, "servers": []}
    results = {"plane_site": figures, "lab": figures,
               "plane_upgrade_plan": {"confirmation": confirmation, "upgrades": []}}
    tasks = ansible_yaml.read(ROLES / role / "tasks" / "main.yml")
    end = next(number for number, task in enumerate(tasks) if task.get("name") == ENDS[role]) + 1
    (folder / "local.yml").write_text("[]")
    (folder / "upgrade.yml").write_text(json.dumps(replaced(
        [task for task in ansible_yaml.read(ROLES / "bootstrap_plane" / "tasks" / "upgrade.yml")
         if is_asked or "ansible.builtin.assert" not in task], log, results)))
    (folder / "library").mkdir()
    (folder / "library" / "stand_in.py").write_text(STAND_IN)
    files = [ROLES / name / kind / "main.yml" for name in ("bootstrap_plane", "lab") for kind in ("defaults", "vars")]
    play = json.dumps([{"hosts": "management", "gather_facts": False, "vars_files": [str(path) for path in files],
                        "vars": {"management_plane": dict(FIGURES)}, "tasks": replaced(tasks[:end], log, results)}])
    code, output = playbook.play(
        folder, INVENTORY, play, "play.yml", "-e", json.dumps(dict(variables, role_path=str(ROLES / role))), *arguments)
    return code, output, log.read_text().splitlines() if log.exists() else []


def writes(calls):
    return [call.split()[0] for call in calls if call.split()[1] == "writes"]


@pytest.mark.parametrize("is_asked", [True, False])
@pytest.mark.parametrize("role", sorted(ENDS))
def test_without_the_confirmation_only_programs_are_built(tmp_path, role, is_asked):
    code, output, calls = ran(tmp_path, role, "This upgrades 2 parts. To continue, set metal3_confirm=2.",
                              is_asked=is_asked)
    assert code and "This upgrades 2 parts. To continue, set metal3_confirm=2." in output
    assert writes(calls) == ["plane_programs"]
    assert [call for call in calls if call.startswith("plane_upgrade_plan")] == [f"plane_upgrade_plan checks - {EVERY}"]


@pytest.mark.parametrize("role", sorted(ENDS))
def test_what_was_confirmed_and_what_asks_for_nothing_goes_on(tmp_path, role):
    code, output, calls = ran(tmp_path, role, "", metal3_confirm=2, ipam_mode="external")
    assert code == 0, output
    assert f"plane_upgrade_plan checks 2 {EVERY.replace(',ipam', '')}" in calls
    assert writes(calls) == ["plane_programs", "lab" if role == "lab" else "plane_site"]


@pytest.mark.parametrize("role", sorted(ENDS))
def test_check_mode_goes_on_without_it(tmp_path, role):
    code, output, calls = ran(tmp_path, role, "This upgrades 2 parts.", "--check")
    assert code == 0, output
    assert writes(calls) == [] and any(call.startswith("plane_upgrade_plan") for call in calls)


@pytest.mark.parametrize("role", sorted(ENDS))
def test_a_first_installation_has_no_plan(tmp_path, role):
    code, output, calls = ran(tmp_path, role, "never", existed=False)
    assert code == 0, output
    assert not any(call.startswith("plane_upgrade_plan") for call in calls)


def test_the_playbook_site_does_not_take_the_number(tmp_path):
    code, output, calls = ran(tmp_path, "bootstrap_plane", "This upgrades 2 parts.", metal3_confirm=2,
                              bootstrap_plane_confirmable=False)
    assert code and f"plane_upgrade_plan checks - {EVERY}" in calls
    assert re.search(r"run the playbook\s+metal3.baremetal.install on its own", " ".join(output.split()))


def test_install_gives_the_roles_the_parts_that_were_confirmed():
    play = ansible_yaml.read(ROLES.parent / "playbooks" / "install.yml")[-1]
    roles = dict((item["role"].removeprefix(PREFIX), item) for item in play["roles"])
    assert "bootstrap_plane_upgrade.upgrades" in play["vars"]["install_interrupted"]
    assert roles["bootstrap_plane"]["vars"] == {
        "bootstrap_plane_confirmable": "{{ install_confirmable | default(true) }}"}
    for name in ("capi", "ipam", "bmo", "capm3"):
        tasks = ansible_yaml.read(ROLES / name / "tasks" / "process.yml")
        given = next(task[PREFIX + "plane_provider"] for task in tasks if PREFIX + "plane_provider" in task)
        assert f"{name}_confirmed_parts" in given["confirm"] and given["confirm_among"]
        assert "install_interrupted" in roles[name]["vars"][f"{name}_confirmed_parts"]
