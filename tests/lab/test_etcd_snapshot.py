# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd of a cluster is saved, and restored into a new control plane machine while its worker goes on.

One control plane machine and one worker on four servers. What etcd, kubeadm and Cluster API do is upstream's doing.
"""
from __future__ import annotations

import os
import time

import etcd_site
import pytest
from etcd_site import SECONDS, EtcdSite
from support import NAMESPACE, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._etcd import control_plane
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.lifecycle]

NAME = "saved"
TAKES_DIRECT = True


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "class"])
def site(request, lab, tmp_path_factory):
    """The cluster, plain and by ClusterClass; made here and deleted afterwards."""
    with etcd_site.made(EtcdSite(lab, NAME, tmp_path_factory.mktemp("etcd"), request.param)) as found:
        yield found


@pytest.fixture(scope="module")
def workload(site):
    return etcd_site.workload_of(site)


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
    site.run(playbook="backup", backup_directory=str(folder), backup_recipients=[site.recipient], backup_etcd=True,
             backup_identity_file=str(site.identity_file)).ok()
    snapshots = [path for path in folder.glob("*.age") if NAME in path.name and "etcd" in path.name]
    assert len(snapshots) == 1 and len(list(folder.glob("*.age"))) == 2


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


def restored_by_a_run_that_was_killed_after_the_data(site, workload, path):
    """Killed when the new machine has taken the data: the next run goes on with that one."""
    running = site.begin_restore(path, metal3_confirm=NAME, etcd_delete_machines=1)

    def has_taken():
        note = control_plane.note_of(etcd_site.plane_of(site))
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
    authority = etcd_site.authority_of(site)
    etcd_site.lose_and_add(site, workload)
    before, running = workload.machines(), etcd_site.containers(workload, "pool-a")
    assert len(running) >= 4, "flannel, kube-proxy and two pods of the Service"
    versions = lab.versions()
    machine, = workload.machines("control-plane")
    assert machine in site.restore(path, "--check").ok().output
    refused = site.restore(path).failed(f"expected {NAME}, the name of the cluster", "expected 1, the number of")
    assert machine in " ".join(refused.output.split()) and lab.versions() == versions
    site.restore(path, metal3_confirm=NAME, etcd_delete_machines=2).failed("expected 1, the number of")
    began = time.monotonic()
    if site.topology:
        restored_by_a_run_that_was_killed_after_the_data(site, workload, path)
    else:
        restored_by_a_run_that_was_killed_before_the_data(site, workload, path, machine)
    print(f"seconds to a restored control plane, killed once: {time.monotonic() - began:.0f}")
    etcd_site.is_as_saved(site, workload, authority)
    new, = workload.machines("control-plane")
    assert new != machine and workload.machines("pool-a").keys() == before.keys() - {machine}
    assert sorted(workload.nodes()) == sorted([new, *workload.machines("pool-a")])
    etcd_site.keep_running(site, workload, running)
    own, = etcd_site.members(site, new)
    assert own["name"] == new and own["peerURLs"] == [f"https://{workload.address(control_plane=True)}:2380"]
    # Nobody replaces the machine for it.
    assert site.run().ok().changed() == 0 and list(workload.machines("control-plane")) == [new]
