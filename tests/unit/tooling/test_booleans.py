# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Booleans of roles and playbooks as text: -e name=false and AWX's surveys give "false", which Jinja takes for true."""
from __future__ import annotations

import functools
import json
import re
from pathlib import Path

import pytest
import yaml
from fakes import playbook
from tooling import ansible_yaml

REPOSITORY = Path(__file__).resolve().parents[3]
LOCAL = "{ansible_connection: local, ansible_python_interpreter: '{{ ansible_playbook_python }}'}"
# Whole values go to a module, whose argument spec reads the text; or the text itself is written.
_WHOLE = re.compile(r"""[\w.]+:\s+["']?\{\{ %s(\s*\|\s*default\([^)]*\))? \}\}["']?(,|\}|$)""")
_READ = re.compile(r"\s*(\|\s*default\([^)]*\)\s*)?\)?\s*\|\s*metal3\.baremetal\.boolean\b")
# One of a list of names.
_NAMED = r"((?<![\w\]])\[|, |^)'%s'"
_WRITTEN = re.compile(r"^[a-z_]+ = \{\{ %s \}\}$|\{\{ %s \| lower \}\}|\(%s \| lower\)")


def _names():
    found = set()
    for path in (REPOSITORY / "roles").glob("*/meta/argument_specs.yml"):
        for point in ansible_yaml.read(path)["argument_specs"].values():
            found |= {name for name, option in (point.get("options") or {}).items() if option.get("type") == "bool"}
    return sorted(found)


@functools.cache
def _lines():
    return list(_read_lines())


def _read_lines():
    folders = ("tasks", "vars", "defaults", "templates")
    paths = [path for folder in folders for path in (REPOSITORY / "roles").glob(f"*/{folder}/**/*") if path.is_file()]
    for path in [*paths, *(REPOSITORY / "playbooks").rglob("*.yml")]:
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if not line.lstrip().startswith("#") and "survey: [" not in line:
                yield f"{path.relative_to(REPOSITORY)}:{number}", line.strip()


@pytest.mark.parametrize("name", _names())
def test_a_boolean_is_read_as_one(name):
    for where, line in _lines():
        for use in re.finditer(rf"(?<![\w.]){name}\b(?!\s*:)", line):
            if not ("{{" in line or re.search(r"\bif\b|\bnot\b|\|", line) or re.match(r"(- )?(when:|that:|- )", line)):
                continue
            is_read = _READ.match(line[use.end():])
            is_passed = re.search(_WHOLE.pattern % name, line)
            is_written = re.search(_WRITTEN.pattern.replace("%s", name), line)
            is_named = re.search(_NAMED % name, line)
            assert is_read or is_passed or is_written or is_named, f"{where}: {line}"


def test_all_booleans_are_read_by_one_filter():
    """Ansible's own takes for false what argument specs take for true, and all that is mistyped."""
    wrong = [where for where, line in _lines() if re.search(r"\|\s*(ansible\.builtin\.)?bool\b", line)]
    assert not wrong


def _noted(folder, given):
    """Run the play of upgrade which notes on which machine a backup is made."""
    play = ansible_yaml.read(REPOSITORY / "playbooks/upgrade.yml")[1]
    say = {"debug": {"msg": "NOTED <{{ upgrade_backs_up is defined }}>"}}
    play["tasks"].append(say)
    return playbook.play(folder, f"management: {{hosts: {{h1: {LOCAL}}}}}", yaml.safe_dump([play]), "play.yml",
                         "-e", json.dumps({"upgrade_backup": given}))


@pytest.mark.parametrize("given, noted", [("y", True), (" true ", True), ("T", True), ("n", False), ("no", False)])
def test_a_backup_is_left_out_only_by_what_says_so(tmp_path, given, noted):
    code, output = _noted(tmp_path, given)
    assert code == 0 and f"NOTED <{noted}>" in output, output


@pytest.mark.parametrize("given, found", [("", '""'), ("ture", '"ture"'), (None, "nothing"), ([], "[]"), (2, "2")],
                         ids=["empty", "mistyped", "nothing", "list", "number"])
def test_what_is_no_boolean_ends_the_run(tmp_path, given, found):
    code, output = _noted(tmp_path, given)
    assert code and f"boolean: found {found}, expected true or false" in " ".join(output.split()), output


@pytest.mark.parametrize("given, insecure", [("false", False), ("False", False), ("true", True), ("yes", True),
                                             ("y", True)])
def test_certificates_are_verified_when_a_text_says_so(tmp_path, given, insecure):
    environment = ansible_yaml.read(REPOSITORY / "roles/bmo/vars/main.yml")["bmo_environment"]
    given_options = ("bmo_ironic_url", "bmo_deploy_kernel_url", "bmo_deploy_ramdisk_url", "bmo_deploy_iso_url",
                     "bmo_ironic_external_url_v6")
    task = ansible_yaml.read(REPOSITORY / "roles/ironic/tasks/external.yml")[0]
    (tmp_path / "vars.yml").write_text(yaml.safe_dump(dict(
        dict.fromkeys(given_options, "https://ironic.example"), bmo_environment=environment, bmo_provisioning_limit=20,
        bmo_ironic_skip_client_san_verify=False, checks=task["metal3.baremetal.ironic_check"]["validate_certs"])))
    text = ("- hosts: h1\n  gather_facts: false\n  vars_files: [vars.yml]\n  tasks:\n    - ansible.builtin.debug:\n"
            "        msg: \"<{{ 'IRONIC_INSECURE' in bmo_environment }}> <{{ checks }}>\"\n")
    code, output = playbook.play(tmp_path, f"all: {{hosts: {{h1: {LOCAL}}}}}", text, "play.yml",
                                 "-e", f"bmo_ironic_insecure={given}", "-e", f"ironic_insecure={given}")
    assert code == 0 and f"<{insecure}> <{not insecure}>" in output, output
