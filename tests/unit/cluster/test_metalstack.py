# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters on metal-stack: rules of the description, what a change costs, where a machine is, what ends a wait."""
from __future__ import annotations

import copy
import pathlib

import pytest
import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import addon, metalstack, versions
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks.validation import check_description
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import needs as cluster_needs
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.providers import (
    provider_of,
    with_classes,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.rollout.losses import losses
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting import failures
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import leftovers
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import goals, tree
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.snapshot import Snapshot
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.steps import machine_steps
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.writing.prune import unused_templates

GOOD = yaml.safe_load((pathlib.Path(__file__).parent / "golden" / "metalstack.yml").read_text(encoding="utf-8"))
SERVER = "00000000-0000-4000-8000-000000000101"
NOW = "2026-11-24T08:00:00Z"
NOW_SECONDS = 1795507200.0


def changed(**changes):
    """Return the good description with values at dotted paths; None takes one away."""
    result = copy.deepcopy(GOOD)
    for path, value in changes.items():
        *above, last = path.split("__")
        node = result
        for key in above:
            node = node[key]
        if value is None:
            node.pop(last, None)
        else:
            node[last] = value
    return result


def problems_of(params):
    checked = check_description(params)
    return [str(line) for line in checked.mistakes + checked.problems]


def test_the_good_one_has_no_problem_and_needs_no_host():
    assert problems_of(GOOD) == []
    assert cluster_needs.needs(GOOD) is None


@pytest.mark.parametrize("changes, words", [
    ({"metalstack": None}, "metalstack: not set, expected project, partition and firewall"),
    ({"metalstack__firewall": None}, "firewall"),
    ({"metalstack__firewall__rules": {}}, "metalstack.firewall.rules: not set, expected at least one rule"),
    ({"metalstack__firewall__networks": []}, "metalstack.firewall.networks: not set"),
    ({"metalstack__firewall__networks": ["internet", GOOD["metalstack"]["node_network"]]},
     "the provider adds the node network itself"),
    ({"metalstack__firewall__rules__egress": [{"protocol": "tcp", "ports": [0], "to": ["0.0.0.0/0"]}]},
     'metalstack.firewall.rules.egress[0].ports: found 0, expected 1 to 65535'),
    ({"metalstack__firewall__rules__ingress": [{"protocol": "tcp", "ports": [1], "from": ["anywhere"]}]},
     'metalstack.firewall.rules.ingress[0].from: found "anywhere", expected a network'),
    ({"metalstack__project": "../x"}, 'metalstack.project: found "../x", expected an id of metal-stack'),
    ({"control_plane__metalstack_size": None}, "metalstack_size: not set, expected an id"),
    ({"metalstack_image": None}, "metalstack_image: not set, expected an id"),
    ({"endpoint__host": "api.example.org"}, "endpoint.host"),
    ({"endpoint__holder": "keepalived"}, "kube-vip announces the address by BGP"),
    ({"endpoint__interface": "eth0"}, "endpoint.interface: found a value, expected nothing with provider: metalstack"),
    ({"api_version": "v1beta1"}, "the contract of cluster-api-provider-metal-stack"),
    ({"node_name": "host"}, "node_name: found a value, expected nothing"),
    ({"networks": {"n": {"interface": "eth0"}}}, "set metalstack.node_network"),
    ({"image": {"url": "https://x/a.raw", "checksum": "0" * 64}}, "image: found a value, expected nothing"),
    ({"host_selector": {"rack": "r1"}}, "metal-stack chooses a machine by its size"),
    ({"failure_domains": [{"name": "f"}]}, "a cluster is in one partition"),
    ({"workers__pool-a__failure_domain": "f"}, "workers.pool-a.failure_domain: found a value"),
    ({"node_reuse": True}, "node_reuse: found a value"),
    ({"workers__pool-b__health_check": {"reboot_retry_limit": 1}}, "health_check.reboot_retry_limit: found a value"),
    ({"init_configuration": {"nodeRegistration": {"name": "x"}}}, "finds a node by its host name"),
    ({"provider": "metal3"}, "metalstack: found a value, expected nothing with provider: metal3"),
])
def test_what_does_not_fit_is_refused(changes, words):
    lines = problems_of(changed(**changes))
    assert any(words in line for line in lines), lines


def test_everything_is_reported_at_once():
    lines = problems_of(changed(metalstack__partition="", endpoint__holder="keepalived", host_selector={"a": "b"}))
    assert len(lines) == 3


def test_a_size_makes_new_templates_of_its_group_alone():
    def templates(params):
        return {item["metadata"]["name"].rpartition("-")[0]: item["metadata"]["name"]
                for item in check_description(params).objects if item["kind"] == "MetalStackMachineTemplate"}

    before, after = templates(GOOD), templates(changed(**{"workers__pool-a__metalstack_size": "c1-xlarge-x86"}))
    assert [name for name in before if before[name] != after[name]] == ["prod-pool-a"]


def test_an_endpoint_that_others_hold_leaves_the_machines_addresses_to_kubeadm():
    objects = check_description(changed(endpoint__holder="none")).objects
    config = next(item for item in objects if item["kind"] == "KubeadmControlPlane")["spec"]["kubeadmConfigSpec"]
    assert "localAPIEndpoint" not in config["initConfiguration"] and config["joinConfiguration"]["controlPlane"] == {}
    assert all("kube-vip" not in entry["path"] for entry in config["files"])


def test_a_cluster_without_its_cloud_controller_is_warned_of():
    description = check_description(GOOD).description
    ccm = {"kind": "Deployment", "spec": {"template": {"spec": {"containers": [{"image": "x/metal-ccm:v0"}]}}}}
    assert any("metal-ccm" in line for line in addon.addon_warnings(description, []))
    assert addon.addon_warnings(description, [ccm]) == []


def test_the_plane_must_have_the_provider():
    description = check_description(GOOD).description
    served = {"clusters.cluster.x-k8s.io": ["v1beta2"]}
    lines = [str(line) for line in versions.version_problems(description, {}, served)]
    assert len(lines) == 1 and "no resource metalstackclusters.infrastructure.cluster.x-k8s.io" in lines[0]
    served["metalstackclusters.infrastructure.cluster.x-k8s.io"] = ["v1alpha1"]
    assert versions.version_problems(description, {}, served) == []


def test_a_plane_without_metal3_is_asked_for_no_kind_of_it():
    """A deletion that is taken up again looks for classes, too."""
    provider = with_classes(provider_of("metalstack"))
    kinds = provider.workflow_kinds + provider.template_kinds + provider.beside_kinds
    assert [kind for kind in kinds if kind.startswith(("Metal3", "BareMetal", "ClusterClass"))] == []


def test_a_cluster_keeps_its_provider():
    description = check_description(GOOD).description
    stored = {"spec": {"infrastructureRef": {"kind": "Metal3Cluster", "name": "prod"}}}
    (line,) = metalstack.provider_problems(description, stored)
    assert 'provider: found "metalstack", expected metal3' in str(line)
    stored["spec"]["infrastructureRef"]["kind"] = "MetalStackCluster"
    assert metalstack.provider_problems(description, stored) == metalstack.provider_problems(description, None) == []


def obj(kind, name, spec=None, status=None, **metadata):
    return {"kind": kind, "apiVersion": "x/v1", "spec": spec or {}, "status": status or {}, "metadata": {
        "name": name, "creationTimestamp": NOW, "labels": {
            "app.kubernetes.io/managed-by": "metal3.baremetal", "cluster.x-k8s.io/cluster-name": "prod"}, **metadata}}


def condition(kind, status, message=""):
    return {"type": kind, "status": status, "message": message, "lastTransitionTime": NOW}


@pytest.fixture
def objects():
    """A cluster of one control plane machine that is ready."""
    owner = {"ownerReferences": [{"kind": "Cluster", "name": "prod"}]}
    machine = obj("Machine", "cp-0", {
        "providerID": f"metal://fra-1/{SERVER}", "version": "v1.35.4",
        "bootstrap": {"dataSecretName": "cp-0"}, "infrastructureRef": {"kind": "MetalStackMachine", "name": "cp-0"}},
        {"initialization": {"infrastructureProvisioned": True}, "nodeRef": {"name": "cp-0"},
         "conditions": [condition("Ready", "True")]})
    machine["metadata"]["labels"]["cluster.x-k8s.io/control-plane"] = ""
    return {
        "Cluster": [obj("Cluster", "prod", {
            "infrastructureRef": {"kind": "MetalStackCluster", "name": "prod"},
            "controlPlaneRef": {"kind": "KubeadmControlPlane", "name": "prod-control-plane"}},
            {"initialization": {"infrastructureProvisioned": True}})],
        "MetalStackCluster": [obj("MetalStackCluster", "prod", {"controlPlaneEndpoint": {"host": "192.0.2.130"}},
                                  {"initialization": {"provisioned": True}}, **owner)],
        "KubeadmControlPlane": [obj("KubeadmControlPlane", "prod-control-plane", {"replicas": 1}, **owner)],
        "Machine": [machine],
        "MetalStackMachine": [obj(
            "MetalStackMachine", "cp-0", {"providerID": f"metal://fra-1/{SERVER}", "size": "c1-medium-x86"},
            {"initialization": {"provisioned": True},
             "conditions": [condition("MachineCreated", "True"), condition("MachineReady", "True")]},
            annotations={"cluster.x-k8s.io/cloned-from-name": "prod-control-plane-01234567"})],
        "MetalStackFirewallDeployment": [obj("MetalStackFirewallDeployment", "prod")],
    }


def first_step(objects):
    (step,) = machine_steps(Snapshot(objects, "prod"))
    return step


def test_a_ready_machine_is_complete_and_names_its_server(objects):
    step = first_step(objects)
    assert (step["step"], step["complete"], step["host"], step["node"]) == (15, True, SERVER, "cp-0")


def without_node(objects):
    del objects["Machine"][0]["status"]["nodeRef"]


def not_provisioned(objects):
    without_node(objects)
    objects["Machine"][0]["status"] = {}
    objects["MetalStackMachine"][0]["status"] = {"conditions": [
        condition("MachineCreated", "True"), condition("MachineHealthy", "False", "crash loop")]}


def not_allocated(objects):
    not_provisioned(objects)
    del objects["MetalStackMachine"][0]["spec"]["providerID"]
    objects["MetalStackMachine"][0]["status"] = {"conditions": [
        condition("MachineCreated", "False", "no machine available")]}


def no_firewall(objects):
    objects["MetalStackCluster"][0]["status"] = {"conditions": [
        condition("ClusterNodeNetworkEnsured", "True"),
        condition("ClusterFirewallDeploymentEnsured", "False", "no image")]}


def no_machine_of_the_provider(objects):
    objects["MetalStackMachine"] = []


@pytest.mark.parametrize("change, number, words", [
    (without_node, 14, f"a Node with providerID metal://fra-1/{SERVER}"),
    (not_provisioned, 12, f"machine {SERVER}: crash loop"),
    (not_allocated, 8, "no machine available"),
    (no_firewall, 2, "ClusterFirewallDeploymentEnsured: no image"),
    (no_machine_of_the_provider, 5, "its MetalStackMachine"),
])
def test_a_machine_is_at_a_step_with_a_title_of_its_provider(objects, change, number, words):
    change(objects)
    step = first_step(objects)
    assert (step["step"], step["waits_for"], step["complete"]) == (number, words, False)
    assert "CAPM3" not in step["title"] and "Metal3" not in step["title"]
    state, _longest = goals.progress(Snapshot(objects, "prod"), NOW_SECONDS)
    assert f"1 at step {number} of 15 ({step['title']})" in state


def test_the_tree_has_firewall_and_server(objects):
    lines = tree.lines(tree.tree(Snapshot(objects, "prod")))
    assert any("MetalStackFirewallDeployment prod" in line for line in lines)
    assert any("MetalStackMachine cp-0" in line for line in lines)


def test_a_node_that_does_not_come_ends_the_wait(objects):
    without_node(objects)
    later = NOW_SECONDS + 10 ** 6
    (failure,) = failures.failures(Snapshot(objects, "prod"), later, 60)
    assert SERVER in failure.cause and "metal-ccm" in failure.next_step


def test_what_the_provider_gives_up_ends_the_wait(objects):
    not_provisioned(objects)
    objects["MetalStackMachine"][0]["status"]["failureMessage"] = "machine has been deleted externally"
    (failure,) = failures.failures(Snapshot(objects, "prod"), NOW_SECONDS, 60)
    assert "machine has been deleted externally" in failure.cause


def test_a_machine_that_goes_is_lost_with_its_server(objects):
    description = check_description(GOOD).description
    (loss,) = losses(description, [{"owner": "prod-control-plane", "kind": "KubeadmControlPlane", "rolls": True,
                                    "replicas_before": 1, "replicas_after": 1, "machines": ["cp-0"]}], [],
                     Snapshot(objects, "prod"))
    assert loss.machines == [("cp-0", SERVER)]


def test_a_template_is_kept_as_long_as_a_machine_is_of_it(objects):
    names = ["prod-control-plane-01234567", "prod-control-plane-89abcdef"]
    objects["MetalStackMachineTemplate"] = [obj("MetalStackMachineTemplate", name) for name in names]
    assert [item["metadata"]["name"] for item in unused_templates(objects, [], "prod")] == names[1:]


def test_a_deletion_waits_for_firewall_and_machines(objects):
    del objects["Cluster"]
    rest = leftovers(objects, "prod", [], provider=provider_of("metalstack"))
    assert "MetalStackMachine cp-0" in rest and "MetalStackFirewallDeployment prod" in rest
