# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resources of the former provider of metal-stack become variables that the roles take, or are refused."""
from __future__ import annotations

import copy

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from fakes import playbook

from ansible_collections.metal3.baremetal.plugins.filter.metalstack_former import metalstack_former
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks.validation import check_description
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.conversion.former_metalstack import translate
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    inventory as cluster_inventory,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._metalstack import kinds, validation

FIREWALL, SERVER = "2294c949-88f6-5390-8154-fa53d93a3313", "e0ab02d2-27cd-5a5e-8efc-080ba80cf258"
RESOURCES = list(yaml.safe_load_all("""
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha3
kind: MetalStackCluster
metadata: {name: prod, namespace: metal-stack}
spec:
  controlPlaneEndpoint: {host: 100.255.254.1, port: 6443}
  firewallSpec:
    image: firewall-ubuntu-2.0
    machineType: v1-small-x86
    providerID: metalstack://2294c949-88f6-5390-8154-fa53d93a3313
    sshKeys: [ssh-ed25519 AAAA]
  partition: vagrant
  projectID: 00000000-0000-0000-0000-000000000000
  publicNetworkID: internet-vagrant-lab
  privateNetworkID: 5a1c7b7e-0000-4000-8000-000000000001
---
apiVersion: cluster.x-k8s.io/v1alpha3
kind: Cluster
metadata: {name: prod, namespace: metal-stack}
spec:
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1alpha3
kind: KubeadmControlPlane
metadata: {name: prod-controlplane}
spec:
  replicas: 1
  version: v1.35.4
  infrastructureTemplate: {kind: MetalStackMachineTemplate, name: prod-controlplane}
  kubeadmConfigSpec: {format: cloud-config}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha3
kind: MetalStackMachineTemplate
metadata: {name: prod-controlplane}
spec:
  template:
    spec: {image: ubuntu-cloud-init-20.04, machineType: v1-small-x86, sshKeys: [ssh-ed25519 BBBB], tags: [a]}
---
apiVersion: cluster.x-k8s.io/v1alpha4
kind: MachineDeployment
metadata: {name: prod-md-0}
spec:
  replicas: 2
  template: {spec: {infrastructureRef: {kind: MetalStackMachineTemplate, name: prod-md-0}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha4
kind: MetalStackMachineTemplate
metadata: {name: prod-md-0}
spec: {template: {spec: {image: ubuntu-cloud-init-20.04, machineType: v1-large-x86}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha3
kind: MetalStackMachine
metadata: {name: metal-stack-machine}
spec:
  image: ubuntu-cloud-init-20.04
  providerID: metalstack://e0ab02d2-27cd-5a5e-8efc-080ba80cf258
  machineType: v1-small-x86
  partition: vagrant
  tags: [rack=1]
"""))
RULES = {"egress": [{"protocol": "tcp", "ports": [443], "to": ["0.0.0.0/0"]}], "ingress": []}


def changed(number, path, value):
    result = copy.deepcopy(RESOURCES)
    node = result[number]
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return result


def test_a_whole_cluster_is_translated_and_fits_the_rules_once_it_has_rules():
    variables, warnings, problems = translate(RESOURCES)
    assert problems == []
    assert variables["cluster_control_plane"] == {
        "replicas": 1, "metalstack_size": "v1-small-x86", "metalstack_image": "ubuntu-cloud-init-20.04",
        "ssh_authorized_keys": ["ssh-ed25519 BBBB"]}
    assert variables["cluster_workers"]["md-0"]["metalstack_size"] == "v1-large-x86"
    assert variables["metalstack_firewall"]["id"] == FIREWALL
    assert variables["metalstack_workers"] == [{
        "name": "metal-stack-machine", "size": "v1-small-x86", "image": "ubuntu-cloud-init-20.04", "tags": ["rack=1"],
        "id": SERVER}]
    assert variables["metalstack_ip"] == {"address": "100.255.254.1"}
    message = "\n".join(warnings)
    for words in ("firewallSpec.sshKeys", "it had no rules", "MetalStackMachineTemplate prod-controlplane: "
                  "spec.template.spec.tags", "kubeadmConfigSpec", "kube-vip announces it", "takes no certain machine"):
        assert words in message, words

    params = cluster_inventory.parameters("prod", dict(variables, cluster_network_addon="none"))
    refused = check_description(params)
    assert [line.field for line in refused.mistakes + refused.problems] == ["metalstack.firewall.rules"]
    params["metalstack"]["firewall"]["rules"] = RULES
    checked = check_description(params)
    assert checked.mistakes == checked.problems == []
    cluster = next(item for item in checked.objects if item["kind"] == "MetalStackCluster")
    assert cluster["spec"]["nodeNetworkID"] == RESOURCES[0]["spec"]["privateNetworkID"]
    assert cluster["spec"]["controlPlaneEndpoint"] == RESOURCES[0]["spec"]["controlPlaneEndpoint"]


def test_a_certain_machine_is_one_that_the_modules_take():
    variables = translate(RESOURCES)[0]
    entry = dict(variables["metalstack_workers"][0], project=variables["metalstack_project"], state="present",
                 partition=variables["metalstack_partition"], networks=[{"name": "n", "autoacquire": True}])
    assert validation.check_entries(kinds.MACHINE, [entry]) == []


def test_the_firewall_may_be_a_resource_of_its_own():
    resources = changed(0, ["spec", "firewallSpec"], None) + [{
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha4", "kind": "MetalStackFirewall",
        "metadata": {"name": "prod"}, "spec": {"image": "firewall-ubuntu-2.0", "machineType": "v1-small-x86"}}]
    variables, _warnings, problems = translate(resources)
    assert problems == [] and variables["cluster_metalstack"]["firewall"]["size"] == "v1-small-x86"


@pytest.mark.parametrize("resources, words", [
    ([], "found 0 of kind MetalStackCluster"),
    (RESOURCES[:1] * 2, "found 2 of kind MetalStackCluster"),
    (changed(0, ["apiVersion"], "infrastructure.cluster.x-k8s.io/v1alpha1"), "need no translation"),
    (changed(0, ["kind"], "Metal3Cluster"), "Metal3Cluster prod: kind"),
    (changed(0, ["spec", "projectID"], ""), "MetalStackCluster prod: spec.projectID: not set"),
    (changed(0, ["spec", "firewallSpec", "providerID"], "metal3://x"), "spec.firewallSpec.providerID: found"),
    (changed(6, ["spec", "partition"], "other"), "expected vagrant, the cluster's"),
    (changed(5, ["metadata", "name"], "another"), "MachineDeployment prod-md-0: infrastructureRef"),
    (changed(5, ["spec", "template", "spec", "providerID"], f"metalstack://{SERVER}"), "a template is for several"),
    ([5], "resource 1"), ([{"kind": "Cluster"}], "resource 1"),
])
def test_what_cannot_be_read_is_refused(resources, words):
    with pytest.raises(AnsibleFilterError, match="metalstack_former") as caught:
        metalstack_former(resources)
    assert words in str(caught.value)


def test_an_unknown_field_is_named():
    _variables, warnings, problems = translate(changed(0, ["spec", "other"], 1))
    assert problems == [] and any("spec.other: unknown" in line for line in warnings)


def test_a_text_is_no_list_of_resources():
    with pytest.raises(AnsibleFilterError, match="expected a list of resources"):
        metalstack_former("kind: Cluster")


@pytest.mark.parametrize("resources, field", [
    (changed(0, ["spec", "partition"], "{{ lookup('pipe', 'id') }}"), "metalstack_partition"),
    (changed(0, ["spec", "privateNetworkID"], {"a": ["{% if x %}"]}), "metalstack_node_network.a[0]"),
    (changed(1, ["spec", "clusterNetwork", "pods", "cidrBlocks"], ["{{ x }}"]), "cluster_options.pod_cidrs[0]"),
    (changed(2, ["spec", "version"], "{{ x }}"), "cluster_kubernetes_version"),
    (changed(3, ["spec", "template", "spec", "sshKeys"], ["{# x #}"]), "cluster_control_plane.ssh_authorized_keys[0]"),
    (changed(4, ["metadata", "name"], "{{ x }}"), "cluster_workers"),
    (changed(6, ["spec", "tags"], ["a{{ x }}"]), "metalstack_workers[0].tags[0]"),
])
def test_what_an_inventory_would_take_for_a_template_is_refused(resources, field):
    variables, _warnings, problems = translate(resources)
    assert not variables and field in [problem.field for problem in problems]


def test_what_is_refused_is_printed_without_what_steers_a_terminal(tmp_path):
    resources = changed(0, ["spec", "firewallSpec", "machineType"], 5)
    resources[0]["metadata"]["name"] = "a\x1b[2J"
    (tmp_path / "old.yml").write_text(yaml.safe_dump_all(resources))
    code, printed = playbook.play(tmp_path, "all: {hosts: {localhost: {ansible_connection: local}}}", """
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.set_fact:
        found: "{{ lookup('file', 'old.yml') | from_yaml_all | metal3.baremetal.metalstack_former }}"
""", "play.yml")
    assert code and "MetalStackCluster a" in printed and "expected a text" in printed and "\x1b" not in printed
