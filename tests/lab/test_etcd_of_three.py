# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd of three control plane machines is restored into one, which becomes three again by itself.

Three control plane machines and a worker on seven servers, by runs of which one was killed.
"""
from __future__ import annotations

import time

import etcd_site
import pytest
from etcd_site import SECONDS, EtcdSite
from living_cluster import etcd_is_healthy
from support import NAMESPACE, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.ha]

NAME = "members"
TAKES_DIRECT = True


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "class"])
def site(request, lab, tmp_path_factory):
    """The cluster, plain and by ClusterClass; made here and deleted afterwards."""
    folder = tmp_path_factory.mktemp("etcd")
    with etcd_site.made(EtcdSite(lab, NAME, folder, request.param, cluster_control_plane={"replicas": 3})) as found:
        yield found


@pytest.fixture(scope="module")
def workload(site):
    return etcd_site.workload_of(site)


def number_in_topology(lab):
    """Return how many machines the topology gives its control plane; None without a topology."""
    spec = lab.kube.get(KNOWN["Cluster"], NAMESPACE, NAME)["spec"]
    return spec["topology"]["controlPlane"]["replicas"] if "topology" in spec else None


def restored(lab, site, workload, path, before):
    """Restore by a run that is killed when it waits for the new machine, and one that goes on; return the machine.

    The number of machines is kept by the run that was killed.
    """
    running = site.begin_restore(path, metal3_confirm=NAME, etcd_delete_machines=3)
    eventually(lambda: set(workload.machines("control-plane")) - before, SECONDS, "the new machine")
    running.kill()
    assert etcd_site.plane_of(site)["spec"]["replicas"] == 1 and number_in_topology(lab) in (None, 1)
    result = site.restore(path, metal3_confirm=NAME, etcd_delete_machines=1).ok()
    print(result.output)
    assert etcd_site.plane_of(site)["spec"]["replicas"] == 3 and number_in_topology(lab) in (None, 3)


def test_three_members_are_replaced_by_one_with_the_data_and_it_becomes_three(lab, site, workload):
    site.snapshot().ok()
    path, = site.files()
    authority, versions = etcd_site.authority_of(site), lab.versions()
    etcd_site.lose_and_add(site, workload)
    before, workers = workload.machines("control-plane").keys(), workload.machines("pool-a").keys()
    running = etcd_site.containers(workload, "pool-a")
    refused = site.restore(path).failed("expected 3, the number of")
    assert all(name in " ".join(refused.output.split()) for name in before) and lab.versions() == versions
    began = time.monotonic()
    restored(lab, site, workload, path, set(before))
    print(f"seconds to a restored control plane of one, killed once: {time.monotonic() - began:.0f}")
    etcd_site.is_as_saved(site, workload, authority)
    # Waits for the control plane that is as described.
    assert site.run().ok().changed() == 0
    print(f"seconds until it is of three again: {time.monotonic() - began:.0f}")
    new = workload.machines("control-plane").keys()
    assert len(new) == 3 and not new & before and workload.machines("pool-a").keys() == workers
    # Those of before are gone from etcd and from the API.
    assert workload.nodes().keys() == new | workers
    found = etcd_site.members(site, sorted(new)[0])
    assert sorted(member["name"] for member in found) == sorted(new)
    assert all(member.get("peerURLs") and not member.get("isLearner") for member in found)
    eventually(lambda: etcd_is_healthy(lab, f"{NAME}-control-plane"), 120, "etcd is healthy")
    etcd_site.keep_running(site, workload, running)
    assert site.run().ok().changed() == 0 and workload.machines("control-plane").keys() == new
