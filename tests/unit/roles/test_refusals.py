# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What roles refuse before any request: the message names variable, found and expected values, and what to do."""
from __future__ import annotations

import json

import pytest
from fakes import playbook

INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  children:
    baremetal: {hosts: {h1: }}
    others: {hosts: {o1: }}
"""
ROLE = """\
- hosts: o1
  gather_facts: false
  tasks:
    - include_role: {name: metal3.baremetal.%s}
"""
CLUSTER_MACHINES = """\
- hosts: o1
  gather_facts: false
  tasks:
    - include_role: {name: metal3.baremetal.cluster, tasks_from: machines}
      vars: {cluster_machine_action: replace, cluster_machines: [], cluster_name: c1}
"""


def refused(folder, text, *arguments):
    code, output = playbook.play(folder, INVENTORY, text, *arguments, K8S_AUTH_HOST="https://127.0.0.1:1")
    assert code != 0, output
    return " ".join(output.split())


@pytest.mark.parametrize("role", ["bmc_credentials", "maintenance", "remediation"])
def test_a_play_without_servers_is_refused(tmp_path, role):
    output = refused(tmp_path, ROLE % role, "play.yml", "-e", "maintenance_step=reboot")
    assert (f"{role}_names: none of the play's hosts (o1) is in the group baremetal, expected at least one server; run "
            f"the play on servers (hosts: baremetal, with --limit), or set {role}_names to their names") in output


def test_an_unknown_step_of_maintenance_is_refused(tmp_path):
    output = refused(tmp_path, ROLE.replace("o1", "h1") % "maintenance", "play.yml", "-e", "maintenance_step=fix")
    assert "maintain: found fix, expected one of " in output
    assert "; repeat the run with -e maintain=<step>." in output and "maintenance_names" not in output


def test_machines_without_names_are_refused(tmp_path):
    output = refused(tmp_path, CLUSTER_MACHINES, "play.yml")
    assert ("machine_names: found none, expected names of Machines of cluster c1; set machine_names: [<name>, …]"
            in output)


def test_questions_for_a_ramdisk_from_elsewhere_are_refused_by_their_own_name(tmp_path):
    """Not by the names of the module's options, which the user has not given."""
    downloads = [{"name": "initrd", "url": "https://127.0.0.1:1/initrd", "checksum": "sha256:" + "0" * 64}]
    given = {"agent_image_directory": str(tmp_path / "www"), "agent_image_downloads": downloads,
             "agent_image_reach": {"tcp": [{"host": "192.0.2.1", "port": 6385}]}}
    output = refused(tmp_path, ROLE % "agent_image", "play.yml", "-e", json.dumps(given))
    assert "agent_image_reach: found questions beside agent_image_downloads, expected one of both" in output
    assert "hardware_managers" not in output and not (tmp_path / "www").exists()


@pytest.mark.parametrize("role, what", [("lab", "a lab"), ("bootstrap_plane", "a bootstrap plane")])
def test_another_machine_than_ansibles_is_refused(tmp_path, role, what):
    text = ROLE.replace("}", ", tasks_from: local}") % role
    output = refused(tmp_path, text, "play.yml", "-e", "ansible_connection=ssh")
    assert (f'o1: ansible_connection: found "ssh", expected local, because {what} runs on the machine that runs '
            "Ansible; set ansible_connection to local") in output.replace("\\", "")


@pytest.mark.parametrize("given, found, example", [
    ("h1,h2", 'the text "h1,h2"', ["h1", "h2"]), ("", 'the text ""', ["<name>"]), (None, "nothing", ["<name>"])],
    ids=["text", "empty", "nothing"])
@pytest.mark.parametrize("role, entry_point", [
    ("hosts", "main"), ("hosts", "provision"), ("hosts", "deprovision"), ("hosts", "inspect"), ("maintenance", "main"),
    ("remediation", "main"), ("bmc_credentials", "main")])
def test_a_text_of_names_is_not_taken_for_a_list(tmp_path, role, entry_point, given, found, example):
    """Nor what is empty for all servers of the group, which --limit has left out."""
    text = ROLE.replace("}", f", tasks_from: {entry_point}}}").replace("o1", "h1") % role
    variables = {f"{role}_names": given, "maintenance_step": "drain"}
    output = refused(tmp_path, text, "play.yml", "-e", json.dumps(variables))
    assert (f"{role}_names: found {found}, expected a list of names; give a list on the command line as JSON: -e "
            f"'{json.dumps({role + '_names': example})}', or use --limit") in output.replace("\\", "")


@pytest.mark.parametrize("given", ["AGE-SECRET-KEY-1QQQ", '["age1qqq", "AGE-SECRET-KEY-1QQQ"]'])
def test_a_secret_key_is_not_written_to_the_cluster_of_a_schedule(tmp_path, given):
    """By -e it is a text, of which a list of patterns would see single letters."""
    text = ROLE.replace("}", ", tasks_from: schedule}") % "backup"
    given = f'{{"backup_recipients": {given}}}' if given.startswith("[") else f"backup_recipients={given}"
    output = refused(tmp_path, text, "play.yml", "-e", given, "-e", "backup_schedule_image=i",
                     "-e", '{"backup_schedule_volume": {"nfs": {}}}')
    assert "backup_recipients: found a secret key of age, expected public keys" in output


@pytest.mark.parametrize("role, entry_point, missing", [
    ("etcd", "restore", "etcd_identity_file, etcd_path"), ("etcd", "snapshot", "etcd_directory"),
    ("restore", "main", "restore_identity_file, restore_path"), ("backup", "main", "backup_directory")])
def test_what_a_run_needs_is_named_before_anything_is_built(tmp_path, role, entry_point, missing):
    """A default of a variable that is required would hide that it is missing."""
    output = refused(tmp_path, ROLE.replace("}", f", tasks_from: {entry_point}}}") % role, "play.yml",
                     "-e", '{"backup_recipients": ["age1"], "etcd_recipients": ["age1"]}')
    assert f"missing required arguments: {missing}" in output
