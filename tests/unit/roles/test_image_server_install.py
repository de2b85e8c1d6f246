# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nginx that an installation starts is stopped, by the next run if this one is killed; one of before is left alone."""
from __future__ import annotations

import json

import pytest
from fakes import playbook
from tooling import ansible_yaml

ROLE = playbook.ROOT / "roles" / "image_server"
INVENTORY = ("all: {hosts: {m1: {ansible_connection: local, "
             "ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}")
STOPS = "nginx.service is stopped, enabled False"


def shown(task, program):
    """Return a task of the role; the package manager writes the program, systemd says what it would do."""
    task = dict(task)
    if task.pop("ansible.builtin.package", None):
        task["ansible.builtin.copy"] = {"content": "nginx", "dest": program, "mode": "0755"}
    service = task.pop("ansible.builtin.systemd_service", None)
    if service:
        task["ansible.builtin.debug"] = {
            "msg": f"{service['name']} is {service['state']}, enabled {service['enabled']}"}
        task["failed_when"] = "killed | default(false)"
    return task


@pytest.fixture(name="run")
def runs(tmp_path):
    """Return a function that runs the role's file, and returns whether the system's server is stopped, and output."""
    program = str(tmp_path / "nginx")
    tasks = [shown(task, program) for task in ansible_yaml.read(ROLE / "tasks" / "install.yml")]
    (tmp_path / "install.yml").write_text(json.dumps(tasks))
    files = [str(ROLE / part / "main.yml") for part in ("defaults", "vars")]
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars_files": files,
                        "tasks": [{"import_tasks": "install.yml"}]}])
    variables = {"image_server_work_dir": str(tmp_path / "work"), "image_server_packages": ["nginx"],
                 "image_server_packaged_program": program, "image_server_nginx_program": program}

    def run(*arguments, **changes):
        dummy, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(
            dict(variables, **changes)), *arguments)
        return STOPS in output, output
    run.program = tmp_path / "nginx"
    return run


def test_the_systems_server_is_stopped_once(run):
    assert run("--check")[0] is False and not run.program.exists()
    assert run()[0] is True
    stopped, output = run()
    assert stopped is False and "changed=0" in output


def test_a_run_that_was_killed_before_it_stopped_the_server_is_completed(run):
    assert "failed=1" in run(killed=True)[1] and run.program.exists()
    assert run("--check")[0] is True
    assert run()[0] is True
    stopped, output = run()
    assert stopped is False and "changed=0" in output


def test_a_server_of_before_is_left_alone(run):
    run.program.write_text("nginx")
    assert run()[0] is False


def test_a_server_of_before_is_left_alone_when_the_program_is_mistyped(run):
    """By what else is installed, the installation changes something."""
    run.program.write_text("nginx of before")
    for name, stopped in (("ngin", False), ("nginx", False)):
        found, output = run(image_server_nginx_program=str(run.program.with_name(name)))
        assert found is stopped, output
        assert ("image_server_nginx_program: found no file" in output) == (name == "ngin"), output


def test_what_an_installation_has_started_is_stopped_when_the_program_was_mistyped(run):
    stopped, output = run(image_server_nginx_program=str(run.program.with_name("ngin")))
    assert stopped is False and "image_server_nginx_program: found no file" in " ".join(output.split()), output
    assert run()[0] is True


def test_nothing_is_stopped_where_nothing_is_installed(run):
    run.program.write_text("nginx")
    assert run(image_server_packages=[])[0] is False
