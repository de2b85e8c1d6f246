# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs on the controller is done by the user who runs Ansible, also where servers are reached by sudo."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import playbook
from fakes.api_server import ApiServer, kubeconfig_of
from fakes.used_hosts import in_use
from tooling import ansible_yaml

REPOSITORY = Path(__file__).resolve().parents[3]
NAMES = ("h1", "h2")
BY_INVENTORY = ({"ansible_become": True}, {}, ())
BY_OPTION = ({}, {}, ("--become",))
BY_PLAY = ({}, {"become": True}, ())
# These need no connection.
WITHOUT_CONNECTION = ("assert", "debug", "fail", "meta", "set_fact")
# All that these roles do is done where Ansible runs.
CONTROLLERS_ROLES = ("bootstrap_plane", "lab")


def paused(name):
    """Return a host whose status the operator has saved."""
    host = in_use(name)
    host["status"]["lastUpdated"] = "2026-01-01T00:00:00Z"
    host["metadata"]["annotations"] = {"baremetalhost.metal3.io/paused": "",
                                       "baremetalhost.metal3.io/status": json.dumps(host["status"])}
    return host


@pytest.fixture(name="run")
def run_with_recorder(tmp_path):
    """Yield a callable that runs a play; it returns exit code, output and how often another user was asked for."""
    log, sudo = tmp_path / "log", tmp_path / "sudo"
    sudo.write_text(f'#!/bin/sh\necho called >> {log}\nwhile [ "$1" != /bin/sh ]; do shift; done\nexec "$@"\n')
    sudo.chmod(0o755)
    with ApiServer([paused(name) for name in NAMES]) as server:
        (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))

        def play(how, tasks, *arguments, hosts="baremetal"):
            variables, keywords, options = how
            # Not root, as which the tests may run: Ansible asks for nobody who is there already.
            shared = dict({"ansible_become_exe": str(sudo), "ansible_become_user": "nobody",
                           "metal3_kubeconfig": str(tmp_path / "kubeconfig")}, **variables)
            inventory = json.dumps({"all": {"vars": shared, "children": {
                "baremetal": {"hosts": dict.fromkeys(NAMES)},
                "management": {"hosts": {"m1": {"ansible_connection": "local"}}}}}})
            text = json.dumps([dict({"hosts": hosts, "gather_facts": False, "tasks": tasks}, **keywords)])
            code, output = playbook.play(tmp_path, inventory, text, "play.yml", *options, *arguments)
            return code, " ".join(output.split()), len(log.read_text().split()) if log.exists() else 0
        yield play


def role(name, entry="main", **variables):
    """Return a task that has a role do something."""
    return {"import_role": {"name": f"metal3.baremetal.{name}", "tasks_from": entry}, "vars": variables}


def save_status(folder):
    """Return a task by a module that shows progress, after which Ansible's own modules write files."""
    return role("hosts", "action", hosts_action="save_status", hosts_action_status_dir=str(folder),
                hosts_wait_timeout_seconds=5)


@pytest.mark.parametrize("how", [BY_INVENTORY, BY_OPTION, BY_PLAY], ids=["inventory", "option", "play"])
def test_what_is_for_servers_is_done_by_the_own_user(run, tmp_path, how):
    code, output, asked = run(how, [save_status(tmp_path / "saved")])
    assert code == 0 and asked == 0, output
    assert len(list((tmp_path / "saved").iterdir())) == 2


def test_a_variable_of_the_command_line_is_refused(run, tmp_path):
    code, output, asked = run(({}, {}, ("-e", '{"ansible_become": true}')), [save_status(tmp_path / "saved")])
    assert code and asked == 0 and not (tmp_path / "saved").exists()
    assert "ansible_become: found true among variables that count more than a task's (-e, set_fact)" in output
    assert "give ansible_become to the group or host that needs it" in output


def test_a_plane_of_processes_is_the_own_user_s(run, tmp_path):
    plane = {"mode": "process", "name": "m3none", "dir": str(tmp_path / "plane")}
    task = role("bootstrap_plane", "stop", management_plane=plane)
    dummy, output, asked = run(BY_INVENTORY, [task], hosts="management")
    assert asked == 0 and "Stop the plane and keep its folder" in output, output


def test_a_machine_of_the_site_is_changed_by_the_user_that_the_inventory_names(run):
    dummy, output, asked = run(BY_INVENTORY, [role(
        "image_server", image_server_addresses=["127.0.0.1"], image_server_name="m3none", image_server_state="absent")],
        "--check", hosts="management")
    assert asked > 0, output


def tasks_of(items, inherited=None, delegated=False):
    """Yield all tasks of a file, those of blocks too: task, whether it is delegated, its variable."""
    for task in items:
        variables = dict({"ansible_become": inherited}, **task.get("vars") or {})
        own = delegated or task.get("delegate_to") == "localhost"
        if "block" in task:
            for part in ("block", "rescue", "always"):
                yield from tasks_of(task.get(part) or [], variables["ansible_become"], own)
        else:
            yield task, own, variables["ansible_become"]


def connects(task):
    """Return whether a task has a module that runs somewhere."""
    names = {name.rpartition(".")[2] for name in task}
    return not any(name.startswith(("import_", "include_")) or name in WITHOUT_CONNECTION for name in names)


def test_each_task_of_the_controller_says_so():
    """A keyword would count less than the variable of an inventory, which is for servers."""
    paths = [*(REPOSITORY / "roles").glob("*/tasks/*.yml"), *(REPOSITORY / "playbooks").rglob("*.yml")]
    found = 0
    for path in sorted(paths):
        for play in ansible_yaml.read(path):
            for task, delegated, become in tasks_of(play.get("tasks", []) if "hosts" in play else [play]):
                if delegated and connects(task):
                    found += 1
                    assert become is False, f"{path.relative_to(REPOSITORY)}: {task['name']}: ansible_become: {become}"
    assert found > 70


@pytest.mark.parametrize("name", CONTROLLERS_ROLES)
def test_each_task_of_a_role_of_the_controller_says_so(name):
    """Or the import of its file does, of a file that nobody else imports."""
    folder = REPOSITORY / "roles" / name / "tasks"
    silent, imported = {}, {}
    for path in sorted(folder.glob("*.yml")):
        for task, dummy, become in tasks_of(ansible_yaml.read(path)):
            if connects(task) and become is not False:
                silent.setdefault(path.name, task["name"])
            if "ansible.builtin.import_tasks" in task:
                imported.setdefault(task["ansible.builtin.import_tasks"], []).append(become)
    specs = ansible_yaml.read(folder.parent / "meta" / "argument_specs.yml")
    entries = {f"{point}.yml" for point in specs["argument_specs"]}
    for file, first in silent.items():
        assert set(imported.get(file, [None])) == {False} and file not in entries, f"roles/{name}/tasks/{file}: {first}"


def test_plays_of_the_controller_say_so():
    """But for the one that fills the folder of a web server, which may be root's."""
    plays = [(path.name, play) for path in sorted((REPOSITORY / "playbooks").glob("*.yml"))
             for play in ansible_yaml.read(path) if play.get("hosts") == "localhost"]
    others = {name for name, play in plays if (play.get("vars") or {}).get("ansible_become") is not False
              and ("roles" in play or any(connects(task) for task in play["tasks"]))}
    assert others == {"mirror_unpack.yml"}
