# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which API server is asked with whose credentials, and what is reported when it refuses: the lab's real one."""
from __future__ import annotations

import pytest
import yaml
from support import NAMESPACE, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

CONFIG_MAP = KNOWN["ConfigMap"]
NAME = "connection"


@pytest.fixture
def token(lab):
    """A token of a service account that may change ConfigMaps of one namespace, and nothing else."""
    metadata = {"metadata": {"name": NAME}}
    account, role, binding = KNOWN["ServiceAccount"], KNOWN["Role"], KNOWN["RoleBinding"]
    lab.kube.create(account, NAMESPACE, metadata)
    lab.kube.create(role, NAMESPACE, dict(metadata, rules=[
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "patch", "create", "delete"]}]))
    lab.kube.create(binding, NAMESPACE, dict(
        metadata, roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME},
        subjects=[{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}]))
    answer = lab.kube.request("POST", account.path(NAMESPACE, NAME, "token"), body={
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}})
    yield answer["status"]["token"]
    for resource in (binding, role, account):
        lab.kube.delete(resource, NAMESPACE, NAME)


@pytest.fixture
def authority(lab):
    return str(lab.dir / "pki" / "ca.crt")


def refused(call):
    with pytest.raises(KubeError) as caught:
        call()
    return caught.value


def test_all_requests_go_to_the_host_and_not_to_the_kubeconfigs_server(lab, token, authority, tmp_path):
    """With a token in the kubeconfig, LIST went to the host, PATCH and DELETE to the kubeconfig's server."""
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump({
        "current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "a", "user": {"token": token}}]}))
    client = KubeClient({"kubeconfig": str(path), "host": lab.kube.server, "ca_cert": authority})
    # The API server reads roles from a cache of its own.
    eventually(lambda: client.list(CONFIG_MAP, NAMESPACE), 30, "the role in force", not_yet=KubeError)
    client.apply(CONFIG_MAP, NAMESPACE, {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": {"a": "b"}})
    assert lab.kube.get(CONFIG_MAP, NAMESPACE, NAME)["data"] == {"a": "b"}
    assert client.delete(CONFIG_MAP, NAMESPACE, NAME)
    assert lab.kube.get(CONFIG_MAP, NAMESPACE, NAME) is None
    assert client.server == lab.kube.server


def test_a_token_without_rights_does_nothing_as_the_kubeconfigs_administrator(lab, token):
    """The kubeconfig's certificate went along, and a host was made in an administrator's name."""
    client = KubeClient({"kubeconfig": str(lab.dir / "kubeconfig"), "api_key": token})
    error = refused(lambda: client.apply(KNOWN["BareMetalHost"], NAMESPACE, {
        "apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {"name": NAME},
        "spec": {"online": False}}))
    assert error.status == 403 and f"system:serviceaccount:{NAMESPACE}:{NAME}" in error.message
    assert f"Role and RoleBinding in namespace {NAMESPACE} with the verb patch on baremetalhosts" in error.message
    assert NAME not in lab.hosts()


def test_a_wrong_token_an_unknown_authority_and_a_missing_namespace_say_what_to_do(lab, authority):
    host = {"host": lab.kube.server, "api_key": "not-a-token"}
    error = refused(lambda: KubeClient(dict(host, ca_cert=authority)).list(CONFIG_MAP, NAMESPACE))
    assert error.status == 401 and "renew the token or client certificate of api_key" in error.message
    error = refused(lambda: KubeClient(host).list(CONFIG_MAP, NAMESPACE))
    assert error.reason == "Certificate" and "set ca_cert to the authority of its certificate" in error.message
    assert not error.retriable
    error = refused(lambda: lab.kube.apply(CONFIG_MAP, "no-such-namespace", {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}}))
    assert "make the namespace (kubectl create namespace no-such-namespace), or correct namespace" in error.message
