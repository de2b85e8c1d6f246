# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses of Git repositories that AWX gets: a login in one would be shown to all who may see the project."""
from __future__ import annotations

import pytest
from fakes import playbook

INVENTORY = "all: {hosts: {localhost: {ansible_connection: local}}}"
PLAY = """
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.include_role: {name: metal3.baremetal.awx_setup, tasks_from: check}
"""


def checked(folder, **urls):
    given = [text for name, url in urls.items() for text in ("-e", f"awx_setup_{name}_url={url}")]
    return playbook.play(folder, INVENTORY, PLAY, "play.yml", "-vvv", *given)


@pytest.mark.parametrize(("name", "url"), [
    ("inventory", "https://token-of-a-person@git.example.org/site.git"),
    ("project", "https://somebody:token-of-a-person@git.example.org/site.git"),
    ("inventory", "ssh://git:token-of-a-person@git.example.org/site.git")])
def test_a_login_in_an_address_is_refused_without_being_printed(tmp_path, name, url):
    code, output = checked(tmp_path, **{name: url})
    message = f"awx_setup_{name}_url: found a URL with a login, expected one without"
    assert code == 2 and message in " ".join(output.split())
    assert "token-of-a-person" not in output


@pytest.mark.parametrize(("inventory", "project"), [
    ("https://git.example.org/site.git", "ssh://git@git.example.org/site.git"),
    ("git@git.example.org:site.git", "https://git.example.org/a:b@c.git")])
def test_an_address_without_a_secret_is_taken(tmp_path, inventory, project):
    code, output = checked(tmp_path, inventory=inventory, project=project)
    assert code == 0, output
