# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Monitors of the parts of a plane on a real API server, with the Prometheus operator's definition.

The definition is generated from the API's Go module. No controller runs here, so nothing is scraped; that does
test_plane_installed.py.
"""
from __future__ import annotations

import os

import generated_definition
import pytest
from fakes import move_planes
from support import REPOSITORY, eventually, module

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane import manifests
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.catalogue import BY_NAME, RENDERED
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import monitor, objects
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.throwaway import ThrowawayServers

# Minutes for the first generation.
pytestmark = pytest.mark.plane

SETTINGS = {"monitor": True, "monitor_labels": {"release": "prometheus"}}
PARTS = len(RENDERED)


@pytest.fixture(scope="module")
def servers():
    """An API server without controllers."""
    with ThrowawayServers(move_planes.programs(), ["plane"]) as found:
        yield found


@pytest.fixture(scope="module")
def target(servers):
    return move_planes.client(servers, "plane")


@pytest.fixture(scope="module")
def operator(target):
    """What the Prometheus operator brings along."""
    definition = generated_definition.generate(
        "prometheus-operator", generated_definition.MONITORS, generated_definition.SERVICE_MONITORS)
    target.apply(KNOWN["CustomResourceDefinition"], None, definition)
    eventually(lambda: target.list(monitor.MONITORS)[0] == [], 60, "ServiceMonitors served", not_yet=KubeError)


def install(servers, *flags, **settings):
    return module("plane_components", *flags, kubeconfig=servers.kubeconfig("plane"), certificates="collection",
                  source_dir=str(REPOSITORY / "lab" / "engine"), wait=False,
                  parts=[dict(settings, name=part.name) for part in RENDERED])


def wanted(part):
    """Return what is to be stored for a part's metrics, and its Deployment."""
    shipped = manifests.load(os.path.join(move_planes.engine_dir(), manifests.FOLDER, part.name + ".yaml"))
    items = monitor.added(part, SETTINGS, objects.desired(part, shipped, SETTINGS, "v0"))
    return [item for item in items if item["kind"] == monitor.MONITORS.kind
            or monitor.LABEL in (item["metadata"].get("labels") or {})] + [
                {"kind": "Deployment", "metadata": item["metadata"], "spec": {"template": {"spec": {
                    "volumes": item["spec"]["template"]["spec"]["volumes"]}}}}
                for item in items if item["kind"] == "Deployment"]


def resource_of(kind):
    return monitor.MONITORS if kind == monitor.MONITORS.kind else KNOWN[kind]


def of_monitors(target):
    """Return the names of all that was written for metrics, by kind."""
    found = {}
    for resource in (monitor.MONITORS, KNOWN["Service"], KNOWN["Secret"]):
        for part in RENDERED:
            if target.get(resource, part.namespace, monitor.name_of(part)):
                found.setdefault(resource.kind, []).append(part.name)
    return found


def test_without_the_prometheus_operator_all_parts_are_refused_and_nothing_is_written(servers, target):
    with pytest.raises(AssertionError) as caught:
        install(servers, **SETTINGS)
    for part in RENDERED:
        assert f"part {part.name}: monitor: found true, expected false, because the cluster does not serve " \
               "ServiceMonitor of monitoring.coreos.com/v1; install the Prometheus operator first" in str(caught.value)
    assert target.get(KNOWN["Namespace"], None, RENDERED[0].namespace) is None


def test_what_is_written_is_stored_whole_and_a_second_run_changes_nothing(servers, target, operator):
    assert install(servers, **SETTINGS)["changed"]
    for part in RENDERED:
        items = wanted(part)
        assert [item["kind"] for item in items] == ["Service", "ServiceMonitor", "Deployment"]
        for item in items:
            stored = target.get(resource_of(item["kind"]), part.namespace, item["metadata"]["name"])
            assert generated_definition.holds(stored, item), (stored, item)
        # The ServiceMonitor selects this Service alone.
        selected = items[1]["spec"]["selector"]["matchLabels"]
        found = [item for item in target.list(KNOWN["Service"], part.namespace)[0]
                 if selected.items() <= (item["metadata"].get("labels") or {}).items()]
        assert [item["metadata"]["name"] for item in found] == [items[0]["metadata"]["name"]]
    assert not install(servers, **SETTINGS)["changed"]


def test_what_is_not_asked_for_any_more_is_deleted(servers, target, operator):
    # Upstream's manifests have a Service for the operator's metrics.
    own = [part.name for part in RENDERED if part.name != "bmo"]
    assert of_monitors(target) == {"ServiceMonitor": [part.name for part in RENDERED], "Service": own,
                                   "Secret": [part.name for part in RENDERED]}
    planned = install(servers, "--check")
    assert planned["counts"]["deleted"] == 2 * PARTS + len(own) and len(of_monitors(target)) == 3
    result = install(servers)
    assert result["changed"] and result["counts"]["deleted"] == planned["counts"]["deleted"]
    assert of_monitors(target) == {}
    namespace = BY_NAME["bmo"].namespace
    (kept,) = [item for item in target.list(KNOWN["Service"], namespace)[0] if "metrics" in item["metadata"]["name"]]
    assert monitor.LABEL not in kept["metadata"]["labels"]
    for part in RENDERED:
        (deployment,) = target.list(KNOWN["Deployment"], part.namespace)[0]
        assert monitor.VOLUME not in [item["name"] for item in deployment["spec"]["template"]["spec"]["volumes"]]
    assert not install(servers)["changed"]
