# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever stands in a cluster's variables: mistakes as texts, at once, and never a traceback."""
from __future__ import annotations

import copy

from fakes.options import with_value
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import (
    addon as cluster_addon,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import (
    validation as cluster_validation,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    inventory as cluster_inventory,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import needs as cluster_needs
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import spec as cluster_spec
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.lifecycle.run import read_description
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render.objects import render
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.problem import Problem
from ansible_collections.metal3.baremetal.plugins.module_utils._lint import checks as lint_checks

POOL = {"ranges": [{"start": "198.51.100.20", "end": "198.51.100.39", "prefix": 24, "gateway": "198.51.100.1",
                    "dns_servers": ["198.51.100.2"]}], "prefix": 24, "gateway": "198.51.100.1",
        "dns_servers": ["198.51.100.2"], "pre_allocations": {"a": "198.51.100.30"}, "allocation_strategy": "random",
        "routes": [{"network": "192.0.2.0", "prefix": 24, "gateway": "198.51.100.1",
                    "services": {"dns": ["192.0.2.1"]}}]}
GROUP = {
    "replicas": 3,
    "image": {"url": "https://x/a.raw", "checksum": "0" * 64, "checksum_type": "sha256", "format": "raw"},
    "host_selector": {"rack": "r1"}, "automated_cleaning_mode": "metadata",
    "host_selector_expressions": [{"key": "gpu", "operator": "In", "values": ["a"]}],
    "attached_networks": ["machines"],
    "metadata": {"strings": [{"key": "a", "value": "b"}], "fromHostInterfaces": [{"key": "m", "interface": "eno1"}],
                 "ipAddressesFromPool": [{"key": "ip", "name": "p", "apiGroup": "ipam.metal3.io", "kind": "IPPool"}]},
    "cluster_configuration": {"etcd": {"external": {}}, "apiServer": {"extraArgs": [{"name": "a", "value": "b"}]}},
    "init_configuration": {"timeouts": {"controlPlaneComponentHealthCheckSeconds": 5}},
    "join_configuration": {"timeouts": {"controlPlaneComponentHealthCheckSeconds": 5}},
    "kubelet_configuration": {"maxPods": 250}, "kube_proxy_configuration": {"mode": "nftables"},
    "kubelet_extra_args": {"node-labels": "a=b", "v": 2}, "node_labels": {"example.org/a": "b"},
    "node_taints": [{"key": "a", "effect": "NoSchedule"}], "cri_socket": "unix:///a",
    "ignore_preflight_errors": ["Mem"], "skip_phases": ["addon/kube-proxy"],
    "files": [{"path": "/a", "content": "b", "permissions": "0644", "owner": "root", "encoding": "base64"},
              {"path": "/b", "content_secret": {"name": "s", "key": "k"}, "append": True}],
    "boot_commands": ["a"], "pre_commands": ["b"], "post_commands": ["c"],
    "users": [{"name": "u", "passwd": "x"}, {"name": "v", "passwdFrom": {"secret": {"name": "s", "key": "k"}}}],
    "ssh_user": "u", "ssh_authorized_keys": ["ssh-ed25519 AAAA"], "ntp_servers": ["t"], "mounts": [["a", "b"]],
    "disk_setup": {"filesystems": [{"device": "/dev/sdb"}]}, "user_data_format": "cloud-config",
    "machine_labels": {"a": "b"}, "machine_annotations": {"a": "b"}, "node_drain_timeout_seconds": 1,
    "node_deletion_timeout_seconds": 1, "node_volume_detach_timeout_seconds": 1, "max_surge": 1,
    "rollout_after": "2026-01-01T00:00:00Z",
    "remediation": {"max_retry": 1, "retry_period_seconds": 1, "min_healthy_period_seconds": 1,
                    "max_in_flight": "20%"},
    "deletion_order": "oldest", "min_ready_seconds": 1,
    "node_reuse": False, "minimum_memory_mebibytes": 1, "minimum_root_disk_gigabytes": 1,
    "health_check": {"enabled": True, "node_startup_timeout_seconds": 60, "max_unhealthy": "40%",
                     "unhealthy_conditions": [{"type": "Ready", "status": "False", "timeout_seconds": 5}],
                     "unhealthy_machine_conditions": [
                         {"type": "NodeHealthy", "status": "Unknown", "timeout_seconds": 5}],
                     "reboot_retry_limit": 1, "reboot_timeout_seconds": 100}}
GOOD = {
    **GROUP,
    "name": "c1", "namespace": "metal3", "api_version": "v1beta2", "kubernetes_version": "v1.35.4",
    "endpoint": {"host": "198.51.100.10", "port": 6443, "holder": "none"}, "network_addon": "flannel",
    "flannel": {"backend": "vxlan", "nftables": False, "interface": "eno1", "cni_configuration": "install",
                "image": "example.org/flannel:v1", "cni_plugin_image": "example.org/plugin:v1"},
    "image_registry": "registry.example.org",
    "pod_cidrs": ["10.244.0.0/16"], "service_cidrs": ["10.96.0.0/12"], "service_domain": "cluster.local",
    "cloud_provider_enabled": False, "provider_id_by_kubelet": True,
    "failure_domains": [{"name": "f", "control_plane": True, "attributes": {"a": "b"}}],
    "label_sync_prefixes": ["example.org"], "node_name": "machine", "node_ip_network": "machines",
    "control_plane": {"replicas": 3, "network_data": {
        "links": {"ethernets": [{"id": name, "type": "phy", "macAddress": {"fromHostInterface": interface}}
                                for name, interface in (("e", "eno1"), ("eno2", "eno2"), ("eno3", "eno3"))], "vlans": [
            {"id": "v", "vlanID": 5, "vlanLink": "e", "macAddress": {"string": "00:00:00:00:00:01"}}]},
        "networks": {"ipv4": [{"id": "n", "link": "e", "ipAddressFromIPPool": "p", "routes": [
            {"network": "0.0.0.0"}]}]},
        "services": {"dns": ["192.0.2.1"]}}},
    "workers": {"one": {"replicas": 2, "failure_domain": "f"}, "two": {"autoscaler": {"min_size": 1, "max_size": 3}},
                "gone": {"state": "absent"}},
    "standalone_machines": {"db": {"host_selector": {"rack": "r2"}, "node_labels": {"example.org/a": "db"}},
                            "away": {"state": "absent"}},
    "networks": {"machines": {"interface": "eno1", "mtu": 1500, "link_type": "phy", "ipv4": POOL},
                 "bonded": {"bond": {"mode": "802.3ad", "interfaces": ["eno2", "eno3"], "parameters": {"miimon": 100},
                                     "transmit_hash_policy": "layer2"}, "ipv6": {"mode": "slaac"}},
                 "tagged": {"vlan": {"id": 5, "network": "bonded"}, "mac_address": {"fromHostInterface": "eno2"},
                            "ipv4": {"pool": "elsewhere"}}},
    "supported_links": ["ethernet", "bond", "vlan"],
    "registry_mirrors": [{"registry": "quay.io", "url": "https://mirror.example.org/quay.io", "fallback": True,
                          "ca_certificate": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                          "credentials_secret": "login"}]}
del GOOD["replicas"], GOOD["attached_networks"]

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(
        ["", "0", "-1", "10%", "{{", "{{ a }}", "true", "198.51.100.20", "::1", "10.0.0.0/8", "https://[", "a\nb"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=3),
    max_leaves=5)


def paths(value, path=()):
    """Yield the paths of all that is in a structure."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from paths(item, (*path, key))


OF_METALSTACK = {"provider", "metalstack", "metalstack_size", "metalstack_image"}
RULE = {"comment": "c", "protocol": "tcp", "ports": [443], "to": ["0.0.0.0/0"]}
GOOD_ON_METALSTACK = {
    "name": "c2", "provider": "metalstack", "kubernetes_version": "v1.35.4", "network_addon": "none",
    "endpoint": {"host": "198.51.100.10", "holder": "kube-vip"},
    "metalstack_size": "s", "metalstack_image": "i", "workers": {"one": {"replicas": 1, "metalstack_size": "t"}},
    "metalstack": {"project": "p", "partition": "f", "node_network": "n", "firewall": {
        "size": "s", "image": "i", "networks": ["internet"], "auto_update": True,
        "rules": {"egress": [RULE], "ingress": [{"protocol": "udp", "ports": [53], "from": ["::/0"]}]}}}}
OF_CLASS = {"cluster_class"}
GOOD_OF_CLASS = {
    "name": "c3", "kubernetes_version": "v1.35.4", "network_addon": "none", "endpoint": {"host": "198.51.100.10"},
    "cluster_class": {"name": "k", "namespace": "n", "variables": {"a": {"b": [1]}}},
    "control_plane": {"replicas": 1, "class_variables": {"a": 1}},
    "workers": {"one": {"machine_class": "w", "class_variables": {"a": "b"}, "machine_labels": {"a": "b"}}}}
PATHS = [(GOOD, path) for path in sorted(paths(GOOD), key=str)] + [
    (GOOD_ON_METALSTACK, path) for path in sorted(paths(GOOD_ON_METALSTACK), key=str)] + [
    (GOOD_OF_CLASS, path) for path in sorted(paths(GOOD_OF_CLASS), key=str)]


def all_findings(params):
    """Read a description as modules and the lint do, and return what is found wrong with it."""
    try:
        description = read_description(params).description
    except RefusedError as exc:
        found = exc.problems
        assert found and all(isinstance(line, Problem) and str(line).strip() for line in found)
    else:
        found = cluster_validation.description_warnings(description)
        objects = render(description)
        cluster_addon.addon_warnings(description, [])
        assert all(item["metadata"]["name"] for item in objects)
    cluster_needs.needs(params)
    lint_checks.lint(lint_checks.Site("metal3", [], {"c": params}, None, None, {}, None, True))
    return found


def test_the_good_one_is_good_and_has_every_option():
    for good in (GOOD, GOOD_ON_METALSTACK, GOOD_OF_CLASS):
        assert all_findings(copy.deepcopy(good)) == []
    assert set(cluster_spec.description_options()) - set(GOOD) == {
        "attached_networks", "custom_deploy", "network_data", "machine_name_template", "max_unavailable", "topology",
        *OF_CLASS, *OF_METALSTACK}


def test_all_is_reported_at_once():
    """Wrong types, names and values, and parts that don't fit each other; nothing that only follows from them."""
    params = with_value(GOOD, ("endpoint",), 5)
    params.update(control_plane={"replicas": 2, "replcas": 3}, pod_cidrs=["198.51.100.0/25"], mtu=3)
    params["workers"]["one"]["node_labels"] = {"k8s.io/a": "b"}
    params["networks"]["bonded"]["mtu"] = 5
    params["networks"]["machines"]["ipv4"] = dict(POOL, prefix=33, ranges=[dict(POOL["ranges"][0], end="198.51.100.1")])
    params["networks"]["other"] = {"ipv4": {"ranges": [{"start": "203.0.113.9", "end": "203.0.113.1"}], "prefix": 24}}
    params["networks"]["pods"] = {"ipv4": {"ranges": [{"start": "198.51.100.9", "end": "198.51.100.12"}], "prefix": 24}}
    found = "\n".join(map(str, all_findings(params)))
    for words in (
        "endpoint: found int, expected a dictionary",
        "control_plane.replcas: found an unknown option, expected an option of metal3.baremetal.cluster; "
        "remove it (perhaps replicas is meant)",
        "mtu: found an unknown option",
        "control_plane.replicas: found 2, expected an odd number",
        "workers.one.node_labels.k8s.io/a",
        "networks.bonded.mtu",
        "networks.other.ipv4.ranges[0]",
        "networks.machines.ipv4",
    ):
        assert words in found, found
    assert "expected host and port" not in found


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.sampled_from(PATHS), VALUES)
@example((GOOD, ("name",)), ["c1"])
def test_one_value_is_anything(place, value):
    all_findings(with_value(*place, value))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(VALUES, st.sampled_from([(), ("ranges",), ("ranges", 0), ("ranges", 0, "first"), ("hosts",), ("hosts", 0),
                                ("hosts", 0, "mac"), ("hosts", 0, "addresses"), ("hosts", 0, "addresses", 0)]))
def test_what_dhcp_lends_is_anything(value, path):
    lent = with_value({"dhcp": {
        "ranges": [{"first": "198.51.100.1", "last": "198.51.100.9"}],
        "hosts": [{"mac": "00:5c:52:00:00:01", "addresses": ["198.51.100.1"]}]}}, ("dhcp", *path), value)
    found = lint_checks.lint(lint_checks.Site("metal3", [], {"c": GOOD}, None, None, {}, None, True,
                                              {"c": lent["dhcp"]}))
    assert all(str(item.problem).strip() for item in found)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.dictionaries(st.sampled_from(sorted(GOOD)) | st.text(max_size=5), VALUES, max_size=6))
def test_a_description_is_anything(params):
    all_findings(params)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.dictionaries(st.sampled_from(["cluster_name", "cluster_namespace", "metal3_namespace", "cluster_options",
                                        *("cluster_" + option for option in cluster_inventory.OPTIONS)]), VALUES))
def test_inventory_variables_are_anything(variables):
    try:
        params = cluster_inventory.parameters("host", variables)
    except cluster_inventory.ClusterNameError:
        return
    cluster_inventory.name_problems({"host": variables, "other": variables})
    all_findings(params)
    for path in ("name", "workers.a", "pod_cidrs[0]"):
        assert cluster_inventory.variable_of(path, variables)
