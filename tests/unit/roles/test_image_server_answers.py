# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image server is asked at each address that it is to have: one that has another program is an error.

nginx that is reloaded, and cannot have an address, goes on at those of before; its own test of the file says nothing.
"""
from __future__ import annotations

import contextlib
import json
import os

import pytest
from fakes import playbook
from fakes.http_server import QuietHandler, Served
from tooling import ansible_yaml

ROLE = playbook.ROOT / "roles" / "image_server"
INVENTORY = ("all: {hosts: {m1: {ansible_connection: local, "
             "ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}")
NAMES = ("Wait until it answers at each address", "Check that it answers at each address")


class Answering(QuietHandler):
    """What answers as the image server does."""

    status = 200

    def do_GET(self):
        self.send_response(self.status if self.path == "/healthz" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Other(Answering):
    """Another server."""

    status = 404


class At(Served):
    """A server at an address, on a port."""

    def __init__(self, address, port, handler):
        self.serve(handler, address, port)


@pytest.fixture(name="run")
def runs(tmp_path):
    """Return a function that runs the role's tasks that ask the server, and returns exit status and output."""
    tasks = [task for task in ansible_yaml.read(ROLE / "tasks" / "service.yml") if task["name"] in NAMES]
    assert len(tasks) == len(NAMES)
    files = [str(ROLE / part / "main.yml") for part in ("defaults", "vars")]
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars_files": files, "tasks": tasks}])

    def run(addresses, port):
        variables = {"image_server_addresses": addresses, "image_server_port": port, "image_server_tls": False,
                     "image_server_wait_timeout_seconds": 1}
        return playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(variables))
    return run


def test_an_address_that_has_another_program_is_an_error(run):
    with contextlib.ExitStack() as servers:
        port = servers.enter_context(At("127.0.0.1", 0, Answering)).port
        servers.enter_context(At("127.0.0.2", port, Other))
        code, output = run(["127.0.0.1", "127.0.0.2"], port)
        said = " ".join(output.split())
        assert code != 0 and f"http://127.0.0.2:{port}: no answer of the image server within 1 s" in said
        assert f"http://127.0.0.1:{port}: no answer" not in said and f"http://127.0.0.1:{port}, http" not in said


@pytest.mark.parametrize("arguments", [(), ("--check",)])
@pytest.mark.parametrize("is_there", [False, True])
def test_a_port_that_another_program_has_is_refused_before_the_service_knows_of_it(tmp_path, arguments, is_there):
    """The service would take the port from that program when the machine starts the next time.

    One that is there gets another port by then, or has ended meanwhile.
    """
    tasks = ansible_yaml.read(ROLE / "tasks" / "port.yml")
    files = [str(ROLE / part / "main.yml") for part in ("defaults", "vars")]
    unit = tmp_path / "unit"
    variables = {"image_server_addresses": ["127.0.0.2", "192.0.2.1", "127.0.0.1"], "image_server_tls": False,
                 "image_server_unit_file": str(unit)}
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars_files": files, "tasks": tasks}])

    if is_there:
        unit.write_text("")

    def run(port):
        return playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(
            dict(variables, image_server_port=port)), *arguments)

    with At("127.0.0.1", 0, Other) as server:
        code, output = run(server.port)
        assert code != 0 and f"image_server_port: found {server.port}, taken at 127.0.0.1 by pid {os.getpid()} (" in (
            " ".join(output.split())), output
        assert "192.0.2.1 by" not in output and "127.0.0.2 by" not in output
    code, output = run(server.port)
    assert code == 0 and "changed=0" in output, output


def test_the_port_is_looked_at_before_the_service_is_written():
    order = [task["ansible.builtin.import_tasks"] for task in ansible_yaml.read(ROLE / "tasks" / "present.yml")
             if "ansible.builtin.import_tasks" in task]
    assert order.index("install.yml") < order.index("port.yml") < order.index("images.yml") < order.index("server.yml")


def test_all_addresses_answer(run):
    with contextlib.ExitStack() as servers:
        port = servers.enter_context(At("127.0.0.1", 0, Answering)).port
        servers.enter_context(At("127.0.0.2", port, Answering))
        assert run(["127.0.0.1", "127.0.0.2"], port)[0] == 0
        assert run(["0.0.0.0"], port)[0] == 0
