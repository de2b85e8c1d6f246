# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster lacks among its manifests to become available."""
from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import addon as cluster_addon
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)

CLUSTER = cluster_description.read({"name": "c1", "pod_cidrs": ["10.244.0.0/16"]})[0]


def workload(kind="DaemonSet", **pod):
    return {"kind": kind, "metadata": {"name": "a"}, "spec": {"template": {"spec": pod}}}


def flannel(text):
    return {"kind": "ConfigMap", "metadata": {"name": "kube-flannel-cfg"}, "data": {"net-conf.json": text}}


@pytest.mark.parametrize("changes, objects, fields", [
    ({}, [], ["network_addon"]),
    ({}, [workload(containers=[])], ["network_addon"]),
    ({}, [workload(hostNetwork=True)], []),
    ({}, [workload("Deployment", hostNetwork=True)], []),
    ({"network_addon": "none"}, [], []),
    ({"cloud_provider_enabled": True}, [workload(hostNetwork=True)], ["cloud_provider_enabled"]),
    ({"cloud_provider_enabled": True},
     [workload(hostNetwork=True, containers=[{"image": "example.org/my-cloud-controller-manager:1"}])], []),
])
def test_what_is_missing_is_reported(changes, objects, fields):
    description = replace(CLUSTER, **changes)
    assert [field for field, _text in cluster_addon.missing(description, objects)] == fields
    lines = cluster_addon.addon_warnings(description, objects)
    assert [str(line).split(": ")[:2] for line in lines] == [["cluster metal3/c1", field] for field in fields]


def test_flannels_network_is_that_of_the_pods():
    assert cluster_addon.addon_problems(CLUSTER, [flannel('{"Network": "10.244.0.0/16"}')]) == []
    line, = cluster_addon.addon_problems(CLUSTER, [flannel('{"Network": "10.96.0.0/16"}')])
    assert str(line) == (
        "cluster metal3/c1: pod_cidrs: found 10.244.0.0/16, expected 10.96.0.0/16, the pods' network of "
        "ConfigMap kube-flannel-cfg; give both the same network"
    )
    both = flannel('{"Network": "10.244.0.0/16", "IPv6Network": "fd00::/56"}')
    assert "pod_cidrs: not set, expected fd00::/56" in str(cluster_addon.addon_problems(CLUSTER, [both])[0])


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=20), lambda inner: st.one_of(
    st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["Network", "spec", "template", "a"]), inner)),
    max_leaves=8)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(kind=st.sampled_from(["ConfigMap", "DaemonSet", "Deployment"]), value=JSON)
def test_any_manifest_is_read_without_a_traceback(kind, value):
    objects = [{"kind": kind, "metadata": value, "spec": value, "data": value}, flannel(value),
               flannel(json.dumps(value)), {"kind": kind, "spec": {"template": value}},
               {"kind": kind, "spec": {"template": {"spec": value}}}]
    description = replace(CLUSTER, cloud_provider_enabled=True)
    assert len(cluster_addon.missing(description, objects)) == 2
    assert isinstance(cluster_addon.addon_problems(description, objects), list)
