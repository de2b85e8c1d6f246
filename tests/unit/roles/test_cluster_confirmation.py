# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a number or a name alone confirms: only in a play in which it can be that of one cluster."""
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


TEARDOWN = TASKS.parents[2] / "teardown" / "tasks" / "main.yml"


@pytest.mark.parametrize("variables, limit, by_name", [
    ("{}", "clusters", False),
    ("{cluster_namespace: other}", "clusters", True),
    ("{metal3_namespace: other}", "clusters", True),
    ("{metal3_kubeconfig: /other}", "clusters", True),
    ("{cluster_kubeconfig: /other}", "clusters", True),
    ("{metal3_namespace: other}", "two", False)])
def test_a_name_alone_counts_in_a_play_for_one_namespace(tmp_path, variables, limit, by_name):
    """Of two sites in one inventory, each with a cluster of the same name, both were deleted."""
    task = yaml.safe_load(TEARDOWN.read_text())[-1]
    text = PLAY % (2, task["metal3.baremetal.cluster"]["confirm_by_name"].replace('"', "'")) + yaml.safe_dump(
        {"vars": task["vars"]}).replace("\n", "\n      ").rstrip().join(["      ", "\n"])
    code, output = playbook.play(
        tmp_path, INVENTORY.replace("two: }", f"two: {variables}}}"), text, "play.yml", "--limit", limit)
    assert code == 0, output
    assert set(re.findall("by name (True|False)", output)) == {str(by_name)}
