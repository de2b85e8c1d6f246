# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A management plane in memory for descriptions of clusters."""
from __future__ import annotations

import copy

from fakes.kubernetes import Server
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.service import ClusterService
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import precondition
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

IMAGE = {"url": "https://x/a.raw", "checksum": "0" * 64}
OTHER_IMAGE = dict(IMAGE, url="https://x/b.raw")
AUTOSCALER = ("cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size",
              "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size")
PARAMS = {"name": "c1", "namespace": "metal3", "kubernetes_version": "v1.35.4",
          "endpoint": {"host": "198.18.0.10", "holder": "none"},
          "image": IMAGE, "workers": {"one": {"replicas": 3}, "two": {"replicas": 1}}}


class Plane(Server):
    """The server, with Cluster API's defaulting of replicas (``internal/webhooks/machinedeployment.go``)."""

    def __init__(self):
        super().__init__()
        self.meanwhile = {}
        self.conflicts = 0

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        items, version = super().list(resource, namespace, label_selector, field_selector)
        return [item for item in items if item["apiVersion"].rpartition("/")[0] == resource.group], version

    def apply(self, resource, namespace, body, dry_run=False, force=True, checked=None):
        if not dry_run:
            self._happen(resource.kind, body["metadata"]["name"])
        stored = copy.deepcopy(self.objects.get((resource.kind, body["metadata"]["name"])))
        self._compare(stored, checked)
        result = super().apply(resource, namespace, body, dry_run, force)
        if resource.kind == "MachineDeployment" and "replicas" not in result["spec"]:
            result["spec"]["replicas"] = self._default(stored, result["metadata"].get("annotations") or {})
            if not dry_run:
                self.objects[resource.kind, body["metadata"]["name"]] = copy.deepcopy(result)
        return result

    def delete(self, resource, namespace, name, propagation="Background", uid=None, dry_run=False, checked=None):
        if not dry_run:
            self._happen(resource.kind, name)
        if checked is not None:
            self._compare(self.objects.get((resource.kind, name)), checked)
        stored = self.objects.get((resource.kind, name))
        result = super().delete(resource, namespace, name, propagation, uid, dry_run)
        if stored and stored["metadata"].get("finalizers") and not dry_run:
            stored["metadata"]["deletionTimestamp"] = "2026-11-29T08:00:00Z"
            self.objects[resource.kind, name] = stored
            self.touch(resource.kind, name)
        return result

    def _happen(self, kind, name):
        """Let others do what a test wants them to do just before a write."""
        action = self.meanwhile.pop((kind, name), None)
        if action:
            action()

    def _compare(self, stored, checked):
        expected = {} if checked in (None, precondition.ABSENT) else checked["metadata"]
        missing = checked is precondition.ABSENT and stored is not None
        if missing or any(stored is None or stored["metadata"].get(key) != expected[key]
                          for key in ("uid", "resourceVersion") if key in expected):
            self.conflicts += 1
            raise KubeError("the object has been modified", 409, "Conflict")

    def add_members(self, owner, number, cluster="c1"):
        """Give an owner machines, each on a host of its own."""
        pool = ("MachineDeployment", owner) in self.objects
        labels = {"cluster.x-k8s.io/cluster-name": cluster, "cluster.x-k8s.io/deployment-name" if pool
                  else "cluster.x-k8s.io/control-plane": owner if pool else ""}
        for position in range(number):
            name = f"{owner}-{position}"
            self.add("cluster.x-k8s.io/v1beta2", "Machine", name, spec={
                "bootstrap": {}, "infrastructureRef": {"kind": "Metal3Machine", "name": name}})
            self.add("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3Machine", name, spec={})
            self.objects["Machine", name]["metadata"]["labels"] = labels
            self.add("metal3.io/v1alpha1", "BareMetalHost", "host-of-" + name, spec={
                "consumerRef": {"kind": "Metal3Machine", "name": name}})

    def make_ready(self, name, cluster="c1"):
        """Let a Machine, and what it needs of its cluster, be complete."""
        machine = self.objects["Machine", name]
        machine["spec"]["bootstrap"]["dataSecretName"] = "user-data"
        machine["status"] = {"nodeRef": {"name": name}, "initialization": {"infrastructureProvisioned": True},
                             "conditions": [{"type": "Ready", "status": "True"}]}
        self.objects["BareMetalHost", "host-of-" + name]["spec"]["image"] = {"url": "a"}
        self.objects["Cluster", cluster]["status"] = {"initialization": {"infrastructureProvisioned": True}}
        self.objects["Metal3Cluster", cluster]["status"] = {"initialization": {"provisioned": True}}
        for owned in (("Metal3Cluster", cluster), ("KubeadmControlPlane", f"{cluster}-control-plane")):
            self.objects[owned]["metadata"]["ownerReferences"] = [{"kind": "Cluster", "name": cluster}]

    def touch(self, kind, name):
        """Give an object another version, as every write does."""
        self.version += 1
        self.objects[kind, name]["metadata"]["resourceVersion"] = str(self.version)

    @staticmethod
    def _default(stored, annotations):
        if not all(name in annotations for name in AUTOSCALER):
            return 1
        least, most = (int(annotations[name]) for name in AUTOSCALER)
        return least if stored is None else min(max(stored["spec"]["replicas"], least), most)

    def scale(self, name, replicas):
        """Do what an autoscaler does: the API server makes the field its own, through the subresource ``scale``."""
        item = self.objects["MachineDeployment", name]
        item["spec"]["replicas"] = replicas
        for entry in item["metadata"]["managedFields"]:
            entry["fieldsV1"]["f:spec"].pop("f:replicas", None)
        item["metadata"]["managedFields"].append({
            "manager": "cluster-autoscaler", "operation": "Update", "subresource": "scale",
            "fieldsV1": {"f:spec": {"f:replicas": {}}}})

    def add(self, api_version, kind, name, **parts):
        self.objects[kind, name] = dict({"apiVersion": api_version, "kind": kind, "metadata": {
            "name": name, "namespace": "metal3", "uid": "uid-" + name}}, **parts)
        return self.objects[kind, name]

    def names(self, kind):
        return sorted(name for found, name in self.objects if found == kind)

    def spec(self, kind, name):
        return self.objects[kind, name]["spec"]

    def add_machine(self, owner):
        """Give a MachineDeployment a machine of its present templates."""
        template = self.spec("MachineDeployment", owner)["template"]["spec"]["infrastructureRef"]["name"]
        data = self.spec("Metal3MachineTemplate", template)["template"]["spec"]["dataTemplate"]["name"]
        machine = self.add("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3Machine", owner + "-m",
                           spec={"dataTemplate": {"name": data}})
        machine["metadata"]["annotations"] = {"cluster.x-k8s.io/cloned-from-name": template}
        return template, data


def service_of(plane, check_mode=False, prune=True, check_hosts=False, wait_for="none", manifests=(), confirm=None,
               adopt=None, confirm_by_name=False, resource_set="none", rollout="described", plan_only=False,
               verify=False, **changes):
    options = {"check_hosts": check_hosts, "check_network": False, "image_ca_file": None, "wait_for": wait_for,
               "wait_timeout_seconds": 5, "node_startup_timeout_seconds": 5, "prune": prune, "confirm": confirm,
               "confirm_by_name": confirm_by_name, "adopt": adopt, "manifests": list(manifests),
               "resource_set": resource_set, "rollout": rollout, "plan_only": plan_only, "verify": verify}
    return ClusterService(plane, dict(PARAMS, **changes), options, check_mode, Reports(), sleep=lambda seconds: None)


def run(plane, check_mode=False, **arguments):
    return service_of(plane, check_mode, **arguments).present()
