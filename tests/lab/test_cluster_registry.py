# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods of a cluster pull through the lab's registry: by upstream's names, with a login, from another authority.

The kubelet of its only machine says the machine's provider ID.
"""
from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import bmc_certificates
import pytest
import registry_store
import small_cluster
from registry_store import IMAGE, PINS, push
from support import NAMESPACE, eventually
from workload import Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import go_mod

pytestmark = [pytest.mark.nodes, pytest.mark.air_gap]

NAME = "mirrored"
SECONDS = 1500
KUBERNETES = PINS.version(go_mod.KUBERNETES)
LOGIN_NEEDED, OTHER_AUTHORITY = "private.example.org", "other-authority.example.org"
SECRET = "registry-login"
# kubeadm makes it.
OF_KUBEADM = "/etc/kubernetes/admin.conf"


@pytest.fixture(scope="module")
def store(lab, tmp_path_factory):
    return registry_store.opened(lab, tmp_path_factory.mktemp("registry"))


@pytest.fixture(scope="module")
def cluster(lab, store):
    """A cluster of one machine that has mirrors for three registries; returns a client of it."""
    (certificate, _key), _signer = bmc_certificates.issue(store.folder, "of-nodes")
    url = f"https://{lab.figures['bridge']['address'].partition('/')[0]}:{lab.figures['ports']['registry']}"
    authority = (lab.dir / "pki" / "ca.crt").read_text()
    variables = dict(
        small_cluster.variables(lab, NAME, {}, endpoint=12),
        cluster_control_plane={
            "replicas": 1, "node_taints": [],
            "pre_commands": [f"test -e {OF_KUBEADM} || touch /root/before"],
            "post_commands": [f"ls {OF_KUBEADM} /root/before > /root/after"]},
        cluster_options=dict(small_cluster.labs_options(), provider_id_by_kubelet=True),
        lab_registry_mirrors=[
            {"registry": "quay.io", "url": url + "/quay.io", "ca_certificate": authority},
            {"registry": LOGIN_NEEDED, "url": url + "/private", "ca_certificate": authority,
             "credentials_secret": SECRET},
            {"registry": OTHER_AUTHORITY, "url": url, "ca_certificate": Path(certificate).read_text()}])
    lab.kube.apply(KNOWN["Secret"], NAMESPACE, {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET, "namespace": NAMESPACE},
        "type": "kubernetes.io/basic-auth", "stringData": {"username": store.username, "password": store.password}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        try:
            lab.playbook("cluster", seconds=SECONDS, extra=variables).ok()
            assert lab.playbook("cluster", seconds=SECONDS, extra=variables).ok().changed() == 0
            yield KubeClient({"kubeconfig": variables["cluster_workload_kubeconfig"]})
        finally:
            lab.playbook("teardown", seconds=SECONDS, extra=dict(variables, **small_cluster.teardown(NAME))).ok()
            lab.kube.delete(KNOWN["Secret"], NAMESPACE, SECRET)


def started(client, name, image, *arguments, volumes=()):
    """Create a pod that runs once; return a callable that gives the state of its container."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "restartPolicy": "Never",
        "containers": [{"name": "one", "image": image, "args": list(arguments), "volumeMounts": [
            {"name": "node", "mountPath": "/node"}] if volumes else []}],
        "volumes": [{"name": "node", "hostPath": {"path": path}} for path in volumes]}}
    eventually(lambda: client.create(KNOWN["Pod"], "default", pod), 120, "the default service account",
               not_yet=KubeError)

    def status():
        found = client.get(KNOWN["Pod"], "default", name)["status"].get("containerStatuses") or [{}]
        return found[0]

    return status


def ended(status):
    return eventually(lambda: (status().get("state") or {}).get("terminated") and status(), 240, "the container's end",
                      interval_seconds=1, not_yet=KubeError)


def refused(status):
    """Return why an image is not pulled, from the first answer that says it."""
    def message():
        waiting = (status().get("state") or {}).get("waiting") or {}
        return waiting.get("message") if waiting.get("reason") == "ErrImagePull" else None

    return eventually(message, 240, "the reason", not_yet=KubeError)


def logs(lab, pod):
    return subprocess.run(
        [os.path.join(lab.figures["engine_dir"], "bin", "kubectl"), "--kubeconfig",
         str(lab.dir / "kubeconfigs" / NAME), "logs", pod], capture_output=True, text=True, check=True).stdout


def test_the_kubelet_says_the_provider_id_by_which_the_node_is_linked(lab, cluster):
    node, = cluster.list(KNOWN["Node"])[0]
    machine = lab.kube.get(KNOWN["Machine"], NAMESPACE, node["metadata"]["name"])
    host = next(item for item in lab.hosts().values() if item["spec"].get("consumerRef"))
    assert node["spec"]["providerID"] == machine["spec"]["providerID"] == "metal3://{}/{}/{}".format(
        NAMESPACE, host["metadata"]["name"], host["spec"]["consumerRef"]["name"])
    # CAPM3 writes it only where it is missing.
    assert [entry["manager"] for entry in node["metadata"]["managedFields"]
            if "f:providerID" in entry["fieldsV1"].get("f:spec", {})] == ["kubelet"]
    assert machine["status"]["nodeRef"]["name"] == node["metadata"]["name"]


def test_commands_run_before_kubeadm_and_after_it(lab, cluster):
    machines = Workload(lab, NAME, lab.dir / "kubeconfigs" / NAME)
    server, = machines.hosts().values()
    assert machines.inside(server, "cat", "/root/after").split() == [OF_KUBEADM, "/root/before"]


def test_a_controllers_image_runs_under_its_upstream_name(lab, store, cluster):
    container = ended(started(cluster, "upstream", IMAGE, "--help"))
    assert container["state"]["terminated"]["exitCode"] == 0
    assert container["imageID"].partition("@")[2] == store.digest and container["image"] == IMAGE
    assert "Usage of /manager" in logs(lab, "upstream")


def test_nothing_is_asked_for_what_the_mirror_does_not_have(cluster):
    message = refused(started(cluster, "unknown", "quay.io/metal3-io/unknown:v1"))
    assert "quay.io/metal3-io/unknown:v1: not found" in message


def test_a_mirror_that_wants_a_login_gets_it_and_others_can_not_read_it(lab, store, cluster):
    assert push(store, "private/team/image:v1", store.login).returncode == 0
    container = ended(started(cluster, "private", LOGIN_NEEDED + "/team/image:v1", "--help"))
    assert container["state"]["terminated"]["exitCode"] == 0
    assert container["imageID"].partition("@")[2] == store.digest
    files = "/node/" + LOGIN_NEEDED
    image = "registry.k8s.io/e2e-test-images/agnhost:" + KUBERNETES.lstrip("v")
    ended(started(cluster, "modes", image, "mounttest", f"--file_mode={files}/hosts.toml",
                  volumes=["/etc/containerd/certs.d"]))
    assert f'mode of file "{files}/hosts.toml": -rw-------' in logs(lab, "modes")
    for name in ("username", "password"):
        ended(started(cluster, name, image, "mounttest", f"--file_mode={files}/{name}",
                      volumes=["/etc/containerd/certs.d"]))
        assert "no such file or directory" in logs(lab, name)
    objects = [item for kind in ("KubeadmControlPlane", "KubeadmConfig") for item in
               lab.kube.list(KNOWN[kind], NAMESPACE)[0]]
    assert objects and store.password not in json.dumps(objects)


def test_a_mirror_of_another_authority_is_refused(cluster):
    message = refused(started(cluster, "authority", f"{OTHER_AUTHORITY}/{IMAGE}"))
    assert "certificate signed by unknown authority" in message
