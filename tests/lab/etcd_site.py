# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster whose etcd tests save and restore: its description, its snapshots, and the playbooks of both."""
from __future__ import annotations

import contextlib
from pathlib import Path

import living_cluster
import pyrage
import small_cluster
from support import NAMESPACE, eventually, module
from workload import AGNHOST, ECHO, NODE_PORT, Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.snapshot import PAUSED_ANNOTATION
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd import control_plane, receiver
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd import site as sites
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

SECONDS = 2400
CONFIG_MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {name: %s, namespace: default}
data: {a: "1"}
"""


class EtcdSite:
    """The cluster, its kubeconfig as it was first, and where its snapshots go.

    :param lab: a Lab
    :param name: the cluster's name
    :param folder: Path of a folder for the snapshots and their key
    :param topology: whether it is a cluster by ClusterClass
    :param more: variables in place of those of a control plane machine and a worker
    """

    def __init__(self, lab, name, folder, topology, **more):
        self.lab, self.name, self.folder, self.topology = lab, name, folder, topology
        self.variables = dict(small_cluster.variables(lab, name, {}, endpoint=14),
                              cluster_workers={"pool-a": {"replicas": 1}},
                              cluster_options=dict(small_cluster.labs_options(), topology=topology), **more)
        identity = pyrage.x25519.Identity.generate()
        self.identity_file, self.recipient = folder / "identity.txt", str(identity.to_public())
        self.identity_file.write_text(f"{identity}\n")
        self.kubeconfig = folder / "kubeconfig-of-before"

    def run(self, *arguments, playbook="cluster", **extra):
        return self.lab.playbook(playbook, *arguments, extra=dict(self.variables, **extra), seconds=SECONDS)

    def snapshot(self, *arguments, **extra):
        return self.run(*arguments, playbook="etcd_snapshot", etcd_cluster=self.name,
                        etcd_directory=str(self.folder / "snapshots"), etcd_recipients=[self.recipient],
                        etcd_identity_file=str(self.identity_file), **extra)

    def restore(self, path, *arguments, **extra):
        return self.run(*arguments, playbook="etcd_restore", etcd_cluster=self.name, etcd_path=str(path),
                        etcd_identity_file=str(self.identity_file), **extra)

    def begin_restore(self, path, **extra):
        extra.update(etcd_cluster=self.name, etcd_path=str(path), etcd_identity_file=str(self.identity_file))
        return self.lab.start("etcd_restore", extra=dict(self.variables, **extra))

    def files(self):
        return sorted(self.folder.glob("snapshots/*.age"))


@contextlib.contextmanager
def made(site):
    """Make the cluster of an EtcdSite, keep its kubeconfig, and delete it afterwards."""
    with living_cluster.made(site):
        site.kubeconfig.write_bytes(Path(site.variables["cluster_workload_kubeconfig"]).read_bytes())
        yield site


def workload_of(site):
    """Give the cluster a Service of two pods and an object to lose; return it, asked with the kubeconfig of before."""
    apply(site, ECHO % (AGNHOST, AGNHOST, NODE_PORT), CONFIG_MAP % "kept")
    return Workload(site.lab, site.name, site.kubeconfig)


def apply(site, *manifests):
    module("manifests", kubeconfig=str(site.lab.dir / "kubeconfig"), cluster_name=site.name, manifests=list(manifests))


def lose_and_add(site, workload):
    """Delete what the snapshot has, and store what it has not."""
    workload.client.delete(KNOWN["ConfigMap"], "default", "kept")
    apply(site, CONFIG_MAP % "later")


def containers(workload, part):
    """Return what runs on the nodes whose names have a part in them: each container and when it was started."""
    return sorted(
        (pod["metadata"]["name"], status["containerID"], status["restartCount"])
        for pod in workload.client.list(KNOWN["Pod"])[0] if part in pod["spec"].get("nodeName", "")
        for status in pod["status"].get("containerStatuses") or [])


def plane_of(site):
    return site.lab.kube.get(KNOWN["KubeadmControlPlane"], NAMESPACE, f"{site.name}-control-plane")


def authority_of(site):
    return site.lab.kube.get(KNOWN["Secret"], NAMESPACE, f"{site.name}-ca")["data"]


def is_as_saved(site, workload, authority):
    """Check that the data is that of the snapshot, kubeconfigs of before count, and nothing of the restore is left."""
    client = workload.client
    assert client.get(KNOWN["ConfigMap"], "default", "kept")["data"] == {"a": "1"}
    assert client.get(KNOWN["ConfigMap"], "default", "later") is None
    assert authority_of(site) == authority
    assert not {control_plane.NOTE, PAUSED_ANNOTATION} & set(plane_of(site)["metadata"].get("annotations") or {})
    assert site.lab.kube.get(KNOWN["Secret"], NAMESPACE, receiver.secret_name(site.name)) is None


def keep_running(site, workload, before):
    """Check that no container of before on the workers was started anew, and their Service answers."""
    count = len(workload.machines())
    eventually(lambda: len(workload.ready()) == count, 300, f"{count} nodes are Ready", interval_seconds=1)
    assert set(before) <= set(containers(workload, "pool-a")), "a container on the worker was started anew"
    assert workload.answers(workload.address(control_plane=False))


def members(site, node):
    """Return etcd's members, as that of a Node has them."""
    lab = site.lab
    context = sites.context_of(lab.kube, sites.read(lab.kube, NAMESPACE, site.name))
    return sites.Member(KubeClient({"kubeconfig": str(site.kubeconfig)}), node, context).members()
