# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which parts the playbook ``install`` writes into a cluster by one task, and when it plans them beforehand."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

PLAYBOOKS = Path(__file__).parents[3] / "playbooks"
MODULE = "metal3.baremetal.plane_components"
INVENTORY = "management: {hosts: {bastion: {ansible_connection: local}}}\n"
PARTS = {"capi": ["capi", "cabpk", "kcp"], "ipam": ["ipam"], "bmo": ["bmo"], "capm3": ["capm3"]}
EVERY = "capi,cabpk,kcp,ipam,bmo,capm3"
PLAY = ansible_yaml.read(PLAYBOOKS / "install.yml")[-1]
MODES = dict((f"{name}_mode", "cluster") for name in PARTS)
SITE = dict(MODES, **dict((f"{name}_state", "present") for name in PARTS),
            **dict((f"{name}_parts", [{"name": part} for part in parts]) for name, parts in PARTS.items()),
            cert_manager_mode="external", cert_manager_parts=[], ironic_mode="external", bmo_host_namespace="metal3",
            management_plane={"mode": "cluster"})
UPGRADE = {"upgrades": [{"part": "cert_manager", "interrupts": True}, {"part": "kcp", "interrupts": True},
                        {"part": "bmo", "interrupts": False}]}


def ran(folder, *arguments, plan=None, **variables):
    """Run the tasks; return ``(parts, confirm, number of objects)`` of what would be installed, None without a call."""
    tasks = ansible_yaml.read(PLAYBOOKS / "tasks" / "install_together.yml")
    call = tasks[-1].pop(MODULE)
    tasks[-1]["ansible.builtin.debug"] = {"msg": "{{ 'CALLED ' ~ (call | to_json) }}"}
    tasks[-1]["vars"] = {"call": {"parts": "{{ %s | map(attribute='name') | join(',') }}" % call["parts"].strip("{} "),
                                  "confirm": call["confirm"], "objects": call["objects"]}}
    # A site's play and everything that it says at its head.
    play = [{"hosts": "management", "gather_facts": False, "tags": PLAY["tags"], "tasks": tasks,
             "vars": dict(PLAY["vars"], **dict(SITE, **variables), install_plan=plan or {})}]
    code, output = playbook.play(folder, INVENTORY, json.dumps(play), "play.yml", *arguments)
    assert code == 0, output
    found = re.search(r"CALLED (\{.*\})\"", output.replace("\\\"", "'"))
    if not found:
        assert "CALLED" not in output
        return None
    given = json.loads(found.group(1).replace("'", '"'))
    return given["parts"], given["confirm"], len(given["objects"])


@pytest.mark.parametrize("arguments, parts", [
    ((), EVERY), (("--tags", "install"), EVERY), (("--tags", "bmo"), "bmo"),
    (("--tags", "ipam,capi"), "capi,cabpk,kcp,ipam"), (("--skip-tags", "capi"), "ipam,bmo,capm3"),
    (("--tags", "install", "--skip-tags", "ipam,bmo"), "capi,cabpk,kcp,capm3")])
def test_the_tags_of_the_run_choose_the_parts(tmp_path, arguments, parts):
    names, _confirm, objects = ran(tmp_path, *arguments)
    assert names == parts and objects == int("bmo" in parts.split(","))


@pytest.mark.parametrize("tag", ["ironic", "cert_manager", "enroll"])
def test_another_tag_installs_none(tmp_path, tag):
    assert ran(tmp_path, "--tags", tag) is None


def test_check_mode_installs_none(tmp_path):
    assert ran(tmp_path, "--check") is None


@pytest.mark.parametrize("changes, parts", [
    ({"ipam_mode": "external"}, EVERY.replace(",ipam", "")), ({"capm3_state": "absent"}, EVERY.replace(",capm3", "")),
    ({"capi_mode": "process", "bmo_mode": "external"}, "ipam,capm3")])
def test_parts_that_run_elsewhere_or_go_are_left_out(tmp_path, changes, parts):
    assert ran(tmp_path, **changes)[0] == parts


def test_what_was_confirmed_before_is_given_by_name(tmp_path):
    assert ran(tmp_path, plan=UPGRADE, metal3_confirm=2, ironic_mode="cluster")[1] == "kcp"


def test_without_a_plan_the_number_is_given(tmp_path):
    assert ran(tmp_path, metal3_confirm=2)[1] == "2"


@pytest.mark.parametrize("changes, planned", [
    ({}, False), ({"ironic_mode": "cluster"}, True), ({"cert_manager_mode": "cluster"}, True),
    ({"install_confirmable": False}, True), ({"bmo_state": "absent"}, True), ({"ipam_mode": "process"}, True),
    ({"management_plane": {"mode": "process"}}, True), ({"management_plane": {}}, True)])
def test_a_plan_is_made_first_where_something_else_is_written_before(tmp_path, changes, planned):
    task = {"ansible.builtin.debug": {"msg": "{{ 'PLANNED ' ~ install_planned_first }}"}}
    play = [{"hosts": "management", "gather_facts": False, "vars": dict(PLAY["vars"], **dict(SITE, **changes)),
             "tasks": [task]}]
    code, output = playbook.play(tmp_path, INVENTORY, json.dumps(play), "play.yml")
    assert code == 0 and f"PLANNED {planned}" in output, output
