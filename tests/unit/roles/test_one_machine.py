# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is confirmed for one machine or plane, by a number or a name that others have, is not done to others."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from fakes import playbook

ROOT = Path(__file__).resolve().parents[3]
INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  children:
    management: {hosts: {one: , two: }}
"""
# That nothing is done when one machine is left, too.
NOTHING = {
    "image_server": ["-e", "image_server_state=absent", "-e", '{"image_server_addresses": ["127.0.0.1"]}'],
    "pivot": ["-e", "pivot_kubeconfig=/nowhere", "-e", "pivot_to_kubeconfig=/no", "-e", "pivot_clusterctl=/no",
              "-e", '{"pivot_rehearsal": false}', "-e", "pivot_reach_from=here"],
    "provisioning_network": ["-e", "provisioning_network_state=absent", "-e", "provisioning_network_name=m3none"],
    "restore": ["-e", "restore_path=/nowhere", "-e", "restore_identity_file=/nowhere", "-e", "restore_clusterctl=/no"],
    "uninstall": ["-e", '{"management_plane": {"mode": "none"}}'],
}


@pytest.mark.parametrize("name", sorted(NOTHING))
def test_a_confirmation_is_for_one_machine(tmp_path, name):
    arguments = [f"metal3.baremetal.{name}", *NOTHING[name], "-e", "metal3_confirm=none"]
    code, output = playbook.play(tmp_path, INVENTORY, "", *arguments)
    words = " ".join(output.split())
    assert code != 0 and "metal3_confirm: found 2 " in words, output
    assert "(one, two) in this play, expected one" in words
    code, output = playbook.play(tmp_path, INVENTORY, "", *arguments, "--limit", "one")
    assert code != 0 and "in this play, expected one" not in " ".join(output.split()), output


# Roles in a play of a user's: a number counts for each of their hosts, and so does a name that others have.
ROLES = {
    "bmo": ("main", {"bmo_mode": "cluster", "bmo_state": "absent"}),
    "capi": ("main", {"capi_mode": "cluster", "capi_state": "absent"}),
    "capm3": ("main", {"capm3_mode": "cluster", "capm3_state": "absent"}),
    "cert_manager": ("main", {"cert_manager_mode": "cluster", "cert_manager_state": "absent"}),
    "cluster": ("machines", {"cluster_machine_action": "replace", "cluster_machines": ["none"]}),
    "etcd": ("restore", {"etcd_path": "/nowhere", "etcd_identity_file": "/nowhere", "etcd_etcdutl": "/nowhere"}),
    "ipam": ("main", {"ipam_mode": "cluster", "ipam_state": "absent"}),
    "ironic": ("main", {"ironic_mode": "cluster", "ironic_state": "absent", "ironic_provisioning_ip": "192.0.2.1"}),
    "ironic, by its operator": ("main", {"ironic_mode": "cluster", "ironic_by": "operator", "ironic_state": "absent"}),
}


def play_of(task):
    """Return a playbook of one task."""
    return json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [task]}])


@pytest.mark.parametrize("name", sorted(ROLES))
def test_a_role_alone_takes_a_confirmation_for_one(tmp_path, name):
    role, (file, variables) = name.partition(",")[0], ROLES[name]
    given = json.dumps(dict(variables, metal3_confirm="1", management_plane={
        "mode": "cluster", "kubeconfig": "/nowhere", "manifests_dir": "/nowhere"}))
    whole = {"import_role": {"name": f"metal3.baremetal.{role}", "tasks_from": file}}
    code, output = playbook.play(tmp_path, INVENTORY, play_of(whole), "play.yml", "-e", given)
    words = " ".join(output.split())
    assert code != 0 and "(one, two) in this play, expected one, because " in words, output
    # With one it would go on to build programs and to write.
    path = ROOT / "roles" / role / "tasks" / f"{'cluster' if file == 'main' and role != 'ironic' else file}.yml"
    first = yaml.safe_load(path.read_text())[0]
    for limit, is_refused in (("one,two", True), ("one", False)):
        code, output = playbook.play(tmp_path, INVENTORY, play_of(first), "play.yml", "-e", given, "--limit", limit)
        assert (code != 0) is is_refused, output


@pytest.mark.parametrize("name, variables", [
    ("etcd_restore", ROLES["etcd"][1]),
    ("machine_action", {"machine_action": "mark_for_scale_in", "machine_names": ["none"]})])
def test_a_playbook_that_is_of_one_cluster_refuses_several(tmp_path, name, variables):
    inventory = INVENTORY.replace("management", "clusters")
    arguments = [f"metal3.baremetal.{name}", "-e", json.dumps(dict(variables, metal3_kubeconfig="/nowhere"))]
    code, output = playbook.play(tmp_path, inventory, "", *arguments, "--check")
    assert code != 0 and "hosts: found 2 clusters (one, two) in this play, expected one, because " in " ".join(
        output.split()), output
    code, output = playbook.play(tmp_path, inventory, "", *arguments, "--check", "--limit", "one")
    assert code != 0 and "in this play, expected one" not in " ".join(output.split()), output


@pytest.mark.parametrize("interrupts, limit, is_refused", [
    (True, "one,two", True), (False, "one,two", False), (True, "one", False)])
def test_an_upgrade_that_interrupts_is_confirmed_for_one_plane(tmp_path, interrupts, limit, is_refused):
    path = ROOT / "playbooks" / "install.yml"
    play, = yaml.safe_load(path.read_text())
    task, = (task for task in play["pre_tasks"] if task["name"] == "Require one plane for an upgrade that interrupts")
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [task], "vars": {
        "install_plan": {"upgrades": [{"part": "bmo", "interrupts": interrupts}]},
        "install_interrupted": play["vars"]["install_interrupted"]}}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", "metal3_confirm=1", "--limit", limit)
    assert (code != 0) == is_refused == ("in this play, expected one" in " ".join(output.split())), output
