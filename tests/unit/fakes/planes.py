# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""API servers in memory with the kinds of a plane, and what one with a cluster and a free host has."""
from __future__ import annotations

import contextlib
import copy

from fakes.kubernetes import Server
from fakes.plane_server import definition

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import handed_over
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks import rules as checks
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import record
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import (
    CLUSTERCTL_LABEL,
    MOVE_HIERARCHY_LABEL,
    MOVE_LABEL,
)

NAMESPACE = "metal3"
# Nobody can create it, root neither: a test that fails leaves nothing on the machine.
WORK_DIR = "/dev/null/work"
MOVE = {CLUSTERCTL_LABEL: "", MOVE_LABEL: ""}
HIERARCHY = dict(MOVE, **{MOVE_HIERARCHY_LABEL: ""})
DEFINITIONS = (
    ("metal3.io", "baremetalhosts", "BareMetalHost", "v1alpha1", HIERARCHY),
    ("metal3.io", "hardwaredata", "HardwareData", "v1alpha1", MOVE),
    ("metal3.io", "hostfirmwaresettings", "HostFirmwareSettings", "v1alpha1", {CLUSTERCTL_LABEL: ""}),
    ("cluster.x-k8s.io", "clusters", "Cluster", "v1beta2", {CLUSTERCTL_LABEL: ""}),
    ("cluster.x-k8s.io", "machines", "Machine", "v1beta2", {CLUSTERCTL_LABEL: ""}),
    ("infrastructure.cluster.x-k8s.io", "metal3machines", "Metal3Machine", "v1beta2", {CLUSTERCTL_LABEL: ""}),
    ("ipam.metal3.io", "ippools", "IPPool", "v1alpha1", {CLUSTERCTL_LABEL: ""}),
)


def obj(api_version, kind, name, owner=None, **more):
    result = {"apiVersion": api_version, "kind": kind, "metadata": {
        "name": name, "namespace": NAMESPACE, "uid": f"uid-{kind}-{name}", "resourceVersion": "1"}, **more}
    if owner:
        result["metadata"]["ownerReferences"] = [
            {"kind": owner[0], "name": owner[1], "uid": f"uid-{owner[0]}-{owner[1]}"}]
    return result


def host(name, state="available", **spec):
    result = obj("metal3.io/v1alpha1", "BareMetalHost", name, spec=dict(
        {"online": True, "bmc": {"address": f"ipmi://192.0.2.{2 if name == 'free' else 1}"}}, **spec), status={
        "lastUpdated": "2026-11-23T00:00:00Z", "operationalStatus": "OK", "poweredOn": True,
        "provisioning": {"state": state, "ID": "node-" + name}})
    result["metadata"]["annotations"] = {host_annotations.PAUSED: checks.HELD, host_annotations.STATUS: "{}"}
    result["metadata"]["finalizers"] = ["baremetalhost.metal3.io"]
    return result


def world():
    """Return all objects of a plane with a cluster of one machine and a free host."""
    return [
        host("used", "provisioned", consumerRef={"name": "m"}), host("free"),
        obj("v1", "Secret", "used-bmc", ("BareMetalHost", "used")),
        obj("v1", "Secret", "free-bmc", ("BareMetalHost", "free")),
        obj("v1", "Secret", "c-kubeconfig"), obj("v1", "Secret", "unrelated"), obj("v1", "ConfigMap", "unrelated"),
        obj("metal3.io/v1alpha1", "HardwareData", "used", spec={}),
        obj("metal3.io/v1alpha1", "HostFirmwareSettings", "used", ("BareMetalHost", "used"), spec={}),
        obj("cluster.x-k8s.io/v1beta2", "Cluster", "c", spec={}, status={"initialization": {
            "infrastructureProvisioned": True, "controlPlaneInitialized": True}}),
        obj("cluster.x-k8s.io/v1beta2", "Machine", "m", ("Cluster", "c"), spec={"providerID": "metal3://m"},
            status={"nodeRef": {"name": "m"}}),
        obj("ipam.metal3.io/v1alpha1", "IPPool", "p", ("Cluster", "c"), spec={}),
    ]


STAY = {("Secret", "unrelated"), ("ConfigMap", "unrelated")}


class Plane(Server):
    """An API server that keeps what has finalizers, and compares the uid of a patch and of a deletion.

    Its user may do all but what is in ``forbidden``, as ``verb plural``.
    """

    forbidden = frozenset()

    def request(self, _method, path, body=None, **_more):
        assert path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        asked = body["spec"]["resourceAttributes"]
        is_all = asked["verb"] == "*"
        name = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
        return {"status": {"allowed": not self.forbidden if is_all else
                           f"{asked['verb']} {name}" not in self.forbidden}}

    def list(self, resource, namespace=None, *selectors, **more):
        found, version = super().list(resource, namespace, *selectors, **more)
        return [item for item in found if namespace is None
                or item["metadata"].get("namespace", namespace) == namespace], version

    def create(self, resource, namespace, body, dry_run=False):
        name = body["metadata"]["name"]
        self._request("CREATE", resource, name, dry_run)
        if not dry_run:
            assert resource.kind == "Namespace" or name == handed_over.NAME, "clusterctl creates"
            if (resource.kind, name) in self.objects:
                raise KubeError(f"{resource.kind} {name} already exists", 409)
            self.objects[resource.kind, name] = copy.deepcopy(body)
            self.objects[resource.kind, name]["metadata"].setdefault("uid", f"uid-{resource.kind}-{name}")
        return copy.deepcopy(body)

    def _check(self, kind, name, uid):
        stored = self.objects.get((kind, name))
        if stored is None:
            raise KubeError(f"{kind} {name}: not found", 404)
        if uid is not None and stored["metadata"]["uid"] != uid:
            raise KubeError(f"{kind} {name}: another uid", 409)
        return stored

    def patch(self, resource, namespace, name, body, **more):
        metadata = dict(body.get("metadata", {}))
        stored = self._check(resource.kind, name, metadata.pop("uid", None))
        if metadata.pop("finalizers", ()) is None:
            stored["metadata"].pop("finalizers", None)
            if "deletionTimestamp" in stored["metadata"]:
                del self.objects[resource.kind, name]
        if (resource.kind, name) not in self.objects:
            return stored
        return super().patch(resource, namespace, name, dict(body, metadata=metadata), **more)

    def delete(self, resource, namespace, name, uid=None, **more):
        if (resource.kind, name) not in self.objects:
            return False
        stored = self._check(resource.kind, name, uid)
        if stored["metadata"].get("finalizers"):
            self._meet("DELETE", resource, name, more.get("checked"))
            assert "clusterctl.cluster.x-k8s.io/delete-for-move" in stored["metadata"]["annotations"]
            stored["metadata"]["deletionTimestamp"] = "now"
            return True
        return super().delete(resource, namespace, name, **more)


def server(uid, url, objects=()):
    result = Plane()
    # After those that the objects have.
    result.version = 1
    result.server = url
    for group, plural, kind, version, labels in DEFINITIONS:
        item = definition(group, plural, kind, version)
        item["metadata"]["labels"] = dict(labels)
        item["spec"].update(scope="Namespaced")
        item["spec"]["versions"] = [{"name": version, "served": True, "storage": True}]
        result.objects["CustomResourceDefinition", item["metadata"]["name"]] = item
    for name in ("kube-system", NAMESPACE):
        result.objects["Namespace", name] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": name, "uid": f"{uid}-{name}"}}
    for item in objects:
        result.objects[item["kind"], item["metadata"]["name"]] = item
    return result


@contextlib.contextmanager
def at_once(*_arguments):
    """Stand in for what keeps other runs of a machine waiting."""
    yield 0


def managed(of):
    return {key for key, item in of.objects.items() if item["metadata"].get("namespace") == NAMESPACE
            and key[1] not in (record.NAME, handed_over.NAME)}


GATE_IS_OFF = KubeError(
    'ClusterClass fast: admission webhook "validation.clusterclass.cluster.x-k8s.io" denied the request: spec: '
    "Forbidden: can be set only if the ClusterTopology feature flag is enabled", 403)


def classes(here, there, error):
    """Give both planes the kind ClusterClass, this one an object of it, and the other one an answer."""
    asked = []

    def answer(resource, namespace, body, dry_run):
        if resource.kind != "ClusterClass":
            return body
        asked.append((namespace, body["metadata"], dry_run))
        if error is not None:
            raise error
        return body

    there.create = answer
    for side in (here, there):
        item = definition("cluster.x-k8s.io", "clusterclasses", "ClusterClass", "v1beta2")
        item["metadata"]["labels"] = {CLUSTERCTL_LABEL: ""}
        item["spec"].update(scope="Namespaced", versions=[{"name": "v1beta2", "served": True, "storage": True}])
        side.objects["CustomResourceDefinition", item["metadata"]["name"]] = item
    here.objects["ClusterClass", "fast"] = obj("cluster.x-k8s.io/v1beta2", "ClusterClass", "fast", spec={})
    return asked
