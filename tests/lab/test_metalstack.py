# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters on metal-stack: Cluster API and kubeadm's providers are real, metal-api and its provider are played."""
from __future__ import annotations

import base64
import json

import metalstack_provider
import pytest
import role_settings
import yaml
from fakes.metal_api import FIREWALL_IMAGE, IMAGE, KEY, PARTITION, PROJECT, SIZE, MetalApi
from support import REPOSITORY, eventually
from test_cluster_render import covers, try_out

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks.user_data import ignition_problem
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = pytest.mark.metalstack
SECONDS = 120
NAMESPACE, NAME = "metalstack-test", "ms1"
MANIFEST = REPOSITORY / "tests" / "unit" / "cluster" / "golden" / "metalstack" / "objects.manifest"
CRD, ROLE = KNOWN["CustomResourceDefinition"], KNOWN["ClusterRole"]
RULES = {"egress": [{"protocol": "tcp", "ports": [80, 443], "to": ["0.0.0.0/0"]}],
         "ingress": [{"protocol": "tcp", "ports": [6443], "from": ["0.0.0.0/0"]}]}
VARIABLES = {
    "ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}",
    "cluster_namespace": NAMESPACE, "cluster_provider": "metalstack", "cluster_kubernetes_version": "v1.35.4",
    "cluster_network_addon": "none", "cluster_wait_for": "none", "cluster_check_network": False,
    "cluster_endpoint": {"port": 6443, "holder": "kube-vip"},
    "cluster_options": {"metalstack_size": SIZE, "metalstack_image": IMAGE},
    "cluster_metalstack": {"firewall": {"size": SIZE, "image": FIREWALL_IMAGE, "networks": ["internet"],
                                        "rules": RULES}},
    "cluster_control_plane": {"replicas": 1}, "cluster_workers": {"pool-a": {"replicas": 1}},
    "metalstack_project": PROJECT, "metalstack_partition": PARTITION, "metalstack_ip_network": "internet",
    "metalstack_poll_interval_seconds": 0.2}


@pytest.fixture(scope="module", autouse=True)
def plane(lab):
    """The lab's plane with the provider's kinds, which go with all of their objects."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    lab.kube.apply(KNOWN["Namespace"], None, body)
    for crd in metalstack_provider.crds():
        lab.kube.apply(CRD, None, crd)
    lab.kube.apply(ROLE, None, metalstack_provider.rights())
    eventually(lambda: all(is_served(lab.kube.get(CRD, None, crd["metadata"]["name"]))
                           for crd in metalstack_provider.crds()), SECONDS, "the CRDs are served")
    yield
    lab.kube.delete(ROLE, None, "capi-metal-stack")
    for crd in metalstack_provider.crds():
        lab.kube.delete(CRD, None, crd["metadata"]["name"])
    lab.kube.delete(KNOWN["Namespace"], None, NAMESPACE)


def is_served(crd):
    return any(entry["type"] == "Established" and entry["status"] == "True"
               for entry in (crd.get("status") or {}).get("conditions") or [])


def rendered():
    for item in yaml.safe_load_all(MANIFEST.read_text(encoding="utf-8")):
        item["metadata"]["namespace"] = NAMESPACE
        yield item


def test_without_the_feature_for_ignition_what_to_switch_on_is_named(lab):
    """What machines of metal-stack have by default; upstream leaves the feature off, and so does the lab."""
    item = next(item for item in rendered() if item["kind"] == "KubeadmConfigTemplate")
    assert item["spec"]["template"]["spec"]["format"] == "ignition"
    with pytest.raises(KubeError) as refused:
        try_out(lab, item)
    problem = ignition_problem("cluster ms1", str(refused.value))
    assert problem and "feature_gates: {KubeadmBootstrapFormatIgnition: true}" in problem.hint


@pytest.fixture(scope="module")
def _ignition():
    with role_settings.changed("capi", capi_options={"feature_gates": {"KubeadmBootstrapFormatIgnition": True}}):
        yield


@pytest.mark.usefixtures("_ignition")
def test_the_api_server_takes_all_that_is_rendered_and_drops_nothing(lab):
    for item in rendered():
        stored = try_out(lab, item)
        assert covers(stored["spec"], item["spec"]), f"{item['kind']} {item['metadata']['name']}: {stored['spec']}"


@pytest.mark.usefixtures("_ignition")
def test_what_the_provider_requires_is_required(lab):
    for item in rendered():
        if item["kind"] == "MetalStackCluster":
            del item["spec"]["projectID"]
            with pytest.raises(KubeError, match="projectID"):
                try_out(lab, item)


@pytest.mark.usefixtures("_ignition")
def test_a_cluster_is_created_becomes_provisioned_and_goes(lab, tmp_path):
    inventory = tmp_path / "hosts.json"
    inventory.write_text(json.dumps({"clusters": {"hosts": {NAME: dict(
        VARIABLES, metal3_kubeconfig=str(lab.dir / "kubeconfig"))}}}), encoding="utf-8")
    with MetalApi(machines=6) as api, metalstack_provider.Provider(lab.kube, api, NAMESPACE):
        environment = {"METAL_API_URL": api.url, "METAL_API_HMAC": KEY}

        def run(name, *arguments):
            return lab.playbook(name, *arguments, environment=environment, inventory=inventory)

        run("metalstack").ok()
        cluster = eventually(lambda: provisioned(lab), SECONDS, "the Cluster is provisioned")
        assert cluster["spec"]["controlPlaneEndpoint"] == {"host": next(iter(api.ips)), "port": 6443}
        machine = eventually(lambda: with_server(lab), SECONDS, "a machine of the control plane is provisioned")
        server = machine["spec"]["providerID"].rpartition("/")[2]
        assert api.machines[server]["allocation"]["name"] == machine["spec"]["infrastructureRef"]["name"]
        assert len(api.named(f"{NAME}-firewall")) == 1
        data = lab.kube.get(KNOWN["Secret"], NAMESPACE, machine["spec"]["bootstrap"]["dataSecretName"])["data"]
        assert base64.b64decode(data["format"]) == b"ignition"
        assert json.loads(base64.b64decode(data["value"]))["ignition"]["version"]

        again = run("metalstack")
        assert again.ok().changed() == 0, again.output
        run("metalstack_teardown", "-e", "metal3_confirm=no").failed("metal3_confirm")
        run("metalstack_teardown", "-e", f"metal3_confirm={NAME}").ok()
        assert not any(machine.get("allocation") for machine in api.machines.values())
        assert not api.ips and not [net for net in api.networks.values() if net.get("projectid")]
        assert api.defects == []


def provisioned(lab):
    cluster = lab.kube.get(KNOWN["Cluster"], NAMESPACE, NAME) or {}
    done = ((cluster.get("status") or {}).get("initialization") or {}).get("infrastructureProvisioned")
    return cluster if done else None


def with_server(lab):
    return next((machine for machine in lab.kube.list(KNOWN["Machine"], NAMESPACE)[0]
                 if ((machine.get("status") or {}).get("initialization") or {}).get("infrastructureProvisioned")), None)
