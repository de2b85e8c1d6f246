# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbook ``install`` writes into the cluster that it has planned for, wherever the kubeconfig leads by then."""
from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from fakes import playbook
from fakes.api_server import DELETE, WRITE, ApiServer
from tooling import ansible_yaml

ROOT = Path(__file__).resolve().parents[3]
INVENTORY = "management: {hosts: {m1: {ansible_connection: local, ansible_python_interpreter: " \
            "'{{ ansible_playbook_python }}'}}}"
MODULES = ("plane_components", "plane_ironic", "plane_ironic_operator", "plane_check")
SYSTEM = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}}
OTHER = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "of-another-site"}}
# Stands for a release of cert-manager.
PART = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cert-manager"}}
EXTERNAL = dict((f"{part}_mode", "external") for part in ("ironic", "capi", "ipam", "bmo", "capm3"))
PLAY = ansible_yaml.read(ROOT / "playbooks" / "install.yml")[-1]
ROLES = dict((role["role"].rpartition(".")[2], role) for role in PLAY["roles"])
PARTS = ("cert_manager", "ironic", "capi", "ipam", "bmo", "capm3")


def calls(path):
    """Yield the options of each task of a file that works on the plane's cluster by one of these modules."""
    for task in ansible_yaml.read(path):
        for module in MODULES:
            if f"metal3.baremetal.{module}" in task:
                yield task["metal3.baremetal." + module], task


def written(server):
    return [request for request in server.of_kind(WRITE, DELETE) if "dryRun" not in request.query
            and (request.body or {}).get("dryRun") is None]


def switching(path, here, there):
    """Write a kubeconfig whose current context is switched as soon as its first server is asked."""
    def write(current):
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": current,
            "users": [{"name": "u", "user": {"token": "t"}}],
            "clusters": [{"name": name, "cluster": {"server": server.url}}
                         for name, server in (("here", here), ("there", there))],
            "contexts": [{"name": name, "context": {"cluster": name, "user": "u"}} for name in ("here", "there")]}))

    write("here")
    here.fault = lambda request: write("there")


@pytest.mark.parametrize("state, arguments", [("present", ()), ("present", ("--check",)), ("absent", ())])
@pytest.mark.parametrize("switches", [True, False], ids=["another terminal", "alone"])
def test_parts_come_into_the_cluster_that_they_were_planned_for(tmp_path, state, arguments, switches):
    release = tmp_path / "cert-manager.yaml"
    release.write_text(json.dumps(PART))
    kubeconfig = tmp_path / "kubeconfig"
    variables = dict(
        EXTERNAL, management_plane={"mode": "cluster", "kubeconfig": str(kubeconfig)}, cert_manager_mode="cluster",
        cert_manager_wait=False, cert_manager_state=state, metal3_confirm=1, cert_manager_options={
            "manifests": str(release), "version": "v1.20.3",
            "checksum": "sha256:" + hashlib.sha256(release.read_bytes()).hexdigest()})
    owned = dict(PART, metadata=dict(PART["metadata"], labels={
        "app.kubernetes.io/managed-by": "metal3.baremetal"}))
    with ApiServer([SYSTEM]) as here, ApiServer([OTHER, SYSTEM, *([owned] if state == "absent" else [])]) as there:
        switching(kubeconfig, here, there)
        if not switches:
            here.fault = lambda request: None
        code, output = playbook.play(
            tmp_path, INVENTORY, "", "metal3.baremetal.install", "--tags", "cert_manager", *arguments,
            "-e", json.dumps(variables), XDG_CACHE_HOME=str(tmp_path / "cache"))
        words = " ".join(output.split())
        # Nothing is planned for it in check mode but the plan, which is all.
        assert not written(there), (output, written(there))
        if switches and not arguments:
            assert code and "cluster_uid: found uid-12, expected uid-11, the cluster that was checked" in words, output
        else:
            assert code == 0, output
            assert bool(written(here)) is (not arguments and state == "present")


@pytest.mark.parametrize("part", PARTS)
def test_each_role_that_works_on_the_cluster_takes_the_one_that_was_seen(tmp_path, part):
    folder = ROOT / "roles" / part
    found = [options for path in sorted((folder / "tasks").glob("*.yml")) for options, _task in calls(path)]
    assert found
    assert [options.get("cluster_uid") for options in found] == ["{{ %s_cluster_uid or omit }}" % part] * len(found)
    # A role alone compares nothing.
    assert ansible_yaml.read(folder / "defaults" / "main.yml")[f"{part}_cluster_uid"] == ""
    assert ROLES[part]["vars"][f"{part}_cluster_uid"] == "{{ install_cluster_uid }}"


def test_the_task_of_all_parts_takes_it_and_nothing_else_writes_into_the_cluster():
    together = list(calls(ROOT / "playbooks" / "tasks" / "install_together.yml"))
    assert [options["cluster_uid"] for options, _task in together] == ["{{ install_cluster_uid or omit }}"]
    plan = [task for task in PLAY["pre_tasks"] if "metal3.baremetal.plane_components" in task]
    assert [task["register"] for task in plan] == ["install_plan"]


@pytest.mark.parametrize("looked_at, expected", [
    ({}, ""), ({"install_plan": {"cluster_uid": "a"}, "capi_checked": {"cluster_uid": "b"}}, "a"),
    ({"install_plan": {"skipped": True}, "ipam_checked": {"cluster_uid": "b"}}, "b"),
    ({"install_plan": {"cluster_uid": ""}, "capi_checked": {"skipped": True}}, "")])
def test_the_plan_or_the_first_look_says_which_cluster_it_is(tmp_path, looked_at, expected):
    play = [{"hosts": "management", "gather_facts": False, "vars": {
        "install_cluster_uid": PLAY["vars"]["install_cluster_uid"]}, "tasks": [
            {"set_fact": looked_at or {"nothing": True}},
            {"assert": {"that": f"install_cluster_uid == '{expected}'", "fail_msg": "{{ install_cluster_uid }}"}}]}]
    code, output = playbook.play(tmp_path, INVENTORY, json.dumps(play), "play.yml")
    assert code == 0, output


def test_what_another_play_of_the_run_has_found_does_not_count():
    """Roles register what they have found, also for a plane that the same host stood for before."""
    begin = next(task for task in PLAY["pre_tasks"] if "ansible.builtin.set_fact" in task)
    registered = {task["register"] for part in PARTS for path in (ROOT / "roles" / part / "tasks").glob("*.yml")
                  for options, task in calls(path) if "parts" in options and "register" in task}
    assert set(begin["ansible.builtin.set_fact"]) == registered and begin["tags"] == ["always"]
    assert registered == {f"{part}_checked" for part in PARTS if part != "ironic"}
    assert PLAY["pre_tasks"].index(begin) == 0


def test_uninstall_plans_and_removes_by_one_task():
    """Within a task the server stays the same, so that nothing has to be sent along."""
    play = ansible_yaml.read(ROOT / "playbooks" / "uninstall.yml")[-1]
    assert [task["name"] for task in play["pre_tasks"] + play["tasks"] if "kubeconfig" in str(task)] == [
        "Remove the parts, the last first"]
    roles = {(task["ansible.builtin.import_role"]["name"].rpartition(".")[2],
              task["ansible.builtin.import_role"]["tasks_from"])
             for task in play["tasks"] if "ansible.builtin.import_role" in task}
    assert [list(calls(ROOT / "roles" / role / "tasks" / f"{name}.yml")) for role, name in sorted(roles)] == [
        []] * len(roles)


@pytest.mark.parametrize("name", ["renew_certificates", "rotate_credentials"])
def test_what_ironic_was_given_goes_to_the_operator_and_back_in_one_cluster(name):
    """Credentials of one site's Ironic would otherwise be given to the operator of another one."""
    tasks = ansible_yaml.read(ROOT / "playbooks" / f"{name}.yml")[-1]["tasks"]
    roles = [task for task in tasks if task.get("ansible.builtin.import_role", {}).get("tasks_from") != "rotate"
             and "ansible.builtin.import_role" in task]
    names = [task["ansible.builtin.import_role"]["name"].rpartition(".")[2] for task in roles]
    given = [(task.get("vars") or {}).get(f"{role}_cluster_uid") for role, task in zip(names, roles)]
    assert given == [None] + ["{{ (ironic_installed | default({})).cluster_uid | default('') }}"] * (len(roles) - 1)
