# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendering is a pure function: the same description gives the same objects, those of the golden files.

``python tests/unit/cluster/test_render.py`` writes the golden files anew; the difference is for a human to
judge, and ``tests/lab/test_cluster_render.py`` lets the API server judge them.
"""
from __future__ import annotations

import copy
import pathlib

import pytest
import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import objects as cluster_render

GOLDEN = pathlib.Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.yml"))


def description(name, **changes):
    params = dict(yaml.safe_load((GOLDEN / (name + ".yml")).read_text(encoding="utf-8")), **changes)
    read, mistakes = cluster_description.read(params)
    assert mistakes == []
    return read


def objects(name, **changes):
    return cluster_render.render(description(name, **changes))


def of_kind(items, kind, prefix=""):
    return [item for item in items if item["kind"] == kind and item["metadata"]["name"].startswith(prefix)]


@pytest.mark.parametrize("name", NAMES)
def test_rendering_gives_the_golden_objects(name):
    golden = list(yaml.safe_load_all((GOLDEN / name / "objects.manifest").read_text(encoding="utf-8")))
    assert objects(name) == golden


@pytest.mark.parametrize("name", NAMES)
def test_rendering_leaves_its_input_alone(name):
    read = description(name)
    before = copy.deepcopy(read)
    cluster_render.render(read)
    assert read == before


def test_templates_keep_their_names_in_another_api_version():
    for name in ("full", "small"):
        names = [[item["metadata"]["name"] for item in objects(name, api_version=version)]
                 for version in ("v1beta1", "v1beta2")]
        assert names[0] == names[1]


def test_a_change_of_the_image_makes_new_templates_and_moves_the_references():
    old = objects("small")
    image = {"url": "https://198.18.0.1/other.raw", "checksum": "0" * 64}
    new = objects("small", image=image)
    for kind, owner, path in (("Metal3MachineTemplate", "KubeadmControlPlane", ["machineTemplate", "spec"]),
                              ("Metal3MachineTemplate", "MachineDeployment", ["template", "spec"])):
        references = []
        for items in (old, new):
            node = of_kind(items, owner)[0]["spec"]
            for key in path:
                node = node[key]
            references.append(node["infrastructureRef"]["name"])
            assert references[-1] in [item["metadata"]["name"] for item in of_kind(items, kind)]
        assert references[0] != references[1]
    data = [[item["metadata"]["name"] for item in of_kind(items, "Metal3DataTemplate")] for items in (old, new)]
    assert data[0] == data[1]


def test_a_change_of_one_pool_leaves_the_other_groups_alone():
    old = dict((item["metadata"]["name"], item) for item in of_kind(objects("full"), "MachineDeployment"))
    workers = copy.deepcopy(description("full").workers)
    workers["large"]["kubelet_extra_args"] = {"v": 5}
    changed = of_kind(objects("full", workers=workers), "MachineDeployment")
    new = dict((item["metadata"]["name"], item) for item in changed)
    assert old["prod-small"] == new["prod-small"]
    assert old["prod-large"] != new["prod-large"]


def test_a_selector_for_an_absent_label_is_as_capm3_can_read_it():
    """CAPM3 1.13 gives "doesnotexist" to apimachinery, which has only "!"."""
    rendered = objects("small", control_plane={"host_selector_expressions": [
        {"key": "gpu", "operator": "DoesNotExist"}]})
    selectors = [item["spec"]["template"]["spec"].get("hostSelector") for item in rendered
                 if item["kind"] == "Metal3MachineTemplate"]
    assert {"matchExpressions": [{"key": "gpu", "operator": "!", "values": []}]} in selectors


def test_a_selector_always_has_the_values_that_the_crd_requires():
    expressions = [entry for item in objects("full") if item["kind"] == "Metal3MachineTemplate"
                   for entry in item["spec"]["template"]["spec"].get("hostSelector", {}).get("matchExpressions", [])]
    assert sorted(entry["operator"] for entry in expressions) == ["!", "Exists", "In"]
    assert all("values" in entry for entry in expressions)


def test_a_selector_without_values_is_not_written_in_v1beta1():
    """CAPM3's conversion would drop the empty values, and nothing could be made of the template."""
    versions = dict((item["metadata"]["name"].rpartition("-")[0], item["apiVersion"].rpartition("/")[2])
                    for item in objects("full-v1beta1") if item["kind"] == "Metal3MachineTemplate")
    assert versions == {"prod-control-plane": "v1beta1", "prod-large": "v1beta1", "prod-small": "v1beta2"}


def test_replicas_left_out_are_left_to_others():
    small = of_kind(objects("full"), "MachineDeployment", "prod-small")[0]
    assert "replicas" not in small["spec"]
    assert small["metadata"]["annotations"] == {
        "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": "1",
        "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "4"}


@pytest.mark.parametrize("topology", [False, True])
def test_an_autoscaler_is_given_what_a_machine_of_an_empty_pool_has(topology):
    """Labels and taints as the kubelets are given them."""
    capacity = {"cpu": "8", "memory": "64Gi", "ephemeral_disk": "100Gi", "max_pods": 200,
                "gpu_type": "nvidia.com/gpu", "gpu_count": 2}
    workers = {"gpu": {
        "autoscaler": {"min_size": 0, "max_size": 4, "capacity": capacity}, "node_labels": {"b": True, "a": "x"},
        "node_taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}, {"key": "k", "effect": "NoExecute"}]}}
    items = objects("small", workers=workers, topology=topology)
    if topology:
        found = of_kind(items, "Cluster")[0]["spec"]["topology"]["workers"]["machineDeployments"][0]
    else:
        found, = of_kind(items, "MachineDeployment")
    prefix = "capacity.cluster-autoscaler.kubernetes.io/"
    assert dict((key.removeprefix(prefix), value) for key, value in found["metadata"]["annotations"].items()
                if key.startswith(prefix)) == {
        "cpu": "8", "memory": "64Gi", "ephemeral-disk": "100Gi", "maxPods": "200", "gpu-type": "nvidia.com/gpu",
        "gpu-count": "2", "labels": "a=x,b=true", "taints": "gpu=yes:NoSchedule,k=:NoExecute"}
    assert "replicas" not in (found if topology else found["spec"])


def test_dns_servers_of_a_range_reach_its_machines():
    """Which range a machine's address is of, only IPAM knows."""
    ranges = [{"start": "198.18.0.20", "end": "198.18.0.29", "dns_servers": ["198.18.0.2"]}]
    networks = {"a": {"interface": "eno1", "ipv4": {"ranges": ranges, "prefix": 24, "dns_servers": ["198.18.0.3"]}},
                "b": {"interface": "eno2", "ipv4": {"mode": "dhcp", "dns_servers": ["198.18.0.4"]}}}
    rendered = of_kind(objects("small", networks=networks, node_ip_network="a"), "Metal3DataTemplate")
    assert rendered and all(item["spec"]["networkData"]["services"] == {
        "dns": ["198.18.0.4"], "dnsFromIPPool": "c1-a"} for item in rendered)


def test_what_changes_in_place_is_not_in_a_templates_name():
    """CAPM3's webhook allows both, and neither is a reason to wipe machines."""
    plain = [item["metadata"]["name"] for item in objects("small")]
    changed = objects("small", workers={"pool-a": {
        "replicas": 1, "node_reuse": True, "automated_cleaning_mode": "disabled"}})
    assert [item["metadata"]["name"] for item in changed] == plain
    spec = of_kind(changed, "Metal3MachineTemplate", "c1-pool-a")[0]["spec"]
    assert (spec["nodeReuse"], spec["template"]["spec"]["automatedCleaningMode"]) == (True, "disabled")


def test_options_of_the_cluster_and_of_a_group_are_joined():
    files = [{"path": "/a", "content": "a"}]
    rendered = objects("small", files=files)
    plane = of_kind(rendered, "KubeadmControlPlane")[0]["spec"]["kubeadmConfigSpec"]["files"]
    assert [entry["path"] for entry in plane][-2:] == [
        "/a", "/etc/systemd/network/10-cloud-init-eth0.network.d/endpoint.conf"]
    worker = of_kind(rendered, "KubeadmConfigTemplate")[0]["spec"]["template"]["spec"]["files"]
    assert [entry["path"] for entry in worker][-1] == "/a"


def test_mistakes_of_type_and_name_are_reported_with_their_place():
    _read, mistakes = cluster_description.read(
        {"name": "a", "workers": {"p": {"replica": 1}, "q": 3}, "networks": {"n": {"ipv4": {"mode": "x"}}}})
    assert len(mistakes) == 3
    assert [(item.code, item.field) for item in mistakes] == [
        ("unknown-variable", "workers.p.replica"), ("value", "workers.q"), ("value", "networks.n.ipv4.mode")]
    assert mistakes[0].hint == "remove it (perhaps replicas is meant)"
    assert set(item.subject for item in mistakes) == {"cluster metal3/a"}


if __name__ == "__main__":
    for stem in NAMES:
        (GOLDEN / stem).mkdir(exist_ok=True)
        with open(GOLDEN / stem / "objects.manifest", "w", encoding="utf-8") as stream:
            yaml.safe_dump_all(objects(stem), stream, sort_keys=True, explicit_start=True, width=110)
