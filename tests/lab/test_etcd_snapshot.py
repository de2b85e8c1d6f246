# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd of a cluster is saved, and restored into a new control plane machine while its worker goes on.

One control plane machine and one worker on four servers. What etcd, kubeadm and Cluster API do is upstream's doing.
"""
from __future__ import annotations

import os
import time
from pathlib import Path

import pyrage
import pytest
import small_cluster
import starting_state
from support import NAMESPACE, eventually, module
from workload import AGNHOST, ECHO, NODE_PORT, Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.snapshot import PAUSED_ANNOTATION
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd import control_plane, receiver
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd import site as sites
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.lifecycle]

NAME = "saved"
SECONDS = 2400
TAKES_DIRECT = True
CONFIG_MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {name: %s, namespace: default}
data: {a: "1"}
"""


class Site:
    """The cluster, its kubeconfig as it was first, and where its snapshots go."""

    def __init__(self, lab, folder, topology):
        self.lab, self.folder, self.topology = lab, folder, topology
        self.variables = dict(small_cluster.variables(lab, NAME, {}, endpoint=14),
                              cluster_workers={"pool-a": {"replicas": 1}},
                              cluster_options=dict(small_cluster.labs_options(), topology=topology))
        identity = pyrage.x25519.Identity.generate()
        self.identity_file, self.recipient = folder / "identity.txt", str(identity.to_public())
        self.identity_file.write_text(f"{identity}\n")
        self.kubeconfig = folder / "kubeconfig-of-before"

    def run(self, playbook, *arguments, **extra):
        return self.lab.playbook(playbook, *arguments, extra=dict(self.variables, etcd_cluster=NAME, **extra),
                                 seconds=SECONDS)

    def snapshot(self, *arguments, **extra):
        return self.run("etcd_snapshot", *arguments, etcd_directory=str(self.folder / "snapshots"),
                        etcd_recipients=[self.recipient], etcd_identity_file=str(self.identity_file), **extra)

    def restore(self, path, *arguments, **extra):
        return self.run("etcd_restore", *arguments, etcd_path=str(path), etcd_identity_file=str(self.identity_file),
                        **extra)

    def begin_restore(self, path, **extra):
        extra.update(etcd_cluster=NAME, etcd_path=str(path), etcd_identity_file=str(self.identity_file))
        return self.lab.start("etcd_restore", extra=dict(self.variables, **extra))

    def files(self):
        return sorted(self.folder.glob("snapshots/*"))


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "class"])
def site(request, lab, tmp_path_factory):
    """The cluster, plain and by ClusterClass; made here and deleted afterwards."""
    found = Site(lab, tmp_path_factory.mktemp("etcd"), request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        try:
            starting_state.free_direct(lab, SECONDS)
            found.run("cluster").ok()
            found.kubeconfig.write_bytes(Path(found.variables["cluster_workload_kubeconfig"]).read_bytes())
            yield found
        finally:
            lab.playbook("teardown", extra=dict(found.variables, **small_cluster.teardown(NAME)), seconds=SECONDS).ok()


@pytest.fixture(scope="module")
def workload(lab, site):
    """The cluster with a Service of two pods; asked with the kubeconfig of before."""
    module("manifests", kubeconfig=str(lab.dir / "kubeconfig"), cluster_name=NAME,
           manifests=[ECHO % (AGNHOST, AGNHOST, NODE_PORT), CONFIG_MAP % "kept"])
    return Workload(lab, NAME, site.kubeconfig)


def containers(workload, part):
    """Return what runs on the nodes whose names have a part in them: each container and when it was started."""
    return sorted(
        (pod["metadata"]["name"], status["containerID"], status["restartCount"])
        for pod in workload.client.list(KNOWN["Pod"])[0] if part in pod["spec"].get("nodeName", "")
        for status in pod["status"].get("containerStatuses") or [])


def plane_of(lab):
    return lab.kube.get(KNOWN["KubeadmControlPlane"], NAMESPACE, f"{NAME}-control-plane")


def test_a_snapshot_is_taken_and_read_again(site, workload):
    assert f"{NAMESPACE}.{NAME}" in site.snapshot("--check").ok().output and site.files() == []
    began = time.monotonic()
    run = site.snapshot().ok()
    print(f"seconds to a snapshot: {time.monotonic() - began:.0f}, {site.files()[0].stat().st_size} bytes")
    assert "read again: True" in " ".join(run.output.split())
    path, = site.files()
    assert os.stat(path).st_mode & 0o777 == 0o600 and b"registry" not in path.read_bytes()
    # Nothing was started or left in the cluster.
    assert not [pod for pod in workload.client.list(KNOWN["Pod"])[0] if "snapshot" in pod["metadata"]["name"]]


def test_a_backup_of_the_plane_takes_one_on_request(site, workload, tmp_path):
    folder = tmp_path / "both"
    site.run("backup", backup_directory=str(folder), backup_recipients=[site.recipient], backup_etcd=True,
             backup_identity_file=str(site.identity_file)).ok()
    snapshots = [path for path in folder.iterdir() if NAME in path.name and "etcd" in path.name]
    assert len(snapshots) == 1 and len(list(folder.iterdir())) == 2


def test_older_snapshots_go(site, workload):
    first, = site.files()
    site.snapshot(etcd_keep=1).ok()
    assert len(site.files()) == 1 and site.files() != [first]


def test_a_cluster_that_is_not_there_is_named(site, workload):
    found = site.lab.playbook("etcd_snapshot", extra=dict(
        site.variables, etcd_cluster="no-such", etcd_directory=str(site.folder / "other"),
        etcd_recipients=[site.recipient]))
    found.failed("found no Cluster, expected one")
    assert not (site.folder / "other").exists()


def restored_by_a_run_that_was_killed_before_the_data(site, workload, path, machine):
    """Killed while the new machine is deployed: its key is lost, so that the next run begins again, by its number."""
    running = site.begin_restore(path, metal3_confirm=NAME, etcd_delete_machines=1)
    eventually(lambda: set(workload.machines("control-plane")) - {machine}, SECONDS, "the new machine")
    running.kill()
    site.restore(path, metal3_confirm=NAME).failed("expected 1, the number of")
    site.restore(path, metal3_confirm=NAME, etcd_delete_machines=1).ok()


def restored_by_a_run_that_was_killed_after_the_data(lab, site, workload, path):
    """Killed when the new machine has taken the data: the next run goes on with that one."""
    running = site.begin_restore(path, metal3_confirm=NAME, etcd_delete_machines=1)

    def has_taken():
        note = control_plane.note_of(plane_of(lab))
        return note is not None and note.machine

    eventually(has_taken, SECONDS, "the machine has taken the data")
    running.kill()
    new, = workload.machines("control-plane")
    eventually(lambda: workload.client.get(KNOWN["ConfigMap"], "default", "kept"), SECONDS,
               "the restored API server answers", interval_seconds=1, not_yet=(KubeError,))
    # No number: no machine is deleted.
    site.restore(path, metal3_confirm=NAME).ok()
    assert list(workload.machines("control-plane")) == [new]


def test_it_is_restored_by_runs_that_were_killed_and_the_worker_goes_on(lab, site, workload):
    """Into a new control plane."""
    path, = site.files()
    client, authority = workload.client, lab.kube.get(KNOWN["Secret"], NAMESPACE, f"{NAME}-ca")["data"]
    client.delete(KNOWN["ConfigMap"], "default", "kept")
    module("manifests", kubeconfig=str(lab.dir / "kubeconfig"), cluster_name=NAME, manifests=[CONFIG_MAP % "later"])
    before, running = workload.machines(), containers(workload, "pool-a")
    assert len(running) >= 4, "flannel, kube-proxy and two pods of the Service"
    versions = lab.versions()
    machine, = workload.machines("control-plane")
    assert machine in site.restore(path, "--check").ok().output
    refused = site.restore(path).failed(f"expected {NAME}, the name of the cluster", "expected 1, the number of")
    assert machine in " ".join(refused.output.split()) and lab.versions() == versions
    site.restore(path, metal3_confirm=NAME, etcd_delete_machines=2).failed("expected 1, the number of")
    began = time.monotonic()
    if site.topology:
        restored_by_a_run_that_was_killed_after_the_data(lab, site, workload, path)
    else:
        restored_by_a_run_that_was_killed_before_the_data(site, workload, path, machine)
    print(f"seconds to a restored control plane, killed once: {time.monotonic() - began:.0f}")
    # With the kubeconfig of before: the authorities are the same.
    assert client.get(KNOWN["ConfigMap"], "default", "kept")["data"] == {"a": "1"}
    assert client.get(KNOWN["ConfigMap"], "default", "later") is None
    assert lab.kube.get(KNOWN["Secret"], NAMESPACE, f"{NAME}-ca")["data"] == authority
    new, = workload.machines("control-plane")
    assert new != machine and workload.machines("pool-a").keys() == before.keys() - {machine}
    assert sorted(workload.nodes()) == sorted([new, *workload.machines("pool-a")])
    eventually(lambda: len(workload.ready()) == 2, 120, "both nodes are Ready", interval_seconds=1)
    assert set(running) <= set(containers(workload, "pool-a")), "a container on the worker was started anew"
    assert workload.answers(workload.address(control_plane=False))
    # Nothing of the restore is left, and nobody replaces the machine for it.
    plane = plane_of(lab)
    assert not {control_plane.NOTE, PAUSED_ANNOTATION} & set(plane["metadata"].get("annotations") or {})
    assert lab.kube.get(KNOWN["Secret"], NAMESPACE, receiver.secret_name(NAME)) is None
    found = sites.read(lab.kube, NAMESPACE, NAME)
    member = sites.Member(KubeClient({"kubeconfig": str(site.kubeconfig)}), new, sites.context_of(lab.kube, found))
    own, = member.members()
    assert own["name"] == new and own["peerURLs"] == [f"https://{workload.address(control_plane=True)}:2380"]
    assert site.run("cluster").ok().changed() == 0 and list(workload.machines("control-plane")) == [new]
