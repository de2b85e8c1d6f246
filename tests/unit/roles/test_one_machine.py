# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is confirmed for one machine or plane, by a number or a name that others have, is not done to others."""
from __future__ import annotations

import json
import re
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
    "bootstrap_plane": ("uninstall", {"management_plane": {"name": "none", "dir": "/nowhere"}}),
    "cluster": ("machines", {"cluster_machine_action": "replace", "cluster_machines": ["none"]}),
    "etcd": ("restore", {"etcd_path": "/nowhere", "etcd_identity_file": "/nowhere", "etcd_etcdutl": "/nowhere"}),
}


def test_check_mode_warns_before_an_image_server_goes(tmp_path):
    role = ROOT / "roles" / "image_server"
    tasks = yaml.safe_load((role / "tasks" / "absent.yml").read_text())[1:3]
    text = json.dumps([{
        "hosts": "one", "gather_facts": False, "vars_files": [str(role / "vars" / "main.yml")],
        "vars": {"image_server_name": "images", "image_server_remove_files": True}, "tasks": tasks}])
    for arguments, fails, warns in (([], True, False), (["--check"], False, True),
                                    (["--check", "-e", "metal3_confirm=images"], False, False)):
        code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", *arguments)
        assert (code != 0) is fails and ("would be refused: removing image server images" in output) is warns, output


def play_of(task):
    """Return a playbook of one task."""
    return json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [task]}])


@pytest.mark.parametrize("name", sorted(ROLES))
def test_a_role_alone_takes_a_confirmation_for_one(tmp_path, name):
    file, variables = ROLES[name]
    given = json.dumps(dict(variables, metal3_confirm="1"))
    whole = {"import_role": {"name": f"metal3.baremetal.{name}", "tasks_from": file}}
    code, output = playbook.play(tmp_path, INVENTORY, play_of(whole), "play.yml", "-e", given)
    words = " ".join(output.split())
    assert code != 0 and "(one, two) in this play, expected one, because " in words, output
    # With one it would go on to build programs and to write.
    first = yaml.safe_load((ROOT / "roles" / name / "tasks" / f"{file}.yml").read_text())[0]
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


def tasks_of_parts(path):
    """Return the arguments of the tasks that install or remove parts of a plane, by the modules that refuse several."""
    found = []
    for item in yaml.safe_load(path.read_text()):
        for task in [item, *item.get("pre_tasks", []), *item.get("tasks", [])]:
            found += [task[name] for name in task if re.fullmatch(
                r"metal3\.baremetal\.plane_(components|ironic|ironic_operator|site)", name) and "confirm" in task[name]]
    return found


def test_modules_of_parts_know_the_planes_of_the_play():
    found = [(path, arguments) for path in [*ROOT.glob("roles/*/tasks/*.yml"), *ROOT.glob("playbooks/*.yml")]
             for arguments in tasks_of_parts(path)]
    assert len(found) == 10
    for path, arguments in found:
        assert arguments["confirm_among"] == "{{ ansible_play_hosts_all }}", path
