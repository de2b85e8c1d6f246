# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which version of a kind an API server is asked for, and what is converted on the way."""
from __future__ import annotations

import json

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.pages import pages
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

CLUSTER, MACHINE, CLAIM = KNOWN["Cluster"], KNOWN["Machine"], KNOWN["IPAddressClaim"]
OLD = "/apis/cluster.x-k8s.io/v1beta1"
NEW = "/apis/cluster.x-k8s.io/v1beta2"


class Server(KubeClient):
    """Serves kinds in some versions.

    :param served: path of a group's version → kinds
    :param objects: path → object, or list of objects
    """

    def __init__(self, served, objects):
        self.served, self.objects, self.sent = served, objects, []

    def request(self, method, path, query=None, body=None, *_arguments, subject=None, stream=False, **_options):
        self.sent.append((method, path, json.loads(json.dumps(body))))
        if path in self.served:
            return {"resources": [{"name": kind.lower() + "s", "kind": kind, "namespaced": True, "verbs": []}
                                  for kind in self.served[path]]}
        if path not in self.objects:
            raise KubeError(f"{subject}: not found", 404, "NotFound")
        found = json.loads(json.dumps(self.objects[path]))
        if stream:
            return Events([{"type": "MODIFIED", "object": item} for item in found["items"]]
                          + [{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9"}}}])
        return dict(found, **dict(body, metadata=found["metadata"])) if method == "PATCH" else found


class Events:
    def __init__(self, events):
        self.events = events

    def stream(self, *_arguments, **_options):
        return iter([json.dumps(event).encode() + b"\n" for event in self.events])

    def close(self):
        """End nothing."""


def cluster(version):
    return {"apiVersion": f"cluster.x-k8s.io/{version}", "kind": "Cluster",
            "metadata": {"name": "prod", "namespace": "metal3", "resourceVersion": "7", "uid": "u"},
            "spec": {"controlPlaneRef": {"apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "namespace": "metal3",
                                         "kind": "KubeadmControlPlane", "name": "prod"}},
            "status": {"infrastructureReady": True, "phase": "Provisioned"}}


def old_plane():
    obj = cluster("v1beta1")
    return Server({OLD: ["Cluster", "Machine"]}, {
        f"{OLD}/namespaces/metal3/clusters/prod": obj, f"{OLD}/namespaces/metal3/clusters": {
            "metadata": {"resourceVersion": "7"}, "items": [obj]}})


def test_a_server_of_the_newest_version_is_asked_nothing_more():
    server = Server({}, {f"{NEW}/namespaces/metal3/clusters": {"metadata": {}, "items": []}})
    assert server.list(CLUSTER, "metal3")[0] == []
    assert [path for _method, path, _body in server.sent] == [f"{NEW}/namespaces/metal3/clusters"]
    assert server.version_of(CLUSTER) == "v1beta2"


def test_an_object_that_is_not_there_is_looked_for_once_more_at_most():
    server = Server({NEW: ["Cluster"]}, {})
    assert server.get(CLUSTER, "metal3", "prod") is None
    assert server.get(CLUSTER, "metal3", "prod") is None
    assert [path for _method, path, _body in server.sent].count(NEW) == 1
    assert server.delete(CLUSTER, "metal3", "prod") is False


def test_an_older_server_is_asked_in_its_version_from_then_on():
    server = old_plane()
    found = server.get(CLUSTER, "metal3", "prod")
    assert found["apiVersion"] == "cluster.x-k8s.io/v1beta2"
    assert found["spec"]["controlPlaneRef"] == {
        "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": "prod"}
    assert found["status"] == {"initialization": {"infrastructureProvisioned": True}, "phase": "Provisioned"}
    assert server.version_of(CLUSTER) == "v1beta1"
    server.sent.clear()
    assert server.list(CLUSTER, "metal3")[0] == [found]
    assert list(pages(server, CLUSTER, "metal3")) == [[found]]
    assert [path for _method, path, _body in server.sent] == [f"{OLD}/namespaces/metal3/clusters"] * 2
    events = list(server.watch(CLUSTER, "metal3", "7"))
    assert [event["object"] for event in events if event["type"] == "MODIFIED"] == [found]


def test_kinds_that_are_not_installed_are_missing_as_before():
    server = Server({}, {})
    with pytest.raises(KubeError) as failed:
        server.list(MACHINE, "metal3")
    assert failed.value.status == 404 and "Machine list" in failed.value.message


def test_who_may_not_ask_what_is_served_learns_the_first_answer():
    class Closed(Server):
        def request(self, method, path, *arguments, **options):
            if path in (OLD, NEW):
                raise KubeError("forbidden", 403, "Forbidden")
            return super().request(method, path, *arguments, **options)

    with pytest.raises(KubeError) as failed:
        Closed({}, {}).list(MACHINE, "metal3")
    assert failed.value.status == 404


def test_addresses_of_the_oldest_version_are_found():
    path = "/apis/ipam.cluster.x-k8s.io/v1alpha1"
    claim = {"metadata": {"name": "c", "namespace": "metal3"}, "spec": {"poolRef": {"name": "p"}}, "status": {
        "conditions": [{"type": "Ready", "status": "False", "severity": "Error", "message": "exhausted"}]}}
    server = Server({path: ["IPAddressClaim"]}, {f"{path}/namespaces/metal3/ipaddressclaims": {
        "metadata": {}, "items": [claim]}})
    [found] = server.list(CLAIM, "metal3")[0]
    assert found["status"]["conditions"] == [{"type": "Ready", "status": "False", "message": "exhausted"}]


def test_what_is_written_is_written_in_the_older_version_with_what_was_checked():
    server = old_plane()
    current = server.get(CLUSTER, "metal3", "prod")
    desired = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
               "metadata": {"name": "prod", "namespace": "metal3"}, "spec": {
                   key: {"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": "prod"}
                   for key in ("controlPlaneRef", "infrastructureRef")}}
    answer = server.apply(CLUSTER, "metal3", desired, checked=current)
    method, path, body = server.sent[-1]
    assert (method, path) == ("PATCH", f"{OLD}/namespaces/metal3/clusters/prod")
    assert body["apiVersion"] == "cluster.x-k8s.io/v1beta1"
    assert (body["metadata"]["uid"], body["metadata"]["resourceVersion"]) == ("u", "7")
    assert body["spec"]["controlPlaneRef"]["apiVersion"] == "controlplane.cluster.x-k8s.io/v1beta1"
    assert answer["spec"] == desired["spec"]


@pytest.mark.parametrize("patch", [
    {"metadata": {"annotations": {"a": "b"}}}, {"spec": {"paused": True}}, {"spec": {"replicas": 2}}])
def test_patches_of_what_is_the_same_in_both_versions_are_sent(patch):
    server = old_plane()
    server.get(CLUSTER, "metal3", "prod")
    server.patch(CLUSTER, "metal3", "prod", patch)
    assert server.sent[-1] == ("PATCH", f"{OLD}/namespaces/metal3/clusters/prod", patch)


def test_what_the_older_version_can_not_say_is_refused_before_it_is_sent():
    server = old_plane()
    server.get(CLUSTER, "metal3", "prod")
    topology = dict(cluster("v1beta2"), spec={"topology": {"classRef": {"name": "c"}}})
    for write, field in (
            (lambda: server.apply(CLUSTER, "metal3", topology), "a Cluster with a topology is only written in v1beta2"),
            (lambda: server.patch(CLUSTER, "metal3", "prod", {"spec": {"controlPlaneRef": None}}),
             "spec.controlPlaneRef: only changed in v1beta2"),
            (lambda: server.patch(CLUSTER, "metal3", "prod", {"status": {}}, subresource="status"),
             "status: only changed in v1beta2")):
        server.sent.clear()
        with pytest.raises(KubeError) as failed:
            write()
        assert server.sent == [] and not failed.value.retriable
        assert f"the API server serves it in v1beta1 only, and {field}" in failed.value.message
