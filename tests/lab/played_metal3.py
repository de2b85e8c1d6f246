# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In place of CAPM3 1.10, whose Go module no registry here serves, and of kubeadm on its machines.

It answers as Cluster API sees that CAPM3: ``status.ready`` and conditions of v1beta1, no part ``v1beta2``, provider
IDs, addresses, a host with a consumer, finalizers. A machine's Node is written into the workload cluster's API server,
which has no kubelet.
"""
from __future__ import annotations

import threading

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

OLD = "v1beta1"
FINALIZER = "metal3machine.infrastructure.cluster.x-k8s.io"
CLUSTER_FINALIZER = "metal3cluster.infrastructure.cluster.x-k8s.io"
CONTROL_PLANE = "cluster.x-k8s.io/control-plane"
KUBEADM = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: %s\n"
_SECONDS = 0.5
_NOW = "2026-11-28T00:00:00Z"


def old(kind):
    """Return the resource of a kind in v1beta1, of which nothing is converted."""
    return KNOWN[kind]._replace(version=OLD, older=())


def condition(kind, status="True", **more):
    """Return a condition as v1beta1 has it."""
    return dict({"type": kind, "status": status, "lastTransitionTime": _NOW}, **more)


class PlayedMetal3:
    """CAPM3 and kubeadm as a thread; a context manager.

    :param plane: a KubeClient of the management cluster
    :param workload: a KubeClient of the workload cluster
    :param namespace: of the clusters
    :param kubernetes_version: that kubeadm notes
    """

    def __init__(self, plane, workload, namespace, kubernetes_version):
        self.plane, self.workload, self.namespace = plane, workload, namespace
        self.kubernetes_version = kubernetes_version
        self.errors = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_exception):
        self._ended.set()
        self._thread.join(60)

    def _run(self):
        while not self._ended.wait(_SECONDS):
            try:
                self._look()
            except KubeError as exc:
                # Of an object that somebody else has written meanwhile: looked at again.
                self.errors.append(exc.message)

    def _look(self):
        for cluster in self._list("Metal3Cluster"):
            self._cluster(cluster)
        machines = dict((item["metadata"]["uid"], item) for item in self._list("Machine"))
        for item in self._list("Metal3Machine"):
            owner = next((machines[reference["uid"]] for reference in item["metadata"].get("ownerReferences") or []
                          if reference["uid"] in machines), None)
            if item["metadata"].get("deletionTimestamp"):
                self._gone(item)
            elif owner is not None and not (item.get("status") or {}).get("ready"):
                self._machine(item, owner)

    def _list(self, kind):
        return self.plane.list(old(kind), self.namespace)[0]

    def _patch(self, obj, body, subresource=None):
        self.plane.patch(old(obj["kind"]), self.namespace, obj["metadata"]["name"], body, subresource=subresource)

    def _finalizer(self, obj, name):
        found = obj["metadata"].get("finalizers") or []
        if name not in found:
            self._patch(obj, {"metadata": {"finalizers": [*found, name]}})

    def _without(self, obj, name):
        found = obj["metadata"].get("finalizers") or []
        if name in found:
            self._patch(obj, {"metadata": {"finalizers": [item for item in found if item != name]}})

    def _cluster(self, obj):
        if obj["metadata"].get("deletionTimestamp"):
            self._without(obj, CLUSTER_FINALIZER)
        elif not (obj.get("status") or {}).get("ready"):
            self._finalizer(obj, CLUSTER_FINALIZER)
            self._patch(obj, {"status": {"ready": True, "conditions": [
                condition("Ready"), condition("BaremetalInfrastructureReady")]}}, "status")

    def _machine(self, obj, owner):
        if not ((owner.get("spec") or {}).get("bootstrap") or {}).get("dataSecretName"):
            self._patch(obj, {"status": {"conditions": [
                condition("AssociateBMH", "False", severity="Info", reason="WaitingForBootstrapReady")]}}, "status")
            return
        host = next((item for item in self.plane.list(KNOWN["BareMetalHost"], self.namespace)[0]
                     if not item["spec"].get("consumerRef")), None)
        if host is None:
            self._patch(obj, {"status": {"conditions": [condition(
                "AssociateBMH", "False", severity="Error", reason="AssociateBMHFailed",
                message="No available host found")]}}, "status")
            return
        name, node = host["metadata"]["name"], owner["metadata"]["name"]
        provider_id = f"metal3://{self.namespace}/{name}/{obj['metadata']['name']}"
        self._finalizer(obj, FINALIZER)
        self._host(host, {"apiVersion": f"infrastructure.cluster.x-k8s.io/{OLD}", "kind": "Metal3Machine",
                          "name": obj["metadata"]["name"], "namespace": self.namespace}, "provisioned")
        self._patch(obj, {"metadata": {"annotations": {"metal3.io/BareMetalHost": f"{self.namespace}/{name}"}},
                          "spec": {"providerID": provider_id}})
        self._node(node, provider_id, CONTROL_PLANE in (owner["metadata"].get("labels") or {}))
        self._patch(obj, {"status": {
            "ready": True, "addresses": [{"type": "Hostname", "address": node}], "conditions": [
                condition("Ready"), condition("AssociateBMH"), condition("KubernetesNodeReady")]}}, "status")

    def _host(self, host, consumer, state):
        name = host["metadata"]["name"]
        self.plane.patch(KNOWN["BareMetalHost"], self.namespace, name, {"spec": {"consumerRef": consumer}})
        self.plane.patch(KNOWN["BareMetalHost"], self.namespace, name, {"status": {"provisioning": {"state": state}}},
                         subresource="status")

    def _node(self, name, provider_id, is_control_plane):
        labels = {"node-role.kubernetes.io/control-plane": ""} if is_control_plane else {}
        self.workload.apply(KNOWN["Node"], None, {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "spec": {"providerID": provider_id}})
        info = dict.fromkeys(("kernelVersion", "osImage", "containerRuntimeVersion", "kubeProxyVersion", "machineID",
                              "systemUUID", "bootID"), "")
        info.update(kubeletVersion=self.kubernetes_version, operatingSystem="linux", architecture="amd64")
        states = {"Ready": "True", "MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False"}
        self.workload.patch(KNOWN["Node"], None, name, {"status": {"nodeInfo": info, "conditions": [
            dict(condition(kind, state), reason="Played", message="", lastHeartbeatTime=_NOW)
            for kind, state in states.items()]}}, subresource="status")
        if is_control_plane:
            self.workload.apply(KNOWN["ConfigMap"], "kube-system", {
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "kubeadm-config", "namespace": "kube-system"},
                "data": {"ClusterConfiguration": KUBEADM % self.kubernetes_version}})

    def _gone(self, obj):
        for host in self.plane.list(KNOWN["BareMetalHost"], self.namespace)[0]:
            if (host["spec"].get("consumerRef") or {}).get("name") == obj["metadata"]["name"]:
                self._host(host, None, "available")
        self._without(obj, FINALIZER)
