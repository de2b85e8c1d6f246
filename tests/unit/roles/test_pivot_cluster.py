# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role ``pivot`` moves to a cluster of the inventory by its name, by the kubeconfig that the plane has of it."""
from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

ROLE = Path(__file__).resolve().parents[3] / "roles" / "pivot"
INVENTORY = """
all:
  hosts: {m1: {ansible_connection: local, ansible_python_interpreter: '{{ ansible_playbook_python }}'}}
  children:
    clusters:
      children:
        prod: {hosts: {prod-cluster: {cluster_endpoint: {host: 192.0.2.100}}}}
        edge: {hosts: {edge-cluster: {cluster_name: far, cluster_namespace: rack2}}}
"""
CONFIG = {"clusters": [{"name": "c", "cluster": {"server": "https://192.0.2.100:6443"}}], "users": [], "contexts": []}


def _run(folder, cluster, found, *arguments):
    """Run the role's file, where the plane has ``found`` as the cluster's kubeconfig, and return what was printed."""
    tasks = []
    for task in ansible_yaml.read(ROLE / "tasks" / "target.yml"):
        if task.get("register") == "pivot_to_found":
            given = task["metal3.baremetal.cluster_info"]
            assert given["return_kubeconfig"] and task["no_log"]
            tasks.append({"ansible.builtin.debug": {"msg": "asks for {{ " + given["namespace"].strip("{} ") + " }}/"
                                                    + given["names"][0]}})
            task = {"ansible.builtin.set_fact": {"pivot_to_found": {
                "clusters": [] if found is None else [{"name": "c", "kubeconfig": found}]}}}
        tasks.append(task)
    tasks.append({"ansible.builtin.debug": {"msg": "moves to {{ pivot_to_kubeconfig }}."}})
    defaults = ansible_yaml.read(ROLE / "defaults" / "main.yml")
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars": {
        "pivot_namespace": "metal3", "pivot_kubeconfig": "/k", "pivot_to_cluster": cluster,
        "pivot_to_kubeconfig": defaults["pivot_to_kubeconfig"], "pivot_kubeconfig_directory": str(folder / "kept")},
        "tasks": [{"include_vars": str(ROLE / "vars" / "main.yml")}, *tasks]}])
    code, output = playbook.play(folder, INVENTORY, text, "play.yml", *arguments)
    return code, " ".join(output.split())


@pytest.mark.parametrize("name", ["prod-cluster", "prod"])
def test_the_kubeconfig_of_a_cluster_is_kept_for_its_owner_alone(tmp_path, name):
    path = tmp_path / "kept" / "metal3.prod.kubeconfig"
    code, output = _run(tmp_path, name, CONFIG, "--check")
    assert code == 0 and "asks for metal3/prod" in output and f"moves to {path}." in output, output
    assert "changed=0" in output, output
    assert json.loads(path.read_text()) == CONFIG
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
    # Its own plane has it by then.
    code, output = _run(tmp_path, name, None)
    assert code == 0 and f"moves to {path}." in output and "changed=0" in output, output


def test_a_cluster_of_another_name_and_namespace_is_found(tmp_path):
    code, output = _run(tmp_path, "edge", CONFIG)
    # The folder and the file in it.
    assert code == 0 and "asks for rack2/far" in output and "changed=2" in output, output
    assert (tmp_path / "kept" / "rack2.far.kubeconfig").exists()


@pytest.mark.parametrize("server, place", [
    ("https://198.51.100.7:6443", "198.51.100.7 port 6443"), ("https://192.0.2.100:30443", "192.0.2.100 port 30443"),
    ("https://192.0.2.100", "192.0.2.100 port 443")])
def test_a_kubeconfig_that_leads_elsewhere_is_not_used(tmp_path, server, place):
    """Who may make Services of the cluster can listen at a port of its nodes."""
    other = dict(CONFIG, clusters=[{"name": "c", "cluster": {"server": server}}])
    code, output = _run(tmp_path, "prod", other)
    assert code and f"prod-kubeconfig: server: found {place}, expected host and port of cluster_endpoint of" in output
    assert not (tmp_path / "kept").exists(), output


@pytest.mark.parametrize("name, words", [
    ("prod", "found no Secret prod-kubeconfig in the plane that lets go and no file"),
    ("m1", 'pivot_to_cluster: found "m1", expected a cluster of the group clusters (prod-cluster, edge-cluster)'),
    ("other", 'pivot_to_cluster: found "other", expected a cluster')])
def test_a_cluster_that_is_not_there_is_refused(tmp_path, name, words):
    code, output = _run(tmp_path, name, None)
    assert code and words in output and not (tmp_path / "kept").exists(), output


@pytest.mark.parametrize("variables, path", [
    ({}, ""), ({"site_management": {}}, ""),
    ({"site_management": {"management_plane": {"kubeconfig": "/site/kubeconfig"}}}, "/site/kubeconfig"),
    ({"site_management": {"management_plane": {"kubeconfig": "/site/kubeconfig"}}, "pivot_target_kubeconfig": "/t"},
     "/t")])
def test_without_variables_a_site_moves_to_the_cluster_that_is_to_manage_it(tmp_path, variables, path):
    given = ansible_yaml.read(ROLE / "defaults" / "main.yml")["pivot_to_kubeconfig"]
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "vars": dict(variables, found=given), "tasks": [
        {"debug": {"msg": "to <{{ found }}>"}}]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
    assert code == 0 and f"to <{path}>" in output, output
