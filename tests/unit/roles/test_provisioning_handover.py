# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a machine had of the provisioning network goes to another plane and back; a later run leaves it there."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

ROLE = Path(__file__).resolve().parents[3] / "roles" / "provisioning_network"
INVENTORY = ("all: {hosts: {m1: {ansible_connection: local, "
             "ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}")
PARTS = ("dhcp", "address")


def shown(task):
    """Return a task; of one about services only what it would have done."""
    given = task.get("ansible.builtin.systemd_service")
    if given is None:
        return task
    words = f"{given['name']} is {given['state']}, enabled {given['enabled']}"
    return dict(((key, value) for key, value in task.items() if key != "ansible.builtin.systemd_service"),
                **{"ansible.builtin.debug": {"msg": words}})


def run(folder, name, parts=(), *arguments):
    """Run one of the role's files with its services and marks in a folder; return what was printed."""
    for path in (ROLE / "tasks").iterdir():
        content = [{"debug": {"msg": f"ran {path.stem}"}}]
        if path.stem in ("let_go", "take_back", "left", "present"):
            content = [shown(task) for task in ansible_yaml.read(path)]
        (folder / path.name).write_text(json.dumps(content))
    given = {"provisioning_network_name": "provisioning", "provisioning_network_parts": list(parts),
             "provisioning_network_unit_files": dict((part, str(folder / f"{part}.service")) for part in PARTS),
             "provisioning_network_marks": dict((part, str(folder / f"{part}.let-go")) for part in PARTS),
             "provisioning_network_dhcp_log_file": "", "provisioning_network_serves_dhcp": True,
             "provisioning_network_keepalived_address": "192.0.2.2/24",
             "provisioning_network_interface": {"confirmation_needed": False}}
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "tasks": [
        {"include_vars": str(ROLE / "vars" / "main.yml")}, {"import_tasks": name}]}])
    code, output = playbook.play(folder, INVENTORY, text, "play.yml", "-e", json.dumps(given), *arguments)
    assert code == 0, output
    return output


def marks(folder):
    return sorted(path.stem for path in folder.glob("*.let-go"))


@pytest.fixture
def services(tmp_path):
    for part in PARTS:
        (tmp_path / f"{part}.service").touch()


@pytest.mark.parametrize("parts", [["dhcp"], ["address"], ["dhcp", "address"]])
def test_what_goes_is_stopped_marked_left_alone_later_and_started_again(tmp_path, services, parts):
    output = run(tmp_path, "let_go.yml", parts)
    for part in PARTS:
        assert (f"{part}.service is stopped, enabled False" in output) is (part in parts), output
    assert marks(tmp_path) == sorted(parts)
    later = run(tmp_path, "present.yml")
    assert ("ran dhcp" in later) is ("dhcp" not in parts) and ("ran keepalived" in later) is ("address" not in parts)
    assert "Left to the plane that has taken it over" in later and str(tmp_path / f"{parts[0]}.let-go") in later
    back = run(tmp_path, "take_back.yml")
    for part in PARTS:
        assert (f"{part}.service is started, enabled True" in back) is (part in parts), back
    assert marks(tmp_path) == []
    again = run(tmp_path, "present.yml")
    assert "ran dhcp" in again and "ran keepalived" in again and "Left to" not in again


def test_a_machine_without_the_services_only_marks_them(tmp_path):
    assert "is stopped" not in run(tmp_path, "let_go.yml", ["dhcp"]) and marks(tmp_path) == ["dhcp"]


def test_check_mode_marks_nothing(tmp_path, services):
    run(tmp_path, "let_go.yml", ["dhcp"], "--check")
    assert marks(tmp_path) == []
