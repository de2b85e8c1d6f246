# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook site: which stage runs on which hosts, by where the management is; stages themselves say only that."""
from __future__ import annotations

import json
import re

import pytest
from fakes import playbook
from fakes.site_folder import config
from tooling import ansible_yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._move.manager.site_folder import SiteFolder

PLAYBOOKS = playbook.ROOT / "playbooks"
INVENTORY = """
all:
  vars: {metal3_namespace: metal3, bmo_deploy_iso_url: "https://images.example.org/ipa.iso"}
  children:
    management:
      hosts: {bastion: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}}
      vars: {management_plane: {mode: process, name: rack1, dir: /nowhere/rack1, address: 192.0.2.10}}
    baremetal: {hosts: {rack1-01: {bmc_address: "redfish-virtualmedia://198.51.100.1/redfish/v1/Systems/1"}}}
    clusters:
      children:
        prod: {hosts: {prod-cluster: {cluster_management: MANAGEMENT, cluster_kubernetes_version: v1.35.4}}}
        test: {hosts: {test-cluster: }}
"""
# What the two planes would answer.
PLANES = """\
from ansible.module_utils.basic import AnsibleModule
module = AnsibleModule({"result": {"type": "dict"}}, supports_check_mode=True)
module.exit_json(**module.params["result"])
"""
STAGES = ("provisioning_network", "image_server", "install", "enroll", "provision", "cluster", "pivot")
SAY = "{{ ['STAGE', '%s', inventory_hostname, %s] | join(' ') }}"
CONFIRMABLE = {"cluster": "cluster_confirmable | default(true) | string",
               "install": "install_confirmable | default(true) | string ~ ' ' ~ management_plane.mode",
               "pivot": "pivot_kubeconfig ~ ' ' ~ pivot_to_kubeconfig"}


def stand_in(name):
    """Return a playbook that says on which hosts the real one would run."""
    plays = ansible_yaml.read(PLAYBOOKS / f"{name}.yml")
    return json.dumps([{
        "name": name, "hosts": plays[-1]["hosts"], "gather_facts": False,
        "tasks": [{"ansible.builtin.debug": {"msg": SAY % (name, CONFIRMABLE.get(name, "''"))}}]}])


def ran(folder, management, stage="", starts=False, recorded="cluster", *arguments):
    """Run the playbook with stand-ins for what asks and does; return ``STAGE`` lines in their order."""
    (folder / "tasks").mkdir()
    for name in STAGES:
        (folder / f"{name}.yml").write_text(stand_in(name))
    plays = ansible_yaml.read(PLAYBOOKS / "site.yml")
    stop = plays[-2]["tasks"][1]
    assert stop["ansible.builtin.import_role"]["tasks_from"] == "stop"
    del stop["ansible.builtin.import_role"]
    stop["ansible.builtin.debug"] = {"msg": SAY % ("stop", "''")}
    (folder / "site.yml").write_text(json.dumps(plays))
    (folder / "library").mkdir()
    (folder / "library" / "planes.py").write_text(PLANES)
    for name in ("site_inventory", "site_stage", "site_record"):
        tasks = ansible_yaml.read(PLAYBOOKS / "tasks" / f"{name}.yml")
        for task in tasks:
            if task.pop("metal3.baremetal.plane_manager", None):
                task["planes"] = {"result": {
                    "stage": recorded if task["register"] == "site_recorded" else stage, "starts": starts,
                    "bootstrap_kubeconfig": "/b", "cluster_kubeconfig": "/c"}}
        (folder / "tasks" / f"{name}.yml").write_text(json.dumps(tasks))
    # One host after another, so that their lines have an order.
    code, output = playbook.play(folder, INVENTORY.replace("MANAGEMENT", management), "", "site.yml", "--forks", "1",
                                 *arguments, XDG_STATE_HOME=str(folder / "state"))
    assert code == 0, output
    return [" ".join(line.split()[1:]) for line in re.findall(r'"msg": "(STAGE [^"]*)"', output)]


HOSTS = ["enroll rack1-01", "provision rack1-01"]
NETWORK = ["provisioning_network bastion", "image_server bastion"]


def test_without_a_cluster_that_manages_it_is_as_ever(tmp_path):
    assert ran(tmp_path, "false") == [
        *NETWORK, "install bastion False process", *HOSTS, "cluster prod-cluster True", "cluster test-cluster True"]


def test_from_nothing(tmp_path):
    assert ran(tmp_path, "true", "bootstrap", True) == [
        *NETWORK, "install bastion False process", *HOSTS, "cluster prod-cluster False",
        "install prod-cluster False cluster", "pivot bastion /b /c", "stop bastion", "cluster test-cluster False"]


def test_a_bootstrap_plane_that_still_manages_goes_on(tmp_path):
    assert "stop bastion" not in ran(tmp_path, "true", "bootstrap", False, "bootstrap")


@pytest.mark.parametrize("starts", [False, True])
def test_a_move_is_finished_before_anything_else_is_written(tmp_path, starts):
    assert ran(tmp_path, "true", "moving", starts) == [
        *NETWORK, *(["install bastion False process"] if starts else []), "pivot bastion /b /c", "stop bastion",
        "cluster test-cluster False"]


def test_what_has_moved_is_managed_through_the_cluster(tmp_path):
    assert ran(tmp_path, "true", "cluster") == [
        *NETWORK, *HOSTS, "cluster prod-cluster True", "cluster test-cluster True",
        "install prod-cluster False cluster", "stop bastion"]


def test_a_run_that_is_limited_to_a_server_asks_no_plane(tmp_path):
    assert ran(tmp_path, "true", "cluster", False, "cluster", "--limit", "rack1-01") == HOSTS


@pytest.mark.parametrize("managed_by, refused", [("cluster", True), ("bootstrap", False)])
def test_the_cluster_that_manages_is_not_taken_down(tmp_path, managed_by, refused):
    folder = SiteFolder("rack1", "/nowhere/rack1", "metal3/prod", {"XDG_STATE_HOME": str(tmp_path / "state")})
    folder.keep_kubeconfig(config(), False)
    folder.record(managed_by, False)
    code, output = playbook.play(
        tmp_path, INVENTORY.replace("MANAGEMENT", "true"), "", "metal3.baremetal.teardown", "--limit", "prod-cluster",
        "-e", "metal3_confirm=prod", XDG_STATE_HOME=str(tmp_path / "state"))
    # Of the bootstrap plane there is no kubeconfig here.
    is_said = "move the management back by the playbook repivot first" in " ".join(output.split())
    assert code != 0 and is_said is refused
    assert refused or "/nowhere/rack1/kubeconfig" in output


def test_a_site_without_such_a_cluster_takes_down_as_ever(tmp_path):
    code, output = playbook.play(
        tmp_path, INVENTORY.replace("MANAGEMENT", "false"), "", "metal3.baremetal.teardown", "--limit", "prod-cluster",
        "-e", "metal3_confirm=prod", "-e", "metal3_kubeconfig=/nowhere/kubeconfig")
    # It comes as far as the API server, of which there is no kubeconfig here.
    assert code != 0 and "/nowhere/kubeconfig" in output.partition("fatal:")[2], output


@pytest.mark.parametrize("name, refused", [("prod-cluster", True), ("test-cluster", False)])
def test_an_inventory_with_mistakes_does_not_open_the_way_to_the_managing_cluster(tmp_path, name, refused):
    text = INVENTORY.replace("MANAGEMENT", "true").replace("v1.35.4", "v1.31.0")
    code, output = playbook.play(tmp_path, text, "", "metal3.baremetal.teardown", "--limit", name, "-e",
                                 f"metal3_confirm={name.partition('-')[0]}", XDG_STATE_HOME=str(tmp_path / "state"))
    is_said = "Whether it is that one is not known" in " ".join(output.split())
    assert code != 0 and is_said is refused, output
