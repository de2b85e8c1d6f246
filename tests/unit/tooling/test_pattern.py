# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pattern of Automation Platform is what the table of templates makes of it, and has the form of its schema."""
from __future__ import annotations

import json
import re

from tooling import pattern

FILES = pattern.files()
PATTERN = json.loads(FILES["meta/pattern.json"])
RESOURCES = PATTERN["aap_resources"]
KINDS = {"text", "textarea", "password", "integer", "float", "multiplechoice", "multiselect"}


def test_the_files_are_current():
    stored = {str(path.relative_to(pattern.FOLDER)): path.read_text(encoding="utf-8")
              for path in pattern.FOLDER.rglob("*") if path.is_file()}
    # Galaxy's importer wants one, which nothing makes.
    assert stored.pop("README.md").startswith("# ")
    assert stored == FILES, "run make docs-roles"


def test_it_is_named_as_its_folder_and_by_the_rules():
    assert PATTERN["name"] == pattern.FOLDER.name and re.fullmatch(r"[a-z0-9_]{1,64}", PATTERN["name"])
    assert len(PATTERN["title"]) <= 64 and not PATTERN["short_description"].endswith(".")
    assert re.fullmatch(r"[^/]+/[^/]+", RESOURCES["controller_execution_environment"]["image_name"])


def test_each_template_has_a_playbook_and_one_is_the_primary_one():
    templates = RESOURCES["controller_job_templates"]
    assert [template["name"] for template in templates if template["primary"]] == ["metal3 site"]
    for template in templates:
        assert f"playbooks/{template['playbook']}" in FILES
        assert template["execution_environment"] == RESOURCES["controller_execution_environment"]["name"]
        assert set(template["labels"]) <= set(RESOURCES["controller_labels"])


def test_each_question_has_the_fields_of_the_schema():
    for template in RESOURCES["controller_job_templates"]:
        assert template["survey"]["spec"]
        for question in template["survey"]["spec"]:
            assert question["type"] in KINDS and isinstance(question["default"], str)
            assert re.fullmatch(r"[a-z0-9_]{1,64}", question["variable"])
            assert question["question_description"] and isinstance(question["required"], bool)
            assert question["type"] != "multiplechoice" or question["choices"]
