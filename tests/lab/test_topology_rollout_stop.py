# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools of a cluster by ClusterClass: the one that does not come is stopped, the other one waits for its turn.

A control plane machine and two pools of a worker each, on four servers.
"""
from __future__ import annotations

import living_cluster
import pytest
import small_cluster
from stopped_rollouts import NOTE, PAUSED, correct, marks, wrong_image
from support import NAMESPACE, eventually
from workload import Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects.conditions import is_true
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.lifecycle]
TAKES_DIRECT = True

NAME = "turns"
CONTROL_PLANE = ("KubeadmControlPlane", f"{NAME}-control-plane")
ONE, TWO = ("MachineDeployment", f"{NAME}-pool-a"), ("MachineDeployment", f"{NAME}-pool-b")
SECONDS = 1500


class Site(living_cluster.Site):
    """Both pools have the same options."""

    def extra(self, confirm=0, pool=None, **changes):
        found = super().extra(confirm, pool, **changes)
        return dict(found, cluster_workers={"pool-a": self.pool, "pool-b": self.pool})


@pytest.fixture(scope="module")
def site(lab):
    """The cluster's description; the cluster is made here and deleted afterwards."""
    variables = dict(small_cluster.variables(lab, NAME, {}, endpoint=17),
                     cluster_options=dict(small_cluster.labs_options(), topology=True))
    with living_cluster.made(Site(lab, NAME, {"replicas": 1}, variables)) as found:
        yield found


@pytest.fixture(scope="module")
def workload(lab, site):
    return Workload(lab, NAME, site.variables["cluster_workload_kubeconfig"])


@pytest.fixture
def wrong(lab, site):
    """An image whose checksum is not that of its file, and the file to correct it in."""
    with wrong_image(lab, site.variables["cluster_image"]) as found:
        yield found


def class_of(lab):
    return lab.kube.get(KNOWN["Cluster"], NAMESPACE, NAME)["spec"]["topology"]["classRef"]["name"]


def is_stopped_at_the_first_pool(lab, site, workload, before, confirm, image):
    """Run with an image for both pools that does not come; the second pool is not begun."""
    stopped = site.run(confirm=confirm, pool={"image": image}).failed(
        "the image's checksum is not the given one", f"stopped: MachineDeployment {ONE[1]} is paused",
        f"not begun: MachineDeployment {TWO[1]} (paused until it is their turn)")
    print(stopped.output[-3000:])
    assert marks(lab, *ONE) == marks(lab, *TWO) == [PAUSED, NOTE] and marks(lab, *CONTROL_PLANE) == []
    assert set(before) < set(workload.machines()), "a machine of before is gone"
    # Cluster API has written the new class into the pool, and begins nothing while it is paused.
    eventually(lambda: is_true(lab.kube.get(KNOWN[TWO[0]], NAMESPACE, TWO[1]), "Paused"), 60, "the pause is noticed")
    assert set(workload.hosts("pool-b")) == {name for name in before if "pool-b" in name}


def test_pools_go_back_and_none_begins_with_what_is_taken_back(lab, site, workload, wrong):
    image, _path = wrong
    before, was = workload.hosts(), class_of(lab)
    is_stopped_at_the_first_pool(lab, site, workload, before, 2, image)
    assert class_of(lab) != was
    versions = lab.versions()
    shown = " ".join(site.run("--check", cluster_rollout="rollback").ok().output.split())
    assert f"{ONE[1]}: goes back to what it was" in shown and lab.versions() == versions
    site.run(cluster_rollout="rollback").ok()
    assert class_of(lab) == was and workload.hosts() == before and len(workload.ready()) == 3
    assert marks(lab, *ONE) == marks(lab, *TWO) == []
    again = site.run(cluster_rollout="rollback").ok()
    assert again.changed() == 0 and "no rollout is stopped" in " ".join(again.output.split())
    site.run(cluster_rollout="described", pool={"image": None}).ok()
    assert workload.hosts() == before and site.run().ok().changed() == 0


def test_what_was_stopped_is_resumed_by_runs_that_are_killed_and_the_pools_come_in_turn(lab, site, workload, wrong):
    image, path = wrong
    before = workload.hosts()
    is_stopped_at_the_first_pool(lab, site, workload, before, 2, image)
    correct(lab, path)
    running = lab.start("cluster", extra=site.extra(cluster_rollout="resume"))
    eventually(lambda: marks(lab, *ONE) == [], 300, "the first pool goes on")
    running.kill()
    assert marks(lab, *TWO) == [PAUSED, NOTE], "the second pool was begun beside the first one"
    # Neither is to be decided anew: the one that was held comes with the next run.
    running = lab.start("cluster", extra=site.extra(cluster_rollout="described", confirm=2))
    eventually(lambda: set(workload.machines("pool-b")) - set(before), SECONDS, "the second pool's new machine")
    assert not set(workload.machines("pool-a")) & set(before), "the first pool was not done"
    running.finish(SECONDS).ok()
    assert marks(lab, *ONE) == marks(lab, *TWO) == [] and len(workload.ready()) == 3
    after = workload.hosts()
    assert len(after) == 3 and {name for name in after if name in before} == set(workload.machines("control-plane"))
    assert site.run().ok().changed() == 0
