# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which other clusters of a play take hosts from a cluster: those that its own plane manages."""
from __future__ import annotations

import pathlib
import re

import pytest
import yaml
from fakes import playbook

DEFAULTS = pathlib.Path(__file__).parents[3] / "roles" / "cluster" / "defaults" / "main.yml"
INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  children:
    clusters: {hosts: {one: {metal3_kubeconfig: /first}, two: {metal3_kubeconfig: /first}, far: {VARIABLES}}}
"""


@pytest.mark.parametrize("variables, more", [
    ("metal3_kubeconfig: /second", []), ("metal3_kubeconfig: /first, cluster_kubeconfig: /second", []),
    ("metal3_kubeconfig: /first", ["far"])])
def test_clusters_of_the_same_plane_are_neighbours(tmp_path, variables, more):
    given = yaml.safe_load(DEFAULTS.read_text())["cluster_neighbours"]
    text = "{{ inventory_hostname }} beside {{ cluster_neighbours | map(attribute='name') | sort | join(' ') }}."
    play = [{"hosts": "clusters", "gather_facts": False, "vars": {"cluster_neighbours": given},
             "tasks": [{"debug": {"msg": text}}]}]
    code, output = playbook.play(tmp_path, INVENTORY.replace("VARIABLES", variables),
                                 yaml.safe_dump(play, width=1000), "play.yml")
    assert code == 0, output
    found = dict(re.findall(r"(one|two|far) beside ([a-z ]*)\.", output))
    assert found["one"].split() == sorted(["two", *more])
    assert found["far"].split() == (["one", "two"] if more else [])
