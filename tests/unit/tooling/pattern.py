# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the pattern of Automation Platform from awx_setup's table and argument specs when it is run.

Form: ansible-lint, ``schemas/pattern.json``. Automation Platform makes a project of the collection's archive, and runs
a pattern's playbooks from the folder ``playbooks`` beside ``meta``.
"""
from __future__ import annotations

import json
from typing import Any

from tooling import ansible_yaml, role_pages

from ansible_collections.metal3.baremetal.plugins.filter import awx_survey

NAME = "bare_metal_clusters"
FOLDER = role_pages.REPOSITORY / "extensions" / "patterns" / NAME
PRIMARY = "site"
PLAYBOOKS = ("site", "lint", "discover", "preflight", "enroll", "cluster", "teardown", "unenroll")
ENVIRONMENT = "metal3"
# What a question has in this form; the rest is AWX's.
FIELDS = ("type", "question_name", "question_description", "variable", "required", "choices", "default")


def _survey(row: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
    specs = dict((role, {"argument_specs": role_pages.specs(role)}) for role in role_pages.roles())
    found = awx_survey.awx_survey(row["survey"], table["awx_setup_variables"], row["specs"], specs)["spec"]
    questions = [dict((field, question[field]) for field in FIELDS) for question in found]
    return {"name": "", "description": "", "spec": [dict(question, default=str(question["default"]))
                                                    for question in questions]}


def _template(name: str, table: dict[str, Any]) -> dict[str, Any]:
    row = table["awx_setup_templates"][name]
    found = {
        "name": f"metal3 {name}", "description": row["description"], "playbook": f"{name}.yml",
        "primary": name == PRIMARY, "execution_environment": ENVIRONMENT, "labels": ["metal3"],
        "ask_credential_on_launch": True, "ask_inventory_on_launch": True,
        "ask_limit_on_launch": row.get("limit", False), "ask_job_type_on_launch": row.get("check", False),
        "diff_mode": row.get("diff", False), "survey_enabled": True, "survey": _survey(row, table)}
    if "extra_vars" in row:
        found["extra_vars"] = json.dumps(row["extra_vars"])
    return found


def files() -> dict[str, str]:
    """Return the pattern's files by their path below its folder."""
    table = ansible_yaml.read(role_pages.REPOSITORY / "roles" / "awx_setup" / "vars" / "main.yml")
    pattern = {
        "schema_version": "1.0", "name": NAME, "title": "Create Kubernetes clusters on bare metal servers",
        "short_description": "Kubernetes clusters on bare metal servers with Metal3",
        "description": "Checks the inventory and the BMCs of servers, registers the servers, and creates workload "
                       "clusters on them with Metal3 and Cluster API. Credentials and the inventory are chosen when a "
                       "job is launched.",
        "tags": ["baremetal", "kubernetes", "metal3"],
        "aap_resources": {
            "controller_project": {"name": "metal3.baremetal", "description": "The collection metal3.baremetal"},
            "controller_execution_environment": {
                "name": ENVIRONMENT, "image_name": "metal3/metal3-ee", "pull": "missing",
                "description": "Image of extensions/execution_environment, in the private automation hub"},
            "controller_labels": ["metal3"],
            "controller_job_templates": [_template(name, table) for name in PLAYBOOKS]}}
    found = {"meta/pattern.json": json.dumps(pattern, indent=2) + "\n"}
    for name in PLAYBOOKS:
        found[f"playbooks/{name}.yml"] = (
            f"---\n- name: {table['awx_setup_templates'][name]['description']}\n"
            f"  ansible.builtin.import_playbook: metal3.baremetal.{name}\n")
    return found


if __name__ == "__main__":
    for path, text in files().items():
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_text(text, encoding="utf-8")
