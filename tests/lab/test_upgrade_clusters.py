# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two clusters by one run of ``upgrade``: the first is the trial for the second.

One control plane machine each, and a worker in the first; the fourth server is to spare. Nodes of the first are linked
to their servers by a cloud controller.
"""
from __future__ import annotations

import json
import time

import pytest
import small_cluster
import starting_state
from cloud_controller import TAINT, CloudController
from support import NAMESPACE, eventually
from workload import Workload

pytestmark = [pytest.mark.nodes, pytest.mark.lifecycle]
TAKES_DIRECT = True

TRIAL, OTHER = "a-trial", "b-other"
SECONDS = 2400
# After the one that plans for all of them.
PLAY = "PLAY [Upgrade the workload clusters]"
CONFIRMED = f"{NAMESPACE}/{TRIAL}:1,{NAMESPACE}/{OTHER}:1"


class Site:
    """The inventory's description of both clusters, which the tests change."""

    def __init__(self, lab, folder):
        self.lab, self.path = lab, folder / "clusters.json"
        prefix = lab.figures["bridge"]["network"].rpartition(".")[0]
        self.clusters = dict((name, small_cluster.variables(lab, name, {}, endpoint=endpoint))
                             for name, endpoint in ((TRIAL, 13), (OTHER, 14)))
        self.clusters[OTHER]["cluster_networks"]["nodes"]["ipv4"]["ranges"] = [
            {"start": prefix + ".70", "end": prefix + ".79"}]
        self.clusters[TRIAL]["cluster_options"] = dict(small_cluster.labs_options(), cloud_provider_enabled=True)
        self.pool, self.control_plane = {"replicas": 1}, {"replicas": 1}

    def start(self, playbook, *arguments, limit=(TRIAL, OTHER), **extra):
        """Start a playbook for both clusters, or for some, with the description as it is."""
        hosts = dict(self.clusters)
        hosts[TRIAL] = dict(hosts[TRIAL], cluster_workers={"pool-a": self.pool})
        hosts[OTHER] = dict(hosts[OTHER], cluster_control_plane=self.control_plane)
        self.path.write_text(json.dumps({"clusters": {"hosts": hosts}}))
        return self.lab.start(playbook, "-i", str(self.path), "--limit", ",".join(limit), *arguments,
                              extra=dict(extra, upgrade_backup=False))

    def run(self, playbook, *arguments, **options):
        """Run a playbook to its end."""
        return self.start(playbook, *arguments, **options).finish(SECONDS)

    def workload(self, name):
        return Workload(self.lab, name, self.clusters[name]["cluster_workload_kubeconfig"])


@pytest.fixture(scope="module")
def controller(lab):
    """The cloud controller of the first cluster, which works as long as there is one."""
    found = CloudController(lab, TRIAL)
    with found.running():
        yield found


@pytest.fixture(scope="module")
def site(lab, controller, tmp_path_factory):
    """Both clusters; they are made here and deleted afterwards."""
    starting_state.free_direct(lab, SECONDS)
    found = Site(lab, tmp_path_factory.mktemp("clusters"))
    try:
        found.run("cluster").ok()
        yield found
    finally:
        for name in (TRIAL, OTHER):
            found.run("teardown", limit=(name,), **small_cluster.teardown(name)).ok()


def machines(site):
    """Return the host of each machine, by cluster."""
    return dict((name, site.workload(name).hosts()) for name in (TRIAL, OTHER))


def assert_linked(site, controller):
    """Fail unless the controller, and nobody else, has linked each node of the first cluster."""
    nodes = site.workload(TRIAL).nodes()
    assert nodes and dict((name, node["spec"].get("providerID")) for name, node in nodes.items()) == dict(
        (name, controller.linked[name]) for name in nodes)
    assert not [name for name, node in nodes.items() for taint in node["spec"].get("taints") or []
                if taint["key"] == TAINT]
    machines = site.workload(TRIAL).machines()
    assert dict((name, machine["spec"]["providerID"]) for name, machine in machines.items()) == dict(
        (name, controller.linked[name]) for name in machines)


def test_each_cluster_wants_its_own_number(lab, site, controller):
    assert_linked(site, controller)
    before, versions = machines(site), lab.versions()
    assert [len(before[name]) for name in (TRIAL, OTHER)] == [2, 1]
    site.pool["node_labels"] = site.control_plane["node_labels"] = {"example.org/generation": "two"}
    site.run("upgrade", metal3_confirm="1").failed(f"{NAMESPACE}/{TRIAL}:1")
    site.run("upgrade", metal3_confirm=f"{NAMESPACE}/{OTHER}:1").failed(f"{NAMESPACE}/{TRIAL}:1")
    planned = site.run("upgrade", "--check").ok()
    assert all(name in planned.output for name in (*site.workload(TRIAL).machines("pool-a"), *before[OTHER]))
    assert machines(site) == before and lab.versions() == versions


def test_a_trial_that_does_not_come_ends_the_run_before_the_next_cluster(lab, site):
    before, good = machines(site), site.clusters[TRIAL]["cluster_image"]
    wrong = lab.dir / "www" / "images" / "not-it.sha256"
    wrong.write_text(f"{0:064d}  node.qcow2\n")
    try:
        site.pool["image"] = dict(good, checksum=lab.figures["urls"]["image_server"] + "/images/not-it.sha256")
        run = site.run("upgrade", metal3_confirm=CONFIRMED).failed("the image's checksum is not the given one")
        upgrade = run.output.partition(PLAY)[2]
        assert f"[{TRIAL}" in upgrade and f"[{OTHER}" not in upgrade.partition("PLAY RECAP")[0]
        after = machines(site)
        assert after[OTHER] == before[OTHER] and set(before[TRIAL]) <= set(after[TRIAL])
        assert len(site.workload(TRIAL).ready()) == 2
        # Back to what it was: the machine that did not come is no node.
        del site.pool["image"], site.pool["node_labels"]
        site.run("cluster", limit=(TRIAL,)).ok()
    finally:
        wrong.unlink()
    assert machines(site) == before


def test_the_next_cluster_is_begun_when_the_trial_has_come(lab, site, controller):
    """By a run that was killed during the trial, and one that goes on; the controller links the trial's new node."""
    before, began = machines(site), time.monotonic()
    site.pool["node_labels"] = {"example.org/generation": "two"}
    running = site.start("upgrade", metal3_confirm=CONFIRMED)
    eventually(lambda: running.process.poll() is not None or set(machines(site)[TRIAL]) - set(before[TRIAL]), 600,
               "a new machine of the trial")
    running.kill()
    assert machines(site)[OTHER] == before[OTHER]
    running, early = site.start("upgrade", metal3_confirm=CONFIRMED), []

    def note():
        """Keep it when the second cluster changes while the trial has not come."""
        found = machines(site)
        old = set(before[TRIAL]) & set(site.workload(TRIAL).machines("pool-a"))
        if set(found[OTHER]) - set(before[OTHER]) and old:
            early.append(found)
        return running.process.poll() is not None

    eventually(note, SECONDS, "the end of the upgrade", interval_seconds=1)
    running.finish(60).ok()
    print(f"{time.monotonic() - began:.0f} s for a worker, then for a control plane machine of another cluster")
    after = machines(site)
    assert not early and not set(after[OTHER]) & set(before[OTHER])
    assert len(set(after[TRIAL]) & set(before[TRIAL])) == 1 and [len(after[name]) for name in (TRIAL, OTHER)] == [2, 1]
    for name, count in ((TRIAL, 2), (OTHER, 1)):
        nodes = site.workload(name).nodes()
        assert len(site.workload(name).ready()) == count
        assert [node["metadata"]["labels"].get("example.org/generation") for node in nodes.values()].count("two") == 1
    assert_linked(site, controller)
    assert site.run("upgrade").ok().changed() == 0
