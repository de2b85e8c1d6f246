# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Schedules of AWX: it refuses one that leaves a question open which its template's survey requires.

Source: AWX, ``SurveyJobTemplateMixin._survey_element_validation``, which does not look at the default of a question,
and ``LaunchConfigurationBaseSerializer.validate``, which a schedule goes through.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys

from fakes import playbook

PLAY = """
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.include_role: {name: metal3.baremetal.awx_setup, tasks_from: templates}
"""
# In place of a module of awx.awx: it notes what it is given, and changes nothing.
MODULE = """
import json
from ansible.module_utils.basic import AnsibleModule

OPTIONS = %r
module = AnsibleModule(dict((name, {"type": kind}) for name, kind in OPTIONS.items()))
with open(%r, "a") as stream:
    stream.write(json.dumps(module.params) + "\\n")
module.exit_json(changed=False)
"""
TEXT, YES, TEXTS, DATA = "str", "bool", "list", "dict"
MODULES = {
    "job_template": {
        "name": TEXT, "description": TEXT, "organization": TEXT, "project": TEXT, "playbook": TEXT, "inventory": TEXT,
        "execution_environment": TEXT, "credentials": TEXTS, "extra_vars": DATA, "ask_limit_on_launch": YES,
        "ask_job_type_on_launch": YES, "ask_variables_on_launch": YES, "job_slice_count": "int",
        "ask_job_slice_count_on_launch": YES, "diff_mode": YES, "survey_enabled": YES, "survey_spec": DATA},
    "schedule": {
        "name": TEXT, "unified_job_template": TEXT, "organization": TEXT, "rrule": TEXT, "job_type": TEXT,
        "enabled": YES, "extra_data": DATA},
    "workflow_job_template": {}, "workflow_job_template_node": {}}
# AWX: a number is no text, and an answer is one of the choices.
KINDS = {"integer": int, "float": float, "text": str, "textarea": str, "multiplechoice": str}


def made(folder):
    """Run the role's last tasks; return what the modules were given, by module and name."""
    # Beside a playbook, Ansible looks for collections there.
    plugins = folder / "collections" / "ansible_collections" / "awx" / "awx" / "plugins" / "modules"
    plugins.mkdir(parents=True)
    for name, options in MODULES.items():
        (plugins / f"{name}.py").write_text(MODULE % (options, str(folder / name)), encoding="utf-8")
    variables = {"awx_setup_playbooks": ["backup", "certificates", "enroll", "cluster"], "awx_setup_workflow": False,
                 "awx_setup_inventory_url": "u", "awx_setup_execution_environment": "e"}
    (folder / "play.yml").write_text(PLAY, encoding="utf-8")
    # A process of its own: the one of other tests has no modules of another collection.
    run = subprocess.run(
        [os.path.join(os.path.dirname(sys.executable), "ansible-playbook"), "-i", "localhost,", "-c", "local",
         "play.yml", "-e", json.dumps(variables)], cwd=folder, capture_output=True, text=True, check=False,
        env={**{name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")},
             "ANSIBLE_COLLECTIONS_PATH": str(playbook.ROOT / ".build"), "ANSIBLE_HOME": str(folder / "home"),
             "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"), "ANSIBLE_PYTHON_INTERPRETER": sys.executable})
    assert run.returncode == 0, run.stdout + run.stderr
    return {name: {given["name"]: given for given in map(json.loads, (folder / name).read_text().splitlines())}
            for name in ("job_template", "schedule")}


def test_a_schedule_answers_what_its_template_s_survey_requires(tmp_path):
    found = made(tmp_path)
    assert len(found["schedule"]) == 4
    for schedule in found["schedule"].values():
        survey = (found["job_template"][schedule["unified_job_template"]]["survey_spec"] or {}).get("spec", [])
        answers = schedule["extra_data"] or {}
        required = [question["variable"] for question in survey if question["required"]]
        assert sorted(answers) == sorted(required), schedule["name"]
        for question in survey:
            if question["required"]:
                answer = answers[question["variable"]]
                assert not isinstance(answer, bool), question["variable"]
                assert isinstance(answer, KINDS[question["type"]]), question["variable"]
                assert answer == question["default"], question["variable"]
                assert not question["choices"] or answer in question["choices"]
    assert found["schedule"]["metal3 certificates daily"]["extra_data"] == {"certificates_warn_days": 30}
    # Nobody confirms anything for a job that starts by itself.
    assert not any("metal3_confirm" in schedule["extra_data"] for schedule in found["schedule"].values())
