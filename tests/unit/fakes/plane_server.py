# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server in memory, of a cluster that gets parts of the plane."""
from __future__ import annotations

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import precondition
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

GROUPS = {"cluster.x-k8s.io": ("clusters", "Cluster"), "cert-manager.io": ("issuers", "Issuer")}


def definition(group, plural, kind, version="v1"):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "names": {"plural": plural, "kind": kind}, "scope": "Namespaced",
                     "versions": [{"name": version, "storage": True}]}}


def owned(value):
    """Return the tree of FieldsV1 of what was applied, in which lists are atomic."""
    return dict(("f:" + key, owned(item)) for key, item in value.items()) if isinstance(value, dict) else {}


class Server:
    """Stores what is applied; Deployments are available and namespaces gone at once."""

    server = "https://server"

    def __init__(self):
        self.objects, self.writes, self.probes, self.silent, self.version = {}, [], [], 0, 0
        # Beside what the tables of resources know.
        self.served = {}
        self.serve("/apis/ipam.metal3.io/v1alpha1", "IPPool")
        # Kinds of Kubernetes and of others, as discovery lists them.
        self.serve("/api/v1", "Namespace", namespaced=False)
        self.serve("/api/v1", "Secret", "ConfigMap", "Pod", "PersistentVolumeClaim", "Service",
                   "ServiceAccount", "Event")
        self.serve("/api/v1", "Binding", verbs=["create"])
        self.serve("/apis/apps/v1", "Deployment", "StatefulSet", "DaemonSet")
        self.serve("/apis/batch/v1", "Job", "CronJob")
        self.serve("/apis/rbac.authorization.k8s.io/v1", "Role", "RoleBinding")
        # Kinds that the account may not list.
        self.hidden = set()
        # End of the images that do not start.
        self.broken = ""
        # (kind, name) → what others do just before it is applied.
        self.before = {}
        # What others do just before a deletion.
        self.meanwhile = []
        for group, (plural, kind) in GROUPS.items():
            self.store("CustomResourceDefinition", None, definition(group, plural, kind))

    def store(self, kind, namespace, body, manager="metal3.baremetal"):
        self.version += 1
        name = body["metadata"]["name"]
        stored = dict(body, metadata=dict(
            body["metadata"], uid="u-" + name, resourceVersion=str(self.version),
            managedFields=[{"manager": manager, "operation": "Apply", "fieldsV1": dict(
                owned(dict((key, item) for key, item in body.items() if key not in ("apiVersion", "kind", "metadata"))),
                **{"f:metadata": {"f:labels": owned(body["metadata"].get("labels") or {})}})}]))
        if kind == "CustomResourceDefinition":
            stored["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
        if kind == "Certificate":
            stored["status"] = {"conditions": [{"type": "Ready", "status": "True"}]}
        if kind == "Deployment":
            stored["status"] = {"updatedReplicas": 1, "replicas": 1, "availableReplicas": 1}
            pods = (stored.get("spec") or {}).get("template") or {"spec": {"containers": [{}]}}
            image = pods["spec"]["containers"][0].get("image") or ""
            if self.broken and image.endswith(self.broken):
                stored["status"] = {"updatedReplicas": 1, "replicas": 2, "conditions": [
                    {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
                     "message": "has timed out progressing"}]}
        self.objects[kind, namespace, name] = stored
        return stored

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        if resource.kind in self.hidden:
            raise KubeError("forbidden", 403, "Forbidden")
        return [obj for (kind, where, _name), obj in self.objects.items()
                if kind == resource.kind and namespace in (None, where)], "1"

    def get(self, resource, namespace, name):
        return self.objects.get((resource.kind, namespace, name))

    def apply(self, resource, namespace, body, dry_run=False, checked=None):
        name = body["metadata"]["name"]
        if not dry_run and (resource.kind, name) in self.before:
            self.before.pop((resource.kind, name))()
        stored = self.objects.get((resource.kind, namespace, name))
        if (checked is not None and (stored is None) != (checked is precondition.ABSENT)) or (
                stored is not None and checked is not None
                and precondition.identity(checked) != precondition.identity(stored)):
            raise KubeError("the object has been modified", 409, "Conflict")
        if dry_run:
            return dict(body, metadata=dict(body["metadata"]))
        self.writes.append(body["metadata"]["name"])
        return self.store(resource.kind, namespace, body)

    def patch(self, resource, namespace, name, body, checked=None):
        stored = self.objects[resource.kind, namespace, name]
        assert set(body) == {"metadata"} and precondition.identity(checked) == precondition.identity(stored)
        self.version += 1
        metadata = dict(stored["metadata"], resourceVersion=str(self.version), **body["metadata"])
        self.objects[resource.kind, namespace, name] = dict(stored, metadata=metadata)
        return self.objects[resource.kind, namespace, name]

    def delete(self, resource, namespace, name, dry_run=False, checked=None):
        stored = self.objects[resource.kind, namespace, name]
        if self.meanwhile and not dry_run:
            self.meanwhile.pop()(self)
            stored = self.objects[resource.kind, namespace, name]
        if checked and precondition.identity(checked) != precondition.identity(stored):
            raise KubeError("the object has been modified", 409, "Conflict")
        if not dry_run:
            self.writes.append("-" + name)
            del self.objects[resource.kind, namespace, name]
            if resource.kind == "Namespace":
                self.objects = dict((key, obj) for key, obj in self.objects.items() if key[1] != name)
        return True

    def create(self, resource, namespace, body, dry_run=False):
        assert dry_run
        self.probes.append(resource.kind)
        if self.silent:
            self.silent -= 1
            raise KubeError("failed calling webhook: connection refused", 500)
        return body

    def request(self, _method, path, **_options):
        if path == "/version":
            return {"gitVersion": "v1.35.4"}
        if path == "/apis":
            found = [name[len("/apis/"):] for name in self.served if name.startswith("/apis/")]
            return {"groups": [{"versions": [{"groupVersion": name}]} for name in found]}
        if path not in self.served:
            raise KubeError("not served", 404)
        return {"resources": self.served[path]}

    def serve(self, path, *kinds, namespaced=True, verbs=("get", "list", "delete")):
        """Have kinds of a group and version."""
        self.served.setdefault(path, []).extend(
            {"name": kind.lower() + "s", "kind": kind, "namespaced": namespaced, "verbs": list(verbs)}
            for kind in kinds)

    def serve_monitors(self):
        """Have the definition of the Prometheus operator."""
        self.serve("/apis/monitoring.coreos.com/v1", "ServiceMonitor")
