# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster that manages the site is not deleted, by whichever playbook the role ``teardown`` is used."""
from __future__ import annotations

import pytest
from fakes import playbook

# What the site needs beside it is missing, so that nobody knows whether it has moved.
INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}",
         metal3_kubeconfig: /nowhere/kubeconfig, metal3_namespace: metal3}
  children:
    clusters: {hosts: {one: {cluster_management: true}, two: }}
"""
PLAY = """\
- hosts: clusters
  gather_facts: false
  roles: [metal3.baremetal.teardown]
"""
WORDS = "found the cluster that manages the site, expected another one"


@pytest.mark.parametrize("begin", [[], ["--start-at-task", "Delete the cluster"]], ids=["whole", "late"])
@pytest.mark.parametrize(("host", "refused"), [("one", True), ("two", False)])
def test_the_role_refuses_the_cluster_that_manages_the_site(tmp_path, host, refused, begin):
    code, output = playbook.play(
        tmp_path, INVENTORY, PLAY, "play.yml", "--limit", host, "-e", f"metal3_confirm={host}", *begin)
    assert code != 0 and (f"{host}: {WORDS}" in " ".join(output.split())) == refused, output
