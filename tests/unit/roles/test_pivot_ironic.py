# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role ``pivot`` stops all that has power over the servers in the plane that lets go, however its Ironic runs."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

ROLE = Path(__file__).resolve().parents[3] / "roles" / "pivot"
INVENTORY = ("all: {hosts: {m1: {ansible_connection: local, "
             "ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}")
PLANE = "metal3.baremetal."
WAITS = "ansible.builtin.wait_for"
OTHERS = ("etcd", "mariadb", "bmo", "image-server")
CHECKED = {"uid": "uid-of-the-one-that-was-checked", "generation": 3}
TAKES = {"starts": False, "address": True, "dhcp": False}


def _shown(task):
    """Return a task that only shows what a task of the role would have been given."""
    module = next((key for key in task if key.startswith(PLANE) or key == WAITS), None)
    if module is None:
        return task
    given = task[module]
    if task.get("register") == "pivot_back":
        # As the play says it.
        return {"ansible.builtin.set_fact": {"pivot_back": "{{ pivot_found }}"}}
    shown = {"module": module, "name": task["name"],
             **{option: given.get(option) for option in ("programs", "nodes", "checked", "cluster_uid")}}
    # Where the plane is a process, nothing reads what these return.
    return dict(((key, value) for key, value in task.items() if key not in (module, "check_mode")),
                **{"ansible.builtin.debug": {"msg": {key: value for key, value in shown.items() if value}}})


NODES = [{"name": "metal3~server-01", "uuid": "1be26c0b-03f2-4d2e-ae87-c02d7f33c123", "must_exist": True}]


def _run(folder, name, programs, back=None, **variables):
    """Run one of the role's files on a plane of processes, and return what was printed.

    :param back: what of the result of ``plane_move`` differs that says what goes back
    """
    plane = folder / "plane"
    (plane / "supervisor" / "conf.d").mkdir(parents=True)
    for program in (*programs, *OTHERS):
        (plane / "supervisor" / "conf.d" / f"{program}.conf").touch()
    for path in (ROLE / "tasks").iterdir():
        (folder / path.name).write_text(json.dumps([_shown(task) for task in ansible_yaml.read(path)]))
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars": {
        "pivot_ironic_mode": "process", "pivot_ironic_directory": str(plane), "pivot_ironic_url": "https://192.0.2.1",
        "pivot_ironic_ca_file": "", "pivot_ironic_username_file": "", "pivot_ironic_password_file": "",
        "pivot_namespace": "metal3", "pivot_state": "undone", "pivot_plan": {
            "nodes": NODES, "due": True, "from_uid": "uid-here", "to_uid": "uid-there", "handover": {"address": False}},
        "pivot_undone": {"due": True}, "pivot_reach_from": "auto", "pivot_to_ironic_namespace": "",
        "pivot_to_ironic_deployment": "there", "pivot_found": dict(
            {"handover": {"starts": False, "address": False, "dhcp": False}, "ironic": dict(CHECKED),
             "from_uid": "uid-here", "to_uid": "uid-there"}, **(back or {})),
        "pivot_kubeconfig": "", "pivot_to_kubeconfig": "", "pivot_ironic_namespace": "",
        "pivot_ironic_deployment": "", "pivot_wait_timeout_seconds": 1, **variables},
        "tasks": [{"include_vars": str(ROLE / "vars" / "main.yml")}, {"import_tasks": name}]}])
    return playbook.play(folder, INVENTORY, text, "play.yml")


@pytest.mark.parametrize("programs", [["ironic"], ["ironic-api", "ironic-conductor-1", "ironic-conductor-2"]])
def test_all_programs_of_ironic_are_stopped_when_they_have_no_nodes_any_more(tmp_path, programs):
    code, output = _run(tmp_path, "stop_ironic.yml", programs)
    assert code == 0, output
    # By what the hosts say of their nodes: another Ironic has others, or none.
    deleted = output.partition("TASK [Delete the hosts' nodes]")[2].partition("TASK")[0]
    assert all(f'"{key}": {json.dumps(value)}' in deleted for key, value in dict(NODES[0], state="absent").items())
    stopped = output.partition("plane_processes")[2].partition("TASK")[0]
    assert all(f'"name": "{program}"' in stopped for program in programs), output
    assert not any(f'"name": "{program}"' in stopped for program in OTHERS), output


@pytest.mark.parametrize("programs, handover, url, asks", [
    (["ironic"], {"address": False}, "https://192.0.2.1:6385", True),
    (["ironic-api"], {"address": False}, "http://[2001:db8::1]:6385/", True),
    # That of the Ironic over there by now, in a run that goes on.
    (["ironic"], {"address": True}, "https://192.0.2.1:6385", False),
    (["ironic-conductor-1"], {"address": False}, "https://192.0.2.1:6385", False),
    ([], {"address": False}, "https://192.0.2.1:6385", False), (["ironic"], {"address": False}, "", False)])
def test_whoever_answers_after_all_processes_have_stopped_is_another_ironic(tmp_path, programs, handover, url, asks):
    code, output = _run(tmp_path, "stop_ironic.yml", programs, pivot_ironic_url=url, pivot_plan={
        "nodes": NODES, "due": True, "from_uid": "uid-here", "handover": handover})
    assert code == 0 and ("ansible.builtin.wait_for" in output) is asks, output


@pytest.mark.parametrize("url, place", [
    ("https://192.0.2.1:6385", "192.0.2.1 6385"), ("http://[2001:db8::1]:6385/", "2001:db8::1 6385"),
    ("https://ironic.example", "ironic.example 443"), ("http://ironic.example/v1", "ironic.example 80")])
def test_it_is_asked_where_the_url_leads(tmp_path, url, place):
    (given,) = [task[WAITS] for task in ansible_yaml.read(ROLE / "tasks" / "stop_ironic.yml") if WAITS in task]
    assert given["state"] == "stopped" and "another" in given["msg"]
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars": {"pivot_ironic_url": url}, "tasks": [
        {"debug": {"msg": f"asks <{given['host']} {given['port']}>"}}]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
    assert code == 0 and f"asks <{place}>" in output, output


def test_a_run_that_was_killed_after_the_api_was_stopped_stops_the_conductors(tmp_path):
    code, output = _run(tmp_path, "stop_ironic.yml", ["ironic-conductor-2"])
    assert code == 0 and "metal3~server-01" not in output and '"name": "ironic-conductor-2"' in output, output


def _task(name):
    tasks = ansible_yaml.read(ROLE / "tasks" / "moved.yml")
    return tasks, next(number for number, task in enumerate(tasks) if task["name"] == name)


def test_both_checks_look_for_the_processes_of_ironic_themselves():
    """One that is not found has not stopped: plane_move refuses it before a host is held, and one that is left."""
    tasks, number = _task("Check both planes")
    # The programs that are asked and stopped are looked for before.
    assert "find_ironic.yml" in str(tasks[number - 1])
    for name in ("Check both planes", "Move hosts and clusters"):
        given = tasks[_task(name)[1]]["metal3.baremetal.plane_move"]
        assert given["former_ironic_directory"] == "{{ pivot_ironic_directory or omit }}"


def test_the_run_that_writes_knows_what_must_have_stopped():
    tasks, number = _task("Check both planes")
    planned = tasks[number]["metal3.baremetal.plane_move"]
    writes = tasks[_task("Move hosts and clusters")[1]]["metal3.baremetal.plane_move"]
    names = {name for name in planned if name.startswith("former_ironic_")}
    assert names == {name for name in writes if name.startswith("former_ironic_")}
    assert all(planned[name] == writes[name] for name in names)


def test_ironic_is_asked_for_the_nodes_before_a_host_is_held():
    """By the login that deletes them: one that does not hold would end the run when all hosts are held."""
    tasks, asked = _task("Ask the Ironic that lets go for the hosts' nodes")
    assert "ask_ironic.yml" in str(tasks[asked])
    assert _task("Check both planes")[1] < asked < _task("Hold the hosts and save their status")[1]
    asking, deleting = (next(task for task in ansible_yaml.read(ROLE / "tasks" / name)
                             if PLANE + "ironic_node" in task)
                        for name in ("ask_ironic.yml", "stop_ironic.yml"))
    assert asking["check_mode"] is True and asking["changed_when"] is False and "check_mode" not in deleting
    assert asking[PLANE + "ironic_node"] == deleting[PLANE + "ironic_node"]
    assert [text.replace("asked", "pods") for text in asking["when"]] == deleting["when"]


def test_a_process_that_is_gone_is_not_stopped_again(tmp_path):
    code, output = _run(tmp_path, "stop_ironic.yml", [])
    assert code == 0 and "metal3~server-01" not in output and "plane_processes" not in output, output


@pytest.mark.parametrize("programs, is_taken_back", [
    (["ironic"], True), (["ironic-api", "ironic-conductor-1"], True), (["ironic-conductor-1"], False), ([], False)])
def test_a_move_is_taken_back_only_when_ironic_runs_again(tmp_path, programs, is_taken_back):
    code, output = _run(tmp_path, "undone.yml", programs)
    assert (code == 0) is is_taken_back and ("expected it; start it" in output) is not is_taken_back, output


@pytest.mark.parametrize("part", ["address", "dhcp"])
def test_what_has_moved_along_goes_back_before_ironic_is_looked_for(tmp_path, part):
    """It can't start here without its address."""
    code, output = _run(tmp_path, "undone.yml", [], {"handover": {"starts": False, "address": False, "dhcp": False,
                                                                  part: True}})
    assert code != 0 and "expected it; start it" in output
    assert output.index("Stop the Ironic over there") < output.index("Check that Ironic runs here again"), output
    assert '"metal3.baremetal.plane_scale"' in output, output


def test_without_the_number_of_hosts_nothing_over_there_is_stopped(tmp_path):
    code, output = _run(tmp_path, "undone.yml", ["ironic"], {"confirmation": "repeat how many", "handover": {
        "starts": False, "address": True, "dhcp": False}})
    assert code != 0 and "repeat how many" in output and "plane_scale" not in output, output


def test_the_ironic_that_is_stopped_over_there_is_the_one_that_was_checked(tmp_path):
    """A Deployment of its name that somebody has made since may be at work for others."""
    code, output = _run(tmp_path, "undone.yml", ["ironic"], {"handover": TAKES})
    stopped = output.partition("Stop the Ironic over there")[2].partition("TASK")[0]
    assert code == 0 and CHECKED["uid"] in stopped and "plane_scale" in stopped, output


def test_no_deployment_is_stopped_where_the_ironic_over_there_is_a_process(tmp_path):
    """One of the default's name is somebody else's."""
    code, output = _run(tmp_path, "undone.yml", ["ironic"], {"handover": TAKES, "ironic": None})
    assert code == 0 and "plane_scale" not in output.partition("TASK [Start Ironic's pod again]")[0], output


def test_every_number_of_pods_is_set_for_the_deployment_that_was_checked():
    found = [task[PLANE + "plane_scale"].get("checked") for path in sorted((ROLE / "tasks").iterdir())
             for task in ansible_yaml.read(path) if PLANE + "plane_scale" in task]
    assert [str(checked).strip("{} ").partition(" ")[0] for checked in found] == [
        "pivot_plan.former_ironic", "pivot_plan.ironic", *["pivot_plan.former_ironic"] * 2, "pivot_back.ironic",
        "pivot_back.former_ironic"]


# Which plane each file works on, by its kubeconfig, and by what the first check said of it.
CHECKED_PLANES = {
    "pivot_kubeconfig": ("cluster_uid", "from_uid"), "pivot_to_kubeconfig": ("cluster_uid", "to_uid")}
# Nothing was checked before these, and they write nothing to a plane.
FIRST = {"Ask on the nodes that hosts are whether they reach Ironic over there", "Read the hosts",
         "Read its kubeconfig in the plane that lets go", "Look what goes back",
         # One task, with what is checked and what is done.
         "Move the hosts"}


def test_every_task_that_writes_writes_to_the_plane_that_was_checked():
    """Somebody may switch the context of a kubeconfig between two tasks."""
    seen = set()
    for path in sorted((ROLE / "tasks").iterdir()):
        checked = "pivot_back" if path.name in ("undone.yml", "take_back.yml") else "pivot_plan"
        for task in ansible_yaml.read(path):
            given = next((value for key, value in task.items() if key.startswith(PLANE)), None)
            if not isinstance(given, dict) or "kubeconfig" not in given or task["name"] in FIRST:
                continue
            seen.add(task["name"])
            option, field = CHECKED_PLANES[given["kubeconfig"].strip("{ }")]
            if task["name"] == "Check both planes":
                assert "pivot_nodes_asked.from_uid" in given["cluster_uid"]
                assert "pivot_nodes_asked.to_uid" in given["to_cluster_uid"]
                continue
            assert given[option] == f"{{{{ {checked}.{field} }}}}", task["name"]
            if "to_kubeconfig" in given:
                assert given["to_cluster_uid"] == f"{{{{ {checked}.to_uid }}}}", task["name"]
    assert {"Hold the hosts and save their status", "Move hosts and clusters", "Stop Ironic's pod",
            "Start the Ironic that takes over", "Take the move back", "Stop the Ironic over there",
            "Start Ironic's pod again", "Release the hosts and wait until hosts and machines are what they were",
            "Release the hosts and wait until they are what they were"} <= seen


def test_what_is_held_is_what_was_checked_and_confirmed():
    given = _task("Hold the hosts and save their status")
    given = given[0][given[1]][PLANE + "plane_move_hosts"]
    assert given["hosts"] == "{{ omit if pivot_plan.begun else pivot_plan.hosts }}"
    assert given["former_ironic"] == "{{ pivot_plan.former_ironic_place or omit }}"


@pytest.mark.parametrize("name, file, registered", [
    ("Start Ironic's pod again", "undone.yml", "pivot_undone"),
    ("Move hosts and clusters", "moved.yml", "pivot_nodes_deleted")])
@pytest.mark.parametrize("found, code", [(None, 2), ({"changed": False, "skipped": True}, 0), ({"changed": True}, 0)])
def test_what_was_left_out_by_a_step_is_not_built_upon(tmp_path, name, file, registered, found, code):
    """The former Ironic beside a move that goes on, or a move whose nodes the former Ironic still has."""
    (task,) = [task for task in ansible_yaml.read(ROLE / "tasks" / file) if task["name"] == name]
    variables = {"pivot_ironic_mode": "cluster", "pivot_must_be_confirmed": True, "pivot_plan": {"due": True}}
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "tasks": [
        {"debug": {"msg": "goes on"}, "when": task["when"]}],
        "vars": dict(variables, **({} if found is None else {registered: found}))}])
    ended, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
    assert ended == code and ('"goes on"' in output) is (code == 0), output


@pytest.mark.parametrize("handover, parts", [
    ({"dhcp": True, "address": True}, ["dhcp", "address"]), ({"dhcp": True, "address": False}, ["dhcp"]),
    ({"dhcp": False, "address": True}, ["address"]), ({"dhcp": False, "address": False}, None)])
def test_only_what_the_other_ironic_takes_is_let_go_before_it_is_started(tmp_path, handover, parts):
    tasks = ansible_yaml.read(ROLE / "tasks" / "hand_over.yml")
    letting, starting = tasks
    assert "plane_scale" in str(starting) and starting["metal3.baremetal.plane_scale"]["replicas"] == 1
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars": {
        "pivot_plan": {"handover": dict(handover, starts=True)}, "pivot_ironic_mode": "process",
        "provisioning_network_name": "provisioning"}, "tasks": [
            {"debug": {"msg": "parts: {{ " + letting["vars"]["provisioning_network_parts"].strip("{} ") + " }}"},
             "when": letting["when"]}]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
    assert code == 0 and ("parts: " in output) is (parts is not None), output
    assert parts is None or f"parts: {parts}" in output, output


@pytest.mark.parametrize(("given", "named", "other"), [
    ({"pivot_to_kubeconfig": ""}, "set pivot_to_kubeconfig to the kubeconfig of the plane that takes over",
     "pivot_ironic_url:"),
    ({"pivot_ironic_mode": "external"}, "pivot_ironic_url: not set", "pivot_to_kubeconfig:"),
    ({"pivot_ironic_directory": ""}, "pivot_ironic_directory: not set, expected the folder", "pivot_ironic_url:")])
def test_only_the_variable_that_is_missing_is_named(tmp_path, given, named, other):
    task, = [task for task in ansible_yaml.read(ROLE / "tasks" / "main.yml") if task["name"] == "Check the variables"]
    variables = dict({"pivot_kubeconfig": "a", "pivot_to_kubeconfig": "b", "pivot_ironic_mode": "process",
                      "pivot_ironic_url": "", "pivot_ironic_directory": "/plane"}, **given)
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars": variables, "tasks": [task]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
    shown = " ".join(output.split())
    assert code and named in shown and other not in shown, output
