# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the role ``cluster`` lets a number alone confirm: only in a play for one cluster."""
from __future__ import annotations

import pathlib
import re

import pytest
import yaml
from fakes import playbook

TASKS = pathlib.Path(__file__).parents[3] / "roles" / "cluster" / "tasks" / "main.yml"
INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  children:
    clusters: {hosts: {one: , two: }}
"""
PLAY = """\
- hosts: clusters
  gather_facts: false
  serial: %d
  tasks:
    - debug: {msg: "by name %s"}
"""


@pytest.mark.parametrize("serial, limit, by_name", [(2, "clusters", True), (1, "clusters", True), (2, "one", False)])
def test_a_number_alone_counts_in_a_play_for_one_cluster(tmp_path, serial, limit, by_name):
    task = yaml.safe_load(TASKS.read_text())[0]["metal3.baremetal.cluster"]
    text = PLAY % (serial, task["confirm_by_name"].replace('"', "'"))
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "--limit", limit)
    assert code == 0, output
    assert set(re.findall("by name (True|False)", output)) == {str(by_name)}
