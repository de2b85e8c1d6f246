# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels with which kubelet does not start are refused before a machine is deployed."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import validation as cluster_validation
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)

PARAMS = {"name": "c1", "namespace": "metal3", "kubernetes_version": "v1.35.4", "endpoint": {"host": "198.18.0.10"},
          "image": {"url": "https://x/a.raw", "checksum": "0" * 64}}


def problems(**options):
    description, mistakes = cluster_description.read(dict(PARAMS, workers={"one": dict({"replicas": 1}, **options)}))
    return mistakes or cluster_validation.description_problems(description)


@pytest.mark.parametrize("key", [
    "rack", "example.org/rack", "node.cluster.x-k8s.io/a", "metal3.io/rack", "kubernetes.io.example.org/rack",
    "node.kubernetes.io/instance-type", "a.node.kubernetes.io/b", "kubelet.kubernetes.io/a",
    "topology.kubernetes.io/zone", "kubernetes.io/hostname"])
def test_labels_that_kubelet_takes(key):
    assert problems(node_labels={key: "a"}) == []
    assert problems(kubelet_extra_args={"node-labels": f"a=b,{key}=c"}) == []


@pytest.mark.parametrize("key, advice", [
    ("node-role.kubernetes.io/worker", "machine_labels"), ("node-restriction.kubernetes.io/a", "machine_labels"),
    ("kubernetes.io/role", "another prefix"),
    ("k8s.io/a", "another prefix"), ("x.k8s.io/a", "another prefix")])
def test_labels_with_which_kubelet_does_not_start(key, advice):
    line, = problems(node_labels={key: ""})
    assert (
        line.field == "workers.one.node_labels." + key and "which kubelet refuses" in str(line) and advice in str(line)
    )
    line, = problems(kubelet_extra_args={"node-labels": f"a=b,{key}="})
    assert line.field == "workers.one.kubelet_extra_args.node-labels" and advice in str(line)


@pytest.mark.parametrize("options, text", [
    ({"node_labels": {"a b": "c"}}, 'the key "a b"'), ({"node_labels": {"a": "b c"}}, 'found "b c"'),
    ({"node_labels": {"a": "b\n"}}, 'found "b'), ({"node_labels": {"a": None}}, "not set"),
    ({"node_labels": {"a": ["b"]}}, "the value of a label"), ({"node_labels": {"a": "x" * 64}}, "at most 63"),
    ({"kubelet_extra_args": {"node-labels": "a"}}, "labels as key=value")])
def test_labels_that_are_none(options, text):
    line, = problems(**options)
    assert text in str(line)


def test_values_that_cloud_init_fills_in():
    assert problems(node_labels={"example.org/rack": "{{ ds.meta_data.rack }}", "number": 5, "flag": True}) == []
