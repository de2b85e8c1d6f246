# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of roles as text: -e name=a,b and INI inventories give them so, and Jinja takes a text for its letters."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

ROLES = Path(__file__).resolve().parents[3] / "roles"
LOCAL = "all: {hosts: {h1: {ansible_connection: local}}}"
# Before and after a name where each element counts.
_BEFORE = re.compile(r"(\+|\{% for \w+ in) $")
_DEFAULT = r"(\s*\|\s*default\(.*?\)+)?\s*"
_AFTER = re.compile(_DEFAULT + r"(\+|\|\s*(first|last|difference|intersect|union|length <|select|map)\b)")
_READ = re.compile(_DEFAULT + r"\| metal3\.baremetal\.as_list\b")
# Checked by the filter no_server_refusal before, or by the filters that they are given to; set by playbooks only.
_CHECKED = re.compile(r"_(names|confirmed_parts)$")


def _names():
    found = set()
    for path in ROLES.glob("*/meta/argument_specs.yml"):
        for point in ansible_yaml.read(path)["argument_specs"].values():
            found |= {name for name, option in (point.get("options") or {}).items()
                      if option.get("type") == "list" and option.get("elements") == "str"}
    return sorted(name for name in found if not _CHECKED.search(name) or name == "image_server_names")


def test_each_element_is_one_of_a_list():
    wrong = []
    paths = [path for folder in ("tasks", "vars", "templates") for path in ROLES.glob(f"*/{folder}/**/*")
             if path.is_file()]
    uses = re.compile(r"(?<![\w.])(%s)\b(?!\s*:)" % "|".join(_names()))
    for path in paths:
        for line in path.read_text().splitlines():
            wrong += [f"{path.relative_to(ROLES)}: {line.strip()}" for use in uses.finditer(line)
                      if (_BEFORE.search(line[:use.start()]) or _AFTER.match(line[use.end():]))
                      and not _READ.match(line[use.end():])]
    assert not wrong


def _shown(folder, role, expression, *arguments):
    text = json.dumps([{"hosts": "all", "gather_facts": False, "vars_files": [
        str(ROLES / role / "defaults" / "main.yml"), str(ROLES / role / "vars" / "main.yml")], "tasks": [
            {"ansible.builtin.debug": {"msg": "FOUND {{ (%s) | to_json }}" % expression}}]}])
    return playbook.play(folder, LOCAL, text, "play.yml", *arguments)


@pytest.mark.parametrize("role, variable, given, expression, expected", [
    ("image_server", "image_server_addresses", "192.0.2.9, ::,192.0.2.1,192.0.2.5 ,2001:db8::1,192.0.2.3",
     "image_server_own_addresses", ["192.0.2.9", "192.0.2.1", "192.0.2.5", "2001:db8::1", "192.0.2.3"]),
    ("provisioning_network", "provisioning_network_addresses", "192.0.2.1/24,192.0.2.2/24",
     "[provisioning_network_keepalived_own_address]", ["192.0.2.1/24"])], ids=["image server", "own address"])
def test_a_text_is_read_as_a_list(tmp_path, role, variable, given, expression, expected):
    code, output = _shown(tmp_path, role, expression, "-e", json.dumps({variable: given}))
    assert code == 0 and f"FOUND {json.dumps(expected)}" in output.replace("\\", ""), output


def test_a_text_of_a_list_is_refused(tmp_path):
    code, output = _shown(tmp_path, "image_server", "image_server_own_addresses",
                          "-e", 'image_server_addresses="[192.0.2.1]"')
    output = " ".join(output.split()).replace("\\", "")
    assert code and 'as_list: found "[192.0.2.1]", expected a list, or a text with commas' in output


def test_a_schedule_pulls_by_the_secret_that_is_named(tmp_path):
    line = "lookup('ansible.builtin.template', '%s') is search('- name: registry\n *- name: other\n')" % (
        ROLES / "backup" / "templates" / "schedule.yml.j2")
    given = {"backup_schedule_pull_secrets": "registry,other", "backup_schedule_image": "i", "backup_etcd": False,
             "backup_schedule_volume": {"nfs": {}}, "labels": {}}
    code, output = _shown(tmp_path, "backup", line, "-e", json.dumps(given))
    assert code == 0 and "FOUND true" in output, output
