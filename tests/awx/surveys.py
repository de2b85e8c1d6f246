# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The surveys of the table of templates, and their answers as AWX gives them: all of them texts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml
from tooling import ansible_yaml

REPOSITORY = Path(__file__).resolve().parents[2]


def table() -> dict[str, Any]:
    """Return the table of templates."""
    return ansible_yaml.read(REPOSITORY / "roles" / "awx_setup" / "vars" / "main.yml")


TABLE = table()


def survey(name: str) -> list[dict[str, Any]]:
    """Return the questions of a playbook, by the filter that the role uses."""
    sys.path.insert(0, str(REPOSITORY / ".build"))
    try:
        from ansible_collections.metal3.baremetal.plugins.filter import awx_survey
    finally:
        sys.path.pop(0)
    row = TABLE["awx_setup_templates"][name]
    specs = {
        path.parents[1].name: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in (REPOSITORY / "roles").glob("*/meta/argument_specs.yml")
    }
    return awx_survey.awx_survey(row["survey"], TABLE["awx_setup_variables"], row["specs"], specs)["spec"]


def answers(name: str, **given: str) -> dict[str, str]:
    """Return the extra variables of a job whose survey was answered: its defaults, but for what is given."""
    row = TABLE["awx_setup_templates"][name]
    found = {question["variable"]: str(question["default"]) for question in survey(name)} | given
    return row.get("extra_vars", {}) | found
