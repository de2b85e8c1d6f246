# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the modules against the OpenAPI of the CRDs: what a CRD has and a module lacks is here with a reason."""
from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from crd_paths import lacking, of_fields, of_object, of_schema

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import objects as cluster_render
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import fields as host_fields
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import claim as ipam_claim
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import pool as ipam_pool
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.registry import FAMILIES

GOLDEN = Path(__file__).resolve().parents[1] / "unit" / "cluster" / "golden"
WRITTEN = sorted(set(FAMILIES) - {"HardwareData"})

SAME_NAMESPACE = "the Secret is looked for in the host's own namespace (BMO host_config_data.go)"
AS_GIVEN = "passed on as it is given"
BY_CONTROLLER = "a controller sets it"
BY_OWNER = "the machines' owner sets it on each machine"
NOT_OFFERED = "no option yet; it can be written beside the module, which leaves fields of others alone"
SELECTOR = "the labels that the module itself gives to machines are enough"

KUBEADM = {
    "clusterConfiguration": AS_GIVEN, "initConfiguration": AS_GIVEN, "joinConfiguration": AS_GIVEN,
    "diskSetup": AS_GIVEN, "users[]": AS_GIVEN, "ignition": NOT_OFFERED, "verbosity": NOT_OFFERED}
MACHINE = {"readinessGates": NOT_OFFERED, "taints": "node_taints go to the kubelet, with which the node joins"}


def below(path, reasons):
    """Return reasons for paths below another one."""
    return dict((f"{path}.{name}", reason) for name, reason in reasons.items())


# kind: {path, or the beginning of paths: reason}
LEFT_OUT = {
    "BareMetalHost": {
        "spec.userData.namespace": SAME_NAMESPACE, "spec.networkData.namespace": SAME_NAMESPACE,
        "spec.metaData.namespace": SAME_NAMESPACE},
    "IPClaim": dict.fromkeys(
        ["spec.pool.apiVersion", "spec.pool.fieldPath", "spec.pool.kind", "spec.pool.resourceVersion", "spec.pool.uid"],
        "IPAM looks at name and namespace only"),
    "Cluster": {
        "spec.topology": "for ClusterClass; the module writes the objects themselves",
        "spec.availabilityGates": NOT_OFFERED, "spec.paused": "a switch of clusterctl and of operators, no description",
        "spec.controlPlaneEndpoint": BY_CONTROLLER, "spec.clusterNetwork.apiServerPort": "the endpoint has the port"},
    "Metal3MachineTemplate": {
        "spec.template.metadata": "machine_labels and machine_annotations go to the Machines",
        "spec.template.spec.dataTemplate.namespace": "the cluster's own", "spec.template.spec.failureDomain": BY_OWNER,
        "spec.template.spec.providerID": BY_CONTROLLER, "spec.template.spec.userData": BY_CONTROLLER,
        "spec.template.spec.metaData": "the Metal3DataTemplate makes them",
        "spec.template.spec.networkData": "the Metal3DataTemplate makes them"},
    "Metal3DataTemplate": {"spec.networkData": AS_GIVEN, "spec.metaData": AS_GIVEN},
    "KubeadmControlPlane": dict(below("spec.kubeadmConfigSpec", KUBEADM),
                                **below("spec.machineTemplate.spec", MACHINE)),
    "KubeadmConfigTemplate": dict(
        below("spec.template.spec", dict((name, reason) for name, reason in KUBEADM.items()
                                         if name != "clusterConfiguration")),
        **{"spec.template.metadata": "the KubeadmConfigs have the Machines' labels",
           "spec.template.spec.clusterConfiguration": "of the control plane only",
           "spec.template.spec.initConfiguration": "of the control plane only"}),
    "MachineDeployment": dict(below("spec.template.spec", MACHINE), **{
        "spec.paused": "a switch of operators, no description",
        "spec.selector.matchExpressions": SELECTOR,
        "spec.template.spec.bootstrap.dataSecretName": BY_CONTROLLER, "spec.template.spec.providerID": BY_CONTROLLER}),
    "MachineHealthCheck": {
        "spec.selector.matchExpressions": SELECTOR,
        "spec.remediation.triggerIf.unhealthyInRange": "max_unhealthy says the same"},
}
# What the descriptions of the golden files leave out.
MORE = {
    "boot_commands": ["true"], "pre_commands": ["true"], "post_commands": ["true"], "mounts": [["/dev/sdb", "/data"]],
    "user_data_format": "cloud-config", "machine_name_template": "{{ .cluster.name }}-{{ .random }}",
    "machine_labels": {"a": "b"}, "machine_annotations": {"a": "b"}, "node_volume_detach_timeout_seconds": 60,
    "files": [{"path": "/a", "content": "b", "encoding": "base64", "append": True, "owner": "a", "permissions": "0600"},
              {"path": "/b", "content_secret": {"name": "a", "key": "b"}}],
}


def schema(lab, kind):
    """Return the OpenAPI schema of a kind's spec, as the API server has it."""
    resource = KNOWN[kind]
    crd = lab.kube.get(KNOWN["CustomResourceDefinition"], None, f"{resource.plural}.{resource.group}")
    version = next(item for item in crd["spec"]["versions"] if item["name"] == resource.version)
    return version["schema"]["openAPIV3Schema"]["properties"]["spec"]


def compare(lab, kind, given):
    """Fail with what the CRD has and nothing writes, and with reasons for what is written."""
    reasons = LEFT_OUT.get(kind, {})
    missing = lacking(of_schema(schema(lab, kind)), given)
    unexplained = [path for path in missing if not any(path.startswith(start) for start in reasons)]
    assert unexplained == [], f"{kind} has fields that no option writes"
    stale = [start for start in reasons if not any(path.startswith(start) for path in missing)]
    assert stale == [], f"{kind}: reasons for what is there"


def host_paths():
    """Return what baremetal_host can write; data are named by their Secrets."""
    plain = tuple(field for field in host_fields.SPEC if field.name not in host_fields.DATA_KEYS)
    paths = of_fields(plain)
    for field in host_fields.SPEC:
        if field.name in host_fields.DATA_KEYS:
            paths.add(f"spec.{field.crd}" if field.crd.endswith("Name") else f"spec.{field.crd}.name")
    return paths


def test_baremetal_host(lab):
    compare(lab, "BareMetalHost", host_paths())


@pytest.mark.parametrize("kind", WRITTEN)
def test_resources_of_hosts(lab, kind):
    compare(lab, kind, of_fields(FAMILIES[kind].fields))


@pytest.mark.parametrize("kind", [*WRITTEN, "BareMetalHost"])
def test_no_option_writes_what_the_crd_does_not_have(lab, kind):
    given = host_paths() if kind == "BareMetalHost" else of_fields(FAMILIES[kind].fields)
    assert lacking(given, of_schema(schema(lab, kind))) == []


def test_ip_pool(lab):
    pool = ipam_pool.render({
        "name": "p", "cluster_name": "c", "prefix": 24, "gateway": "192.0.2.1", "dns_servers": ["192.0.2.2"],
        "pre_allocations": {"a": "192.0.2.3"}, "allocation_strategy": "sequential", "ranges": [{
            "start": "192.0.2.4", "end": "192.0.2.5", "subnet": "192.0.2.0/24", "prefix": 24, "gateway": "192.0.2.1",
            "dns_servers": ["192.0.2.2"]}]}, "metal3")
    compare(lab, "IPPool", of_object(pool["spec"]))


@pytest.mark.parametrize("kind", ["IPClaim", "IPAddressClaim"])
def test_ip_claim(lab, kind):
    claim = ipam_claim.render({"name": "c", "pool": "p", "kind": kind, "cluster_name": "a"}, "metal3")
    compare(lab, kind, of_object(claim["spec"]))


@pytest.fixture(scope="module")
def cluster_paths():
    """What a cluster's objects have, by kind, over all descriptions there are."""
    found = {}
    described = [yaml.safe_load(path.read_text()) for path in GOLDEN.glob("*.yml")
                 if path.stem != "metalstack"]
    for params in [*described, dict(yaml.safe_load((GOLDEN / "small.yml").read_text()), **MORE)]:
        params = dict(params, api_version="v1beta2")
        description, mistakes = cluster_description.read(params)
        assert mistakes == []
        for item in cluster_render.render(description):
            if item["apiVersion"].endswith("v1beta2"):
                found.setdefault(item["kind"], set()).update(of_object(item["spec"]))
    return found


@pytest.mark.parametrize("kind", ["Cluster", "Metal3Cluster", "Metal3MachineTemplate", "Metal3DataTemplate",
                                  "KubeadmControlPlane", "KubeadmConfigTemplate", "MachineDeployment",
                                  "MachineHealthCheck", "Metal3RemediationTemplate"])
def test_cluster(lab, cluster_paths, kind):
    compare(lab, kind, cluster_paths[kind])
