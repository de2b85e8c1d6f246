# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A certificate that is given and not there is refused before anything is installed or downloaded."""
from __future__ import annotations

import json

import pytest
from fakes import playbook
from tooling import ansible_yaml

ROLE = playbook.ROOT / "roles" / "image_server"
INVENTORY = ("all: {hosts: {m1: {ansible_connection: local, "
             "ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}")


def ran(task):
    """Return a task; of one that does something to the machine only that it was reached."""
    return task if {"ansible.builtin.stat", "ansible.builtin.assert"} & set(task) else {
        "debug": {"msg": f"reached {task['name']}"}}


@pytest.mark.parametrize(("tls", "there", "is_refused"), [
    (True, False, True), (True, True, False), (False, False, False)])
def test_a_given_certificate_is_looked_for_first(tmp_path, tls, there, is_refused):
    order = ansible_yaml.read(ROLE / "tasks" / "present.yml")
    tasks = [task for part in order if "ansible.builtin.import_tasks" in part
             for task in ansible_yaml.read(ROLE / "tasks" / part["ansible.builtin.import_tasks"])]
    first = next(place for place, task in enumerate(tasks) if "packages" in json.dumps(task))
    certificate, key = tmp_path / "a.crt", tmp_path / "a.key"
    for path in (certificate, key) if there else (certificate,):
        path.touch()
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "tasks": [ran(task) for task in tasks[:first]],
                        "vars_files": [str(ROLE / part / "main.yml") for part in ("defaults", "vars")]}])
    variables = {"image_server_addresses": ["127.0.0.1"], "image_server_tls": tls, "image_server_packages": []}
    if tls:
        variables.update(image_server_certificate_file=str(certificate), image_server_key_file=str(key))
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(variables))
    said = " ".join(output.split())
    assert bool(code) is is_refused and (f"missing on this machine: {key}; copy" in said) is is_refused
