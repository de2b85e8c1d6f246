# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In place of cluster-api-provider-metal-stack, whose Go module no registry here serves: its CRDs and its answers.

The CRDs are written from the fields that its API documents (0.8, ``api/v1alpha1``). The answers are those that Cluster
API sees of it: allocations at a simulated metal-api, provider IDs, ``status.initialization.provisioned``, finalizers.
Cluster API and its kubeadm providers are the lab's real ones.
"""
from __future__ import annotations

import threading

from fakes.metal_api import KEY

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._metalstack.client import MetalClient

GROUP, VERSION = "infrastructure.cluster.x-k8s.io", "v1alpha1"
FINALIZER = "metal-stack.infrastructure.cluster.x-k8s.io/"
CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name"
_TEXT, _FLAG, _NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
_TEXTS = {"type": "array", "items": _TEXT}


def _object(required=(), **properties):
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


_NAMED = _object(["name"], name=_TEXT)
_CONDITIONS = {"type": "array", "items": _object(
    ["lastTransitionTime", "message", "reason", "status", "type"], type=_TEXT, status=_TEXT, reason=_TEXT,
    message=_TEXT, lastTransitionTime=_TEXT, observedGeneration=_NUMBER)}


def _status(**more):
    return _object(["ready"], ready=dict(_FLAG, default=False), failureReason=_TEXT, failureMessage=_TEXT,
                   conditions=_CONDITIONS, initialization=_object(provisioned=_FLAG), **more)


def _rule(peers):
    return {"type": "array", "items": _object(
        ["ports", "protocol", peers], comment=_TEXT, protocol=_TEXT, ports={"type": "array", "items": _NUMBER},
        **{peers: _TEXTS})}


_MACHINE = _object(["image", "size"], providerID=_TEXT, image=_TEXT, size=_TEXT)
_ADDRESSES = {"type": "array", "items": _object(["address", "type"], address=_TEXT, type=_TEXT)}
_SPECS = {
    "MetalStackCluster": (_object(
        ["partition", "projectID"], controlPlaneEndpoint=_object(["host", "port"], host=_TEXT, port=_NUMBER),
        projectID=_TEXT, partition=_TEXT, nodeNetworkID=_TEXT, controlPlaneIP=_TEXT,
        firewallDeploymentRef=_NAMED), _status()),
    "MetalStackMachine": (_MACHINE, _status(addresses=_ADDRESSES)),
    "MetalStackMachineTemplate": (_object(["template"], template=_object(
        apiVersion=_TEXT, kind=_TEXT, metadata={"type": "object"}, spec=_MACHINE)), None),
    "MetalStackFirewallDeployment": (_object(
        ["firewallTemplateRef"], firewallTemplateRef=_NAMED, managedResourceRef=_NAMED,
        autoUpdate=_object(machineImage=_FLAG)), _status()),
    "MetalStackFirewallTemplate": (_object(
        ["image", "networks", "partition", "project", "size"], image=_TEXT, networks=_TEXTS, partition=_TEXT,
        project=_TEXT, size=_TEXT, sshPublicKeys=_TEXTS, initialRuleSet=_object(
            egress=_rule("to"), ingress=_rule("from"))), None)}


def crds():
    """Return the CustomResourceDefinitions, with the labels of the contract."""
    return [_crd(kind, *schemas) for kind, schemas in _SPECS.items()]


def _crd(kind, spec, status):
    plural = kind.lower() + "s"
    schema = _object(apiVersion=_TEXT, kind=_TEXT, metadata={"type": "object"}, spec=spec,
                     **({"status": status} if status else {}))
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}", "labels": {
            "cluster.x-k8s.io/v1beta2": VERSION, "cluster.x-k8s.io/v1beta1": VERSION,
            "cluster.x-k8s.io/provider": "infrastructure-metal-stack"}},
        "spec": {"group": GROUP, "scope": "Namespaced",
                 "names": {"kind": kind, "listKind": kind + "List", "plural": plural, "singular": kind.lower(),
                           "categories": ["cluster-api"]},
                 "versions": [{"name": VERSION, "served": True, "storage": True,
                               "schema": {"openAPIV3Schema": schema},
                               **({"subresources": {"status": {}}} if status else {})}]}}


def rights():
    """Return the ClusterRole by which Cluster API's controllers get at the provider's resources (the contract)."""
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {
        "name": "capi-metal-stack", "labels": {"cluster.x-k8s.io/aggregate-to-manager": "true"}},
        "rules": [{"apiGroups": [GROUP], "resources": [kind.lower() + "s" for kind in _SPECS], "verbs": ["*"]}]}


class Provider:
    """A context in which the provider's resources are answered.

    :param kube: a KubeClient
    :param api: a MetalApi
    :param namespace: the only one that is looked at
    """

    def __init__(self, kube, api, namespace):
        self._kube, self._namespace = kube, namespace
        self._metal = MetalClient({"api_url": api.url, "hmac_key": KEY})
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.error = None

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_exception):
        self._end.set()
        self._thread.join()
        assert self.error is None, self.error

    def _run(self):
        while not self._end.wait(0.3):
            try:
                self._round()
            except KubeError as exc:
                # Others write too; the next round reads again.
                if exc.status not in (404, 409):
                    self.error = exc
                    return
            except Exception as exc:
                self.error = exc
                raise

    def _list(self, kind):
        return self._kube.list(KNOWN[kind], self._namespace)[0]

    def _patch(self, item, change, subresource=None):
        return self._kube.patch(KNOWN[item["kind"]], self._namespace, item["metadata"]["name"], change,
                                subresource=subresource)

    def _round(self):
        clusters = self._list("MetalStackCluster")
        for item in clusters:
            self._cluster(item)
        for item in self._list("MetalStackMachine"):
            self._machine(item, clusters)

    def _cluster(self, item):
        metadata, spec, subject = item["metadata"], item["spec"], f"cluster {item['metadata']['name']}"
        if metadata.get("deletionTimestamp"):
            mine = [machine for machine in self._list("MetalStackMachine")
                    if machine["metadata"]["labels"].get(CLUSTER_LABEL) == metadata["name"]]
            if not mine:
                self._delete_cluster(item, subject)
            return
        if not metadata.get("ownerReferences"):
            return
        if FINALIZER + "cluster" not in metadata.get("finalizers", []):
            self._patch(item, {"metadata": {"finalizers": [FINALIZER + "cluster"]}})
            return
        (deployment,) = [found for found in self._list("MetalStackFirewallDeployment")
                         if found["metadata"]["name"] == spec["firewallDeploymentRef"]["name"]]
        if not deployment["spec"].get("managedResourceRef"):
            (template,) = [found["spec"] for found in self._list("MetalStackFirewallTemplate")
                           if found["metadata"]["name"] == deployment["spec"]["firewallTemplateRef"]["name"]]
            answer = self._metal.call("allocate_firewall", {
                "name": metadata["name"] + "-firewall", "hostname": metadata["name"] + "-firewall",
                "projectid": spec["projectID"], "partitionid": spec["partition"], "imageid": template["image"],
                "sizeid": template["size"], "ssh_pub_keys": [], "firewall_rules": template["initialRuleSet"],
                "networks": [{"networkid": network, "autoacquire": True}
                             for network in [*template["networks"], spec["nodeNetworkID"]]]}, subject=subject)
            self._patch(deployment, {"spec": {"managedResourceRef": {
                "name": f"metal://{spec['partition']}/{answer['id']}"}}})
        if not ((item.get("status") or {}).get("initialization") or {}).get("provisioned"):
            self._patch(item, {"status": {"ready": True, "initialization": {"provisioned": True}}}, "status")

    def _delete_cluster(self, item, subject):
        for deployment in self._list("MetalStackFirewallDeployment"):
            server = (deployment["spec"].get("managedResourceRef") or {}).get("name", "").rpartition("/")[2]
            if server:
                self._metal.call("free_machine", server, subject=subject)
            self._kube.delete(KNOWN["MetalStackFirewallDeployment"], self._namespace, deployment["metadata"]["name"])
        # A static address stays, the network goes, whoever has allocated it (deleteControlPlaneIP, deleteNodeNetwork).
        self._metal.call("free_network", item["spec"]["nodeNetworkID"], subject=subject)
        self._patch(item, {"metadata": {"finalizers": None}})

    def _machine(self, item, clusters):
        metadata, spec, subject = item["metadata"], item["spec"], f"machine {item['metadata']['name']}"
        if metadata.get("deletionTimestamp"):
            if spec.get("providerID"):
                self._metal.call("free_machine", spec["providerID"].rpartition("/")[2], subject=subject)
            self._patch(item, {"metadata": {"finalizers": None}})
            return
        owner = next((reference["name"] for reference in metadata.get("ownerReferences", [])
                      if reference["kind"] == "Machine"), None)
        machine = self._kube.get(KNOWN["Machine"], self._namespace, owner) if owner else None
        secret = ((machine or {}).get("spec") or {}).get("bootstrap", {}).get("dataSecretName")
        if not secret:
            return
        if FINALIZER + "machine" not in metadata.get("finalizers", []):
            self._patch(item, {"metadata": {"finalizers": [FINALIZER + "machine"]}})
            return
        cluster = next(found["spec"] for found in clusters
                       if found["metadata"]["name"] == metadata["labels"][CLUSTER_LABEL])
        if not spec.get("providerID"):
            answer = self._metal.call("allocate_machine", {
                "ssh_pub_keys": [],
                "name": metadata["name"], "hostname": metadata["name"], "projectid": cluster["projectID"],
                "partitionid": cluster["partition"], "imageid": spec["image"], "sizeid": spec["size"],
                "networks": [{"networkid": cluster["nodeNetworkID"], "autoacquire": True}]}, subject=subject)
            self._patch(item, {"spec": {"providerID": f"metal://{cluster['partition']}/{answer['id']}"}})
            return
        server = next(found for found in self._metal.items("find_machines", {}, subject=subject)
                      if found["id"] == spec["providerID"].rpartition("/")[2])
        if server["events"]["log"][0]["event"] == "Phoned Home" and not (item.get("status") or {}).get("ready"):
            self._patch(item, {"status": {
                "ready": True, "initialization": {"provisioned": True},
                "addresses": [{"type": "Hostname", "address": metadata["name"]}]}}, "status")
