# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A wait asks BMCs with the servers' passwords: each is verified by what its own server's variables name."""
from __future__ import annotations

import json
import pathlib
import re

import pytest
from fakes import playbook
from tooling import ansible_yaml

ROLES = pathlib.Path(__file__).parents[3] / "roles"
OF_MODULES = ("metal3.baremetal.baremetal_host", "metal3.baremetal.baremetal_host_action", "metal3.baremetal.cluster")
ASKED = {"metal3_ironic": {}}


def waiting(role):
    """Return what the tasks of a role give to modules that wait for hosts."""
    tasks = [task for path in sorted((ROLES / role / "tasks").glob("*.yml")) for task in ansible_yaml.read(path)]
    return [task[name] for task in tasks for name in OF_MODULES if "boot_ca_file" in task.get(name, {})]


@pytest.mark.parametrize(("role", "number"), [("hosts", 7), ("cluster", 1)])
def test_each_task_that_waits_gives_the_files_of_all_hosts(role, number):
    found = waiting(role)
    assert len(found) == number
    assert {options.get("boot_bmc_ca_files") for options in found} == {"{{ %s_boot_bmc_ca_files }}" % role}


def files(folder, role, servers, *, acting, cluster=None, given=None, of_play=None, ironic=None):
    """Return what a role gives to the module, as a task with the variables of a host has it."""
    variables = dict(ASKED if ironic is None else ironic, ansible_connection="local",
                     ansible_python_interpreter="{{ ansible_playbook_python }}")
    inventory = {"all": {
        "vars": variables,
        "children": {"clusters": {"hosts": {"c1": cluster or {}}}, "baremetal": {"hosts": servers}}}}
    play = [{"hosts": acting, "gather_facts": False, "roles": [dict(
        {"role": f"metal3.baremetal.{role}", "when": False}, **(of_play or {}))], "post_tasks": [
            {"debug": {"msg": "files {{ %s_boot_bmc_ca_files | to_json }} ends" % role}, "run_once": True,
             "vars": of_play or {}}]}]
    code, output = playbook.play(folder, json.dumps(inventory), json.dumps(play), "play.yml", "-e",
                                 json.dumps(given or {}))
    assert code == 0, output
    return json.loads(re.search(r"files (.*) ends", output).group(1).replace('\\"', '"'))


SERVERS = {"h1": {"metal3_ca_file": "/rack1"}, "h2": {"metal3_ca_file": "/rack2"}, "h3": {}}


@pytest.mark.parametrize(("first", "given", "of_play", "expected"), [
    ({}, {}, {}, {"hosts": {"h1": "/rack1", "h2": "/rack2", "h3": ""}}),
    ({"hosts_boot_ca_file": "/own"}, {}, {}, {"hosts": {"h1": "/own", "h2": "/rack2", "h3": ""}}),
    ({}, {"hosts_boot_ca_file": "/given"}, {}, {"hosts": dict.fromkeys(("h1", "h2", "h3"), "/given")}),
    ({"hosts_boot_ca_file": "/own"}, {}, {"hosts_boot_ca_file": "/play"}, {"hosts": {}, "others": "/play"})])
def test_servers_of_one_run_have_files_of_their_own(tmp_path, first, given, of_play, expected):
    servers = dict(SERVERS, h1=dict(SERVERS["h1"], **first))
    assert files(tmp_path, "hosts", servers, acting="baremetal", given=given, of_play=of_play) == expected


@pytest.mark.parametrize(("cluster", "given", "of_play", "expected"), [
    ({"metal3_ca_file": "/cluster"}, {}, {}, {"hosts": {"h1": "/rack1", "h2": "/rack2", "h3": ""}}),
    ({"cluster_boot_ca_file": "/cluster"}, {}, {},
     {"hosts": dict.fromkeys(("h1", "h2", "h3"), "/cluster"), "others": "/cluster"}),
    ({}, {"cluster_boot_ca_file": "/given"}, {},
     {"hosts": dict.fromkeys(("h1", "h2", "h3"), "/given"), "others": "/given"}),
    ({"metal3_ca_file": "/cluster"}, {}, {"cluster_boot_ca_file": "/play"}, {"hosts": {}, "others": "/play"})])
def test_hosts_of_a_cluster_have_the_files_of_their_servers(tmp_path, cluster, given, of_play, expected):
    """The servers are in no play of the cluster, and hosts that the inventory does not have may be among its own."""
    assert files(tmp_path, "cluster", SERVERS, acting="clusters", cluster=cluster, given=given,
                 of_play=of_play) == expected


@pytest.mark.parametrize(("role", "acting"), [("hosts", "baremetal"), ("cluster", "clusters")])
def test_without_ironic_no_bmc_is_asked(tmp_path, role, acting):
    assert files(tmp_path, role, SERVERS, acting=acting, ironic={}) == {}
