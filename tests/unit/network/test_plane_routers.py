# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual routers of planes, by variables of the inventory, and who gets them."""
from __future__ import annotations

import json
import pathlib

import pytest
import yaml
from fakes import playbook

from ansible_collections.metal3.baremetal.plugins.module_utils._network.plane_routers import of_machine

ROLES = pathlib.Path(__file__).parents[3] / "roles"
PREFIX = "provisioning_network_keepalived_"
INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  children:
    management:
      vars: {provisioning_network_keepalived_address: 172.22.0.2/24}
      hosts:
        first: {metal3_kubeconfig: /own}
        second: {metal3_kubeconfig: /own}
        odd: {provisioning_network_keepalived_address: "{{ nothing }}"}
        far: {metal3_kubeconfig: /far, provisioning_network_keepalived_address: 172.22.0.3/24}
    clusters:
      hosts:
        prod: &prod
          metal3_kubeconfig: /own
          cluster_endpoint: {host: 172.22.0.51, holder: keepalived}
          cluster_kubernetes_version: v1.35.4
          cluster_image: {url: "https://x/a.raw", checksum: "CHECKSUM"}
          cluster_network_addon: none
        far-prod: {<<: *prod, metal3_kubeconfig: /far}
        broken: {cluster_endpoint: {host: 172.22.0.52, holder: keepalived, prt: 1}}
        odd-one: {cluster_endpoint: {host: "{{ nothing }}", holder: keepalived}}
""".replace("CHECKSUM", "0" * 64)


@pytest.mark.parametrize("variables, found", [
    ({}, []), ({PREFIX + "address": ""}, []), ({PREFIX + "address": None}, []), ({PREFIX + "address": ["a"]}, []),
    ({PREFIX + "address": "172.22.0.2/24"}, [("172.22.0.2/24", 51)]),
    ({PREFIX + "address": "172.22.0.2/24", PREFIX + "router_id": "7"}, [("172.22.0.2/24", 7)]),
    ({PREFIX + "address": "172.22.0.2/24", PREFIX + "router_id": "seven"}, []),
    ({PREFIX + "address": "172.22.0.2/24", PREFIX + "peers": ["172.22.0.3"]}, []),
    ({PREFIX + "address": "172.22.0.2/24", "provisioning_network_state": "absent"}, []),
    ({"ironic_provisioning_ip": "172.22.0.3"}, []),
    ({"ironic_provisioning_ip": "172.22.0.3", "ironic_keepalived": "yes"}, [("172.22.0.3", 1)]),
    # Its network is that of the machine, where that is described.
    ({"ironic_provisioning_ip": "172.22.0.3", "ironic_keepalived": True, "provisioning_network_addresses": [
        "x", 5, "fd00::1/64", "172.22.1.1/24", "172.22.0.1/23"]}, [("172.22.0.3/23", 1)]),
    ({"ironic_provisioning_ip": "fd00:0::3", "ironic_keepalived": True, "provisioning_network_addresses": "fd00::1/64"},
     [("fd00::3/64", 1)]),
    ({"ironic_provisioning_ip": "172.22.2.3", "ironic_keepalived": True, "provisioning_network_addresses": [
        "172.22.0.1/23"]}, [("172.22.2.3", 1)]),
    ({"ironic_provisioning_ip": "", "ironic_keepalived": True}, [])])
def test_a_machine_has_those_that_its_variables_describe(variables, found):
    assert [(item["address"], item["number"]) for item in of_machine(variables)] == found
    assert [item["variable"] for item in of_machine(variables)] == [
        "ironic_keepalived" if number == 1 else PREFIX + "router_id" for _address, number in found]


def test_clusters_get_those_of_planes_and_planes_those_of_both(tmp_path):
    """What cannot be read of others is no reason for a run to fail, and all machines of a plane have the same.

    What another plane manages may stand on another site with the same addresses. So may that plane, but another number
    costs it one variable: a plane is compared with all, a cluster with its own.
    """
    of_cluster = yaml.safe_load((ROLES / "cluster" / "defaults" / "main.yml").read_text())["cluster_virtual_routers"]
    of_plane = yaml.safe_load((ROLES / "provisioning_network" / "vars" / "main.yml").read_text())[
        "provisioning_network_keepalived_options"]["others"]
    plays = [{"hosts": host, "gather_facts": False, "tasks": [{"copy": {
        "dest": str(tmp_path / host), "content": "{{ given | to_json }}"}, "vars": {"given": given}}]}
        for host, given in (("prod", of_cluster), ("second", of_plane))]
    code, output = playbook.play(tmp_path, INVENTORY, json.dumps(plays), "play.yml")
    assert code == 0, output
    plane = {"owner": "the plane of first", "address": "172.22.0.2/24", "number": 51}
    assert json.loads((tmp_path / "prod").read_text()) == [plane]
    assert json.loads((tmp_path / "second").read_text()) == [
        plane, {"owner": "the plane of far", "address": "172.22.0.3/24", "number": 51},
        {"owner": "cluster metal3/prod", "address": "172.22.0.51", "number": 51},
        {"owner": "cluster metal3/far-prod", "address": "172.22.0.51", "number": 51}]


def test_the_role_ironic_gets_those_of_planes_alone(tmp_path):
    """Whose numbers can be changed by a variable, unlike its own."""
    given = yaml.safe_load((ROLES / "ironic" / "defaults" / "main.yml").read_text())["ironic_virtual_routers"]
    plays = [{"hosts": "second", "gather_facts": False, "tasks": [{"copy": {
        "dest": str(tmp_path / "given"), "content": "{{ given | to_json }}"}, "vars": {"given": given}}]}]
    code, output = playbook.play(tmp_path, INVENTORY, json.dumps(plays), "play.yml")
    assert code == 0, output
    assert [item["owner"] for item in json.loads((tmp_path / "given").read_text())] == [
        "the plane of first", "the plane of far"]
