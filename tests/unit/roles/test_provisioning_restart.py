# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dnsmasq and keepalived read files that a run has written which ended before it started them again."""
from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

ROLE = Path(__file__).resolve().parents[3] / "roles" / "provisioning_network"
INVENTORY = ("all: {hosts: {m1: {ansible_connection: local, "
             "ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}")
UNCHANGED = {"program": "/usr/sbin/none", "notifies": True}
# File of the role → the part that it runs, and what says whether this run has written its configuration.
PARTS = {"dhcp": ("dhcp", "file"), "keepalived": ("address", "keepalived_file")}


def shown(task):
    """Return a task; of one about services only what it would have done."""
    if "block" in task:
        return dict(task, block=[shown(part) for part in task["block"]])
    given = task.get("ansible.builtin.systemd_service")
    if given is None:
        return task
    words = f"{given['name']} is {given['state']}, reload {given['daemon_reload']}"
    return dict(((key, value) for key, value in task.items() if key != "ansible.builtin.systemd_service"),
                **{"ansible.builtin.debug": {"msg": words}})


def written(task):
    """Return a task with the role's template."""
    template = task.get("ansible.builtin.template")
    return task if template is None else dict(task, **{"ansible.builtin.template": dict(
        template, src=str(ROLE / "templates" / template["src"]))})


@pytest.fixture(name="run", params=sorted(PARTS))
def runs(tmp_path, request):
    """Return a function that runs the end of the role's file, whose services' files are in a folder."""
    part, registered = PARTS[request.param]
    (tmp_path / "service.yml").write_text(json.dumps(
        [shown(task) for task in ansible_yaml.read(ROLE / "tasks" / "service.yml")]))
    ending = [written(task) for task in ansible_yaml.read(ROLE / "tasks" / f"{request.param}.yml")
              if "service.yml" in str(task.get("ansible.builtin.import_tasks"))
              or "_unit_file" in str(task.get("ansible.builtin.stat", task.get("ansible.builtin.template")))]
    prefix = "" if part == "dhcp" else "keepalived_"
    variables = {f"provisioning_network_{prefix}unit_file": str(tmp_path / "m3.service"),
                 f"provisioning_network_{prefix}config_file": str(tmp_path / "m3.conf"),
                 "provisioning_network_read_files": {part: str(tmp_path / "m3.read")},
                 "provisioning_network_name": "prov"}
    (tmp_path / "m3.conf").write_text("first")

    def run(*arguments, rewritten=False, fails=False, **changes):
        given = dict(variables, **{f"provisioning_network_{registered}": dict(
            UNCHANGED, changed=rewritten, **changes)})
        text = json.dumps([{"hosts": "m1", "gather_facts": False, "tasks": [
            {"include_vars": str(ROLE / "vars" / "main.yml")}, *ending]}])
        code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(given), *arguments,
                                     PATH=f"{tmp_path}:{os.environ['PATH']}")
        assert code == (2 if fails else 0), output
        if fails:
            return " ".join(output.split())
        return next((word for word in ("restarted", "started") if f"m3.service is {word}, reload" in output), None)
    run.folder = tmp_path
    return run


def test_a_service_that_does_not_start_says_why_and_is_started_again_by_the_next_run(run):
    tasks = json.loads((run.folder / "service.yml").read_text())
    broken = json.dumps(tasks).replace("ansible.builtin.debug", "ansible.builtin.fail")
    (run.folder / "service.yml").write_text(broken)
    journal = run.folder / "journalctl"
    journal.write_text("#!/bin/sh\necho asked: \"$@\"\necho 'interface prov does not exist'\n")
    journal.chmod(0o755)
    output = run(fails=True)
    assert "m3.service: found m3.service is restarted" in output and "interface prov does not exist" in output
    assert "asked: --unit=m3.service" in output and not (run.folder / "m3.read").exists()
    (run.folder / "service.yml").write_text(json.dumps(tasks))
    assert run() == "restarted" and run() == "started"


def test_what_an_earlier_run_has_written_is_read_once(run):
    assert run() == "restarted" and run() == "started"
    # By a run that ended before it came to the service.
    (run.folder / "m3.conf").write_text("second")
    assert run("--check") == "restarted"
    assert run() == "restarted" and run() == "started"


def test_check_mode_says_so_of_files_that_it_does_not_write(run):
    assert run("--check") is None and not (run.folder / "m3.service").exists()
    run()
    assert run("--check", rewritten=True) == "restarted" and run() == "started"
    # Another unit alone: the program has another place.
    assert run("--check", program="/usr/local/sbin/none") == "restarted"
    assert run(program="/usr/local/sbin/none") == "restarted" and run(program="/usr/local/sbin/none") == "started"
