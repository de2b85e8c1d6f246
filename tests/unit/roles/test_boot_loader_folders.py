# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of boot loaders are made where they are missing; those that are there keep their permissions."""
from __future__ import annotations

import json

from fakes import playbook
from tooling import ansible_yaml

ROLE = playbook.ROOT / "roles" / "provisioning_network"
INVENTORY = ("all: {hosts: {m1: {ansible_connection: local, "
             "ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}")


def test_loaders_come_to_folders_of_their_own_and_a_folder_of_somebody_stays_as_it_is(tmp_path):
    tasks = [task for task in ansible_yaml.read(ROLE / "tasks" / "dhcp.yml") if "boot loaders" in task["name"]
             and "ansible.builtin.package" not in task]
    root, source = tmp_path / "tftp", tmp_path / "loader"
    root.mkdir()
    root.chmod(0o2775)
    source.touch()
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "tasks": tasks,
                        "vars_files": [str(ROLE / part / "main.yml") for part in ("defaults", "vars")]}])
    variables = {"provisioning_network_dhcp_ranges": [{"first": "192.0.2.1", "last": "192.0.2.9"}],
                 "provisioning_network_tftp_root": str(root), "provisioning_network_installed": {"changed": False},
                 "provisioning_network_loader_files": {"undionly.kpxe": str(source), "shim/x64.efi": str(source)}}
    for again in (False, True):
        code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(variables))
        assert code == 0 and ("changed=0" in output) is again, output
    assert sorted(str(path.relative_to(root)) for path in root.rglob("*")) == ["shim", "shim/x64.efi", "undionly.kpxe"]
    assert root.stat().st_mode & 0o7777 == 0o2775 and (root / "shim").stat().st_mode & 0o777 == 0o755
