# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A management plane in memory whose Cluster API makes clusters of ClusterClasses, as its 1.13 does."""
from __future__ import annotations

import copy

from fakes.clusters import PARAMS, Plane, run, service_of

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks.validation import check_description
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

CAPI = "cluster.x-k8s.io/v1beta2"
OWNED = "topology.cluster.x-k8s.io/owned"
POOL = "topology.cluster.x-k8s.io/deployment-name"
CLONED = "cluster.x-k8s.io/cloned-from-name"
# What others have written on what it makes, and it leaves.
OF_OTHERS = ("cluster.x-k8s.io/paused", "metal3.baremetal/rollout-stopped")


class TopologyPlane(Plane):
    """The server, with the webhooks and the controller of topologies."""

    def __init__(self, has_feature=True):
        super().__init__()
        self.has_feature = has_feature
        self.copies = 0
        # Pools whose number of machines the topology said last.
        self.numbered = set()

    def apply(self, resource, namespace, body, dry_run=False, force=True, checked=None):
        name = body["metadata"]["name"]
        self._judge(resource.kind, body)
        before = copy.deepcopy(self.objects.get((resource.kind, name)))
        result = super().apply(resource, namespace, body, dry_run, force, checked)
        if resource.kind == "Cluster" and not dry_run:
            stored = self.objects["Cluster", name]
            generation = (before or {"metadata": {}})["metadata"].get("generation", 0)
            stored["metadata"]["generation"] = generation + ((before or {}).get("spec") != stored["spec"])
            result = copy.deepcopy(stored)
        return result

    def delete(self, resource, namespace, name, **more):
        used = [item for (kind, dummy), item in self.objects.items() if kind == "Cluster"
                and item["spec"].get("topology", {}).get("classRef", {}).get("name") == name]
        if resource.kind == "ClusterClass" and used:
            raise KubeError(f"ClusterClass {name} cannot be deleted because it is used by Cluster(s)", 403)
        return super().delete(resource, namespace, name, **more)

    def _judge(self, kind, body):
        """Refuse what the webhooks refuse (``internal/webhooks``)."""
        topology = body.get("spec", {}).get("topology")
        if (topology or kind == "ClusterClass") and not self.has_feature:
            raise KubeError("spec: Forbidden: can be set only if the ClusterTopology feature flag is enabled", 422)
        stored = self.objects.get((kind, body["metadata"]["name"]))
        if not topology or stored is None:
            return
        known = self.objects.get(("ClusterClass", topology["classRef"]["name"]))
        if known is None:
            raise KubeError(f"ClusterClass {topology['classRef']['name']} not found", 422)
        classes = [entry["class"] for entry in known["spec"].get("workers", {}).get("machineDeployments", [])]
        for pool in topology.get("workers", {}).get("machineDeployments", []):
            if pool["class"] not in classes:
                raise KubeError(f"MachineDeploymentClass {pool['class']} does not exist", 422)

    def reconcile(self, name="c1", pending=()):
        """Do what the controller of topologies does (``internal/controllers/topology/cluster``).

        :param pending: pools whose upgrade waits for the control plane
        """
        cluster = self.objects["Cluster", name]
        topology = cluster["spec"]["topology"]
        made_class = self.spec("ClusterClass", topology["classRef"]["name"])
        cluster["metadata"]["labels"] = dict(cluster["metadata"]["labels"], **{OWNED: ""})
        cluster["spec"].update(
            infrastructureRef={"kind": "Metal3Cluster", "name": name},
            controlPlaneRef={"kind": "KubeadmControlPlane", "name": f"{name}-control-plane"})
        template = made_class["infrastructure"]["templateRef"]
        self._put("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3Cluster", name, copy.deepcopy(
            self.spec("Metal3ClusterTemplate", template["name"])["template"]["spec"]), {})
        plane = made_class["controlPlane"]
        current = self.objects.get(("KubeadmControlPlane", f"{name}-control-plane"))
        spec = copy.deepcopy(self.spec("KubeadmControlPlaneTemplate", plane["templateRef"]["name"])["template"]["spec"])
        # As the webhook fills it in.
        spec["kubeadmConfigSpec"]["format"] = "cloud-config"
        spec.update(version=topology["version"], replicas=topology["controlPlane"]["replicas"], machineTemplate={
            "spec": {"infrastructureRef": self._copied(
                plane["machineInfrastructure"], current and current["spec"]["machineTemplate"]["spec"][
                    "infrastructureRef"])}})
        annotations = dict(topology["controlPlane"].get("metadata", {}).get("annotations", {}))
        annotations[CLONED] = plane["templateRef"]["name"]
        self._put("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane", f"{name}-control-plane", spec, {},
                  annotations)
        pools = topology.get("workers", {}).get("machineDeployments", [])
        for pool in pools:
            if pool["name"] not in pending:
                self._pool(name, topology, made_class, pool)
        wanted = [f"{name}-{pool['name']}" for pool in pools]
        for found in [key for key in self.objects if key[0] == "MachineDeployment" and key[1] not in wanted]:
            if self.objects[found]["metadata"].get("finalizers"):
                self.objects[found]["metadata"]["deletionTimestamp"] = "2026-11-29T08:00:00Z"
            else:
                del self.objects[found]
        cluster["status"] = {"conditions": [{
            "type": "TopologyReconciled", "status": "False" if pending else "True",
            "message": "pending upgrade" if pending else "",
            "observedGeneration": cluster["metadata"]["generation"]}]}

    def follow(self):
        """Do so for a cluster whose control plane is initialized, and stays so."""
        self.reconcile()
        self.objects["Cluster", "c1"]["status"]["initialization"] = {
            "controlPlaneInitialized": True, "infrastructureProvisioned": True}

    def _pool(self, name, topology, made_class, pool):
        owner = f"{name}-{pool['name']}"
        about = next(entry for entry in made_class["workers"]["machineDeployments"] if entry["class"] == pool["class"])
        current = self.objects.get(("MachineDeployment", owner))
        machine = (current or {}).get("spec", {}).get("template", {}).get("spec", {})
        spec = {"template": {"spec": {
            "version": topology["version"],
            "bootstrap": {"configRef": self._copied(about["bootstrap"], machine.get("bootstrap", {}).get("configRef"))},
            "infrastructureRef": self._copied(about["infrastructure"], machine.get("infrastructureRef"))}}}
        if pool.get("failureDomain"):
            spec["template"]["spec"]["failureDomain"] = pool["failureDomain"]
        annotations = pool.get("metadata", {}).get("annotations", {})
        spec["replicas"] = self._number(owner, pool, current, annotations)
        self._put(CAPI, "MachineDeployment", owner, spec, {POOL: pool["name"]}, annotations)

    def _number(self, owner, pool, current, annotations):
        """Return a pool's machines; the webhook has its say only when the topology has just stopped to say it."""
        if "replicas" in pool:
            self.numbered.add(owner)
            return pool["replicas"]
        if current and owner not in self.numbered:
            return current["spec"]["replicas"]
        self.numbered.discard(owner)
        return self._default(current, annotations)

    def _copied(self, part, reference):
        """Return a reference to a copy of a template: the one that is used already, or a new one in its place."""
        named = part["templateRef"]
        source = self.objects[named["kind"], named["name"]]
        if reference:
            item = self.objects[reference["kind"], reference["name"]]
            if item["spec"] == source["spec"]:
                item["metadata"]["annotations"][CLONED] = named["name"]
                return reference
        self.copies += 1
        name = f"c1-copy-{self.copies}"
        item = self.add(named["apiVersion"], named["kind"], name, spec=copy.deepcopy(source["spec"]))
        item["metadata"].update(labels=dict(source["metadata"]["labels"], **{OWNED: ""}),
                                annotations={CLONED: named["name"]})
        return {"apiGroup": named["apiVersion"].partition("/")[0], "kind": named["kind"], "name": name}

    def _put(self, api_version, kind, name, spec, labels, annotations=None):
        before = self.objects.get((kind, name)) or {"metadata": {}}
        kept = before["metadata"].get("annotations") or {}
        annotations = dict(dict((key, kept[key]) for key in OF_OTHERS if key in kept), **(annotations or {}))
        item = self.add(api_version, kind, name, spec=spec, status=before.get("status") or {})
        item["metadata"].update((key, before["metadata"][key]) for key in ("ownerReferences", "finalizers")
                                if key in before["metadata"])
        item["metadata"].update(labels={"cluster.x-k8s.io/cluster-name": "c1", OWNED: "", **labels},
                                annotations=annotations)

    def add_machines(self, owner, number):
        """Give an owner machines that are nodes, made of the templates that it has now."""
        self.add_members(owner, number)
        kind = "MachineDeployment" if ("MachineDeployment", owner) in self.objects else "KubeadmControlPlane"
        spec = self.spec(kind, owner)
        machine = spec["template"]["spec"] if kind == "MachineDeployment" else dict(
            spec["machineTemplate"]["spec"], version=spec["version"])
        for position in range(number):
            name = f"{owner}-{position}"
            item = self.objects["Machine", name]
            item["spec"].update(version=machine["version"], bootstrap={"configRef": {
                "kind": "KubeadmConfig", "name": name}})
            item["status"] = {"nodeRef": {"name": name}}
            if kind == "MachineDeployment":
                config = self.add("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig", name, spec={})
                config["metadata"]["annotations"] = {CLONED: machine["bootstrap"]["configRef"]["name"]}
            self.objects["Metal3Machine", name]["metadata"]["annotations"] = {
                CLONED: machine["infrastructureRef"]["name"]}


def add_users_class(plane):
    """Give a plane a user's class, ``theirs``, which is the collection's own of another cluster."""
    items = check_description(dict(PARAMS, topology=True, name="k", workers={"worker": {"replicas": 1}})).objects
    for item in items:
        if item["kind"] in ("Metal3ClusterTemplate", "KubeadmControlPlaneTemplate", "KubeadmConfigTemplate",
                            "Metal3MachineTemplate"):
            plane.add(item["apiVersion"], item["kind"], item["metadata"]["name"], spec=item["spec"])
    made = next(item for item in items if item["kind"] == "ClusterClass")
    plane.add(CAPI, "ClusterClass", "theirs", spec=dict(made["spec"], variables=[{"name": "image"}, {"name": "a"}]))
    for item in plane.objects.values():
        item["metadata"]["labels"] = {}


def ready_by_class(found=None, **description):
    """Return a plane with a cluster by ClusterClass, its five machines, and an initialized control plane."""
    found = found or TopologyPlane()
    run(found, topology=True, **description)
    found.follow()
    for owner, number in (("c1-control-plane", 1), ("c1-one", 3), ("c1-two", 1)):
        found.add_machines(owner, number)
    return found


def run_class(plane, asked=None, **options):
    """Run with a Cluster API that follows the topology as soon as somebody waits for it, which ``asked`` counts."""
    service = service_of(plane, **dict({"wait_for": "available", "topology": True}, **options))

    def follow(seconds):
        if asked is not None:
            asked.append(seconds)
        plane.follow()

    service.sleep = follow
    return service.present()
