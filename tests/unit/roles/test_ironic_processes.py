# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role ironic, mode process: what a change of ironic_processes stops and removes, and how processes share a machine."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from fakes import playbook

REPOSITORY = Path(__file__).resolve().parents[3]
INVENTORY = "management: {hosts: {m1: {ansible_connection: local, ansible_python_interpreter: " \
            "'{{ ansible_playbook_python }}'}}}"
PROGRAMS = ("ironic", "ironic-api", "ironic-conductor-1", "ironic-conductor-2", "ironic-conductor-3", "mariadb", "etcd")
PORTS = {"ironic": 6385, "etcd_client": 20000}
SHOWN = ("ironic_former_programs", "ironic_former_databases", "ironic_database_connection", "ironic_rpc_addresses")


@pytest.fixture
def plane(tmp_path):
    """A plane's folder with what both ways to run Ironic leave in it."""
    folder = tmp_path / "plane"
    for name in ("supervisor/conf.d", "ironic", "mariadb"):
        (folder / name).mkdir(parents=True)
    for name in PROGRAMS:
        (folder / "supervisor" / "conf.d" / f"{name}.conf").touch()
    for name in ("ironic.db", "database-schema", "htpasswd"):
        (folder / "ironic" / name).touch()
    return folder


@pytest.mark.parametrize(("arguments", "is_lab", "goes"), [
    ((), False, False), (("-e", "metal3_confirm=1"), False, False), (("-e", "metal3_confirm=mysite"), False, True),
    ((), True, True), (("--check",), False, False)])
def test_the_database_goes_only_by_the_plane_s_name(tmp_path, plane, arguments, is_lab, goes):
    for name in PROGRAMS:
        (plane / "supervisor" / "conf.d" / f"{name}.conf").unlink()
    text = json.dumps([{"hosts": "management", "gather_facts": False, "vars": {
        "management_plane": dict({"name": "mysite", "dir": str(plane), "ports": PORTS},
                                 **({"index": 1} if is_lab else {})),
        "ironic_processes": "separate", "ironic_conductors": 2}, "tasks": [
        {"include_vars": str(REPOSITORY / "roles" / "ironic" / "vars" / "main.yml")},
        {"import_tasks": str(REPOSITORY / "roles" / "ironic" / "tasks" / "former_processes.yml")}]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", *arguments)
    assert (code == 0) == (goes or "--check" in arguments), output
    assert (plane / "ironic" / "ironic.db").exists() != goes
    # In check mode as a warning.
    asks = "To continue, set metal3_confirm=mysite" in " ".join(output.split())
    assert asks is (code != 0 or "--check" in arguments), output


@pytest.mark.parametrize("begin", ["Stop the processes of another way to run Ironic",
                                   "Remove the database of another way to run Ironic"])
def test_a_run_that_begins_after_the_question_ends_nothing(tmp_path, plane, begin):
    text = json.dumps([{"hosts": "management", "gather_facts": False, "vars": {
        "management_plane": {"name": "mysite", "dir": str(plane), "ports": PORTS},
        "ironic_processes": "separate", "ironic_conductors": 2},
        "vars_files": [str(REPOSITORY / "roles" / "ironic" / "vars" / "main.yml")],
        "tasks": [{"import_tasks": str(REPOSITORY / "roles" / "ironic" / "tasks" / "former_processes.yml")}]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "--start-at-task", begin)
    assert code and "To continue, set metal3_confirm=mysite" in " ".join(output.split()), output
    assert (plane / "ironic" / "ironic.db").exists()


@pytest.mark.parametrize(("arguments", "is_lab", "goes"), [
    ((), False, False), (("-e", "metal3_confirm=1"), False, False), (("-e", "metal3_confirm=mysite"), False, True),
    ((), True, True)])
def test_a_conductor_less_goes_only_by_the_plane_s_name(tmp_path, plane, arguments, is_lab, goes):
    for name in ("ironic", "ironic-conductor-3"):
        (plane / "supervisor" / "conf.d" / f"{name}.conf").unlink()
    for name in ("ironic.db", "database-schema"):
        (plane / "ironic" / name).unlink()
    # The question alone: what is stopped after it needs a supervisor.
    tasks = yaml.safe_load((REPOSITORY / "roles" / "ironic" / "tasks" / "former_processes.yml").read_text())[:1]
    text = json.dumps([{"hosts": "management", "gather_facts": False, "vars": {
        "management_plane": dict({"name": "mysite", "dir": str(plane), "ports": PORTS},
                                 **({"index": 1} if is_lab else {})),
        "ironic_processes": "separate", "ironic_conductors": 1}, "tasks": [
        {"include_vars": str(REPOSITORY / "roles" / "ironic" / "vars" / "main.yml")}, *tasks]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", *arguments)
    assert (code == 0) == goes, output
    words = " ".join(output.split())
    assert goes or "ironic_conductors=1 stops ironic-conductor-2 of mysite: what it is doing with hosts fails. To " \
        "continue, set metal3_confirm=mysite, or set ironic_conductors back" in words, words


@pytest.mark.parametrize(("processes", "programs", "databases", "connection"), [
    ("combined", ["ironic-api", "mariadb", "ironic-conductor-1", "ironic-conductor-2", "ironic-conductor-3"],
     ["mariadb"], r"sqlite:///%s/ironic/ironic\.db\?timeout=30"),
    ("separate", ["ironic", "ironic-conductor-3"], ["ironic/ironic.db", "ironic/database-schema"],
     r"mysql\+pymysql://[^:@]+@localhost/ironic\?charset=utf8mb4&unix_socket=%s/mariadb/mariadb\.sock"),
])
def test_a_change_leaves_nothing_of_the_other_way(tmp_path, plane, processes, programs, databases, connection):
    text = json.dumps([{"hosts": "management", "gather_facts": False, "vars": {
        "management_plane": {"dir": str(plane), "ports": PORTS}, "ironic_processes": processes,
        "ironic_conductors": 2}, "tasks": [
        {"include_vars": str(REPOSITORY / "roles" / "ironic" / "vars" / "main.yml")},
        {"copy": {"dest": str(tmp_path / "shown"), "content": "{{ [%s] | to_json }}" % ", ".join(SHOWN)}}]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
    assert code == 0, output
    shown = json.loads((tmp_path / "shown").read_text())
    assert sorted(shown[0]) == sorted(programs)
    assert sorted(shown[1]) == sorted(str(plane / name) for name in databases)
    assert shown[3] == ["127.78.32.1", "127.78.32.2", "127.78.32.3", "127.78.32.4"]
    # No password in it.
    assert re.fullmatch(connection % re.escape(str(plane)), shown[2]), shown[2]


def test_conductors_of_two_planes_with_one_port_of_ironic_have_addresses_of_their_own(tmp_path):
    """Two planes at two addresses of a machine: those of the second could not listen, as the first one's did."""
    planes = [dict(PORTS, etcd_client=client) for client in (20000, 20100)]
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [
        {"include_vars": str(REPOSITORY / "roles" / "ironic" / "vars" / "main.yml")},
        *({"copy": {"dest": str(tmp_path / f"shown-{number}"), "content": "{{ ironic_rpc_addresses | to_json }}"},
           "vars": {"management_plane": {"dir": "/p", "ports": ports}}} for number, ports in enumerate(planes))]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
    assert code == 0, output
    first, second = (set(json.loads((tmp_path / f"shown-{number}").read_text())) for number in range(2))
    assert len(first | second) == 8


def test_the_api_asks_no_conductor_at_its_former_address():
    """It keeps its list of them for 15 s, in which what it had to ask them failed although Ironic was ready."""
    given = yaml.safe_load((REPOSITORY / "roles" / "ironic" / "vars" / "main.yml").read_text())
    certificate = "{{ management_plane.dir }}/pki/ironic-json-rpc.crt"
    assert certificate in given["ironic_conductor_program"]["restart_on"]
    program, = given["ironic_api_programs"]
    assert certificate in program["restart_on"]


@pytest.mark.parametrize(("processes", "arguments", "users"), [
    ("combined", ["/v/bin/ironic-dbsync", "/p/ironic/ironic.conf", "/p/ironic"], ["ironic"]),
    ("separate", ["/v/bin/ironic-dbsync", "/p/ironic/ironic.conf", "/p/mariadb", "/p/mariadb/mariadb.sock"],
     ["ironic-api", "ironic-conductor-1", "ironic-conductor-2"])])
def test_the_database_is_another_s_only_while_nobody_works_on_it(tmp_path, processes, arguments, users):
    tasks = yaml.safe_load((REPOSITORY / "roles" / "ironic" / "tasks" / "process.yml").read_text())
    names = [task["name"] for task in tasks]
    plan, stop, step = names.index("Look whether the database needs another schema"), names.index(
        "Stop Ironic before its database gets another schema"), names.index("Create or upgrade the database")
    # What stands against it, and hosts that are worked on, are found while it still runs.
    assert names.index("Refuse to start Ironic again while hosts are in transition") < plan < stop < step
    assert step < names.index("Run the conductors") < names.index("Run Ironic")
    assert 'ironic_database_plan.stdout == "upgraded"' in tasks[stop]["when"]
    shown = {"plan": tasks[plan]["ansible.builtin.command"]["argv"],
             "step": tasks[step]["ansible.builtin.command"]["argv"],
             "stop": tasks[stop]["metal3.baremetal.plane_processes"]["programs"]}
    text = json.dumps([{"hosts": "management", "gather_facts": False, "vars": {
        "management_plane": {"dir": "/p", "services_python": "/v/bin/python", "ports": PORTS},
        "role_path": "/r", "ironic_processes": processes, "ironic_conductors": 2}, "tasks": [
        {"include_vars": str(REPOSITORY / "roles" / "ironic" / "vars" / "main.yml")},
        {"copy": {"dest": str(tmp_path / "shown"), "content": "{{ shown | to_json }}"}, "vars": {"shown": shown}}]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
    assert code == 0, output
    found = json.loads((tmp_path / "shown").read_text())
    assert found["step"] == ["/v/bin/python", "/r/files/database.py", *arguments]
    assert found["plan"] == ["/v/bin/python", "/r/files/database.py", "--plan", *arguments]
    assert [program["name"] for program in found["stop"]] == users


def test_a_site_s_ironic_is_asked_for_hosts_before_its_database_is_upgraded():
    tasks = yaml.safe_load((REPOSITORY / "roles" / "ironic" / "tasks" / "process.yml").read_text())
    names = [task["name"] for task in tasks]
    guard = tasks[names.index("Refuse to start Ironic again while hosts are in transition")]
    # By what is configured by then, in check mode, so that nothing is started by it.
    assert names.index("Configure Ironic") < names.index(guard["name"]) < names.index("Create or upgrade the database")
    assert guard["check_mode"] is True and "not ironic_in_lab | metal3.baremetal.boolean" in guard["when"]
    assert guard["metal3.baremetal.plane_processes"]["hosts_kubeconfig"] == "{{ management_plane.dir }}/kubeconfig"
