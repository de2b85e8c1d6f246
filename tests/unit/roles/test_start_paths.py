# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files with a relative path are where the user has started the playbook, not in the installed collection."""
from __future__ import annotations

import re
from pathlib import Path

import pytest
from fakes import playbook

ROOT = Path(__file__).resolve().parents[3]
# Variables with paths of files that a playbook writes, or reads beside them.
PATHS = {
    "roles/backup/tasks/main.yml": ["backup_directory", "backup_identity_file"],
    "roles/restore/tasks/main.yml": ["restore_path", "restore_identity_file"],
    "roles/etcd/tasks/snapshot.yml": ["etcd_directory", "etcd_identity_file"],
    "roles/etcd/tasks/restore.yml": ["etcd_path", "etcd_identity_file"],
    "roles/bmc_credentials/tasks/main.yml": ["bmc_credentials_password_file"],
    "roles/cluster/tasks/main.yml": ["cluster_workload_kubeconfig"],
    "roles/teardown/tasks/main.yml": ["teardown_workload_kubeconfig"],
    "playbooks/collect_logs.yml": ["collect_logs_dir"],
    "playbooks/compliance.yml": ["compliance_sarif_file", "compliance_junit_file"],
    "playbooks/convert_manifests.yml": ["convert_from", "convert_to"],
    "playbooks/mirror_gather.yml": ["mirror_archive", "mirror_work_dir", "mirror_image_lists", "mirror_folders",
                                    "mirror_files_ca_file", "mirror_ca_file", "mirror_username_file",
                                    "mirror_password_file"],
    "playbooks/mirror_unpack.yml": ["mirror_archive", "mirror_work_dir", "mirror_files_dir", "mirror_bill_file",
                                    "mirror_ca_file", "mirror_username_file", "mirror_password_file"],
}
CHECK = """apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineHealthCheck
metadata: {name: a}
spec: {clusterName: c, nodeStartupTimeout: 10m}
"""


@pytest.mark.parametrize(("path", "variable"), [(path, name) for path, names in PATHS.items() for name in names])
def test_each_use_begins_where_ansible_was_started(path, variable):
    uses = re.findall(rf"^ +\w+: \"{{{{.*\b{variable}\b.*}}}}\"$", (ROOT / path).read_text(), re.MULTILINE)
    # What does not hand it to a module is no use of it as a path.
    uses = [use for use in uses if not re.match(r" +(that|when|fail_msg|msg):", use)]
    assert uses and all(
        re.search(rf"\b{variable}\b.*\| (map\(')?metal3\.baremetal\.(start|task)_path", use) for use in uses), uses


def test_a_file_with_a_relative_path_is_where_the_playbook_was_started(tmp_path):
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters" / "a.yaml").write_text(CHECK)
    code, output = playbook.play(
        tmp_path, "all: {}", "", "metal3.baremetal.convert_manifests", "-e", "convert_from=clusters", "-e",
        "convert_to=new")
    assert code == 0 and playbook.recap(output)["localhost"] == (1, 0), output
    assert "nodeStartupTimeoutSeconds: 600" in (tmp_path / "new" / "a.yaml").read_text()
    assert not (ROOT / "playbooks" / "new").exists()


PLAY = """- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.debug: {msg: "path={{ 'a' | metal3.baremetal.task_path }}"}
"""


@pytest.mark.parametrize("connection, below", [("local", True), ("ssh", False), ("", False)])
def test_a_path_of_a_task_is_on_its_host(tmp_path, connection, below):
    host = f"{{ansible_connection: {connection}}}" if connection else "{}"
    code, output = playbook.play(tmp_path, f"all: {{hosts: {{h1: {host}}}}}", PLAY, "play.yml")
    assert code == 0 and (f"path={tmp_path}/a" if below else "path=a\"") in output, output
