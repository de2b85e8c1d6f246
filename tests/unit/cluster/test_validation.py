# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each mistake of a description is found, named with its field, and reported together with the others."""
from __future__ import annotations

import pathlib

import pytest
import yaml
from fakes.options import with_change

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import numbers
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import validation as cluster_validation
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.model import WORKER, Group
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import objects as cluster_render

GOLDEN = pathlib.Path(__file__).parent / "golden"
GOOD = {
    "name": "c1", "kubernetes_version": "v1.35.4", "endpoint": {"host": "198.18.0.10", "holder": "none"},
    "pod_cidrs": ["10.244.0.0/16"], "service_cidrs": ["10.96.0.0/16"],
    "image": {"url": "https://images.example.org/node.qcow2", "checksum": "0" * 64, "checksum_type": "sha256"},
    "networks": {"prov": {"interface": "eth0", "ipv4": {
        "ranges": [{"start": "198.18.0.20", "end": "198.18.0.29"}], "prefix": 24, "gateway": "198.18.0.1"}}},
    "control_plane": {"replicas": 3}, "workers": {"pool-a": {"replicas": 4}},
}


def changed(path, value):
    return with_change(GOOD, path, value)


def problems(params):
    description, mistakes = cluster_description.read(params)
    assert mistakes == []
    return cluster_validation.description_problems(description)


def test_a_good_description_has_no_problem():
    assert problems(GOOD) == []


@pytest.mark.parametrize("name", ["full", "full-v1beta1", "six", "small", "upstream"])
def test_the_golden_descriptions_have_no_problem(name):
    assert problems(yaml.safe_load((GOLDEN / (name + ".yml")).read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(("field", "fields"), [
    ("user_data_format", ["control_plane", "workers.pool-a"]), ("workers/pool-a/user_data_format", ["workers.pool-a"]),
], ids=["all machines", "one pool"])
def test_templates_that_ignition_does_not_render_are_warned_of(field, fields):
    """In upstream's way of finding Nodes their names and labels are templates of cloud-init."""
    description = cluster_description.read(changed(field, "ignition"))[0]
    warnings = cluster_validation.description_warnings(description)
    assert [line.partition(": Ignition renders no template")[0] for line in warnings] == [
        f"cluster metal3/c1: {name}.user_data_format" for name in fields]
    assert "{{ ds.meta_data.uuid }}" in warnings[0]


def test_addresses_that_capm3_does_not_give_back_are_warned_of():
    entry = {"id": "a", "link": "eth0", "fromPoolAnnotation": {"object": "machine", "annotation": "x"}}
    raw = changed("workers/pool-a/network_data", {"networks": {"ipv4": [entry]}})
    for params, field in ((GOOD, None), (raw, "workers.pool-a.network_data"),
                          (changed("networks/prov/ipv4", {"pool_annotation": {"object": "machine"}}),
                           "networks.prov.ipv4.pool_annotation")):
        warnings = cluster_validation.description_warnings(cluster_description.read(params)[0])
        assert len(warnings) == (1 if field else 0)
        assert all(f"cluster metal3/c1: {field}: CAPM3" in line for line in warnings)


@pytest.mark.parametrize("replicas, check, warned", [
    (1, {"reboot_retry_limit": 1}, True), (3, {"reboot_retry_limit": 1}, False), (1, {"enabled": False}, False),
    (1, None, False)])
def test_a_health_check_that_cannot_replace_control_plane_machines_is_warned_of(replicas, check, warned):
    params = changed("control_plane/replicas", replicas)
    params["control_plane"]["health_check"] = check
    params["control_plane"].pop("max_surge", None)
    params["control_plane"].pop("node_reuse", None)
    warnings = cluster_validation.description_warnings(cluster_description.read(params)[0])
    assert [line for line in warnings if "control_plane.health_check: found 1 replicas" in line] == (
        warnings if warned else [])
    assert len(warnings) == warned


def test_each_pool_gets_an_address_for_each_machine_and_for_the_rollout():
    description, _mistakes = cluster_description.read(GOOD)
    assert cluster_validation.addresses_needed(description) == {"c1-prov": 3 + 1 + 4 + 1}


def test_an_address_of_its_own_pool_is_one_also_where_meta_data_name_the_pool():
    metadata = {"prefixesFromPool": [{"key": "prefix", "name": "c1-prov"}]}
    of_workers = changed("workers/pool-a/metadata", metadata)
    for params, needed in ((dict(GOOD, metadata=metadata), 3 + 1 + 4 + 1), (of_workers, 4 + 1)):
        for group in ("control_plane", "workers/pool-a") if needed == 5 else ():
            params = with_change(params, f"{group}/attached_networks", [])
        description, _mistakes = cluster_description.read(params)
        assert cluster_validation.addresses_needed(description) == {"c1-prov": needed}


def test_a_dictionary_where_a_name_belongs_is_refused_by_its_name():
    dummy, mistakes = cluster_description.read(changed("control_plane/attached_networks", [{"name": "prov"}]))
    (problem,) = mistakes
    assert str(problem) == ("cluster metal3/c1: control_plane.attached_networks[0]: found a dictionary with name prov, "
                            "expected a text; write prov in its place")


@pytest.mark.parametrize("value, replicas, expected", [
    (None, 4, 1), (0, 4, 0), ("25%", 4, 1), ("30%", 4, 2), (2, 4, 2), (None, 0, 0), (None, None, 1)])
def test_surge(value, replicas, expected):
    assert numbers.surge(
        Group("c1", WORKER, "a", {"max_surge": value, "replicas": replicas})) == expected


BAD = [
    ("name", "C1", "name: found \"C1\""),
    ("kubernetes_version", "1.35.4", "kubernetes_version: found \"1.35.4\", expected a version such as v1.35.4"),
    ("kubernetes_version", None, "kubernetes_version: not set"),
    ("endpoint", None, "endpoint: not set"),
    ("endpoint/port", 70000, "endpoint.port: found 70000"),
    ("endpoint/host", "127.0.0.1", "endpoint.host: found \"127.0.0.1\""),
    ("endpoint/host", "198.18.0.25", "endpoint.host: found 198.18.0.25, which is in networks.prov.ipv4.ranges[0]"),
    ("endpoint", {"host": "198.18.0.1"}, "endpoint.host: found 198.18.0.1, gateway or DNS server"),
    ("endpoint", {"host": "203.0.113.1"}, "endpoint.host: found \"203.0.113.1\", expected an address in 198.18.0.0/24"),
    ("pod_cidrs", ["fd00::%x/64"], "pod_cidrs[0]: found fd00::%x/64"),
    ("pod_cidrs", ["10.244.0.1/16"], "pod_cidrs[0]: found 10.244.0.1/16"),
    ("pod_cidrs", ["10.0.0.0/16", "10.1.0.0/16"], "pod_cidrs: found 10.0.0.0/16, 10.1.0.0/16, expected at most one"),
    ("service_cidrs", ["10.244.8.0/24"], "pod_cidrs[0]: found 10.244.0.0/16, which overlaps service_cidrs[0]"),
    ("pod_cidrs", ["198.18.0.0/16"], "pod_cidrs[0]: found 198.18.0.0/16, which overlaps networks.prov.ipv4.ranges[0]"),
    ("pod_cidrs", ["10.244.0.0/25"], 'pod_cidrs[0]: found "10.244.0.0/25", expected a prefix of 8 to 24 bits'),
    ("pod_cidrs", ["fd00:1::/47"], 'pod_cidrs[0]: found "fd00:1::/47", expected a prefix of 48 to 64 bits'),
    ("service_cidrs", ["10.64.0.0/11"], 'service_cidrs[0]: found "10.64.0.0/11", expected a prefix of 12 to 28 bits'),
    ("service_cidrs", ["10.96.0.0/29"], 'service_cidrs[0]: found "10.96.0.0/29", expected a prefix of 12 to 28 bits'),
    ("service_cidrs", ["10.96.0.0/16", "fd00:2::/64"],
     'service_cidrs[1]: found "fd00:2::/64", expected a prefix of 108 to 124 bits'),
    ("service_cidrs", ["fd00:2::/112"], 'service_cidrs[0]: found "fd00:2::/112", expected a network of IPv4, of which'),
    ("node_ip_network", "nope", "node_ip_network: found \"nope\", expected one of prov"),
    ("failure_domains", [{"name": "a"}, {"name": "a"}], "failure_domains: found a twice"),
    ("image", None, "image: not set"),
    ("image/checksum", None, "image.checksum: not set"),
    ("image/checksum", "abc", "image.checksum: found \"abc\""),
    ("image/checksum_type", "md5", "image.checksum_type: found \"md5\", expected sha256"),
    ("image/url", "file:///x", "image.url: found \"file:///x\""),
    ("networks/prov/mtu", 100, "networks.prov.mtu: found 100"),
    ("networks/prov/ipv4/prefix", 64, "networks.prov.ipv4.prefix: found 64"),
    ("networks/prov/ipv4/ranges", [{"start": "198.18.0.20", "end": "198.18.0.22"}],
     "networks.prov.ipv4.ranges: found 3 addresses, expected at least 9"),
    ("networks/prov/ipv4/ranges", [], "networks.prov.ipv4: found no addresses"),
    ("networks/prov/ipv4/ranges", [{"start": "2001:db8::20", "end": "2001:db8::99"}],
     'networks.prov.ipv4.ranges[0].start: found "2001:db8::20", expected IPv4; describe it below ipv6'),
    ("networks/prov/ipv6", {"ranges": [{"subnet": "198.18.4.0/24"}], "prefix": 24},
     'networks.prov.ipv6.ranges[0].subnet: found "198.18.4.0/24", expected IPv6; describe it below ipv4'),
    ("networks/prov/ipv4", {"ranges": [{"start": "198.18.0.20", "end": "198.18.0.29"}], "prefix": 24,
                            "default_route": True}, "prov.ipv4.ranges[0].gateway: not set, expected a gateway"),
    ("networks/prov/ipv4", {"ranges": [
        {"start": "198.18.0.20", "end": "198.18.0.29", "gateway": "198.18.0.1"},
        {"start": "198.18.1.20", "end": "198.18.1.29"}], "prefix": 24},
     "networks.prov.ipv4.ranges[1].gateway: not set, expected a gateway, because the machines have a default route"),
    ("networks/two", {"interface": "eth0", "ipv4": {"mode": "dhcp"}, "mac_address": {"string": "00:5c:52:00:00:01"}},
     "networks.two.mac_address: found"),
    ("networks/prov/ipv4", {"pool": "shared", "pre_allocations": {"storage": "198.18.0.20"}},
     "networks.prov.ipv4.pre_allocations: found"),
    ("networks/prov/ipv4", {"pool": "shared", "allocation_strategy": "random"},
     'ipv4.allocation_strategy: found "random", expected nothing without ranges; set it for the pool itself ('),
    ("networks/prov/ipv4/mode", "dhcp", "networks.prov.ipv4.mode: found dhcp with ranges"),
    ("networks/prov/ipv4/routes", [{"network": "10.0.0.0", "prefix": 8, "gateway": {}}] * 2,
     "networks.prov.ipv4.routes: found 10.0.0.0 twice"),
    ("networks/prov/ipv4/routes", [{"network": "10.0.0.0", "prefix": 8}], "routes[0].gateway: not set"),
    ("networks/prov/bond", {"mode": "802.3ad", "interfaces": ["a", "b"]}, "found interface and bond"),
    ("networks/two", {"bond": {"mode": "802.3ad", "interfaces": ["a"]}}, "networks.two.bond.interfaces: found a"),
    ("networks/two", {"vlan": {"id": 5000, "network": "prov"}}, "networks.two.vlan.id: found 5000"),
    ("networks/two", {"vlan": {"id": 5, "network": "nope"}}, "networks.two.vlan.network: found \"nope\""),
    ("networks/two", {"vlan": {"id": 5, "network": "two"}}, "networks.two.vlan.network: found two on two"),
    ("networks/Two", {"ipv4": {"mode": "dhcp"}}, "networks.Two: found \"Two\""),
    ("control_plane/replicas", 2, "control_plane.replicas: found 2, expected an odd number"),
    ("control_plane/replicas", 0, "control_plane.replicas: found 0"),
    ("control_plane/init_configuration", {"timeouts": {"controlPlaneComponentHealthCheckSeconds": 9}},
     "join_configuration.timeouts.controlPlaneComponentHealthCheckSeconds: not set, expected 9"),
    ("control_plane/max_surge", 2, "control_plane.max_surge: found 2"),
    ("control_plane/attached_networks", ["x"], "control_plane.attached_networks: found \"x\""),
    ("workers/control-plane", {}, "workers.control-plane: found \"control-plane\""),
    ("workers/" + "a" * 60, {}, "at most 46 characters"),
    ("workers/pool-a/replicas", -1, "workers.pool-a.replicas: found -1"),
    ("workers/pool-a/max_surge", "some", "workers.pool-a.max_surge: found \"some\""),
    ("workers/pool-a/max_surge", 0, "workers.pool-a.max_unavailable: not set"),
    ("workers/pool-a/node_reuse", True, "workers.pool-a.max_surge: not set, expected 0 with node_reuse"),
    ("workers/pool-a/metadata", {"oops": []}, "workers.pool-a.metadata.oops"),
    ("workers/pool-a/metadata", {"dnsServersFromPool": [{"key": "dns", "name": "c1-prov"}]},
     "workers.pool-a.metadata.dnsServersFromPool: found 1 entry, expected none (CAPM3 1.13 takes an address"),
    ("control_plane/failure_domain", "a", "control_plane.failure_domain: found \"a\", expected nothing"),
    ("workers/pool-a/autoscaler", {"min_size": 1, "max_size": 3},
     "workers.pool-a.replicas: found 4, expected nothing with autoscaler"),
    ("workers/pool-b", {"autoscaler": {"min_size": 3, "max_size": 1}},
     "workers.pool-b.autoscaler.max_size: found 1, expected 3 or more"),
    ("workers/pool-b", {"autoscaler": {"min_size": -1, "max_size": 1}},
     "workers.pool-b.autoscaler.min_size: found -1, expected 0 or more"),
    ("control_plane/autoscaler", {"min_size": 1, "max_size": 3}, "control_plane.autoscaler: found"),
    ("workers/pool-b", {"autoscaler": {"min_size": 0, "max_size": 3, "capacity": {"cpu": "8", "memory": "64 GB"}}},
     'workers.pool-b.autoscaler.capacity.memory: found "64 GB", expected a quantity such as 8 or 64Gi'),
    ("workers/pool-b", {"autoscaler": {"min_size": 0, "max_size": 3, "capacity": {"cpu": "0", "memory": "64Gi"}}},
     'workers.pool-b.autoscaler.capacity.cpu: found "0", expected a quantity'),
    ("workers/pool-b", {"autoscaler": {"min_size": 0, "max_size": 3, "capacity": {
        "cpu": "8", "memory": "64Gi", "max_pods": 0}}},
     "workers.pool-b.autoscaler.capacity.max_pods: found 0, expected 1 or more"),
    ("workers/pool-b", {"autoscaler": {"min_size": 0, "max_size": 3, "capacity": {
        "cpu": "8", "memory": "64Gi", "gpu_count": 2}}},
     "workers.pool-b.autoscaler.capacity.gpu_type: not set, expected a value with gpu_count"),
    ("workers/pool-a/host_selector_expressions", [{"key": "a", "operator": "Exists"},
                                                  {"key": "a", "operator": "NotIn", "values": ["x"]}],
     "workers.pool-a.host_selector_expressions: found key a twice"),
    ("networks/prov/ipv4/pre_allocations", {"c1-pool-a-0-prov": "198.18.0.20"},
     "networks.prov.ipv4.pre_allocations.c1-pool-a-0-prov: found \"c1-pool-a-0-prov\", expected c1-pool-a-"),
    ("networks/prov/ipv4/pre_allocations", {"c1-pool-a-01234567-0-c1-prov": "198.18.0.20"},
     "networks.prov.ipv4.pre_allocations.c1-pool-a-01234567-0-c1-prov: found \"c1-pool-a-01234567-0-c1-prov\", "),
    ("workers/pool-a/metadata", {"strings": [{"value": "a"}]}, "metadata.strings[0].key: not set"),
    ("workers/pool-a/metadata", {"strings": [{"key": "a", "value": "b"}] * 2}, "found key a twice"),
    ("workers/pool-a/metadata", {"fromHostInterfaces": [{"key": "a"}]}, "either interface or fromBootMAC"),
    ("workers/pool-a/host_selector_expressions", [{"key": "a", "operator": "In"}], "expected values for In"),
    ("workers/pool-a/host_selector_expressions", [{"key": "a", "operator": "Exists", "values": ["x"]}],
     "expected none for Exists"),
    ("workers/pool-a/node_taints", [{"key": "a", "effect": "Never"}], "workers.pool-a.node_taints[0]"),
    ("workers/pool-a/users", [{"sudo": "x"}], "workers.pool-a.users[0].name"),
    ("workers/pool-a/files", [{"path": "x", "content": ""}], "files[0].path: found \"x\""),
    ("workers/pool-a/files", [{"path": "/x"}], "files[0]: found both or neither"),
    ("workers/pool-a/files", [{"path": "/x", "content": ""}] * 2, "files[1].path: found /x twice"),
    ("workers/pool-a/files", [{"path": "/x", "content": "", "permissions": "rw"}], 'permissions: found "rw"'),
    ("workers/pool-a/files", [{"path": "/x", "content": "${#list}"}], "files[0].content: found {# without #}"),
    ("workers/pool-a/pre_commands", ["echo {% x"], "pre_commands[0]: found {% without %}"),
    ("workers/pool-a/health_check", {"reboot_timeout_seconds": 10}, "reboot_timeout_seconds: found 10"),
    ("workers/pool-a/health_check", {"reboot_retry_limit": 0}, "reboot_retry_limit: found 0"),
    ("workers/pool-a/health_check", {"unhealthy_machine_conditions": [
        {"type": "Ready", "status": "False", "timeout_seconds": 5}]},
     'unhealthy_machine_conditions[0].type: found "Ready", expected a condition of Machines, none of Ready, Available'),
    ("workers/pool-a/health_check", {"unhealthy_machine_conditions": [
        {"type": "a b", "status": "no", "timeout_seconds": -1}]},
     'unhealthy_machine_conditions[0].status: found "no", expected one of True, False, Unknown'),
    ("workers/pool-a/remediation", {"max_in_flight": "some"}, 'workers.pool-a.remediation.max_in_flight: found "some"'),
    ("workers/pool-a/remediation", {"max_retry": 1}, "workers.pool-a.remediation.max_retry: found 1, expected nothing"),
    ("workers/pool-a/min_ready_seconds", -1, "workers.pool-a.min_ready_seconds: found -1, expected 0 or more"),
    ("remediation", {"max_retry": -1}, "remediation.max_retry: found -1, expected 0 or more"),
    ("control_plane/remediation", {"max_in_flight": 1}, "control_plane.remediation.max_in_flight: found 1, expected n"),
    ("control_plane/min_ready_seconds", 1, "control_plane.min_ready_seconds: found 1, expected nothing, for a Kubeadm"),
    ("control_plane/deletion_order", "oldest", 'control_plane.deletion_order: found "oldest", expected nothing'),
    ("workers/pool-a/health_check", {"node_startup_timeout_seconds": 5}, "node_startup_timeout_seconds: found 5"),
]


@pytest.mark.parametrize("path, value, words", BAD)
def test_one_mistake_is_named(path, value, words):
    found = problems(changed(path, value))
    assert any(words in str(line) for line in found), found


def arguments(**values):
    return {"controllerManager": {"extraArgs": [
        {"name": name.replace("_", "-"), "value": value} for name, value in values.items()]}}


@pytest.mark.parametrize("network, given, accepted", [
    ("10.244.0.0/25", arguments(node_cidr_mask_size_ipv4="26"), True),
    ("10.244.0.0/25", {"controllerManager": {"extraArgs": {"node-cidr-mask-size-ipv4": "28"}}}, True),
    ("10.244.0.0/16", arguments(node_cidr_mask_size_ipv4="15"), False),
    ("10.244.0.0/25", arguments(allocate_node_cidrs="false"), True),
    ("fd00:1::/112", arguments(node_cidr_mask_size_ipv6="120"), True),
    ("fd00:1::/112", {}, False)])
def test_the_size_of_the_pods_network_fits_that_of_a_nodes_part(network, given, accepted):
    params = changed("pod_cidrs", [network])
    params["control_plane"]["cluster_configuration"] = given
    assert (problems(params) == []) is accepted


@pytest.mark.parametrize("network, given, parts", [
    ("10.244.0.0/21", {}, 8), ("10.244.0.0/20", {}, None), ("10.244.0.0/20", arguments(node_cidr_mask_size="23"), 8),
    ("fd00:1::/61", {}, 8)])
def test_each_node_has_a_part_of_the_pods_network(network, given, parts):
    """Three and four machines, and one more of each during a rollout."""
    params = dict(changed("pod_cidrs", [network]), network_addon="flannel")
    params["control_plane"]["cluster_configuration"] = given
    text = f"bits for {parts} nodes, expected one for each of 9 machines"
    assert [text in str(line) for line in problems(params)] == ([True] if parts else [])
    params["network_addon"] = "none"
    assert problems(params) == []
    warnings = cluster_validation.description_warnings(cluster_description.read(params)[0])
    assert [text in line for line in warnings] == ([True] if parts else [])


def test_the_first_network_of_services_is_of_the_family_that_all_addresses_have():
    family = {"ranges": [{"start": "2001:db8::10", "end": "2001:db8::99"}], "prefix": 64}
    params = dict(changed("networks/prov", {"interface": "eth0", "ipv6": family}), endpoint={
        "host": "2001:db8::5", "holder": "none"}, pod_cidrs=["fd00:1::/56"])
    assert "service_cidrs[0]: found \"10.96.0.0/16\", expected a network of IPv6" in str(problems(params)[0])
    params["service_cidrs"] = ["fd00:2::/112", "10.96.0.0/16"]
    assert problems(params) == []
    params["service_cidrs"] = ["10.96.0.0/16"]
    params["networks"]["prov"]["ipv4"] = {"mode": "dhcp"}
    assert problems(params) == []


@pytest.mark.parametrize("extra", [
    {"gateway": "2001:0db8:0::5"}, {"gateway": "2001:db8::1", "dns_servers": ["2001:DB8::5"]},
    {"ranges": [{"start": "2001:db8::10", "end": "2001:db8::99", "dns_servers": ["2001:db8:0:0::5"]}]}])
def test_a_virtual_address_is_compared_with_others_however_they_are_spelled(extra):
    family = dict({"ranges": [{"start": "2001:db8::10", "end": "2001:db8::99"}], "prefix": 64}, **extra)
    params = dict(changed("networks/prov", {"interface": "eth0", "ipv6": family}), endpoint={
        "host": "2001:db8::5"}, pod_cidrs=["fd00:1::/56"], service_cidrs=["fd00:2::/112"])
    assert [line.actual for line in problems(params)] == [
        "2001:db8::5, gateway or DNS server of networks.prov"]


def test_preallocations_are_for_claims_that_can_occur():
    description, _mistakes = cluster_description.read(GOOD)
    template = cluster_render.data_template_name(description, description.groups[1])
    for name in (template + "-0-c1-prov", "some-host-c1-prov", "c1-pool-a-host-c1-prov", "endpoint", "c1"):
        assert problems(changed("networks/prov/ipv4/pre_allocations", {name: "198.18.0.20"})) == []


@pytest.mark.parametrize("last, name, refused", [
    (28, "storage", True), (29, "storage", False), (28, "host-a-c1-prov", False)])
def test_what_a_pool_keeps_for_others_is_for_no_machine(last, name, refused):
    """Nine machines, those included that a rollout adds."""
    found = problems(changed("networks/prov/ipv4", {
        "ranges": [{"start": "198.18.0.20", "end": f"198.18.0.{last}"}], "prefix": 24,
        "pre_allocations": {name: "198.18.0.22"}}))
    assert [str(line).partition(": ")[2] for line in found] == ([
        "networks.prov.ipv4.ranges: found 9 addresses, of which 1 is kept for others (storage), expected at least 9; "
        "widen a range or add one"] if refused else [])


def test_a_pool_is_large_enough_for_the_autoscalers_largest():
    description, _mistakes = cluster_description.read(changed("workers/pool-b", {
        "autoscaler": {"min_size": 1, "max_size": 9}}))
    assert cluster_validation.addresses_needed(description) == {"c1-prov": 3 + 1 + 4 + 1 + 9 + 1}


def test_a_failure_domain_must_be_one_of_those_described():
    params = changed("workers/pool-a/failure_domain", "x")
    assert problems(params) == []
    params["failure_domains"] = [{"name": "y"}]
    assert "workers.pool-a.failure_domain: found \"x\", expected one of y" in str(problems(params)[0])


def test_a_field_that_v1beta1_lacks_is_refused_there_only():
    params = changed("control_plane/init_configuration", {"timeouts": {"etcdAPICallSeconds": 5}})
    assert problems(params) == []
    params["api_version"] = "v1beta1"
    assert "etcdAPICallSeconds" in str(problems(params)[0])


def test_all_mistakes_are_reported_at_once():
    params = changed("kubernetes_version", "x")
    params["networks"]["prov"]["mtu"] = 1
    params["control_plane"]["replicas"] = 2
    params["workers"]["pool-a"]["files"] = [{"path": "x"}]
    assert len(problems(params)) == 5
