# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that tests change step by step, as the operator of an inventory does: made, run again, and deleted."""
from __future__ import annotations

import contextlib

import pytest
import small_cluster
import starting_state
from consoles import resets
from remediation_watch import RemediationWatch
from support import NAMESPACE, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects.conditions import is_true
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

SECONDS = 1500


def health_check(**more):
    """Return a pool's options with a health check that reboots soon; more of it by name."""
    return {"health_check": dict({"unhealthy_conditions": [
        {"type": "Ready", "status": "Unknown", "timeout_seconds": 40},
        {"type": "Ready", "status": "False", "timeout_seconds": 40}], "reboot_retry_limit": 1,
        "reboot_timeout_seconds": 300}, **more)}


class Site:
    """The inventory's description of the cluster, which the tests change; what is left out stays as it was.

    :param lab: a Lab
    :param name: the cluster's name
    :param pool: options of its pool of workers
    :param variables: what is given to the playbooks, of :func:`small_cluster.variables`
    """

    def __init__(self, lab, name, pool, variables):
        self.lab, self.name, self.pool, self.variables = lab, name, pool, variables

    def extra(self, confirm=0, pool=None, **changes):
        """Return extra variables; changes of the pool and of the whole stay for the runs that follow.

        :param confirm: number of machines that may go
        :param pool: options that change; None takes one away
        """
        self.pool.update(pool or {})
        self.pool = dict((name, value) for name, value in self.pool.items() if value is not None)
        self.variables.update(changes)
        return dict(self.variables, cluster_workers={"pool-a": self.pool}, metal3_confirm=str(confirm or ""))

    def run(self, *arguments, playbook="cluster", **changes):
        """Run a playbook to its end with the description as it is after the changes."""
        return self.lab.playbook(playbook, *arguments, extra=self.extra(**changes), seconds=SECONDS)


def reboots_the_machine_whose_kubelet_dies(lab, room, workload):
    """Stop the kubelet of a worker, see its server rebooted once and its node come back, and return the node's name.

    Its pods are deleted by a taint, which it has only while it is off: then nothing of them runs twice.

    :param room: a MachineRoomClient
    :param workload: a Workload whose pool ``pool-a`` has the health check
    """
    machines, asked = workload.hosts(), resets(lab)
    name, server = sorted(workload.hosts("pool-a").items())[0]
    watch = RemediationWatch(workload, room, name, server)
    with watch.running():
        workload.inside(server, "systemctl", "stop", "kubelet")
        eventually(lambda: lab.kube.list(KNOWN["Metal3Remediation"], NAMESPACE)[0], 240, "a Metal3Remediation")
        eventually(lambda: name not in workload.ready(), 240, "the node is not Ready", interval_seconds=1)
        eventually(lambda: len(workload.ready()) == len(machines), 600, "the node is Ready again", interval_seconds=1)
        eventually(lambda: not lab.kube.list(KNOWN["Metal3Remediation"], NAMESPACE)[0], 300, "no Metal3Remediation")
        eventually(lambda: watch.moments and not watch.moments[-1].tainted, 60, "the taint is gone")
    print(f"taint, power and pods of the node: {watch.moments}")
    watch.check()
    assert workload.hosts() == machines, "it was replaced"
    assert asked() == [server]
    return name


def node_ready(lab, name):
    """Return whether Cluster API says that a Machine's node is Ready."""
    return is_true(lab.kube.get(KNOWN["Machine"], NAMESPACE, name), "NodeReady")


def etcd_is_healthy(lab, control_plane):
    """Return whether Cluster API says that all etcd members of a KubeadmControlPlane are healthy."""
    return is_true(lab.kube.get(KNOWN["KubeadmControlPlane"], NAMESPACE, control_plane), "EtcdClusterHealthy")


@contextlib.contextmanager
def made(site):
    """Make a site's cluster, on all of the lab's servers but one to spare, and delete it afterwards.

    :param site: what has ``lab``, ``name``, ``variables`` and ``run``, as a Site
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        try:
            starting_state.free_direct(site.lab, SECONDS)
            site.run().ok()
            yield site
        finally:
            extra = dict(site.variables, **small_cluster.teardown(site.name))
            site.lab.playbook("teardown", extra=extra, seconds=SECONDS).ok()
