# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The holder of the endpoint's address: what it makes of the control plane, and what is refused or warned of."""
from __future__ import annotations

import json
import re
import subprocess

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import validation as cluster_validation
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import endpoint as cluster_endpoint
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


def kube_vip(description):
    """Return the static pod of kube-vip and the commands before and after kubeadm, of the control plane."""
    plane, workers = specs(description)
    assert "files" not in workers and "preKubeadmCommands" not in workers and "postKubeadmCommands" not in workers
    entry, = plane["files"]
    assert entry["path"] == "/etc/kubernetes/manifests/kube-vip.yaml"
    return json.loads(entry["content"]), plane.get("preKubeadmCommands"), plane.get("postKubeadmCommands")


def test_the_control_plane_runs_kube_vip_and_the_workers_do_not():
    description = described({"holder": "kube-vip"}, control_plane={"pre_commands": ["before"],
                                                                   "post_commands": ["after"]})
    assert cluster_validation.description_problems(description) == []
    pod, before, after = kube_vip(description)
    container, = pod["spec"]["containers"]
    values = dict((entry["name"], entry.get("value")) for entry in container["env"])
    for name, value in {"address": "198.51.100.10", "vip_subnet": "32", "port": "6443", "vip_interface": "eno1",
                        "vip_arp": "true", "cp_enable": "true", "vip_leaderelection": "true"}.items():
        assert values[name] == value
    assert container["image"] == "ghcr.io/kube-vip/kube-vip:v1.0.0"
    assert pod["spec"]["hostNetwork"] is True and pod["spec"]["hostAliases"][0]["ip"] == "127.0.0.1"
    assert (before[1], after[1]) == ("before", "after")


def run(command, folder):
    """Run a command of the control plane on a folder in the place of the root directory."""
    for path in ("/etc/kubernetes", "/run/kubeadm"):
        (folder / path[1:]).mkdir(parents=True, exist_ok=True)
    subprocess.run(["bash", "-ec", re.sub(r"/(etc/kubernetes/(?:manifests|kube-vip)|run/kubeadm)",
                                          lambda found: str(folder / found.group(1)), command)], check=True)


@pytest.mark.parametrize("version, first, used", [
    ("v1.35.4", True, "super-admin.conf"), ("v1.35.4", False, "admin.conf"), ("v1.28.9", True, "admin.conf")])
def test_the_first_machine_has_rights_before_kubeadm_has_given_any(tmp_path, version, first, used):
    """Its commands, run: only the first machine since 1.29, and only until kubeadm is done."""
    pod, before, after = kube_vip(described({"holder": "kube-vip"}, kubernetes_version=version))
    manifest = tmp_path / "etc/kubernetes/manifests/kube-vip.yaml"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps(pod, indent=1))
    if first:
        (tmp_path / "run/kubeadm").mkdir(parents=True)
        (tmp_path / "run/kubeadm/kubeadm.yaml").touch()
    for command in before or []:
        run(command, tmp_path)
    assert json.loads(manifest.read_text())["spec"]["volumes"][0]["hostPath"]["path"] == f"/etc/kubernetes/{used}"
    for command in after or []:
        run(command, tmp_path)
    assert json.loads(manifest.read_text()) == pod
    assert [path.name for path in manifest.parent.iterdir()] == ["kube-vip.yaml"]


def test_kube_vip_for_an_address_of_ipv6_from_a_mirror():
    networks = {"nodes": {"interface": "eno1", "ipv6": {
        "ranges": [{"start": "2001:db8::20", "end": "2001:db8::39"}], "prefix": 64}}}
    description = described({"host": "2001:db8::10", "holder": "kube-vip"}, networks=networks,
                            pod_cidrs=["fd00:10::/56"], service_cidrs=["fd00:11::/112"],
                            image_registry="registry.example.org:5000/mirror")
    assert cluster_validation.description_problems(description) == []
    pod = kube_vip(description)[0]
    values = dict((entry["name"], entry.get("value")) for entry in pod["spec"]["containers"][0]["env"])
    assert (values["address"], values["vip_subnet"]) == ("2001:db8::10", "128")
    assert pod["spec"]["hostAliases"][0]["ip"] == "::1"
    assert pod["spec"]["containers"][0]["image"] == "registry.example.org:5000/mirror/kube-vip/kube-vip:v1.0.0"
    own = "registry.example.org/own@sha256:" + "0" * 64
    pod = kube_vip(described({"holder": "kube-vip", "image": own}, image_registry="other.example.org"))[0]
    assert pod["spec"]["containers"][0]["image"] == own


def test_an_address_of_a_dhcp_network_needs_a_word():
    networks = {"nodes": {"interface": "eno1", "ipv4": {"mode": "dhcp"}}}
    for holder in ("keepalived", "kube-vip"):
        line, = problems({"holder": holder}, networks=networks)
        assert "endpoint.interface: not set, expected a device, because networks.nodes.ipv4 has mode dhcp" in str(line)
        assert problems({"holder": holder, "interface": "eno1"}, networks=networks) == []


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


def test_of_several_interfaces_the_one_with_the_nodes_addresses_has_the_endpoint():
    """The bond below a VLAN has none of its own."""
    networks = {"cables": {"bond": {"mode": "active-backup", "interfaces": ["eno1", "eno2"]}, "link_name": "bond0"},
                "nodes": dict(NETWORKS["nodes"], interface=None, vlan={"id": 100, "network": "cables"})}
    assert problems(networks=networks) == []
    assert "    interface bond0.100\n" in specs(described(networks=networks))[0]["files"][0]["content"]


def test_a_device_without_described_networks_is_taken_as_it_is():
    assert "    interface ens3\n" in specs(described({"interface": "ens3"}, networks={}))[0]["files"][0]["content"]
    assert "expected one of no interfaces" in str(problems(networks={})[0])


@pytest.mark.parametrize(
    "endpoint, changes, words",
    [
        ({"interface": "eno9"}, {}, "endpoint.interface: found \"eno9\", expected one of eno1"),
        ({"interface": "a; reboot"}, {"networks": {}}, 'endpoint.interface: found "a; reboot", expected a device'),
        ({"host": "api.example.org"}, {}, "endpoint.host: found \"api.example.org\", expected an address with holder"),
        ({"virtual_router_id": 256}, {}, "endpoint.virtual_router_id: found 256, expected 1 to 255"),
        ({"virtual_router_id": 0}, {}, "endpoint.virtual_router_id: found 0, expected 1 to 255"),
        ({"port": 443}, {}, "endpoint.port: found 443, expected 6443, the port of control_plane.init_configuration"),
        (
            {"holder": "none", "interface": "eno1"},
            {},
            "endpoint.interface: found \"eno1\", expected nothing without holder: keepalived or kube-vip",
        ),
        ({"holder": "kube-vip", "virtual_router_id": 3}, {}, "found 3, expected nothing without holder: keepalived"),
        ({"image": "example.org/kube-vip:v1"}, {},
         "endpoint.image: found \"example.org/kube-vip:v1\", expected nothing"),
        ({"holder": "kube-vip", "image": "{{ a }}"}, {}, 'endpoint.image: found "{{ a }}", expected the reference'),
        ({"holder": "kube-vip", "image": "a@sha256:0"}, {},
         "endpoint.image: found \"a@sha256:0\", expected the reference"),
        ({"holder": "kube-vip", "host": "198.51.100.25"}, {}, "which is in networks.nodes.ipv4.ranges[0]"),
        ({"holder": "kube-vip", "interface": "eno9"}, {}, "endpoint.interface: found \"eno9\", expected one of eno1"),
        ({"holder": "kube-vip", "host": "api.example.org"}, {}, "expected an address with holder: kube-vip"),
        ({"holder": "kube-vip", "port": 443}, {}, "nothing forwards another port with holder: kube-vip"),
        ({"holder": "kube-vip"}, {"image_registry": "https://a/"}, "image_registry: found \"https://a/\", expected a"),
        (
            {"holder": "kube-vip"},
            {"control_plane": {"files": [{"path": "/etc/kubernetes/manifests/kube-vip.yaml", "content": "a"}]}},
            "found /etc/kubernetes/manifests/kube-vip.yaml twice",
        ),
        ({"host": "2001:db8::1%x\nscript"}, {}, 'endpoint.host: found "2001:db8::1%x\\nscript", expected an address'),
        ({"holder": "none", "host": "2001:db8::1%x"}, {}, "endpoint.host: found"),
        ({"holder": "none", "virtual_router_id": 3}, {}, "endpoint.virtual_router_id: found 3, expected nothing"),
        (
            {},
            {"control_plane": {"files": [{"path": cluster_endpoint.CONFIGURATION, "content": "a"}]}},
            "found /etc/keepalived/keepalived.conf twice",
        ),
    ],
)
def test_what_can_not_hold_the_address_is_refused(endpoint, changes, words):
    assert any(words in str(line) for line in problems(endpoint, **changes))


@pytest.mark.parametrize("host", ["198.51.100.1", "192.0.2.1"])
def test_a_load_balancer_is_on_the_router_or_on_another_network(host):
    """A machine that is to hold the address can be neither, and the next step is named."""
    assert problems({"holder": "none", "host": host, "port": 443}) == []
    for holder in (None, "keepalived", "kube-vip"):
        (problem,) = problems({"holder": holder, "host": host})
        assert problem.field == "endpoint.host"
        assert problem.hint.endswith("set holder to none when a load balancer has it")


@pytest.mark.parametrize("host, words", [
    ("198.51.100.25", "which is in networks.nodes.ipv4.ranges[0]"),
    ("10.244.0.1", "which is in pod_cidrs 10.244.0.0/16"), ("10.96.0.1", "which is in service_cidrs 10.96.0.0/16")])
def test_an_address_that_a_node_a_pod_or_a_service_gets_is_no_load_balancers(host, words):
    (problem,) = problems({"holder": "none", "host": host}, pod_cidrs=["10.244.0.0/16"],
                          service_cidrs=["10.96.0.0/16"])
    assert words in str(problem)


def test_mistakes_in_the_holder_are_reported_together():
    lines = problems({"holder": "kube-vip", "virtual_router_id": 1, "host": "api.example.org", "image": "A B",
                      "interface": "eno9"}, image_registry="a b", kubernetes_version="1")
    assert sorted(line.field for line in lines) == [
        "endpoint.host", "endpoint.image", "endpoint.interface", "endpoint.virtual_router_id", "image_registry",
        "kubernetes_version"]


def test_mistakes_in_the_holder_are_reported_together_with_others():
    lines = problems({"virtual_router_id": 999, "host": "api.example.org"}, kubernetes_version="1")
    assert len(lines) == 3


@pytest.mark.parametrize("endpoint, plane, warned", [
    ({"holder": None}, {}, True),
    ({"holder": None}, {"pre_commands": ["true"]}, True),
    ({"holder": None, "host": "api.example.org"}, {}, False),
    ({"holder": None}, {"pre_commands": ["ip address add 198.51.100.10/32 dev eno1"]}, False),
    ({"holder": None}, {"files": [{"path": "/a", "content": "198.51.100.10"}]}, False),
    ({"holder": None}, {"files": [{"path": "/a", "content_secret": {"name": "a", "key": "b"}}]}, False),
    ({"holder": "none"}, {}, False),
    ({}, {}, False),
])
def test_an_address_that_nobody_holds_is_warned_of(endpoint, plane, warned):
    warnings = cluster_validation.description_warnings(described(endpoint, control_plane=plane))
    assert len(warnings) == (1 if warned else 0)
    assert all("cluster metal3/c1: endpoint.holder: nothing" in line for line in warnings)
