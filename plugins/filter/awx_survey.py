# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that makes the survey of a job template."""

from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: awx_survey
short_description: Survey of a job template from options of an argument spec
version_added: "0.1.0"
description:
  - Returns what C(survey_spec) of the module C(awx.awx.job_template) takes. Types, choices, defaults and texts of the
    questions are those of the options, so that a survey asks for what the playbook accepts.
  - AWX gives answers to the playbook as text. A list is asked for as texts with commas between, a boolean as a choice
    of V(true) and V(false). An answer that is left empty is an empty text.
positional: options
options:
  _input:
    description: Names of the variables, in the order of the questions.
    type: list
    elements: str
    required: true
  options:
    description: Options by variable, in the form of C(argument_specs.yml).
    type: dict
    required: true
  sources:
    description: Roles whose options count too, each as C(<role>) or C(<role>:<entry point>).
    type: list
    elements: str
    default: []
  roles:
    description: What C(argument_specs.yml) of these roles holds, by role.
    type: dict
    default: {}
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Show a survey with one question
  ansible.builtin.debug:
    msg: "{{ ['hosts_error_limit'] | metal3.baremetal.awx_survey({'hosts_error_limit': {'default': 3}}) }}"
"""

RETURN = r"""
_value:
  description: The survey, with C(name), C(description) and C(spec).
  type: dict
"""

# What text can be given for; a dictionary or a list of them belongs in the inventory.
_KINDS = {
    "str": "text",
    "path": "text",
    "int": "integer",
    "float": "float",
    "bool": "multiplechoice",
    "list": "textarea",
}


def awx_survey(variables, options, sources=(), roles=None):
    """Return the survey; see DOCUMENTATION."""
    known = dict(options)
    for source in sources:
        role, dummy, entry_point = source.partition(":")
        known.update(roles[role]["argument_specs"][entry_point or "main"]["options"])
    questions, problems = [], []
    for variable in variables:
        option = known.get(variable)
        problem = _problem(option)
        if problem:
            problems.append(f"{variable}: {problem}")
        else:
            questions.append(_question(variable, option))
    if problems:
        raise AnsibleFilterError(
            f"awx_survey: {'; '.join(problems)}; correct the table of templates or the argument spec"
        )
    return {"name": "", "description": "", "spec": questions}


def _problem(option):
    """Return why an option can't be asked for, or nothing."""
    if option is None:
        return "found no such option, expected one of an argument spec"
    kind = option.get("type", "str")
    if option.get("no_log"):
        return "found a secret, expected it in a credential"
    if kind not in _KINDS or (kind == "list" and option.get("elements", "str") in ("dict", "list")):
        return f"found type {kind}, expected one of {', '.join(sorted(_KINDS))}, and a list only of str"
    if kind == "list" and option.get("elements", "str") != "str" and not option.get("required"):
        return f"found a list of {option['elements']}, expected one of str, since an empty answer is none of its values"
    # AWX gives an empty answer as empty text, which is neither a number nor a choice.
    if (kind in ("int", "float", "bool") or "choices" in option) and kind != "list" and not option.get("required"):
        default = option.get("default")
        if default is None or (isinstance(default, str) and "{{" in default):
            return "found no default, expected one, because an empty answer is none of its values"
    return None


def _question(variable, option):
    kind = option.get("type", "str")
    choices = ["true", "false"] if kind == "bool" else option.get("choices", []) if kind == "str" else []
    default = _text(kind, option.get("default"))
    must = bool(option.get("required")) or bool(choices) or kind in ("int", "float")
    # Every key that AWX keeps: the module compares the whole survey with the one that is there.
    return {
        "question_name": variable,
        "question_description": _description(option),
        "variable": variable,
        "type": "multiplechoice" if choices else _KINDS[kind],
        "required": must,
        "default": default,
        "choices": [str(choice) for choice in choices],
        "min": None if choices or kind in ("int", "float") else 0,
        "max": None if choices or kind in ("int", "float") else 1024,
        "new_question": False,
    }


def _text(kind, value):
    if value is None or (isinstance(value, str) and "{{" in value):
        return ""
    if kind == "bool":
        return "true" if value else "false"
    if kind == "list":
        return ",".join(str(item) for item in value)
    return value if kind in ("int", "float") else str(value)


def _description(option):
    text = option.get("description", "")
    lines = [text] if isinstance(text, str) else list(text)
    if option.get("type") == "list":
        choices = option.get("choices")
        lines += [
            f"Some of {', '.join(str(choice) for choice in choices)}." if choices else "",
            "Several with commas between.",
        ]
    return " ".join(line for line in lines if line)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"awx_survey": awx_survey}
