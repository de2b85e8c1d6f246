# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Monitors of the parts of a plane on a real API server, with the Prometheus operator's definition.

The definition is generated from the API's Go module. There are no pods here; the real managers run as processes, one
after the other, with what their pods would mount. test_plane_installed.py scrapes pods.
"""
from __future__ import annotations

import base64
import contextlib
import os
import shutil
import subprocess

import bare_plane
import generated_definition
import metrics_scrape
import pytest
from bare_plane import install
from fakes import move_planes
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import monitor, objects
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import manifests
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import BY_NAME, RENDERED
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import controllers
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.throwaway import (
    free_ports,
)

# Minutes for the first generation.
pytestmark = pytest.mark.plane

SETTINGS = {"monitor": True, "monitor_labels": {"release": "prometheus"}}
PARTS = len(RENDERED)


@pytest.fixture(scope="module")
def servers():
    """An API server without controllers."""
    with bare_plane.served() as found:
        yield found


@pytest.fixture(scope="module")
def target(servers):
    return bare_plane.client(servers)


@pytest.fixture(scope="module")
def operator(target):
    """What the Prometheus operator brings along."""
    generated_definition.serve_monitors(target)


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


@pytest.fixture
def manager(servers, target, tmp_path):
    """Run a part's manager with what its pod would mount, for the time of a with."""
    figures = {"dir": str(tmp_path), "engine_dir": move_planes.engine_dir()}
    os.mkdir(tmp_path / "kubeconfigs")

    @contextlib.contextmanager
    def run(part):
        ports = [f"{part.name}_{name}" for name in ("webhook", "health", "metrics")]
        figures["ports"] = dict(zip(ports, free_ports(len(ports))))
        (deployment,) = target.list(KNOWN["Deployment"], part.namespace)[0]
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        (mount,) = [item for item in container["volumeMounts"] if item["name"] == monitor.VOLUME]
        (volume,) = [item for item in deployment["spec"]["template"]["spec"]["volumes"]
                     if item["name"] == monitor.VOLUME]
        secret = target.get(KNOWN["Secret"], part.namespace, volume["secret"]["secretName"])
        temporary = tmp_path / part.name
        # The webhooks' certificate does not matter here.
        for folder in (mount["mountPath"].replace("/tmp", "", 1), "/" + controllers.SERVING_FOLDER):
            place = temporary / folder[1:]
            place.mkdir(parents=True)
            for name, content in secret["data"].items():
                (place / name).write_bytes(base64.b64decode(content))
        shutil.copy(servers.kubeconfig("plane"), tmp_path / "kubeconfigs" / part.name)
        # The Bare Metal Operator has no such flag.
        serving = [] if part.name == "bmo" else [f"--webhook-cert-dir={temporary}/{controllers.SERVING_FOLDER}"]
        program = controllers.program(figures, part.name, part.namespace, serving, {
            "TMPDIR": str(temporary), "IRONIC_ENDPOINT": "https://192.0.2.1:6385/v1/"}, [])
        with open(tmp_path / f"{part.name}.log", "wb") as log:
            process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *program["command"]], stdout=log, stderr=log,
                                       env=dict(os.environ, **program["environment"]))
        try:
            yield "127.0.0.1", figures["ports"][f"{part.name}_metrics"]
        finally:
            process.kill()
            process.wait(30)
            print(part.name, (tmp_path / f"{part.name}.log").read_text(errors="replace")[-3000:])

    return run


@pytest.mark.parametrize("part", RENDERED, ids=lambda part: part.name)
def test_a_manager_serves_its_metrics_by_the_mounted_certificate_to_who_may(servers, target, operator, manager, part):
    install(servers, **SETTINGS)
    reader = metrics_scrape.token(target, "default", "prometheus", "baremetal-operator-metrics-reader")
    nobody = metrics_scrape.token(target, "default", "nobody")
    with manager(part) as address:
        scraper = metrics_scrape.Scraper(target, part, at=address)
        status, text = eventually(lambda: scraper.ask(reader), 90, f"metrics of {part.name}", not_yet=AssertionError)
        assert status == 200 and "controller_runtime_" in text, (status, text[:300])
        assert scraper.ask()[0] == 401 and scraper.ask(nobody)[0] == 403


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
