# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role ``pivot`` backs the plane up before its first write, or says why it does not."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

ROLE = Path(__file__).resolve().parents[3] / "roles" / "pivot"
INVENTORY = ("all: {hosts: {m1: {ansible_connection: local, "
             "ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}")
IMPORTED = "ansible.builtin.import_role"
KEY = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kudlvjfxsly6ggy"


def _shown(task):
    """Return a task that prints what the role would have been given."""
    if IMPORTED not in task:
        return task
    given = dict((name, f"{{{{ {name} }}}}") for name in task["vars"])
    return {"name": task["name"], "vars": task["vars"], "when": task["when"],
            "ansible.builtin.debug": {"msg": {"role": task[IMPORTED]["name"], **given}}}


def _run(folder, *options, begun=False, **variables):
    tasks = [_shown(task) for task in ansible_yaml.read(ROLE / "tasks" / "backup.yml")]
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars": {
        **ansible_yaml.read(ROLE / "defaults" / "main.yml"),
        "pivot_plan": {"begun": begun, "due": True, "from_uid": "uid-here"},
        "pivot_kubeconfig": "/k", "pivot_namespace": "metal3", "pivot_bin": "/bin-of-engine", **variables},
        "tasks": tasks}])
    code, output = playbook.play(folder, INVENTORY, text, "play.yml", *options)
    assert code == 0, output
    return " ".join(output.split())


@pytest.mark.parametrize("variables, folder", [
    ({}, "~/.local/state/metal3.baremetal/backups"), ({"backup_directory": "/var/backups"}, "/var/backups")])
def test_with_a_key_the_plane_that_lets_go_is_backed_up(tmp_path, variables, folder):
    output = _run(tmp_path, backup_recipients=[KEY], **variables)
    for words in ('"role": "metal3.baremetal.backup"', '"backup_cluster_uid": "uid-here"',
                  f'"backup_directory": "{folder}"', '"backup_kubeconfig": "/k"',
                  '"backup_rehearsal_programs": "/bin-of-engine"', '"backup_clusterctl": "/bin-of-engine/clusterctl"'):
        assert words in output, output
    assert "No backup is made" not in output


@pytest.mark.parametrize("options, variables, words", [
    ([], {}, "No backup is made before the move: backup_recipients is not set"),
    ([], {"backup_recipients": [KEY], "pivot_backup": False}, "before the move: pivot_backup is false"),
    ([], {"backup_recipients": [KEY], "begun": True}, "No backup is made before the move, for it has begun"),
    (["--check"], {"backup_recipients": [KEY], "backup_directory": "/b"}, "one would be written to /b")],
    ids=["no key", "switched off", "begun", "check mode"])
def test_without_one_it_is_said(tmp_path, options, variables, words):
    output = _run(tmp_path, *options, **variables)
    assert words in output and "metal3.baremetal.backup" not in output, output


def test_it_comes_after_the_checks_and_before_the_first_write():
    names = [task["name"] for task in ansible_yaml.read(ROLE / "tasks" / "moved.yml")]
    assert names.index("Ask for confirmation") < names.index("Back up the plane") \
        < names.index("Hold the hosts and save their status")
