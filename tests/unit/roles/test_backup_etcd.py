# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role ``backup`` has a snapshot taken of the etcd of each cluster of the inventory, on request."""
from __future__ import annotations

import json
from pathlib import Path

from fakes import playbook
from tooling import ansible_yaml

ROLE = Path(__file__).resolve().parents[3] / "roles" / "backup"
INVENTORY = """
all:
  hosts: {m1: {ansible_connection: local, ansible_python_interpreter: '{{ ansible_playbook_python }}'}}
  children: {clusters: {hosts: {prod-cluster: {cluster_name: prod}, edge: {}}}}
"""
WITHOUT = INVENTORY.partition("  children")[0]
GIVEN = ("etcd_cluster", "etcd_directory", "etcd_recipients", "etcd_identity_file", "etcd_keep", "etcd_namespace",
         "etcd_kubeconfig")


def _run(folder, inventory, **variables):
    (folder / "shown.yml").write_text(json.dumps([{"ansible.builtin.debug": {"msg": " ".join(
        f"{name}={{{{ {name} }}}}" for name in GIVEN)}}]))
    tasks = []
    for task in ansible_yaml.read(ROLE / "tasks" / "etcd.yml"):
        role = task.pop("ansible.builtin.include_role", None)
        if role is not None:
            assert role == {"name": "metal3.baremetal.etcd", "tasks_from": "snapshot", "apply": {"tags": ["always"]}}
            task["ansible.builtin.include_tasks"] = str(folder / "shown.yml")
        tasks.append(task)
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "tasks": tasks, "vars": {
        "backup_kubeconfig": "/k", "backup_namespace": "metal3", "backup_directory": "/b",
        "backup_recipients": ["age1x"], "backup_identity_file": "/i", "backup_keep": 3, **variables}}])
    code, output = playbook.play(folder, inventory, text, "play.yml")
    return code, " ".join(output.split())


def test_each_cluster_gets_a_snapshot_for_the_same_recipients(tmp_path):
    code, output = _run(tmp_path, INVENTORY)
    assert code == 0, output
    for name in ("prod", "edge"):
        assert (f"etcd_cluster={name} etcd_directory=/b etcd_recipients=['age1x'] etcd_identity_file=/i etcd_keep=3 "
                "etcd_namespace=metal3") in output.replace('\\"', "'"), output


def test_a_cluster_of_another_namespace_is_saved_from_there(tmp_path):
    """By its name alone it would be another cluster, which had two snapshots while it had none."""
    for variables in ("cluster_namespace: rack2", "metal3_namespace: rack2"):
        code, output = _run(tmp_path, INVENTORY.replace("edge: {}", f"edge: {{cluster_name: prod, {variables}}}"))
        assert code == 0, output
        assert [output.count(f"etcd_keep=3 etcd_namespace={name} ") for name in ("metal3", "rack2")] == [1, 1], output
        assert output.count("etcd_kubeconfig=/k") == 2, output


def test_a_cluster_of_another_plane_is_saved_by_it(tmp_path):
    for variables in ("cluster_kubeconfig: /other", "metal3_kubeconfig: /other",
                      "cluster_kubeconfig: /other, metal3_kubeconfig: /third"):
        code, output = _run(tmp_path, INVENTORY.replace("edge: {}", f"edge: {{{variables}}}"))
        assert code == 0, output
        assert "etcd_kubeconfig=/k" in output and "etcd_kubeconfig=/other" in output, output


def test_without_a_cluster_it_is_refused(tmp_path):
    code, output = _run(tmp_path, WITHOUT)
    assert code != 0 and "backup_etcd: found true and no cluster in the group clusters" in output


def test_it_is_not_done_unless_asked_for():
    tasks = ansible_yaml.read(ROLE / "tasks" / "main.yml")
    assert [task["when"] for task in tasks if task.get("ansible.builtin.import_tasks") == "etcd.yml"] == [
        "backup_etcd | metal3.baremetal.boolean"]
    assert ansible_yaml.read(ROLE / "defaults" / "main.yml")["backup_etcd"] is False
