# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The holder of the endpoint's address: what it makes of the control plane, and what is refused or warned of."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster import (
    description as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster import (
    endpoint as cluster_endpoint,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import validation as cluster_validation
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import objects as cluster_render

NETWORKS = {"nodes": {"interface": "eno1", "ipv4": {
    "ranges": [{"start": "198.51.100.20", "end": "198.51.100.39"}], "prefix": 24, "gateway": "198.51.100.1"}}}
STORAGE = {"interface": "eno2", "ipv4": {"ranges": [{"start": "203.0.113.20", "end": "203.0.113.39"}], "prefix": 24}}


def described(endpoint=None, **changes):
    params = dict({
        "name": "c1", "kubernetes_version": "v1.35.4", "networks": NETWORKS, "workers": {"pool-a": {"replicas": 1}},
        "image": {"url": "https://images.example.org/node.qcow2", "checksum": "0" * 64},
        "endpoint": dict({"host": "198.51.100.10", "holder": "keepalived"}, **(endpoint or {}))}, **changes)
    description, mistakes = cluster_description.read(params)
    assert mistakes == []
    return description


def problems(*arguments, **changes):
    return cluster_validation.description_problems(described(*arguments, **changes))


def specs(description):
    """Return the KubeadmConfigSpecs of control plane and workers."""
    found = dict((item["kind"], item["spec"]) for item in cluster_render.render(description))
    return found["KubeadmControlPlane"]["kubeadmConfigSpec"], found["KubeadmConfigTemplate"]["template"]["spec"]


def test_the_control_plane_runs_keepalived_and_the_workers_do_not():
    description = described(control_plane={"pre_commands": ["own"], "files": [{"path": "/a", "content": "b"}]})
    assert cluster_validation.description_problems(description) == []
    plane, workers = specs(description)
    assert [entry["path"] for entry in plane["files"]] == ["/etc/keepalived/keepalived.conf", "/a"]
    lines = [line.strip() for line in plane["files"][0]["content"].splitlines()]
    for line in ("interface eno1", "virtual_router_id 10", "198.51.100.10/32"):
        assert line in lines
    assert "https://127.0.0.1:6443/livez" in plane["files"][0]["content"]
    enable, wait, own = plane["preKubeadmCommands"]
    assert enable == "systemctl enable --now keepalived" and own == "own"
    assert 'ip -4 address show dev eno1 | grep -q " 198.51.100.10/32 "' in wait
    assert "files" not in workers and "preKubeadmCommands" not in workers


def test_an_endpoint_of_ipv6_and_other_figures():
    networks = {"nodes": {"interface": "eno1", "link_name": "lan", "ipv6": {
        "ranges": [{"start": "2001:db8::20", "end": "2001:db8::39"}], "prefix": 64}}}
    port = {"localAPIEndpoint": {"bindPort": 443}}
    description = described(
        {"host": "2001:db8::10", "virtual_router_id": 7, "port": 443}, networks=networks,
        pod_cidrs=["fd00:10::/56"], service_cidrs=["fd00:11::/112"],
        control_plane={"init_configuration": port, "join_configuration": {"controlPlane": port}})
    assert cluster_validation.description_problems(description) == []
    plane = specs(description)[0]
    assert "2001:db8::10/128" in plane["files"][0]["content"]
    assert "virtual_router_id 7" in plane["files"][0]["content"] and "interface lan" in plane["files"][0]["content"]
    assert "https://[::1]:443/livez" in plane["files"][0]["content"]
    assert "ip -6 address show dev lan" in plane["preKubeadmCommands"][1]


def test_of_several_interfaces_one_is_named_or_has_the_nodes_address():
    networks = dict(NETWORKS, storage=STORAGE)
    refused = problems(networks=networks)
    assert len(refused) == 1 and "endpoint.interface: not set, expected one of eno1, eno2" in str(refused[0])
    for changes in ({"endpoint": {"interface": "eno2"}}, {"node_ip_network": "storage"}):
        endpoint = changes.pop("endpoint", None)
        plane = specs(described(endpoint, networks=networks, **changes))[0]
        assert "    interface eno2\n" in plane["files"][0]["content"]


def test_a_device_without_described_networks_is_taken_as_it_is():
    assert "    interface ens3\n" in specs(described({"interface": "ens3"}, networks={}))[0]["files"][0]["content"]
    assert "expected one of no interfaces" in str(problems(networks={})[0])


@pytest.mark.parametrize(
    "endpoint, changes, words",
    [
        ({"interface": "eno9"}, {}, "endpoint.interface: found eno9, expected one of eno1"),
        ({"interface": "a; reboot"}, {"networks": {}}, "endpoint.interface: found a; reboot, expected a device's name"),
        ({"host": "api.example.org"}, {}, "endpoint.host: found api.example.org, expected an address with holder"),
        ({"virtual_router_id": 256}, {}, "endpoint.virtual_router_id: found 256, expected 1 to 255"),
        ({"virtual_router_id": 0}, {}, "endpoint.virtual_router_id: found 0, expected 1 to 255"),
        ({"port": 443}, {}, "endpoint.port: found 443, expected 6443, the port of control_plane.init_configuration"),
        (
            {"holder": "external", "interface": "eno1"},
            {},
            "endpoint.interface: found eno1, expected nothing without holder",
        ),
        ({"holder": "external", "virtual_router_id": 3}, {}, "endpoint.virtual_router_id: found 3, expected nothing"),
        (
            {},
            {"control_plane": {"files": [{"path": cluster_endpoint.CONFIGURATION, "content": "a"}]}},
            "found /etc/keepalived/keepalived.conf twice",
        ),
    ],
)
def test_what_can_not_hold_the_address_is_refused(endpoint, changes, words):
    assert any(words in str(line) for line in problems(endpoint, **changes))


def test_mistakes_in_the_holder_are_told_together_with_others():
    lines = problems({"virtual_router_id": 999, "host": "api.example.org"}, kubernetes_version="1")
    assert len(lines) == 3


@pytest.mark.parametrize("endpoint, plane, warned", [
    ({"holder": None}, {}, True),
    ({"holder": None}, {"pre_commands": ["true"]}, True),
    ({"holder": None, "host": "api.example.org"}, {}, False),
    ({"holder": None}, {"pre_commands": ["ip address add 198.51.100.10/32 dev eno1"]}, False),
    ({"holder": None}, {"files": [{"path": "/a", "content": "198.51.100.10"}]}, False),
    ({"holder": None}, {"files": [{"path": "/a", "content_secret": {"name": "a", "key": "b"}}]}, False),
    ({"holder": "external"}, {}, False),
    ({}, {}, False),
])
def test_an_address_that_nobody_holds_is_warned_of(endpoint, plane, warned):
    warnings = cluster_validation.description_warnings(described(endpoint, control_plane=plane))
    assert len(warnings) == (1 if warned else 0)
    assert all("cluster metal3/c1: endpoint.holder: nothing" in line for line in warnings)
