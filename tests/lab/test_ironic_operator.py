# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic by the Ironic operator: its resource, checked by a real API server with the definition of the operator's API.

The definition is generated from the API's Go module. The operator itself is not served, so nothing here runs Ironic.
"""
from __future__ import annotations

import generated_definition
import pytest
from support import eventually, module

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import operated, operated_service

pytestmark = pytest.mark.plane

API = "github.com/metal3-io/ironic-standalone-operator/api/v1alpha1"
NAMESPACE = "ironic-operator-test"
# All fields, with values that the operator's own rules do not exclude.
FULL = {
    "api_credentials_name": "login", "deploy_ramdisk": {"extra_kernel_params": "a=b", "ssh_key": "ssh-ed25519 AAAA"},
    "extra_config": [{"group": "conductor", "name": "workers_pool_size", "value": "200"}],
    "images": {"ironic": "registry.example/ironic:v35", "deploy_ramdisk_branch": "stable"},
    "inspection": {"collectors": ["default", "logs"], "vlan_interfaces": ["eno1.100"]},
    "networking": {"ip_address": "192.0.2.2", "interface": "eno1", "ip_address_manager": "keepalived", "api_port": 6385,
                   "external_ip": "198.51.100.2", "dhcp": {
                       "network_cidr": "192.0.2.0/24", "range_begin": "192.0.2.10", "range_end": "192.0.2.20",
                       "serve_dns": True, "hosts": ["00:00:5e:00:53:01,ignore"]}},
    "node_selector": {"a": "b"}, "version": "35.0",
    "database": {"host": "db", "name": "ironic", "credentials_name": "database", "tls_certificate_name": "database-ca"},
    "overrides": {"labels": {"a": "b"}, "agent_images": [
        {"kernel": "https://images.example/k", "initramfs": "https://images.example/i", "architecture": "aarch64"}],
        "containers": [{"name": "more", "image": "registry.example/more:1"}],
        "httpd_liveness_probe": {"httpGet": {"path": "/", "port": 6180}}},
    "prometheus_exporter": {"enabled": True, "sensor_collection_interval_seconds": 120},
    "tls": {"certificate_name": "serving", "bmc_ca": {"name": "authorities", "kind": "ConfigMap"},
            "trusted_ca": {"name": "database-ca", "kind": "Secret", "key": "ca.crt"},
            "disable_virtual_media_tls": True}}


@pytest.fixture(scope="module")
def definition():
    """Return the definition, generated from the API's Go module."""
    return generated_definition.generate("ironic-operator", API, operated.DEFINITION)


@pytest.fixture(scope="module")
def server(lab, definition):
    """The lab's API server with the definition, a namespace, and the Secrets that the resource names."""
    client = KubeClient({"kubeconfig": str(lab.dir / "kubeconfig")})
    client.apply(KNOWN["CustomResourceDefinition"], None, definition)
    client.apply(KNOWN["Namespace"], None, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    for kind, name in (("Secret", "login"), ("Secret", "database"), ("Secret", "database-ca"), ("Secret", "serving"),
                       ("ConfigMap", "authorities")):
        client.apply(KNOWN[kind], NAMESPACE, {"apiVersion": "v1", "kind": kind, "metadata": {
            "name": name, "namespace": NAMESPACE, "labels": dict([operated.LABEL])}})
    eventually(lambda: client.list(operated_service.RESOURCE, NAMESPACE)[0] == [], 60, "Ironics served", Exception)
    yield client
    client.delete(KNOWN["CustomResourceDefinition"], None, operated.DEFINITION)
    client.delete(KNOWN["Namespace"], None, NAMESPACE)


def run(lab, *flags, **given):
    return module("plane_ironic_operator", *flags, kubeconfig=str(lab.dir / "kubeconfig"), namespace=NAMESPACE,
                  wait=False, **given)


def paths(schema, before=""):
    """Yield the path of each field that has none below it, of those that the module describes itself."""
    for name, below in (schema.get("properties") or {}).items():
        inner = below.get("items") or below
        if "properties" in inner and before + name not in OF_KUBERNETES:
            yield from paths(inner, before + name + ".")
        else:
            yield before + name


# Their contents are Kubernetes' own.
OF_KUBERNETES = ("overrides.containers", "overrides.initContainers", "overrides.httpdLivenessProbe",
                 "overrides.httpdReadinessProbe")


def options(fields, before=""):
    for item in fields:
        if item.fields:
            yield from options(item.fields, before + item.crd + ".")
        else:
            yield before + item.crd


def test_every_field_of_the_definition_has_an_option(definition):
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    found = set(paths(schema))
    assert found - set(options(operated.FIELDS)) == set(operated.WITHOUT_OPTION)
    assert set(options(operated.FIELDS)) <= found


def test_the_api_server_takes_the_whole_resource_in_a_dry_run_and_stores_nothing(lab, server):
    result = run(lab, "--check", **FULL)
    assert result["changed"] and server.list(operated_service.RESOURCE, NAMESPACE)[0] == []


def test_nothing_is_lost_on_the_way_and_a_second_run_changes_nothing(lab, server):
    assert run(lab, **FULL)["changed"]
    stored = server.get(operated_service.RESOURCE, NAMESPACE, "ironic")["spec"]
    wanted = operated.desired(dict(FULL, name="ironic", namespace=NAMESPACE))["spec"]

    assert generated_definition.holds(stored, wanted)
    assert not run(lab, **FULL)["changed"]
    # What is no longer described goes; the operator's defaults stay.
    run(lab, version="35.0")
    left = server.get(operated_service.RESOURCE, NAMESPACE, "ironic")["spec"]
    assert left["version"] == "35.0" and "database" not in left and "overrides" not in left
    # The lab has hosts.
    with pytest.raises(AssertionError, match="BareMetalHost: found"):
        run(lab, state="absent", confirm="ironic")
    assert server.get(operated_service.RESOURCE, NAMESPACE, "ironic")
