# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster of an older Kubernetes comes to that of the lab, one minor version at a time, by runs that were killed.

One control plane machine and a worker; nodes of both versions meet on the way.
"""
from __future__ import annotations

import time

import living_cluster
import other_kubernetes
import pytest
import small_cluster
from support import eventually, module
from workload import AGNHOST, ECHO, NODE_PORT, Polled, Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

pytestmark = [pytest.mark.nodes, pytest.mark.lifecycle]
TAKES_DIRECT = True

NAME = "older"
LABS = "v1.35.4"


@pytest.fixture(scope="module")
def former(lab, tmp_path_factory):
    """The version before the lab's, and its image."""
    return other_kubernetes.served(lab, tmp_path_factory.mktemp("former"), other_kubernetes.BEFORE)


@pytest.fixture(scope="module")
def site(lab, former):
    """The cluster of that version; it is made here and deleted afterwards."""
    variables = dict(small_cluster.variables(lab, NAME, {}, endpoint=13), cluster_image=former.image,
                     cluster_kubernetes_version=former.kubernetes_version)
    with living_cluster.made(living_cluster.Site(lab, NAME, {"replicas": 1}, variables)) as found:
        yield found


@pytest.fixture(scope="module")
def workload(lab, site):
    return Workload(lab, NAME, site.variables["cluster_workload_kubeconfig"])


def versions(workload):
    """Return the kubelets' versions of the control plane's nodes and of the workers'; none without an answer."""
    try:
        nodes = workload.nodes()
    except KubeError:
        return set(), set()
    return tuple(set(node["status"]["nodeInfo"]["kubeletVersion"] for name, node in nodes.items()
                     if ("control-plane" in name) == of_control_plane) for of_control_plane in (True, False))


def test_two_minor_versions_at_once_are_refused(site, workload, former):
    assert former.kubernetes_version.startswith("v1.34.")
    assert versions(workload) == ({former.kubernetes_version}, {former.kubernetes_version})
    machines = workload.hosts()
    site.run(cluster_kubernetes_version="v1.36.1", confirm=2).failed(
        f'cluster_kubernetes_version: found "v1.36.1", expected at most one minor version after '
        f'{former.kubernetes_version}')
    site.run(cluster_kubernetes_version="v1.33.6", confirm=2).failed("kubeadm does not downgrade")
    site.run(cluster_kubernetes_version=former.kubernetes_version).ok()
    assert workload.hosts() == machines


def test_the_next_minor_version_comes_to_the_control_plane_first_by_runs_that_were_killed(lab, site, workload, former):
    image = small_cluster.variables(lab, NAME, {})["cluster_image"]
    change = {"cluster_kubernetes_version": LABS, "cluster_image": image, "upgrade_backup": False}
    before = workload.hosts()
    refused = site.run(playbook="upgrade", **change).failed("expected 2, the number of machines")
    assert all(name in refused.output for name in before)
    seen, began = [], time.monotonic()

    def note():
        control_plane, workers = versions(workload)
        seen.append((LABS in control_plane, LABS in workers))
        return seen[-1]

    module("manifests", kubeconfig=str(lab.dir / "kubeconfig"), cluster_name=NAME,
           manifests=[ECHO % (AGNHOST, AGNHOST, NODE_PORT)])
    with Polled(workload=workload) as polled:
        running = lab.start("upgrade", extra=site.extra(confirm=2))
        eventually(lambda: note()[0], living_cluster.SECONDS, "a control plane machine of the new version",
                   interval_seconds=1)
        running.kill()
        # The control plane goes on without the run; the change of the workers comes after it, and was not written yet.
        refused = site.run(playbook="upgrade").failed("expected 1, the number of machines")
        assert all((name in refused.output) == ("pool-a" in name) for name in before)
        running = lab.start("upgrade", extra=site.extra(confirm=1))
        eventually(lambda: note() and running.process.poll() is not None, living_cluster.SECONDS, "the upgrade's end",
                   interval_seconds=1)
        running.finish(living_cluster.SECONDS).ok()
    print(f"upgrade of 2 machines, killed once: {time.monotonic() - began:.0f} s, {len(polled.failed)} of "
          f"{polled.asked} requests failed: {polled.failed}")
    assert polled.asked > 100 and polled.failed == []
    assert (True, False) in seen and (False, True) not in seen, "workers were upgraded before the control plane"
    assert versions(workload) == ({LABS}, {LABS})
    assert workload.kubernetes_versions() == {LABS}
    assert len(workload.ready()) == 2 and not set(workload.machines()) & set(before)
    assert site.run().ok().changed() == 0
