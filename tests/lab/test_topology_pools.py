# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Cluster API does by itself with a cluster by ClusterClass: failure domains, remediation, sizes, ages.

One control plane machine and a worker on four servers.
"""
from __future__ import annotations

import time

import autoscaler
import living_cluster
import pytest
import small_cluster
from support import NAMESPACE, eventually
from workload import Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.lifecycle]

NAME = "pooled"
POOL = f"{NAME}-pool-a"
DOMAIN = "row-b"
DOMAIN_LABEL = "infrastructure.cluster.x-k8s.io/failure-domain"


@pytest.fixture(scope="module")
def site(lab):
    """The cluster's description; the cluster is made here and deleted afterwards."""
    options = dict(small_cluster.labs_options(), topology=True, failure_domains=[{"name": DOMAIN}])
    variables = dict(small_cluster.variables(lab, NAME, {}, endpoint=16), cluster_options=options)
    with living_cluster.made(living_cluster.Site(lab, NAME, {"replicas": 1}, variables)) as found:
        yield found


@pytest.fixture(scope="module")
def workload(lab, site):
    return Workload(lab, NAME, site.variables["cluster_workload_kubeconfig"])


@pytest.fixture
def of_domain(lab, site, workload):
    """One of the two free hosts, which is in the domain while a test runs."""
    name = sorted(set(lab.servers) - set(workload.hosts().values()))[-1]
    lab.kube.patch(KNOWN["BareMetalHost"], NAMESPACE, name, {"metadata": {"labels": {DOMAIN_LABEL: DOMAIN}}})
    yield name
    lab.kube.patch(KNOWN["BareMetalHost"], NAMESPACE, name, {"metadata": {"labels": {DOMAIN_LABEL: None}}})


def size(lab):
    return lab.kube.get(KNOWN["MachineDeployment"], NAMESPACE, POOL)["spec"]["replicas"]


def test_a_pool_of_a_failure_domain_gets_a_host_of_it(lab, site, workload, of_domain):
    before, extra = workload.hosts(), site.extra()
    pools = dict(extra["cluster_workers"], **{"pool-b": {"replicas": 1, "failure_domain": DOMAIN}})

    def run(*arguments, **changes):
        return lab.playbook("cluster", *arguments, extra=dict(extra, **changes), seconds=living_cluster.SECONDS)

    run(cluster_workers=pools).ok()
    machine, = workload.machines("pool-b").values()
    assert machine["spec"]["failureDomain"] == DOMAIN
    assert list(workload.hosts("pool-b").values()) == [of_domain] and len(workload.ready()) == 3
    assert run(cluster_workers=pools).ok().changed() == 0
    gone = dict(pools, **{"pool-b": {"state": "absent"}})
    run(cluster_workers=gone).failed("expected 1, the number of machines")
    run(cluster_workers=gone, metal3_confirm="1").ok()
    lab.wait_for_host(of_domain, lambda host: host["status"]["provisioning"]["state"] == "available", "available",
                      living_cluster.SECONDS)
    assert workload.hosts() == before


def test_its_health_check_reboots_a_machine_whose_kubelet_died(lab, room, site, workload):
    machines = workload.hosts()
    site.run(pool=living_cluster.health_check()).ok()
    assert workload.hosts() == machines, "a health check replaced machines"
    assert site.run().ok().changed() == 0
    living_cluster.reboots_the_machine_whose_kubelet_dies(lab, room, workload)
    site.run(pool=dict.fromkeys(living_cluster.health_check())).ok()
    assert not lab.kube.list(KNOWN["MachineHealthCheck"], NAMESPACE)[0]


def test_an_autoscaler_sizes_a_pool_and_nobody_fights_it(lab, site, workload):
    handed = {"replicas": None, "autoscaler": {"min_size": 1, "max_size": 2}}
    site.run(pool=handed).ok()
    autoscaler.scale(lab, POOL, 2)
    eventually(lambda: len(workload.machines("pool-a")) == 2 and len(workload.ready()) == 3, living_cluster.SECONDS,
               "the second worker is Ready", interval_seconds=1)
    assert site.run().ok().changed() == 0
    assert size(lab) == 2
    # Cluster API leaves the number alone once the autoscaler has it.
    assert "found 2 machines, expected 1 to 1 by autoscaler" in " ".join(
        site.run(pool={"autoscaler": {"min_size": 1, "max_size": 1}}).ok().output.split())
    assert size(lab) == 2 and len(workload.ready()) == 3
    site.run(pool={"replicas": 2, "autoscaler": None}).ok()
    narrow = {"replicas": None, "autoscaler": {"min_size": 1, "max_size": 1}}
    site.run(pool=narrow).failed(f"MachineDeployment {POOL} loses 1 machine out of these 2")
    assert size(lab) == 2
    site.run(confirm=1).ok()
    assert size(lab) == 1 and len(workload.ready()) == 2
    site.run(pool={"replicas": 1, "autoscaler": None}).ok()
    assert size(lab) == 1 and site.run().ok().changed() == 0


def test_machines_older_than_a_time_are_replaced_without_another_change(site, workload):
    workers, plane = workload.machines("pool-a"), workload.machines("control-plane")
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    site.run(cluster_control_plane={"replicas": 1, "rollout_after": moment}).failed(
        "expected 1, the number of machines", f"KubeadmControlPlane {NAME}-control-plane replaces its 1 machine")
    site.run(confirm=1).ok()
    assert workload.machines("pool-a").keys() == workers.keys()
    assert not workload.machines("control-plane").keys() & plane.keys() and len(workload.ready()) == 2
    assert site.run().ok().changed() == 0
