# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What roles evaluate in check mode must write nothing either: lookups run in it, too."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fakes import playbook

REPOSITORY = Path(__file__).resolve().parents[3]
INVENTORY = "management: {hosts: {m1: {ansible_connection: local, ansible_python_interpreter: " \
            "'{{ ansible_playbook_python }}'}}}"


@pytest.mark.parametrize("arguments", [("--check",), ()])
def test_the_credentials_of_ironic_are_not_stored_in_check_mode(tmp_path, arguments):
    plane = tmp_path / "plane"
    for folder in ("ironic/bin", "www/agent", "secrets"):
        (plane / folder).mkdir(parents=True)
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [
        {"import_role": {"name": "metal3.baremetal.ironic", "tasks_from": "process"}, "vars": {
            # The run ends at the first task after them that needs more of a plane.
            "management_plane": {"dir": str(plane), "services_python": "/nonexistent", "address": "127.0.0.1"}}}]}])
    _code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", *arguments)
    assert re.search(r"TASK \[metal3.baremetal.ironic : Choose credentials\] \*+\nok: \[m1\]", output), output
    assert sorted(path.name for path in (plane / "secrets").iterdir()) == (
        [] if arguments else ["ironic_password", "ironic_username"])


def test_no_other_lookup_writes():
    """Of Ansible's own lookups only this one does; a pipe may do anything."""
    writing = re.compile(r"(?:lookup|query|q)\(\s*['\"](?:ansible\.builtin\.)?(password|pipe)['\"]")
    found = sorted((str(path.relative_to(REPOSITORY)), match.group(1))
                   for folder in ("playbooks", "roles") for path in (REPOSITORY / folder).rglob("*.yml")
                   for match in writing.finditer(path.read_text()))
    # id writes nothing.
    assert found == sorted(
        [(f"roles/ironic/tasks/{name}.yml", "password") for name in ("process", "separate")] * 2
        + [("roles/ironic/vars/main.yml", "pipe"), ("roles/lab/defaults/main.yml", "pipe")]), found
