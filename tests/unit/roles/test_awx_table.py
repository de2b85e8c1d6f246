# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of AWX's templates against playbooks, argument specs and modules."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from tooling import role_pages
from tooling.ansible_yaml import read

from ansible_collections.metal3.baremetal.plugins.filter import awx_survey

REPOSITORY = Path(__file__).resolve().parents[3]
MODULES = REPOSITORY / "plugins" / "modules"
# Options that are the action of a module, of which a form can't give all.
NARROWED = {"host_action": ("baremetal_host_action", "action")}


TABLE = read(REPOSITORY / "roles" / "awx_setup" / "vars" / "main.yml")
TEMPLATES: dict[str, Any] = TABLE["awx_setup_templates"]
SPECS = {path.parents[1].name: read(path) for path in (REPOSITORY / "roles").glob("*/meta/argument_specs.yml")}
DEFAULT = re.compile(r"default\((?:omit|\[\]|'\w*'|true|false|\d+)(?:, true)?\)")


def playbook_text(name: str) -> str:
    """Return a playbook with those that it imports."""
    return (REPOSITORY / "playbooks" / f"{name}.yml").read_text(encoding="utf-8") + "".join(
        playbook_text(other) for other in role_pages.imported(name)
    )


def runs(name: str) -> set[tuple[str, str]]:
    """Return the roles that a playbook runs, with the entry points."""
    return {*role_pages.entry_points(name), *(pair for other in role_pages.imported(name) for pair in runs(other))}


def options(row: dict[str, Any]) -> dict[str, Any]:
    """Return the options that a row's questions may come from."""
    found = dict(TABLE["awx_setup_variables"])
    for source in row["specs"]:
        role, dummy, point = source.partition(":")
        found.update(SPECS[role]["argument_specs"][point or "main"]["options"])
    return found


def test_every_playbook_is_in_the_table_or_left_out_with_a_reason():
    excluded = TABLE["awx_setup_excluded"]
    assert not set(TEMPLATES) & set(excluded)
    assert set(TEMPLATES) | set(excluded) == {path.stem for path in (REPOSITORY / "playbooks").glob("*.yml")}
    assert all(reason.endswith(".") for reason in excluded.values())


def test_no_job_is_one_of_several_slices_in_each_of_which_a_number_would_count():
    tasks = read(REPOSITORY / "roles" / "awx_setup" / "tasks" / "templates.yml")
    (given,) = (task["awx.awx.job_template"] for task in tasks if "awx.awx.job_template" in task)
    assert (given["job_slice_count"], given["ask_job_slice_count_on_launch"]) == (1, False)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_survey_asks_for_what_the_playbook_takes(name):
    row, text, roles = TEMPLATES[name], playbook_text(name), runs(name)
    known = options(row)
    spec = awx_survey.awx_survey(row["survey"], TABLE["awx_setup_variables"], row["specs"], SPECS)["spec"]
    assert [question["variable"] for question in spec] == row["survey"]
    for question in spec:
        variable, option = question["variable"], known[question["variable"]]
        owners = {pair for pair in roles if variable in SPECS[pair[0]]["argument_specs"][pair[1]]["options"]}
        # A role of the playbook documents it, or the playbook itself reads it.
        assert owners or re.search(rf"\b{variable}\b", text), variable
        for role, point in owners:
            real = SPECS[role]["argument_specs"][point]["options"][variable]
            assert (real.get("type"), real.get("choices"), real.get("elements")) == (
                option.get("type"),
                option.get("choices"),
                option.get("elements"),
            ), variable
        if option.get("type") == "bool":
            assert question["choices"] == ["true", "false"]
        elif "choices" in option and option["type"] == "str":
            assert question["choices"] == option["choices"]
        assert question["default"] == "" or not question["choices"] or question["default"] in question["choices"]


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_survey_asks_for_the_confirmation_that_the_playbook_wants(name):
    wants = "confirms" in role_pages.described()["playbooks"][name] or name == "install"
    assert ("metal3_confirm" in TEMPLATES[name]["survey"]) == wants


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_role_takes_an_answer_that_is_left_as_it_is(name):
    """It refuses what its options do not take before its first task."""
    row = TEMPLATES[name]
    known, wrong = options(row), []
    for question in awx_survey.awx_survey(row["survey"], TABLE["awx_setup_variables"], row["specs"], SPECS)["spec"]:
        variable, answer = question["variable"], str(question["default"])
        if variable in TABLE["awx_setup_variables"] or (question["required"] and not answer):
            continue
        option = dict((key, known[variable][key]) for key in ("type", "elements", "choices") if key in known[variable])
        wrong += ArgumentSpecValidator({variable: option}).validate({variable: answer}).error_messages
    assert not wrong


def test_a_reboot_by_awx_may_cut_the_power():
    row = TEMPLATES["host_action"]
    spec = awx_survey.awx_survey(row["survey"], TABLE["awx_setup_variables"], row["specs"], SPECS)["spec"]
    (mode,) = (question for question in spec if question["variable"] == "hosts_action_mode")
    assert (mode["choices"], mode["default"], mode["required"]) == (["soft", "hard"], "soft", True)


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_survey_has_older_backups_deleted(name):
    # An answer, 0 for all as well, stands above what the inventory says.
    assert not {"backup_keep", "etcd_keep"} & set(TEMPLATES[name]["survey"])


@pytest.mark.parametrize("variable", TABLE["awx_setup_variables"])
def test_a_variable_of_a_playbook_has_the_type_of_the_option_it_is_given_to(variable):
    option = TABLE["awx_setup_variables"][variable]
    assert any(variable in row["survey"] for row in TEMPLATES.values())
    if variable in NARROWED:
        module, name = NARROWED[variable]
        documented = _documentation(module)["options"][name]
        assert set(option["choices"]) < set(documented["choices"])
        return
    found = [pair for path in (REPOSITORY / "playbooks").glob("*.yml") for pair in _given(read(path), variable)]
    found = [(module, name) for module, name in found if (MODULES / f"{module}.py").is_file()]
    if not found:
        # Read by an expression: these have tests of their own.
        assert variable in {"compliance_junit_file", "compliance_sarif_file", "enroll_preflight",
                            "provision_image_required", "ironic_nodes_provide", "machine_action", "machine_names",
                            "maintain", "remediate", "rotate_certificates_days"}
    for module, name in found:
        documented = _documentation(module)["options"][name]
        assert (option["type"], option.get("elements")) == (documented["type"], documented.get("elements")), (
            module,
            name,
        )
        assert option.get("choices") == documented.get("choices"), (module, name)


def _documentation(module: str) -> dict[str, Any]:
    text = (MODULES / f"{module}.py").read_text(encoding="utf-8")
    return yaml.safe_load(re.search(r'DOCUMENTATION = r"""(.*?)"""', text, re.DOTALL)[1])


def _given(value: Any, variable: str) -> list[tuple[str, str]]:
    """Return the modules and options that a variable is given to as it is."""
    found = []
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(key, str) and key.startswith("metal3.baremetal.") and isinstance(inner, dict):
            found += [
                (key.rpartition(".")[2], name)
                for name, text in inner.items()
                if isinstance(text, str) and re.fullmatch(rf"{{{{ {variable}( \| {DEFAULT.pattern})? }}}}", text)
            ]
        found += _given(inner, variable)
    return found


def _asked(kind: str) -> set[str]:
    return {
        variable
        for row in TEMPLATES.values()
        for variable in row["survey"]
        if options(row)[variable].get("type") == kind
    }


@pytest.mark.parametrize("kind, conversion", [("bool", "metal3.baremetal.boolean"), ("int", "int"), ("list", "")],
                         ids=["bool", "int", "list"])
def test_what_is_given_as_text_is_converted_where_an_expression_reads_it(kind, conversion):
    """AWX gives text. A module's option converts; a condition or an expression has to say it."""
    wrong = []
    asked = _asked(kind)
    assert asked
    for path in [*(REPOSITORY / "playbooks").rglob("*.yml"), *(REPOSITORY / "roles").rglob("*.yml")]:
        if path.parent.name == "meta" or "awx_setup" in path.parts or path.name == "awx_setup.yml":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            code = line.split("#")[0]
            for variable in re.findall(r"(?<![\w.\"'])\b(\w+)\b(?!\s*:)", code):
                if variable in asked and not _converted(code, variable, conversion):
                    wrong.append(f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()}")
    assert not wrong, "\n".join(wrong)


# Filters that take names as text too.
TAKES_TEXT = ("metal3.baremetal.ironic_due", "ironic_nodes_managed.nodes, ironic_nodes_provide")


def _converted(code: str, variable: str, conversion: str) -> bool:
    if re.search(rf'"{{{{ {variable}( \| {DEFAULT.pattern})? }}}}"', code) or any(text in code for text in TAKES_TEXT):
        return True
    return bool(conversion) and bool(re.search(rf"\b{variable}\b( \| {DEFAULT.pattern})? \| {conversion}\b", code))


@pytest.mark.parametrize(
    "code, kind",
    [
        ("when: hosts_reprovision", "bool"),
        ('x: "{{ 1 if hosts_reprovision else 2 }}"', "bool"),
        ('x: "{{ hosts_error_limit + 1 }}"', "int"),
    ],
)
def test_an_expression_without_conversion_is_found(code, kind):
    variable = "hosts_error_limit" if kind == "int" else "hosts_reprovision"
    assert variable in _asked(kind)
    assert not _converted(code, variable, kind)
    assert _converted(code.replace(variable, f"{variable} | {kind}"), variable, kind)


@pytest.mark.parametrize(
    "option, message",
    [
        (None, "found no such option"),
        ({"type": "str", "no_log": True}, "found a secret"),
        ({"type": "dict"}, "found type dict"),
        ({"type": "list", "elements": "dict"}, "found type list"),
        ({"type": "list", "elements": "int"}, "found a list of int, expected one of str"),
        ({"type": "int"}, "found no default"),
        ({"type": "str", "choices": ["a"], "default": "{{ x }}"}, "found no default"),
    ],
)
def test_what_no_form_can_ask_for_is_refused(option, message):
    given = {} if option is None else {"v": option}
    with pytest.raises(AnsibleFilterError, match=message):
        awx_survey.awx_survey(["v"], given)
