# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What playbook uninstall removes of Ironic's credentials on this machine."""
from __future__ import annotations

import json

import pytest
from fakes import playbook

LOCAL = "{ansible_connection: local, ansible_python_interpreter: '{{ ansible_playbook_python }}'}"
PLAY = ("- hosts: h1\n  gather_facts: false\n  tasks:\n"
        "    - ansible.builtin.import_role: {name: metal3.baremetal.ironic, tasks_from: forget}\n")


@pytest.mark.parametrize(("variables", "stay"), [
    ({}, []), ({"ironic_tls": "files"}, ["ca.crt"]), ({"ironic_tls": "none"}, ["ca.crt"]),
    ({"ironic_auth_type": "none"}, ["password", "username"])])
def test_what_this_ironic_did_not_write_stays(tmp_path, variables, stay):
    folder = tmp_path / "credentials"
    folder.mkdir()
    for name in ("username", "password", "ca.crt"):
        (folder / name).write_text("x")
    code, output = playbook.play(tmp_path, f"all: {{hosts: {{h1: {LOCAL}}}}}", PLAY, "play.yml", "-e",
                                 json.dumps(dict(variables, ironic_credentials_dir=str(folder))))
    assert code == 0, output
    assert sorted(path.name for path in folder.glob("*")) == stay


@pytest.mark.parametrize("others", [[], [".hidden", "id_ed25519", "other/file"]])
def test_files_of_others_in_the_folder_stay(tmp_path, others):
    folder = tmp_path / "credentials"
    for name in ["username", "password", "previous/password", *others]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")

    def run(*arguments):
        code, output = playbook.play(tmp_path, f"all: {{hosts: {{h1: {LOCAL}}}}}", PLAY, "play.yml",
                                     "-e", f"ironic_credentials_dir={folder}", *arguments)
        assert code == 0, output
        return playbook.recap(output)["h1"]

    predicted = run("--check")
    assert (folder / "password").exists()
    assert run() == predicted and predicted[0] > 0
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == sorted(others)
    assert folder.exists() == bool(others)
    assert run()[0] == 0
