# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the plane's parts by what admission and the scheduler make of their pods, on two nodes that run nothing.

An API server, a controller manager and a scheduler, all real; ``test_plane_part_settings.py`` has real nodes.
"""
from __future__ import annotations

import contextlib
import os
import subprocess

import bare_plane
import leaders
import pytest
from fakes import move_planes
from support import REPOSITORY, eventually, module

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds.resources import Resource
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster.settings import POD_SECURITY_LABEL
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import BY_NAME

pytestmark = pytest.mark.plane

# Nothing becomes ready: long enough for the scheduler, shorter than what a cause has to last to end a run.
SHORT_SECONDS = 25
CAPI, BMO = BY_NAME["capi"], BY_NAME["bmo"]
KEPT, OTHER = "kept", "other"
LABEL = {"example.org/plane": "yes"}
TAINT = {"key": "example.org/kept-for", "value": "plane", "effect": "NoSchedule"}
TOLERATION = {"key": TAINT["key"], "operator": "Exists", "effect": "NoSchedule"}
CLASSES = Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", False)
CLASS, PRIORITY = "management-plane", 1234567


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """An API server with the controllers that make pods, and a scheduler."""
    logs = tmp_path_factory.mktemp("logs")
    with bare_plane.served() as found, contextlib.ExitStack() as running:
        access = [f"--{name}=" + found.kubeconfig(bare_plane.NAME) for name in (
            "kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")]
        for name, own in (("kube-controller-manager", ["--controllers=deployment-controller,replicaset-controller"]),
                          ("kube-scheduler", [])):
            log = running.enter_context(open(logs / name, "wb"))
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", os.path.join(move_planes.programs(), name), *access, *own,
                 "--leader-elect=false", "--secure-port=0"], stdout=log, stderr=log)
            running.callback(process.wait, 30)
            running.callback(process.kill)
        yield found


@pytest.fixture(scope="module")
def target(servers):
    """A client; the cluster has two nodes, of which one is kept for the plane."""
    client = bare_plane.client(servers)
    for name, spec, labels in ((KEPT, {"taints": [TAINT]}, LABEL), (OTHER, {}, {})):
        client.create(KNOWN["Node"], None, {"apiVersion": "v1", "kind": "Node", "spec": spec, "metadata": {
            "name": name, "labels": labels}})
        client.patch(KNOWN["Node"], None, name, {"status": {
            "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}]}}, subresource="status")
        # Of a node without a kubelet, which admission adds.
        client.patch(KNOWN["Node"], None, name, {"spec": {"taints": spec.get("taints")}})
    client.apply(CLASSES, None, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                 "metadata": {"name": CLASS}, "value": PRIORITY})
    return client


def install(servers, part, seconds=0, **settings):
    """Run plane_components for a part, and wait for it when seconds say so."""
    return module("plane_components", kubeconfig=servers.kubeconfig(bare_plane.NAME), certificates="collection",
                  source_dir=str(REPOSITORY / "lab" / "engine"), parts=[dict(settings, name=part.name)],
                  wait=bool(seconds), **({"wait_timeout_seconds": seconds} if seconds else {}))


def newest(target, part):
    """Return what a part's newest pod is to be; those before stay, because it never becomes ready."""
    stored = target.get(KNOWN["Deployment"], part.namespace, next(iter(part.images)))
    pods = sorted(leaders.pods(target, stored).values(), key=lambda pod: pod["metadata"]["creationTimestamp"])
    return pods[-1]["spec"] if pods else {}


def test_a_taint_that_is_not_tolerated_is_named_beside_the_selector(servers, target):
    with pytest.raises(AssertionError) as caught:
        install(servers, CAPI, SHORT_SECONDS, node_selector=LABEL)
    assert "had untolerated taint" in str(caught.value)
    assert "correct node_selector or affinity, or label a node; set tolerations, or remove the taint" in str(
        caught.value)


def test_a_priority_class_that_is_not_there_is_named(servers, target):
    with pytest.raises(AssertionError) as caught:
        install(servers, CAPI, SHORT_SECONDS, priority_class="no-such-class")
    assert ("no PriorityClass with name no-such-class was found; create the PriorityClass, or correct "
            "priority_class") in str(caught.value)


def test_the_pod_is_on_the_node_that_is_kept_for_it_with_its_priority(servers, target):
    install(servers, CAPI, node_selector=LABEL, tolerations=[TOLERATION], priority_class=CLASS,
            pod_security="restricted")
    eventually(lambda: newest(target, CAPI).get("nodeName") == KEPT, 60, "the pod on the node that is kept for it")
    assert newest(target, CAPI)["priority"] == PRIORITY
    with pytest.raises(KubeError, match='violates PodSecurity "restricted:latest": host namespaces'):
        target.create(KNOWN["Pod"], CAPI.namespace, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {
                "serviceAccountName": "capi-manager", "hostNetwork": True,
                "containers": [{"name": "a", "image": "a"}]}}, dry_run=True)


def test_settings_that_are_taken_back_leave_the_shipped_pod(servers, target):
    assert install(servers, CAPI)["changed"]
    eventually(lambda: newest(target, CAPI).get("nodeName") == OTHER, 60, "the pod on the other node")
    assert newest(target, CAPI)["priority"] == 0
    assert POD_SECURITY_LABEL not in target.get(KNOWN["Namespace"], None, CAPI.namespace)["metadata"]["labels"]
    assert not install(servers, CAPI)["changed"]


def ironic(servers):
    return module("plane_ironic", kubeconfig=servers.kubeconfig(bare_plane.NAME), namespace=BMO.namespace, tls="none",
                  authentication="none", provisioning_ip="192.0.2.1", wait=False,
                  deploy_kernel_url="http://192.0.2.1/vmlinuz", deploy_ramdisk_url="http://192.0.2.1/initrd",
                  source_dir=str(REPOSITORY / "lab" / "engine"))


def test_ironic_and_the_operator_agree_on_the_level_of_their_namespace(servers, target):
    ironic(servers)
    with pytest.raises(AssertionError, match="set pod_security=privileged for bmo"):
        install(servers, BMO, pod_security="restricted")
    install(servers, BMO, pod_security="privileged")
    assert not ironic(servers)["changed"] and not install(servers, BMO, pod_security="privileged")["changed"]
    assert install(servers, BMO)["changed"]
    assert POD_SECURITY_LABEL not in target.get(KNOWN["Namespace"], None, BMO.namespace)["metadata"]["labels"]
    assert not ironic(servers)["changed"] and not install(servers, BMO)["changed"]
