# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is confirmed for one machine or plane, by a number or a name that others have, is not done to others."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from fakes import playbook

INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  children:
    management: {hosts: {one: , two: }}
"""
# That nothing is done when one machine is left, too.
NOTHING = {
    "image_server": ["-e", "image_server_state=absent", "-e", '{"image_server_addresses": ["127.0.0.1"]}'],
    "pivot": ["-e", "pivot_kubeconfig=/nowhere", "-e", "pivot_to_kubeconfig=/no", "-e", "pivot_clusterctl=/no",
              "-e", '{"pivot_rehearsal": false}', "-e", "pivot_reach_from=here"],
    "provisioning_network": ["-e", "provisioning_network_state=absent", "-e", "provisioning_network_name=m3none"],
    "restore": ["-e", "restore_path=/nowhere", "-e", "restore_identity_file=/nowhere", "-e", "restore_clusterctl=/no"],
    "uninstall": ["-e", '{"management_plane": {"mode": "none"}}'],
}


@pytest.mark.parametrize("name", sorted(NOTHING))
def test_a_confirmation_is_for_one_machine(tmp_path, name):
    arguments = [f"metal3.baremetal.{name}", *NOTHING[name], "-e", "metal3_confirm=none"]
    code, output = playbook.play(tmp_path, INVENTORY, "", *arguments)
    words = " ".join(output.split())
    assert code != 0 and "metal3_confirm: found 2 " in words, output
    assert "(one, two) in this play, expected one" in words
    code, output = playbook.play(tmp_path, INVENTORY, "", *arguments, "--limit", "one")
    assert code != 0 and "in this play, expected one" not in " ".join(output.split()), output


@pytest.mark.parametrize("interrupts, limit, is_refused", [
    (True, "one,two", True), (False, "one,two", False), (True, "one", False)])
def test_an_upgrade_that_interrupts_is_confirmed_for_one_plane(tmp_path, interrupts, limit, is_refused):
    path = Path(__file__).resolve().parents[3] / "playbooks" / "install.yml"
    play, = yaml.safe_load(path.read_text())
    task, = (task for task in play["pre_tasks"] if task["name"] == "Require one plane for an upgrade that interrupts")
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [task], "vars": {
        "install_plan": {"upgrades": [{"part": "bmo", "interrupts": interrupts}]},
        "install_interrupted": play["vars"]["install_interrupted"]}}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", "metal3_confirm=1", "--limit", limit)
    assert (code != 0) == is_refused == ("in this play, expected one" in " ".join(output.split())), output
