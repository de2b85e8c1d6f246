# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check mode says when the image server would be restarted, which ends downloads, or reloaded, which ends none."""
from __future__ import annotations

import json

import pytest
from fakes import playbook
from tooling import ansible_yaml

ROLE = playbook.ROOT / "roles" / "image_server"
INVENTORY = ("all: {hosts: {m1: {ansible_connection: local, "
             "ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}")
# Of tasks of the role: what asks a server that does not run here.
ASKING = ("ansible.builtin.uri", "ansible.builtin.assert")


def shown(task):
    """Return a task with the role's template; of one about the service only what it would have done."""
    task = dict(task)
    template = task.get("ansible.builtin.template")
    if template:
        task["ansible.builtin.template"] = dict(
            ((key, value) for key, value in template.items() if key != "validate"),
            src=str(ROLE / "templates" / template["src"]))
    service = task.pop("ansible.builtin.systemd_service", None)
    if service:
        task["ansible.builtin.debug"] = {"msg": f"the server is {service['state']}, reads {service['daemon_reload']}"}
    return task


@pytest.fixture(name="run")
def runs(tmp_path):
    """Return a function that runs the role's file, and returns what would have been done to the service."""
    for name in ("server", "service"):
        (tmp_path / f"{name}.yml").write_text(json.dumps([
            shown(task) for task in ansible_yaml.read(ROLE / "tasks" / f"{name}.yml")
            if not set(ASKING) & set(task) and task.get("ansible.builtin.import_tasks") != "certificate.yml"]))
    files = [str(ROLE / part / "main.yml") for part in ("defaults", "vars")]
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars_files": files,
                        "tasks": [{"import_tasks": "server.yml"}]}])
    variables = {"image_server_addresses": ["127.0.0.1"], "image_server_tls": False,
                 "image_server_work_dir": str(tmp_path / "work"),
                 "image_server_unit_file": str(tmp_path / "m3.service")}

    def run(*arguments, **changes):
        code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(
            dict(variables, **changes)), *arguments)
        assert code == 0, output
        return next((word for word in ("restarted", "reloaded", "started") if f"the server is {word}, reads" in output),
                    None)
    return run


def test_check_mode_and_the_run_after_it_do_the_same(run):
    assert run("--check") is None and run() == "restarted"
    unit = {"image_server_nginx_program": "/usr/local/sbin/nginx"}
    both = dict(unit, image_server_port=8080)
    for changes, expected in ((unit, "restarted"), (both, "reloaded")):
        assert run("--check", **changes) == expected and run(**changes) == expected
    assert run("--check", **both) == "started"


def test_a_reload_would_neither_begin_nor_end_listening_on_all_addresses(run):
    """nginx keeps its sockets of before meanwhile, and can't have those of other addresses beside them."""
    run()
    for addresses, expected in ((["0.0.0.0"], "restarted"), (["0.0.0.0", "127.0.0.1"], "reloaded"),
                                (["127.0.0.1"], "restarted"), (["127.0.0.1", "127.0.0.2"], "reloaded")):
        changes = {"image_server_addresses": addresses, "image_server_names": ["images.example"]}
        assert run("--check", **changes) == expected and run(**changes) == expected
        assert run(**changes) == "started"


def test_addresses_of_the_command_line_are_a_list(run, tmp_path):
    run(image_server_addresses="127.0.0.1,127.0.0.2")
    lines = (tmp_path / "work" / "nginx.conf").read_text().splitlines()
    assert [line.strip() for line in lines if "listen " in line] == ["listen 127.0.0.1:80;", "listen 127.0.0.2:80;"]
