# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a number or a name alone confirms: only in a play in which it can be that of one cluster."""
from __future__ import annotations

import pathlib
import re
import shutil

import pytest
import yaml
from fakes import playbook

TASKS = pathlib.Path(__file__).parents[3] / "roles" / "cluster" / "tasks" / "main.yml"
INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  children:
    clusters: {hosts: {one: , two: }}
"""
PLAY = """\
- hosts: clusters
  gather_facts: false
  serial: "{{ batch | default(2) }}"
  vars: {metal3_confirm: given}
  roles: [asked]
"""


def given_by(folder, tasks, one, two, *arguments):
    """Return what a role gives the module of each cluster: the confirmation, and whether a name alone is none.

    :param tasks: path of the role's tasks
    :param one: variables of the host ``one``
    :param two: variables of the host ``two``
    :param arguments: of ansible-playbook
    """
    given = yaml.safe_load(tasks.read_text())[-1]["metal3.baremetal.cluster"]
    role = folder / "roles" / "asked"
    for part in ("defaults", "vars"):
        shutil.copytree(tasks.parents[1] / part, role / part)
    (role / "tasks").mkdir()
    (role / "tasks" / "main.yml").write_text(yaml.safe_dump([{"debug": {
        "msg": "given '%s', by name %s" % (given["confirm"], given["confirm_by_name"])}}]))
    inventory = INVENTORY.replace("one: , two: ", f"one: {{{one}}}, two: {{{two}}}")
    code, output = playbook.play(folder, inventory, PLAY, "play.yml", *arguments)
    assert code == 0, output
    return set(re.findall("given '(.*?)', by name (True|False)", output))


@pytest.mark.parametrize("serial, limit, by_name", [(2, "clusters", True), (1, "clusters", True), (2, "one", False)])
def test_a_number_alone_counts_in_a_play_for_one_cluster(tmp_path, serial, limit, by_name):
    assert given_by(tmp_path, TASKS, "", "", "--limit", limit, "-e", f"batch={serial}") == {("given", str(by_name))}


# Of two planes, in one namespace: namespace and name are the same.
@pytest.mark.parametrize("variables, limit, given", [
    ("cluster_name: prod, metal3_kubeconfig: /other", "clusters", ""),
    ("cluster_name: prod, cluster_kubeconfig: /other, cluster_namespace: metal3", "clusters", ""),
    ("cluster_name: prod, metal3_kubeconfig: /other", "two", "given"),
    ("cluster_name: prod, cluster_namespace: other", "clusters", "given"),
    ("cluster_name: other, metal3_kubeconfig: /other", "clusters", "given")])
def test_a_number_with_a_name_that_two_planes_have_confirms_nothing(tmp_path, variables, limit, given):
    """What was repeated counted in both planes, and machines of both clusters were replaced."""
    found = given_by(tmp_path, TASKS, "cluster_name: prod", variables, "--limit", limit)
    assert set(confirm for confirm, _by_name in found) == {given}


TEARDOWN = TASKS.parents[2] / "teardown" / "tasks" / "main.yml"


@pytest.mark.parametrize("variables, limit, by_name", [
    ("", "clusters", False),
    ("cluster_namespace: other", "clusters", True),
    ("metal3_namespace: other", "clusters", True),
    ("metal3_kubeconfig: /other", "clusters", True),
    ("cluster_kubeconfig: /other", "clusters", True),
    ("teardown_namespace: other", "clusters", True),
    ("teardown_kubeconfig: /other", "clusters", True),
    ("metal3_namespace: other", "two", False)])
def test_a_name_alone_counts_in_a_play_for_one_namespace(tmp_path, variables, limit, by_name):
    """Of two sites in one inventory, each with a cluster of the same name, both were deleted."""
    found = given_by(
        tmp_path, TEARDOWN, "teardown_name: one", f"teardown_name: two, {variables}", "--limit", limit)
    assert found == {("given", str(by_name))}


@pytest.mark.parametrize("variables, limit, given", [
    # Of two planes, in one namespace: namespace and name are the same.
    ("teardown_name: prod, metal3_kubeconfig: /other", "clusters", ""),
    ("teardown_name: prod, teardown_kubeconfig: /other, cluster_namespace: metal3", "clusters", ""),
    ("teardown_name: prod, metal3_kubeconfig: /other", "two", "given"),
    ("teardown_name: prod, teardown_namespace: other", "clusters", "given"),
    ("teardown_name: other, metal3_kubeconfig: /other", "clusters", "given")])
def test_a_namespace_and_a_name_of_several_planes_confirm_nothing(tmp_path, variables, limit, given):
    """What was repeated counted in both planes, and both clusters were deleted."""
    found = given_by(tmp_path, TEARDOWN, "teardown_name: prod", variables, "--limit", limit)
    assert set(confirm for confirm, _by_name in found) == {given}


@pytest.mark.parametrize("role", ["cluster", "teardown"])
def test_clusters_of_one_namespace_and_name_are_refused(tmp_path, role):
    inventory = INVENTORY.replace("one: , two: ", f"one: {{{role}_name: prod}}, two: {{{role}_name: prod, "
                                                  f"{role}_kubeconfig: /other}}")
    code, output = playbook.play(tmp_path, inventory, PLAY.replace("asked", f"metal3.baremetal.{role}"), "play.yml")
    assert code != 0 and "metal3_confirm: found 2 clusters (one, two) in this play" in " ".join(output.split()), output
