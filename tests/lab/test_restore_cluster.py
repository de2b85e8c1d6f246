# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane is lost with a cluster that lives on: it comes back from a backup, by a run that was killed half-way and one
that went on; what has happened to the cluster since the backup is found, and no server is touched."""
from __future__ import annotations

import contextlib

import pytest
import small_cluster
from lost_plane import back_up, lose, lose_all, new_identity, pause
from support import HOST, NAMESPACE, eventually
from watching import Polled, Untouched, facts

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects.conditions import condition
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.pivot]

SECONDS = 1500
SETTLED_SECONDS = 300
CLUSTER = "survivor"


@pytest.fixture(scope="module")
def cluster(lab):
    """The variables of a cluster of a control plane machine and a worker."""
    variables = dict(small_cluster.variables(lab, CLUSTER, {}, endpoint=13), cluster_workers={"w": {"replicas": 1}},
                     cluster_control_plane={"replicas": 1})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        lab.playbook("cluster", seconds=SECONDS, extra=variables).ok()
        yield variables
        if lab.kube.get(KNOWN["Cluster"], NAMESPACE, CLUSTER) is not None:
            pause(lab, CLUSTER, False)
            teardown(lab, variables)
        # What the last test has lost.
        lab.playbook("enroll", seconds=SECONDS).ok()


@pytest.fixture(scope="module")
def variables(lab, cluster, tmp_path_factory):
    """What to give to the playbook ``restore``."""
    identity = new_identity(tmp_path_factory.mktemp("age"))
    return {"restore_path": str(back_up(lab, tmp_path_factory.mktemp("backups"), identity)),
            "restore_identity_file": str(identity)}


def teardown(lab, variables):
    lab.playbook("teardown", seconds=SECONDS, extra=dict(variables, **small_cluster.teardown(CLUSTER))).ok()


def members(lab):
    """Return the cluster's hosts by the names of their Nodes."""
    hosts = dict(((host["spec"].get("consumerRef") or {}).get("name"), name) for name, host in lab.hosts().items())
    return dict((item["status"]["nodeRef"]["name"], hosts[item["spec"]["infrastructureRef"]["name"]])
                for item in lab.kube.list(KNOWN["Machine"], NAMESPACE)[0])


def test_a_cluster_outlives_its_plane_and_is_managed_again(lab, cluster, variables):
    before, touched, names = facts(lab.kube), Untouched(lab), sorted(lab.hosts())
    assert len(before.machines) == 2
    with Polled(cluster["cluster_workload_kubeconfig"]) as polled:
        lose_all(lab)
        eventually(lambda: not lab.hosts() and not lab.nodes(), 60, "hosts and nodes gone")
        assert lab.kube.list(KNOWN["Cluster"], NAMESPACE)[0] == []
        plan = lab.playbook("restore", "--check", extra=variables, seconds=SECONDS).ok()
        assert plan.output.count(": adopted: ") == len([state for state, *_rest in before.hosts.values()
                                                        if state == "provisioned"]), plan.output
        confirmed = dict(variables, metal3_confirm=len(names))
        # Half of the plane.
        running = lab.start("restore", extra=confirmed)
        eventually(lambda: lab.kube.list(HOST, NAMESPACE)[0], SECONDS, "the first host is restored")
        running.kill()
        # Cluster API makes others for those that are not there yet, unless their Cluster is paused.
        assert set(item["metadata"]["name"] for item in lab.kube.list(KNOWN["Machine"], NAMESPACE)[0]) <= set(
            before.machines)
        lab.playbook("restore", extra=confirmed, seconds=SECONDS).ok()
        # What is still different says more than that time is up.
        with contextlib.suppress(AssertionError):
            eventually(lambda: facts(lab.kube) == before, SETTLED_SECONDS, "as they were", not_yet=(KeyError,))
        assert facts(lab.kube) == before
    assert touched.resets() == {} and polled.asked > 50 and polled.failed == []
    assert set(lab.nodes()) == set(names)
    assert lab.playbook("restore", extra=variables, seconds=SECONDS).ok().changed() == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        assert lab.playbook("cluster", seconds=SECONDS, extra=cluster).ok().changed() == 0


def test_a_node_that_has_joined_again_since_must_be_named(lab, room, cluster, variables):
    node, name = next((node, name) for node, name in members(lab).items() if "-w-" in node)
    workload = KubeClient({"kubeconfig": cluster["cluster_workload_kubeconfig"]})
    former = workload.get(KNOWN["Node"], None, node)["metadata"]["uid"]
    pause(lab, CLUSTER, True)
    lose(lab, name)
    # As after an installation by hand: its kubelet registers a Node of the same name.
    workload.delete(KNOWN["Node"], None, node)
    room.power(name, "power_off")
    eventually(lambda: room.server(name)["power"] == "Off", 60, "the server is off")
    room.power(name, "power_on")
    eventually(lambda: (workload.get(KNOWN["Node"], None, node) or {"metadata": {"uid": former}})[
        "metadata"]["uid"] != former, SECONDS, "the node has joined again")
    lab.playbook("restore", extra=dict(variables, metal3_confirm=1), seconds=SECONDS).failed(
        f"BareMetalHost {name}", "its server would be taken for what it was", f"its Node {node} has joined",
        "that Node has no provider ID")
    assert lab.host(name) is None
    run = lab.playbook("restore", extra=dict(variables, metal3_confirm=1, restore_accept=[name]), seconds=SECONDS).ok()
    assert f"since its Cluster {CLUSTER} is paused" in " ".join(run.output.split())
    assert lab.kube.get(KNOWN["Cluster"], NAMESPACE, CLUSTER)["spec"]["paused"] is True
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        lab.playbook("teardown", extra=dict(cluster, **small_cluster.teardown(CLUSTER))).failed(
            "spec.paused: found true, expected a cluster that is not paused")
    pause(lab, CLUSTER, False)
    lab.wait_for_host(name, lambda host: host and (host.get("status") or {}).get("provisioning", {}).get("state")
                      == "provisioned" and host_annotations.PAUSED not in host_annotations.of(host), "as it was")
    # CAPM3 links a machine's Node once. What a run would wait for without an end is named, and how it is put right.
    machine = next(item for item in lab.kube.list(KNOWN["Machine"], NAMESPACE)[0]
                   if item["status"]["nodeRef"]["name"] == node)
    linked = {"spec": {"providerID": machine["spec"]["providerID"]}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        lab.playbook("cluster", seconds=SECONDS, extra=cluster).failed(
            f"Machine {machine['metadata']['name']}", f"Node {node} was deleted", linked["spec"]["providerID"])
        workload.patch(KNOWN["Node"], None, node, linked)
        eventually(lambda: condition(lab.kube.get(KNOWN["Machine"], NAMESPACE, machine["metadata"]["name"]), "Ready")[
            "status"] == "True", SECONDS, "the machine has its Node")
        lab.playbook("cluster", seconds=SECONDS, extra=cluster).ok()


def test_a_host_that_was_free_and_is_a_node_since_must_be_named(lab, cluster, variables, tmp_path):
    """The cluster was scaled out after the backup: released as free, the next machine would wipe its node."""
    former = set(members(lab))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        lab.playbook("cluster", seconds=SECONDS, extra=dict(cluster, cluster_workers={"w": {"replicas": 2}})).ok()
    (node, name), = ((node, name) for node, name in members(lab).items() if node not in former)
    identity = new_identity(tmp_path)
    (tmp_path / "backups").mkdir()
    later = {"restore_path": str(back_up(lab, tmp_path / "backups", identity)), "restore_identity_file": str(identity)}
    before, touched, names = facts(lab.kube), Untouched(lab), sorted(lab.hosts())
    with Polled(cluster["cluster_workload_kubeconfig"]) as polled:
        lose_all(lab)
        lab.playbook("restore", extra=dict(variables, metal3_confirm=len(names)), seconds=SECONDS).failed(
            f"BareMetalHost {name}", "its server would be free for other machines",
            f"it is the Node {node} of the cluster {CLUSTER} by now")
        assert not lab.hosts() and lab.kube.list(KNOWN["Cluster"], NAMESPACE)[0] == [] and not lab.nodes()
        # The backup that has the machine needs no name.
        lab.playbook("restore", extra=dict(later, metal3_confirm=len(names)), seconds=SECONDS).ok()
        with contextlib.suppress(AssertionError):
            eventually(lambda: facts(lab.kube) == before, SETTLED_SECONDS, "as they were", not_yet=(KeyError,))
        assert facts(lab.kube) == before
    assert touched.resets() == {} and polled.failed == []


def test_hosts_of_a_cluster_that_was_deleted_since_must_be_named(lab, cluster, variables):
    names = sorted(members(lab).values())
    assert len(names) == 3
    teardown(lab, cluster)
    eventually(lambda: all(lab.state(name) == "available" for name in names), SECONDS, "its hosts are free")
    lose(lab, *names)
    lab.playbook("restore", extra=dict(variables, metal3_confirm=len(names)), seconds=SECONDS).failed(*(
        text for name in names
        for text in (f"BareMetalHost {name}", f"the API server of its cluster {CLUSTER} does not answer",
                     # Of the one that was free, and may be a node of it since.
                     f"the API server of the cluster {CLUSTER} does not answer")))
    assert not [name for name in names if lab.host(name)]
    assert lab.kube.get(KNOWN["Cluster"], NAMESPACE, CLUSTER) is None
