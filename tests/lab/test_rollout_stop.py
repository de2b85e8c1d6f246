# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollouts whose new machine does not come are stopped, and go on, or back, only when somebody says so."""
from __future__ import annotations

import json
import time

import living_cluster
import pytest
import small_cluster
from stopped_rollouts import NOTE, PAUSED, correct, marks, wrong_image
from support import NAMESPACE, eventually, only
from workload import Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects.conditions import is_true
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.lifecycle]
TAKES_DIRECT = True

NAME = "stopping"
POOL = ("MachineDeployment", f"{NAME}-pool-a")
CONTROL_PLANE = ("KubeadmControlPlane", f"{NAME}-control-plane")
SECONDS = 1500
# Whether nothing more happens can only be looked at for a while: Cluster API would act within seconds.
WATCHED_SECONDS = 60


@pytest.fixture(scope="module")
def site(lab):
    """The cluster's description; the cluster is made here and deleted afterwards."""
    with living_cluster.made(living_cluster.Site(
            lab, NAME, {"replicas": 2}, small_cluster.variables(lab, NAME, {}, endpoint=13))) as found:
        yield found


@pytest.fixture(scope="module")
def workload(lab, site):
    return Workload(lab, NAME, site.variables["cluster_workload_kubeconfig"])


@pytest.fixture
def wrong(lab, site):
    """An image whose checksum is not that of its file, and the file to correct it in."""
    with wrong_image(lab, site.variables["cluster_image"]) as found:
        yield found


def paused_sets(lab):
    return [item["metadata"]["name"] for item in lab.kube.list(KNOWN["MachineSet"], NAMESPACE)[0]
            if item["spec"]["clusterName"] == NAME and PAUSED in (item["metadata"].get("annotations") or {})]


def is_paused(lab, kind, name):
    return is_true(lab.kube.get(KNOWN[kind], NAMESPACE, name), "Paused")


def test_a_stopped_rollout_goes_back_without_another_inventory(lab, site, workload, wrong):
    """And the inventory that still asks for it is a rollout like any other."""
    image, _path = wrong
    before = workload.hosts("pool-a")
    site.run(confirm=2, pool={"image": image}).failed("the image's checksum is not the given one", "stopped: ")
    assert marks(lab, *POOL) == [PAUSED, NOTE]
    versions = lab.versions()
    shown = site.run("--check", cluster_rollout="rollback").ok()
    assert f"{POOL[1]}: goes back to what it was" in " ".join(shown.output.split()) and lab.versions() == versions
    site.run(cluster_rollout="rollback").ok()
    assert workload.hosts("pool-a") == before and len(workload.ready()) == 3
    assert marks(lab, *POOL) == [] and paused_sets(lab) == []
    again = site.run(cluster_rollout="rollback").ok()
    assert again.changed() == 0 and "no rollout is stopped" in " ".join(again.output.split())
    site.run(cluster_rollout="described").failed("expected 2, the number of machines")
    site.run(pool={"image": None}).ok()
    assert workload.hosts("pool-a") == before and site.run().ok().changed() == 0


def test_a_corrected_description_goes_on_and_a_users_pause_stays(lab, site, workload, wrong):
    """The user's first: the run waits for it no longer than for a failure, and takes nothing away."""
    image, _path = wrong
    before = workload.hosts("pool-a")
    site.run(confirm=2, pool={"image": image}).failed("stopped: ")
    site.run(pool={"image": None}).ok()
    assert workload.hosts("pool-a") == before and marks(lab, *POOL) == [] and paused_sets(lab) == []
    lab.kube.patch(KNOWN[POOL[0]], NAMESPACE, POOL[1], {"metadata": {"annotations": {PAUSED: "mine"}}})
    try:
        change = {"image": image}
        site.run(pool=change).failed(f"MachineDeployment {POOL[1]} is paused", "by somebody else")
        site.run(confirm=2, cluster_wait_timeout_seconds=30).failed("somebody else has paused it already")
        assert marks(lab, *POOL) == [PAUSED] and workload.hosts("pool-a") == before
    finally:
        lab.kube.patch(KNOWN[POOL[0]], NAMESPACE, POOL[1], {"metadata": {"annotations": {PAUSED: None}}})
    site.run(pool={"image": None}, cluster_wait_timeout_seconds=SECONDS).ok()
    assert workload.hosts("pool-a") == before


def test_a_control_plane_that_does_not_come_goes_back(lab, site, workload, wrong):
    """Its API server is that of before all the time; the pool was not begun."""
    image, _path = wrong
    plane, workers = workload.machines("control-plane"), workload.hosts("pool-a")
    change = {"cluster_control_plane": {"replicas": 1, "image": image, "pre_commands": ["true"]}}
    site.run(confirm=1, **change).failed(f"stopped: KubeadmControlPlane {CONTROL_PLANE[1]} is paused")
    assert marks(lab, *CONTROL_PLANE) == [PAUSED, NOTE] and marks(lab, *POOL) == []
    assert len(workload.machines("control-plane")) == 2 and len(workload.ready()) == 3
    stored = lab.kube.get(KNOWN[CONTROL_PLANE[0]], NAMESPACE, CONTROL_PLANE[1])
    assert json.loads(stored["metadata"]["annotations"][NOTE])["former"]["version"] == "v1.35.4"
    site.run(cluster_rollout="rollback").ok()
    assert workload.machines("control-plane").keys() == plane.keys() and workload.hosts("pool-a") == workers
    assert marks(lab, *CONTROL_PLANE) == [] and len(workload.ready()) == 3
    site.run(cluster_rollout="described", cluster_control_plane={"replicas": 1}).ok()
    assert workload.machines("control-plane").keys() == plane.keys()
    assert site.run().ok().changed() == 0


def test_a_run_that_ends_too_early_leaves_the_rollout_stopped_until_it_is_resumed(lab, site, workload, wrong):
    """Its time is up before the machine has come; the cause goes, the machine comes, and those of before stay."""
    image, path = wrong
    before = workload.hosts("pool-a")
    site.run(confirm=2, pool={"image": image}, cluster_wait_timeout_seconds=75, cluster_rollout="described").failed(
        f"stopped: MachineDeployment {POOL[1]} is paused", "MachineSet stopping-pool-a-", "stay, whatever becomes of",
        "1. correct the description and run again", "run again with cluster_rollout=resume",
        "run again with cluster_rollout=rollback")
    assert marks(lab, *POOL) == [PAUSED, NOTE] and len(paused_sets(lab)) == 1
    assert marks(lab, *CONTROL_PLANE) == []
    correct(lab, path)
    new, = eventually(lambda: set(workload.machines("pool-a")) - set(before), 60, "the new machine")
    eventually(lambda: new in workload.ready(), SECONDS, "the new machine is Ready", interval_seconds=2)
    eventually(lambda: is_paused(lab, *POOL), 60, "Cluster API has noticed the pause")
    # Absence has no event to wait for: what Cluster API would do is looked for all the time.
    end = time.monotonic() + WATCHED_SECONDS
    while time.monotonic() < end:
        assert workload.hosts("pool-a").keys() == {*before, new}
        time.sleep(1)
    assert len(workload.ready()) == 4
    assert {name: host for name, host in workload.hosts("pool-a").items() if name != new} == before
    # Neither does a run that says nothing new.
    versions = lab.versions()
    refused = f"{POOL[1]}, whose rollout a run has stopped at"
    site.run().failed(refused, "set cluster_rollout to resume")
    assert refused in " ".join(site.run("--check").ok().output.split()) and lab.versions() == versions
    shown = site.run("--check", cluster_rollout="resume").ok()
    assert "goes on; to be replaced are" in " ".join(shown.output.split()) and lab.versions() == versions
    site.run(cluster_rollout="resume", cluster_wait_timeout_seconds=SECONDS).ok()
    after = workload.machines("pool-a")
    assert len(after) == 2 and new in after and not set(after) & set(before)
    assert marks(lab, *POOL) == [] and paused_sets(lab) == []
    assert site.run(cluster_rollout="described").ok().changed() == 0


def test_a_reused_host_with_a_broken_disk_is_got_away_from(lab, room, site, workload):
    """The steps that the failure names: the mark, the Machine, and the rollout goes on, on another host.

    The image of the test before is taken back with it.
    """
    # Its checksum file is gone.
    site.run(cluster_check_network=False, pool={"node_reuse": True, "max_surge": 0, "max_unavailable": 1}).ok()
    before = workload.hosts("pool-a")
    consumers = dict((name, lab.host(name)["spec"]["consumerRef"]["name"]) for name in before.values())

    def given_back():
        """Its disk dies before the next machine is deployed to it."""
        return [name for name, consumer in consumers.items()
                if (lab.host(name)["spec"].get("consumerRef") or {}).get("name") != consumer]

    running = lab.start("cluster", extra=site.extra(
        confirm=2, cluster_rollout="described", cluster_check_network=True, pool={
            "image": None, "node_labels": {"example.org/generation": "reused"}}))
    server, = eventually(given_back, 600, "a host is given back", interval_seconds=0.2)
    try:
        room.set_knobs(server, first_disk_failed=True)
        run = running.finish(SECONDS).failed(
            f"stopped: MachineDeployment {POOL[1]} is paused",
            f"with node_reuse the next machine of {POOL[1]} gets this host again",
            f"mark it unhealthy first (playbook host_action, host_action=mark_unhealthy, --limit {server})")
        print(run.output)
        new, = set(workload.machines("pool-a")) - set(before)
        assert workload.hosts("pool-a")[new] == server
        lab.playbook("host_action", *only(server), extra={"host_action": "mark_unhealthy"}).ok()
        replaced = lab.playbook("machine_action", extra=dict(site.extra(
            confirm=1), machine_action="replace", machine_names=[new])).ok()
        assert "is stopped at a rollout" in " ".join(replaced.output.split())
        site.run(cluster_rollout="resume").ok()
        assert server not in workload.hosts("pool-a").values() and len(workload.ready()) == 3
        assert not set(workload.machines("pool-a")) & set(before)
    finally:
        room.clear_knobs(server)
    lab.playbook("host_action", *only(server), extra={"host_action": "mark_healthy"}).ok()
