# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The network add-on that a cluster's options bring: flannel's objects, and what is refused."""
from __future__ import annotations

import json

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import addon as checks
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import validation
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import addon
from ansible_collections.metal3.baremetal.plugins.module_utils._manifests import documents


def described(**changes):
    description, mistakes = cluster_description.read(dict({
        "name": "c1", "kubernetes_version": "v1.35.4", "network_addon": "flannel", "pod_cidrs": ["10.244.0.0/16"],
        "endpoint": {"host": "198.51.100.10", "holder": "none"},
        "image": {"url": "https://images.example.org/node.qcow2", "checksum": "0" * 64}}, **changes))
    assert mistakes == []
    return description


def of(kind, **changes):
    found, = [item for item in addon.addon_objects(described(**changes)) if item["kind"] == kind]
    return found


def test_its_objects_are_manifests_that_fit_the_cluster():
    description = described()
    assert validation.description_problems(description) == []
    objects = addon.addon_objects(description)
    assert documents.read(objects) == (objects, [])
    assert checks.addon_problems(description, objects) == [] and checks.missing(description, objects) == []
    network = json.loads(of("ConfigMap")["data"]["net-conf.json"])
    assert network == {"Network": "10.244.0.0/16", "EnableIPv4": True, "EnableNFTables": False,
                       "Backend": {"Type": "vxlan"}}
    pod = of("DaemonSet")["spec"]["template"]["spec"]
    assert [item["image"] for item in pod["initContainers"] + pod["containers"]] == [
        "ghcr.io/flannel-io/flannel-cni-plugin:v1.8.0-flannel1", "ghcr.io/flannel-io/flannel:v0.28.0",
        "ghcr.io/flannel-io/flannel:v0.28.0"]
    named = set(volume["name"] for volume in pod["volumes"])
    for container in pod["initContainers"] + pod["containers"]:
        assert set(mount["name"] for mount in container["volumeMounts"]) <= named


def test_its_options_end_up_in_its_objects():
    changes = {"pod_cidrs": ["10.244.0.0/16", "fd00:10::/56"], "image_registry": "registry.example.org/mirror",
               "flannel": {"backend": "host-gw", "nftables": True, "interface": "eno2", "cni_configuration": "node"}}
    assert validation.description_problems(described(**changes)) == []
    config = of("ConfigMap", **changes)["data"]
    assert list(config) == ["net-conf.json"]
    assert json.loads(config["net-conf.json"]) == {
        "Network": "10.244.0.0/16", "EnableIPv4": True, "IPv6Network": "fd00:10::/56", "EnableIPv6": True,
        "EnableNFTables": True, "Backend": {"Type": "host-gw"}}
    pod = of("DaemonSet", **changes)["spec"]["template"]["spec"]
    assert "initContainers" not in pod and "--iface=eno2" in pod["containers"][0]["args"]
    assert pod["containers"][0]["image"] == "registry.example.org/mirror/flannel-io/flannel:v0.28.0"
    own = {"image": "example.org/a@sha256:" + "1" * 64, "cni_plugin_image": "example.org/b:v1"}
    pod = of("DaemonSet", flannel=own, image_registry="registry.example.org")["spec"]["template"]["spec"]
    assert (pod["containers"][0]["image"], pod["initContainers"][0]["image"]) == tuple(own.values())


@pytest.mark.parametrize("choice", ["manifests", "none"])
def test_other_choices_bring_no_objects(choice):
    assert addon.addon_objects(described(network_addon=choice)) == []


@pytest.mark.parametrize("changes, words", [
    ({"network_addon": "none", "flannel": {"backend": "vxlan"}}, "expected nothing without network_addon: flannel"),
    ({"flannel": {"image": "a b"}}, "flannel.image: found \"a b\", expected the reference of a container image"),
    ({"flannel": {"cni_plugin_image": ":v1"}}, "flannel.cni_plugin_image: found \":v1\""),
    ({"flannel": {"interface": "eno1; reboot"}}, "flannel.interface: found \"eno1; reboot\", expected the name or the"),
    ({"image_registry": "registry.example.org/"},
     "image_registry: found \"registry.example.org/\", expected a registry"),
])
def test_one_mistake_is_named(changes, words):
    line, = validation.description_problems(described(**changes))
    assert words in str(line)


def test_all_mistakes_are_reported_at_once():
    lines = validation.description_problems(described(
        image_registry="a b", flannel={"image": "A", "cni_plugin_image": "B", "interface": ";"}))
    assert sorted(line.field for line in lines) == [
        "flannel.cni_plugin_image", "flannel.image", "flannel.interface", "image_registry"]
