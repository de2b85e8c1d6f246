# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts the role ``restore`` asks for and releases."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from fakes import playbook

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import digest_digits

ROLE = Path(__file__).resolve().parents[3] / "roles" / "restore"
TASKS = dict((task["name"], task) for task in yaml.safe_load((ROLE / "tasks" / "main.yml").read_text()))
SHOW = TASKS["Show what would become of them"]
ASK = TASKS["Ask for confirmation"]
WARN = TASKS["Report what a run without check mode asks for"]
RESTORE = TASKS["Restore what is not there"]
RELEASE = TASKS["Release the hosts and wait until they are what they were"]
INVENTORY = ("all: {hosts: {m1: {ansible_connection: local, "
             "ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}")
# One that works, one that an earlier run has left held, one that is lost.
PLAN = {"due": True, "objects": {"BareMetalHost": 1, "Secret": 2}, "namespace": "metal3",
        "created": ["BareMetalHost lost", "Secret a", "Secret b"], "to_release": ["held", "lost"], "verdicts": [
            {"name": "works", "is_there": True, "is_held": False}, {"name": "held", "is_there": True, "is_held": True},
            {"name": "lost", "is_there": False, "is_held": False}]}
ALL_THERE = {"due": False, "objects": {}, "created": [], "namespace": "metal3", "to_release": ["held"],
             "verdicts": PLAN["verdicts"][:2]}
IN_MOVE = {"due": True, "objects": {"BareMetalHost": 1}, "created": ["BareMetalHost lost"], "namespace": "metal3",
           "to_release": [], "verdicts": PLAN["verdicts"][::2]}


def play(tmp_path, plan, *arguments, **variables):
    names = RELEASE["metal3.baremetal.plane_move_hosts"]["hosts"]
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars_files": [str(ROLE / "vars" / "main.yml")],
                        "vars": dict({"restore_plan": plan, "restore_release": True}, **variables), "tasks": [
        ASK, WARN, {"debug": {"msg": "restores"}, "when": RESTORE["when"]},
        {"debug": {"msg": "releases {{ " + names[2:-2] + " | join('+') }}"}, "when": RELEASE["when"]}]}])
    return playbook.play(tmp_path, INVENTORY, text, "play.yml", *arguments)


@pytest.mark.parametrize("plan, release, number", [
    (PLAN, True, 2), (PLAN, False, 1), (ALL_THERE, True, 1), (IN_MOVE, True, 1)])
def test_the_number_of_hosts_that_are_restored_or_released_is_asked_for(tmp_path, plan, release, number):
    code, output = play(tmp_path, plan, restore_release=release)
    assert code != 0 and f"set metal3_confirm={number}" in output and "releases" not in output, output
    created = ", and creates there what is missing (BareMetalHost 1, Secret 2)" if plan is PLAN else ""
    assert plan is IN_MOVE or f"of namespace metal3{created}. To continue" in output, output


@pytest.mark.parametrize("plan, release, released", [
    (PLAN, True, "held+lost"), (PLAN, False, None), (ALL_THERE, True, "held"), (IN_MOVE, True, None)])
def test_only_those_are_released_and_nothing_before_a_look_at_what_it_costs(tmp_path, plan, release, released):
    names = ",".join(sorted({item["name"] for item in plan["verdicts"] if not item["is_there"]}
                            | set(plan["to_release"] if release else [])))
    code, output = play(tmp_path, plan, restore_release=release, metal3_confirm=names)
    assert code == 0, output
    assert f'"releases {released}"' in output if released else "releases" not in output, output
    assert '"restores"' in output


def test_what_writes_is_for_the_plane_that_was_looked_at():
    """By then the context of its kubeconfig may be another one, whose operator would have the servers, too."""
    given = [TASKS[RESTORE["name"]]["metal3.baremetal.plane_restore"], RELEASE["metal3.baremetal.plane_move_hosts"]]
    assert [options.get("cluster_uid") for options in given] == ["{{ restore_plan.cluster_uid }}"] * 2


def test_what_a_backup_prints_is_the_checksum_that_a_restore_takes(tmp_path):
    digits = "0a" * 32
    backup = yaml.safe_load((ROLE.parent / "backup" / "tasks" / "main.yml").read_text())
    name = next(task for task in backup if task["name"] == "Name the checksum for a restore")
    for sha256 in (digits, None):
        text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars": {"backup_result": {"sha256": sha256}},
                            "tasks": [name]}])
        code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
        assert code == 0 and (f'"restore_checksum=sha256:{digits}"' in output) is bool(sha256), output
    assert digest_digits(f"sha256:{digits}") == digits
    look, restores = (TASKS[task]["metal3.baremetal.plane_restore"]["sha256"] for task in (
        "Look what would become of the servers", RESTORE["name"]))
    # The first run refuses another file before anything is asked for; the second one takes that same file.
    assert look == restores == "{{ restore_planned_checksum | default(restore_checksum) or omit }}"
    assert RESTORE["vars"] == {"restore_planned_checksum": "{{ restore_plan.sha256 }}"}


def test_check_mode_releases_what_is_there(tmp_path):
    code, output = play(tmp_path, PLAN, "--check")
    assert code == 0 and '"releases held"' in output and '"restores"' not in output, output
    assert "Without check mode this would be refused: " in output and "set metal3_confirm=2" in output
    code, output = play(tmp_path, PLAN, "--check", metal3_confirm="2")
    assert code == 0 and "would be refused" not in output, output


def test_what_is_there_and_works_is_not_asked_for(tmp_path):
    code, output = play(tmp_path, dict(ALL_THERE, to_release=[], verdicts=PLAN["verdicts"][:1]))
    assert code == 0 and "releases" not in output and '"restores"' not in output, output


def test_without_a_host_the_number_of_objects_is_asked_for(tmp_path):
    """A cluster that is restored takes hosts that are there, and nobody was asked."""
    plan = dict(ALL_THERE, due=True, to_release=[], verdicts=PLAN["verdicts"][:1],
                objects={"Cluster": 1, "Secret": 1}, created=["Cluster prod", "Secret prod-ca"])
    code, output = play(tmp_path, plan)
    assert code != 0 and '"restores"' not in output, output
    assert ("This creates 2 objects (Cluster prod, Secret prod-ca) in namespace metal3. To continue, set "
            "metal3_confirm=2.") in output, output
    for given in ("2", "Secret prod-ca,Cluster prod"):
        code, output = play(tmp_path, plan, metal3_confirm=given)
        assert code == 0 and '"restores"' in output, output


def test_a_pause_that_stays_and_what_was_not_asked_is_shown(tmp_path):
    verdict = {"effect": "nothing", "cause": "it is free", "is_there": False, "is_held": False}
    plan = {"verdicts": [dict(verdict, name="mine", stays_paused=True, not_asked=[]),
                         dict(verdict, name="free", stays_paused=False, not_asked=["whether it is on", "its disks"])]}
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "tasks": [SHOW], "vars": {"restore_plan": plan}}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
    assert code == 0 and output.count("it was paused and stays so") == 1, output
    words = " ".join(output.split())
    assert "mine: nothing: it is free; it was paused" in words, output
    assert "free: nothing: it is free; not asked: whether it is on; its disks" in words, output
