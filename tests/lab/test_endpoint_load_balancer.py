# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster whose endpoint is something outside of it: a port of the nodes' gateway that hands connections on, as a
load balancer on a router does, under another number than the API server's."""
from __future__ import annotations

import contextlib

import pytest
import small_cluster
from forwarder import Forwarder
from support import eventually
from workload import Workload

pytestmark = [pytest.mark.nodes, pytest.mark.lifecycle]

NAME = "balanced"
SECONDS = 1500
API_PORT = 6443


@pytest.fixture(scope="module")
def balancer(lab):
    """The load balancer before the only control plane machine, which gets the first address of the pool."""
    address = lab.figures["bridge"]["address"].partition("/")[0]
    with contextlib.closing(Forwarder(address, (address.rpartition(".")[0] + ".80", API_PORT))) as found:
        yield address, found


@pytest.fixture(scope="module")
def variables(lab, balancer):
    """The cluster's description; the cluster is deleted afterwards."""
    address, forwarder = balancer
    found = dict(small_cluster.variables(lab, NAME, {}), cluster_workers={"w": {"replicas": 1}},
                 cluster_control_plane={"replicas": 1},
                 cluster_endpoint={"host": address, "port": forwarder.port, "holder": "none"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        yield found
        lab.playbook("teardown", extra=dict(found, **small_cluster.teardown(NAME)), seconds=SECONDS).ok()


def test_nodes_join_through_the_load_balancer_and_the_cluster_is_available(lab, balancer, variables):
    address, forwarder = balancer
    lab.playbook("cluster", extra=variables, seconds=SECONDS).ok()
    workload = Workload(lab, NAME, variables["cluster_workload_kubeconfig"])
    assert workload.client.server == f"https://{address}:{forwarder.port}"
    eventually(lambda: len(workload.ready()) == 2, 120, "both nodes are Ready")
    worker, = workload.hosts("-w-").values()
    kubelet = workload.inside(worker, "cat", "/etc/kubernetes/kubelet.conf")
    assert f"server: {workload.client.server}" in kubelet
    assert lab.playbook("cluster", extra=variables, seconds=SECONDS).ok().changed() == 0
