# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses of the machines of a plane, by variables of the inventory, and what DHCP does not lend of them."""
from __future__ import annotations

import json
import pathlib

import pytest
import yaml
from fakes import playbook

from ansible_collections.metal3.baremetal.plugins.module_utils._network.plane_addresses import of_machine

ROLE = pathlib.Path(__file__).parents[3] / "roles" / "provisioning_network"
INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  children:
    management:
      vars: {provisioning_network_keepalived_address: 172.22.0.2/24}
      hosts:
        first: {metal3_kubeconfig: /own, provisioning_network_addresses: [172.22.0.11/24, "fd00:22::11/64"]}
        second: {metal3_kubeconfig: /own, provisioning_network_addresses: [172.22.0.12/24]}
        odd: {metal3_kubeconfig: /own, provisioning_network_addresses: ["{{ nothing }}"],
              provisioning_network_keepalived_address: ""}
        nobodys: {provisioning_network_addresses: 172.22.0.13/24, provisioning_network_keepalived_address: ""}
        far: {metal3_kubeconfig: /far, provisioning_network_addresses: [172.22.0.14/24]}
"""


def item(address, variable, may_be_kept=False):
    return {"address": address, "variable": variable, "may_be_kept": may_be_kept}


@pytest.mark.parametrize("variables, found", [
    ({}, []), ({"provisioning_network_addresses": ["x", 5, None], "ironic_provisioning_ip": ""}, []),
    ({"provisioning_network_addresses": ["172.22.0.1/24"], "provisioning_network_state": "absent"}, []),
    ({"provisioning_network_addresses": "172.22.0.1/24", "provisioning_network_keepalived_address": "172.22.0.2/24"},
     [item("172.22.0.1/24", "provisioning_network_addresses"),
      item("172.22.0.2/24", "provisioning_network_keepalived_address")]),
    ({"management_plane": {"mode": "process", "address": "fd00::1"}}, [item("fd00::1", "management_plane.address")]),
    ({"management_plane": {"mode": "process", "address": "plane.example"}}, []),
    ({"management_plane": {"mode": "cluster", "address": "fd00::1"}}, []),
    ({"ironic_provisioning_ip": "172.22.0.3"}, [item("172.22.0.3", "ironic_provisioning_ip", True)]),
    ({"ironic_provisioning_ip": "172.22.0.3", "ironic_keepalived": "yes"},
     [item("172.22.0.3", "ironic_provisioning_ip")])])
def test_a_machine_has_those_that_its_variables_describe(variables, found):
    assert of_machine(variables) == found


def test_a_machine_gets_those_of_its_plane_before_anything_is_changed(tmp_path):
    """What cannot be read of another one is no reason for its run to fail; another plane may be on another site."""
    given = yaml.safe_load((ROLE / "vars" / "main.yml").read_text())["provisioning_network_taken"]
    plays = [{"hosts": "second", "gather_facts": False, "tasks": [{"copy": {
        "dest": str(tmp_path / "taken"), "content": "{{ given | to_json }}"}, "vars": {"given": given}}]}]
    code, output = playbook.play(tmp_path, INVENTORY, json.dumps(plays), "play.yml")
    assert code == 0, output
    held, own = "provisioning_network_keepalived_address", "provisioning_network_addresses"
    assert sorted((found["owner"], found["address"]) for found in json.loads((tmp_path / "taken").read_text())) == [
        (f"first ({own})", "172.22.0.11/24"), (f"first ({own})", "fd00:22::11/64"),
        (f"first ({held})", "172.22.0.2/24"), (f"nobodys ({own})", "172.22.0.13/24"),
        (f"second ({own})", "172.22.0.12/24"), (f"second ({held})", "172.22.0.2/24")]
    task, = yaml.safe_load((ROLE / "tasks" / "interface.yml").read_text())
    assert task["metal3.baremetal.provisioning_network"]["taken"] == (
        "{{ provisioning_network_taken if provisioning_network_serves_dhcp else omit }}")
