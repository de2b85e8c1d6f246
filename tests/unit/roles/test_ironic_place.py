# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Ironic the playbook ``install`` runs beside which plane, where it is refused, and where it is planned."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

PLAY = ansible_yaml.read(Path(__file__).parents[3] / "playbooks" / "install.yml")[0]
INVENTORY = "management: {hosts: {bastion: {ansible_connection: local}}}\n"
CHECK = next(task for task in PLAY["pre_tasks"] if task["name"] == "Check that Ironic has a place")
PLAN = next(task for task in PLAY["pre_tasks"] if task["name"] == "Plan all parts")
ASKED = next(task for task in PLAY["pre_tasks"] if task["name"] == "Ask for confirmation of an upgrade that interrupts")
ROLE = next(role for role in PLAY["roles"] if role["role"] == "metal3.baremetal.ironic")
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
