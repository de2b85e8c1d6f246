# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes asked, each by a pod of its own, whether they reach the Ironic that takes over."""
from __future__ import annotations

import itertools
import json
import socket
import subprocess
import sys

import pytest
from fakes.planes import NAMESPACE, obj

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import reach
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._elsewhere import answered, asking
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.pods import short_pod
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.nodes import question as node_question
from ansible_collections.metal3.baremetal.plugins.module_utils._move.nodes.asked import NodesAsked

IRONIC = "baremetal-operator-system"
PARAMS = {"namespace": NAMESPACE, "ironic_namespace": IRONIC, "ironic_deployment": "ironic", "image": None,
          "pod_namespace": "kube-system", "timeout_seconds": 30}
REACHED = b'[{"reached": true}, {"reached": true}]'
TARGETS = ["192.0.2.20:6385", "192.0.2.20:6180"]
NOBODY = "no node of a cluster, so that nobody can be asked there"


def ironic(mounts=(), **variables):
    config = obj("v1", "ConfigMap", "ironic-configmap", data=dict(
        {"PROVISIONING_IP": "192.0.2.20", "HTTP_PORT": "6180"}, **variables))
    containers = [{"name": "httpd", "image": "other"}, {
        "name": "ironic", "image": "registry.example.org/ironic:v1", "envFrom": [{"configMapRef": {
            "name": "ironic-configmap"}}], "volumeMounts": [{"mountPath": path} for path in mounts]}]
    return obj("apps/v1", "Deployment", "ironic", status={"availableReplicas": 1},
               spec={"template": {"spec": {"containers": containers}}}), config


@pytest.fixture(autouse=True)
def _objects(here, there):
    """A node of a cluster, a free host, and an Ironic over there."""
    here.objects["Metal3Machine", "m"] = obj("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3Machine", "m",
                                             ("Machine", "m"), spec={})
    here.objects["Machine", "m"]["spec"]["clusterName"] = "c"
    for item in ironic():
        there.objects[item["kind"], item["metadata"]["name"]] = item


class Cluster:
    """A workload cluster whose pods end as they are told, each at the second look.

    :ivar ends: node's name → what its pod prints, or the status that it stays in
    """

    def __init__(self, ends, refused=()):
        self.ends, self.refused, self.pods, self.made, self.looks = ends, refused, {}, [], {}

    def request(self, _method, path, **_more):
        assert path == "/version"

    def get(self, _resource, namespace, name):
        found = self.pods.get((namespace, name))
        if found is None or "spec" not in found:
            return found
        self.looks[name] = self.looks.get(name, 0) + 1
        end = self.ends[found["spec"]["nodeName"]]
        if isinstance(end, dict):
            return dict(found, status=end)
        return dict(found, status={"phase": "Succeeded" if self.looks[name] > 1 else "Running"})

    def create(self, _resource, namespace, body):
        if body["spec"]["nodeName"] in self.refused:
            raise KubeError("pods is forbidden: violates PodSecurity", 403)
        self.made.append(body)
        self.pods[namespace, body["metadata"]["name"]] = dict(body, metadata=dict(body["metadata"], uid="new"))
        return self.pods[namespace, body["metadata"]["name"]]

    def delete(self, _resource, namespace, name, uid=None):
        assert self.pods.pop((namespace, name))["metadata"]["uid"] == uid

    def beginning(self, path, _query, _subject, _limit):
        name = path.split("/")[-2]
        return self.ends[next(item for item in self.made if item["metadata"]["name"] == name)["spec"]["nodeName"]]


def asked(here, there, cluster, check_mode=False, **options):
    moments, others = itertools.count(), []

    def client_of(client, namespace, name):
        assert client is here and namespace == NAMESPACE
        others.append(name)
        if isinstance(cluster, KubeError):
            raise cluster
        return cluster

    found = NodesAsked(here, there, dict(PARAMS, **options), check_mode, Progress(None), client_of,
                       lambda: next(moments), lambda _seconds: None).result()
    assert not found["changed"] and (cluster is None or isinstance(cluster, KubeError) or cluster.pods == {})
    return found, others


def test_a_node_that_reaches_ironic_is_known_and_its_pod_gone(here, there):
    cluster = Cluster({"m": b"noise\n" + REACHED})
    found, others = asked(here, there, cluster)
    assert others == ["c"] and found["targets"] == TARGETS
    assert [request[1:3] for request in there.requests if request[0] == "GET"] == [
        ("Deployment", "ironic"), ("ConfigMap", "ironic-configmap"), ("Namespace", "kube-system")]
    assert (found["from_uid"], found["to_uid"]) == ("a-kube-system", "b-kube-system")
    assert [(item["status"], item["text"]) for item in found["checks"]] == [
        ("unknown", f"BareMetalHost free: {NOBODY}"), ("ok", "BareMetalHost used: reached from Node m of cluster c")]
    made, = cluster.made
    spec = made["spec"]
    assert spec["nodeName"] == "m" and spec["hostNetwork"] and spec["tolerations"] == [{"operator": "Exists"}]
    assert made["metadata"]["namespace"] == "kube-system"
    assert not spec["automountServiceAccountToken"] and spec["activeDeadlineSeconds"] == 30
    assert spec["containers"][0]["image"] == "registry.example.org/ironic:v1"
    assert json.loads(spec["containers"][0]["command"][-1]) == [
        ["tcp", "192.0.2.20", 6385, 5], ["tcp", "192.0.2.20", 6180, 5]]
    assert node_question.read(found["checks"]) == (
        [], [], f"hosts: 1 reach the Ironic over there, asked from their nodes; of free it is not known ({NOBODY})")


def test_what_is_not_reached_names_host_node_address_and_port(here, there):
    found, _others = asked(here, there, Cluster({"m": b'[{"reached": true}, {"words": "no answer within 5 s"}]'}))
    (problem,), warnings, words = node_question.read(found["checks"])
    assert str(problem).startswith(
        "BareMetalHost used: found no answer within 5 s at 192.0.2.20:6180, asked from Node m of cluster c, expected a "
        "server that reaches the Ironic over there; look at the routes and firewalls")
    assert str(problem) == found["checks"][1]["text"] and warnings == [] and words.startswith("hosts: of free ")


WAITING = {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {
    "reason": "ErrImagePull", "message": "no"}}}]}


@pytest.mark.parametrize("cluster, reason", [
    (Cluster({"m": WAITING}), "ErrImagePull: no"),
    (Cluster({"m": {"phase": "Failed", "reason": "OutOfpods", "message": "full"}}), "OutOfpods: full"),
    (Cluster({"m": b"python3: not found"}), "no answer of its pod"),
    (Cluster({"m": b'["only one"]'}), "no answer of its pod"),
    (Cluster({}, refused=["m"]), "violates PodSecurity"),
    (KubeError("no answer of https://192.0.2.100:6443"), "no answer of https://192.0.2.100:6443"),
    (None, f"Secret {NAMESPACE}/c-kubeconfig: found none")],
    ids=["image", "room", "python", "answer", "security", "silent", "kubeconfig"])
def test_a_node_that_can_not_be_asked_is_a_warning_with_the_reason(here, there, cluster, reason):
    problems, (warning,), _words = node_question.read(asked(here, there, cluster)[0]["checks"])
    assert problems == [] and reason in warning
    assert "BareMetalHost used: not asked from Node m of cluster c: " in warning


def test_one_node_that_can_not_be_asked_hides_no_other(here, there):
    for name in ("n", "o"):
        here.objects["BareMetalHost", name] = obj("metal3.io/v1alpha1", "BareMetalHost", name,
                                                  spec={"consumerRef": {"name": name}})
        here.objects["Metal3Machine", name] = obj("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3Machine", name,
                                                  ("Machine", name), spec={})
        here.objects["Machine", name] = obj("cluster.x-k8s.io/v1beta2", "Machine", name, spec={"clusterName": "c"},
                                            status={"nodeRef": {"name": name}})
    cluster = Cluster({"m": REACHED, "n": WAITING}, refused=["o"])
    checks = asked(here, there, cluster)[0]["checks"]
    assert [(item["subject"].split()[1], item["status"]) for item in checks] == [
        ("free", "unknown"), ("n", "warning"), ("o", "warning"), ("used", "ok")]


def test_in_check_mode_no_pod_is_made(here, there):
    cluster = Cluster({})
    found, others = asked(here, there, cluster, check_mode=True)
    assert others == [] and cluster.made == []
    assert found["checks"][1]["text"] == ("BareMetalHost used: a run without check mode asks from Node m of cluster c "
                                          "for 192.0.2.20:6385 and 192.0.2.20:6180")


def test_an_ironic_that_does_not_say_where_it_is_leaves_all_unknown(here, there):
    there.objects["ConfigMap", "ironic-configmap"]["data"].pop("PROVISIONING_IP")
    checks = asked(here, there, Cluster({}))[0]["checks"]
    assert [item["status"] for item in checks] == ["unknown", "unknown"]
    assert "does not say which address Ironic has" in checks[0]["text"]
    there.objects["Deployment", "ironic"]["status"] = {}
    assert "with an available pod" in asked(here, there, Cluster({}))[0]["checks"][0]["text"]


def test_a_right_that_is_missing_leaves_all_unknown_and_the_report_to_the_check_of_both_planes(
        here, there, monkeypatch):
    def forbidden(*_arguments):
        raise KubeError("forbidden", 403)

    monkeypatch.setattr(there, "get", forbidden)
    checks = asked(here, there, Cluster({}))[0]["checks"]
    assert [item["status"] for item in checks] == ["unknown", "unknown"] and "can't be read" in checks[0]["text"]
    monkeypatch.setattr(here, "list", forbidden)
    assert asked(here, there, Cluster({}))[0]["checks"] == []


@pytest.mark.parametrize("variables, mounts, expected", [
    ({}, (), TARGETS),
    ({"IRONIC_EXTERNAL_IP": "198.51.100.1", "IRONIC_LISTEN_PORT": "7000"}, (), ["198.51.100.1:7000",
                                                                                "198.51.100.1:6180"]),
    ({"PROVISIONING_IP": "2001:db8::1", "VMEDIA_TLS_PORT": "6183"}, ("/certs/vmedia",), [
        "[2001:db8::1]:6385", "[2001:db8::1]:6180", "[2001:db8::1]:6183"]),
    ({"VMEDIA_TLS_PORT": "6183"}, ("/certs/ironic",), TARGETS)])
def test_where_servers_reach_an_ironic_is_read_from_its_environment(variables, mounts, expected):
    deployment, config = ironic(mounts, **variables)
    found = node_question.places(deployment, {"ironic-configmap": config})
    assert [str(place) for place in found] == expected


@pytest.mark.parametrize("variables, mounts, words", [
    ({"HTTP_PORT": "\u00b2"}, (), "HTTP_PORT: found"), ({"HTTP_PORT": "9" * 5000}, (), "HTTP_PORT: found"),
    ({"IRONIC_LISTEN_PORT": "70000"}, (), "IRONIC_LISTEN_PORT: found"), ({"HTTP_PORT": "-1"}, (), "a number from 1"),
    ({"VMEDIA_TLS_PORT": "x\x1b[2J"}, ("/certs/vmedia",), "VMEDIA_TLS_PORT: found"),
    ({"HTTP_PORT": ["6180"]}, (), "HTTP_PORT: found"),
    ({"IRONIC_EXTERNAL_IP": "192.0.2.1\n-x"}, (), "address: found"), ({"PROVISIONING_IP": 7.5}, (), None),
    ({"IRONIC_EXTERNAL_IP": "a" * 300}, (), "address: found"), ({"IRONIC_EXTERNAL_IP": "fe80::1%x"}, (), "address: ")])
def test_what_is_no_place_over_there_ends_no_run_and_is_asked_nobody(here, there, variables, mounts, words):
    """Whoever rules the plane over there writes it."""
    for item in ironic(mounts, **variables):
        there.objects[item["kind"], item["metadata"]["name"]] = item
    cluster = Cluster({"m": b'["", ""]'})
    checks = asked(here, there, cluster)[0]["checks"]
    if words is None:
        return
    assert cluster.made == [] and [item["status"] for item in checks] == ["warning", "warning"]
    assert all(words in item["text"] and item["text"].isprintable() for item in checks)


def test_an_environment_of_other_shapes_says_nothing(here, there):
    containers = there.objects["Deployment", "ironic"]["spec"]["template"]["spec"]["containers"]
    containers[1]["envFrom"] = [{"secretRef": {"name": "s"}}, {"configMapRef": {}}, {"configMapRef": None}]
    assert "does not say which address" in asked(here, there, Cluster({}))[0]["checks"][0]["text"]


def test_a_name_of_any_length_gives_a_pod_a_name():
    made = node_question.pod("n" * 253, "kube-system", "i", [], 1)
    assert len(made["metadata"]["name"]) <= 63 and made["metadata"]["labels"] == {
        short_pod.NAME_LABEL: node_question.LABEL}


def test_the_pods_program_asks_for_each_place():
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        places = [("127.0.0.1", item.getsockname()[1], "tcp") for item in (listening, closed)]
        command = asking.command(reach.questions(places))
        done = subprocess.run([sys.executable, *command[1:]], capture_output=True, check=True, timeout=60)
    words = [answered.unreached(answer) for answer in answered.read(done.stdout, 2)]
    assert words == ["", "connection refused"] and done.stderr == b""
