# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How and where Ironic runs: beside which plane it is refused, where it is planned, and its defaults in all roles."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

PLAY = ansible_yaml.read(Path(__file__).parents[3] / "playbooks" / "install.yml")[-1]
INVENTORY = "management: {hosts: {bastion: {ansible_connection: local}}}\n"
CHECK = next(task for task in PLAY["pre_tasks"] if task["name"] == "Check that Ironic has a place")
PLAN = next(task for task in PLAY["pre_tasks"] if task["name"] == "Plan all parts")
ASKED = next(task for task in PLAY["pre_tasks"] if task["name"] == "Ask for confirmation of an upgrade that interrupts")
ROLE = next(role for role in PLAY["roles"] if role["role"] == "metal3.baremetal.ironic")
ROLES = Path(__file__).parents[3] / "roles"
# Variables of a machine → how and where its Ironic runs by default.
PLACES = {
    "nothing": ({}, "process", "baremetal-operator-system"),
    "unsaid": ({"management_plane": {"dir": "/plane"}}, "process", "baremetal-operator-system"),
    "process": ({"management_plane": {"mode": "process", "options": None}}, "process", "baremetal-operator-system"),
    "cluster": ({"management_plane": {"mode": "cluster", "options": {"namespace": "plane"}}}, "external", "plane"),
    "external": ({"management_plane": {"mode": "external", "options": {"namespace": ""}}, "bmo_options": {}},
                 "external", "baremetal-operator-system"),
    "operator": ({"management_plane": {"mode": "cluster", "options": {"namespace": "plane"}},
                  "bmo_options": {"namespace": "metal"}}, "external", "metal")}
# The role's variables, of which nothing runs.
VARIABLES = {"ansible.builtin.import_role": {"name": "metal3.baremetal.ironic", "tasks_from": "render"}, "when": False}


def ran(folder, mode, task, **variables):
    play = [{"hosts": "management", "gather_facts": False, "vars": PLAY["vars"], "tasks": [VARIABLES, task]}]
    plane = dict({"mode": mode, "dir": "/plane"}, **variables.pop("plane", {}))
    return playbook.play(folder, INVENTORY, json.dumps(play), "play.yml", "-e", json.dumps(
        dict({"management_plane": plane}, **variables)))


@pytest.mark.parametrize(("mode", "variables", "refused"), [
    ("process", {}, False), ("process", {"ironic_mode": "process"}, False),
    ("process", {"ironic_mode": "external"}, False), ("cluster", {}, False),
    ("cluster", {"ironic_mode": "cluster"}, False), ("cluster", {"ironic_mode": "external"}, False),
    ("cluster", {"ironic_mode": "process"}, True), ("external", {"ironic_mode": "process"}, True),
    ("external", {}, False)])
def test_a_process_of_ironic_belongs_to_a_plane_of_processes(tmp_path, mode, variables, refused):
    """Upstream's run_local_ironic.sh, an Ironic outside beside a plane in a cluster, is refused and not ignored."""
    code, output = ran(tmp_path, mode, CHECK, **variables)
    assert bool(code) is refused, output
    if refused:
        text = " ".join(output.split())
        assert f'found \\"process\\" with management_plane.mode={mode}, expected cluster or external' in text
        assert "set ironic_mode to cluster, or to external with ironic_url" in text


def test_it_is_refused_by_the_tags_of_ironic_alone_and_before_anything_is_planned():
    assert {"ironic", "bmo"} <= set(CHECK["tags"])
    assert PLAY["pre_tasks"].index(CHECK) < PLAY["pre_tasks"].index(PLAN)


@pytest.mark.parametrize(("variables", "planned"), [
    ({"ironic_mode": "cluster"}, {"namespace": "baremetal-operator-system", "image_version": "v35.0.0"}),
    ({"ironic_mode": "cluster", "ironic_image_version": "v39.0.0", "ironic_mariadb": True,
      "ironic_mariadb_claim": "data", "bmo_options": {"namespace": "metal"}},
     {"namespace": "metal", "image_version": "v39.0.0", "mariadb": True, "mariadb_claim": "data"}),
    ({"ironic_mode": "cluster", "plane": {"options": {"namespace": "plane"}}, "ironic_database": {"host": "db"}},
     {"namespace": "plane", "image_version": "v35.0.0", "database": {"host": "db"}}),
    ({"ironic_mode": "cluster", "ironic_by": "operator"}, None), ({"ironic_mode": "external"}, None),
    ({"ironic_mode": "cluster", "ironic_state": "absent"}, None)])
def test_an_ironic_in_the_cluster_is_planned_with_the_parts(tmp_path, variables, planned):
    given = PLAN["metal3.baremetal.plane_components"]["planned_ironic"]
    # What is left out is nothing that can be shown.
    task = {"ansible.builtin.debug": {"msg": "{{ 'PLANNED ' ~ (given | to_json) }}"},
            "vars": {"given": given.replace("omit", "none")}}
    code, output = ran(tmp_path, "cluster", task, **variables)
    assert code == 0, output
    found = re.search(r"PLANNED (.*)\"", output.replace('\\"', '"')).group(1)
    without = {"mariadb": False, "mariadb_claim": None, "database": None}
    assert json.loads(found) == (planned and dict(without, **planned))


def test_with_ironic_alone_it_is_planned_and_asked_for_too():
    assert "ironic" in PLAN["tags"] and "ironic" in ASKED["tags"] and "install_ironic" in PLAN["when"]


@pytest.mark.parametrize(("upgrades", "confirmed"), [
    ([{"part": "ironic", "interrupts": True}, {"part": "bmo", "interrupts": True}], ["ironic"]),
    ([{"part": "ironic", "interrupts": False}], []), ([], [])])
def test_what_was_confirmed_of_ironic_is_given_to_its_role_by_name(tmp_path, upgrades, confirmed):
    task = {"ansible.builtin.debug": {"msg": "{{ 'CONFIRMED ' ~ (given | to_json) }}"},
            "vars": {"given": ROLE["vars"]["ironic_confirmed_parts"], "install_plan": {"upgrades": upgrades}}}
    code, output = ran(tmp_path, "cluster", task, ironic_mode="cluster")
    assert code == 0 and f"CONFIRMED {json.dumps(confirmed)}" in output.replace('\\"', '"'), output


def places(folder, machines):
    """Return for each machine what the roles ironic, pivot and bootstrap_plane have as how and where Ironic runs."""
    ironic, pivot = (ansible_yaml.read(ROLES / name / "defaults" / "main.yml") for name in ("ironic", "pivot"))
    shown = {"ironic": [ironic["ironic_mode"], ironic["ironic_namespace"]],
             "pivot": [pivot["pivot_ironic_mode"], pivot["pivot_ironic_namespace"]],
             "parts": ansible_yaml.read(ROLES / "bootstrap_plane" / "vars" / "main.yml")["bootstrap_plane_parts"]}
    path = folder / "shown"
    path.mkdir()
    local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    inventory = {"all": {"hosts": dict((name, dict(local, **given)) for name, given in machines.items())}}
    play = [{"hosts": "all", "gather_facts": False, "vars": {"shown": shown}, "tasks": [{"ansible.builtin.copy": {
        "content": "{{ shown | to_json }}", "dest": str(path) + "/{{ inventory_hostname }}", "mode": "0600"}}]}]
    code, output = playbook.play(folder, json.dumps(inventory), json.dumps(play), "play.yml")
    assert code == 0, output
    return dict((name, json.loads((path / name).read_text())) for name in machines)


def test_roles_without_the_role_ironic_have_its_defaults(tmp_path):
    """Beside a plane in a cluster a pivot looked for a process, where install has the Ironic of others."""
    found = places(tmp_path, dict((name, given) for name, (given, *_place) in PLACES.items()))
    for name, (dummy, mode, namespace) in PLACES.items():
        assert found[name]["ironic"] == found[name]["pivot"] == [mode, namespace], name
        assert ("ironic" in found[name]["parts"]) is (mode == "process"), name


def test_what_the_inventory_says_of_ironic_comes_before_the_defaults(tmp_path):
    given = dict(PLACES["operator"][0], ironic_mode="cluster", ironic_namespace="own")
    found = places(tmp_path, {"said": given, "process": dict(given, ironic_mode="process")})
    assert found["said"]["pivot"] == ["cluster", "own"] and "ironic" not in found["said"]["parts"]
    assert found["process"]["pivot"] == ["process", "own"] and "ironic" in found["process"]["parts"]


@pytest.mark.parametrize(("plane", "folder"), [
    ({}, "~/.kube/config.ironic"), ({"kubeconfig": "/k", "context": None}, "/k.ironic"),
    ({"kubeconfig": "/k", "context": "admin@rack-1"}, "/k.admin@rack-1.ironic"),
    ({"kubeconfig": "/k", "context": "arn:../rack 1"}, "/k.arn_.._rack_1.ironic")])
def test_planes_of_one_kubeconfig_have_their_credentials_in_folders_of_their_own(tmp_path, plane, folder):
    code, output = ran(tmp_path, "cluster", {"ansible.builtin.debug": {"msg": "<{{ ironic_credentials_dir }}>"}},
                       plane=plane)
    assert code == 0 and f"<{folder}>" in output, output
