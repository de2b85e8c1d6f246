# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook rotate_certificates refuses what Cluster API cannot do, before it asks the management cluster."""
from __future__ import annotations

from fakes import playbook

INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  children:
    clusters: {hosts: {one: }}
"""
PLAYBOOK = str(playbook.ROOT / "playbooks" / "rotate_certificates.yml")


def test_authorities_are_not_replaced(tmp_path):
    code, output = playbook.play(tmp_path, INVENTORY, "[]", PLAYBOOK, "-e", "rotate_certificates_authorities=true")
    said = " ".join(output.split())
    assert code == 2 and "rotate_certificates_authorities: found true, expected nothing: Cluster API 1.13" in said
    assert "issue 7721" in said and "Read when certificates of the control plane end" not in said


def test_without_it_the_certificates_are_read(tmp_path):
    """No management cluster is there, so the run ends at that."""
    code, output = playbook.play(tmp_path, INVENTORY, "[]", PLAYBOOK, "-e",
                                 f"rotate_certificates_authorities=no metal3_kubeconfig={tmp_path}/none")
    assert code == 2 and "Read when certificates of the control plane end" in output
