# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates of cert-manager: one asked for as a probe, one issued again, pods that read them once."""
from __future__ import annotations

import base64

import pytest
from fakes.clock import Clock

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import bulk
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import issuing, mounted_secrets, renewal
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.certificates import self_signed

NAMESPACE = "cert-manager"


class Server:
    """An API server with a cert-manager, which issues after some looks at the Certificate."""

    server = "https://server"
    meanwhile = staticmethod(lambda: None)

    def __init__(self, looks=2, name=issuing.DNS_NAME):
        self.objects, self.looks, self.name, self.deleted, self.conflicts = {}, looks, name, [], 0

    def request(self, method, path, _query=None, body=None, **_options):
        if method == "PUT":
            if self.conflicts:
                self.conflicts -= 1
                self.meanwhile()
                raise KubeError("the object has been modified", 409, "Conflict")
            assert path.endswith("/certificates/ironic-cert/status")
            self.objects["Certificate", "ironic-cert"] = body
            return body
        assert path == "/apis/cert-manager.io/v1"
        return {"resources": [{"name": "issuers", "kind": "Issuer", "namespaced": True},
                              {"name": "certificates", "kind": "Certificate", "namespaced": True}]}

    def create(self, resource, _namespace, body):
        self.objects[resource.kind, body["metadata"]["name"]] = dict(body, metadata=dict(body["metadata"], uid="u"))

    def get(self, resource, _namespace, name):
        found = self.objects.get((resource.kind, name))
        if found and resource.kind == "Certificate":
            self.looks -= 1
            if self.looks == 0:
                self._issue(found, name)
        return self.objects.get((resource.kind, name))

    def _issue(self, certificate, name):
        certificate["status"] = {"conditions": [{"type": "Ready", "status": "True", "message": "up to date"}]}
        key, pem = self_signed([self.name])
        self.objects["Secret", name] = {
            "metadata": {"name": name, "labels": dict(certificate["metadata"].get("labels") or {})},
            "data": {"tls.crt": base64.b64encode(pem).decode(), "tls.key": base64.b64encode(key).decode()}}

    def delete(self, resource, _namespace, name, **_options):
        self.deleted.append(resource.kind)
        del self.objects[resource.kind, name]


def ask(server, seconds=30):
    clock = Clock()
    return issuing.ask(server, bulk.run, NAMESPACE, seconds, Progress(None), clock, clock.sleep)


def test_a_certificate_is_issued_and_nothing_of_it_is_left():
    server = Server()
    assert ask(server) > 0
    assert server.objects == {} and sorted(server.deleted) == ["Certificate", "Issuer", "Secret"]


def test_what_a_killed_run_has_left_is_removed_first():
    server = Server(looks=5)
    for item in issuing.wanted(NAMESPACE):
        server.objects[item["kind"], issuing.NAME] = item
    ask(server)
    assert server.objects == {} and server.deleted[:2] == ["Certificate", "Issuer"]


def test_an_object_of_somebody_else_is_not_removed():
    server = Server()
    server.objects["Secret", issuing.NAME] = {"metadata": {"name": issuing.NAME}}
    with pytest.raises(issuing.IssuingError, match="expected none; rename it"):
        ask(server)
    assert list(server.objects) == [("Secret", issuing.NAME)] and server.deleted == []


@pytest.mark.parametrize("server", [Server(looks=10 ** 6), Server(name="other.invalid")])
def test_without_a_certificate_the_run_fails_and_removes_what_it_created(server):
    with pytest.raises(issuing.IssuingError, match="found no certificate issued in time"):
        ask(server, seconds=3)
    assert ("Certificate", issuing.NAME) not in server.objects and ("Issuer", issuing.NAME) not in server.objects


def renew(server, seconds=30):
    clock = Clock()
    renewal.renew(server, bulk.run, "operator", "ironic-cert", seconds, Progress(None), clock, clock.sleep)


def stored(server):
    server.objects["Certificate", "ironic-cert"] = {
        "metadata": {"name": "ironic-cert", "namespace": "operator", "generation": 3, "uid": "u"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    server.objects["Secret", "ironic-cert"] = {"metadata": {"name": "ironic-cert"}, "data": {"tls.crt": "before"}}
    return server


def test_a_certificate_is_issued_again_though_others_write_its_status():
    server = stored(Server(looks=6))
    server.conflicts = 2
    renew(server)
    assert server.objects["Secret", "ironic-cert"]["data"]["tls.crt"] != "before"


def test_a_certificate_that_is_not_issued_again_is_named():
    with pytest.raises(renewal.RenewalError, match=r"found the certificate from before \(Certificate re-issuance"):
        renew(stored(Server(looks=10 ** 6)), seconds=3)
    with pytest.raises(renewal.RenewalError, match="operator/ironic-cert: not found"):
        renew(Server())


@pytest.mark.parametrize("uid, found", [(None, "none any more"), ("another", "another one of this name")])
def test_a_certificate_that_goes_meanwhile_is_not_renewed(uid, found):
    """It ended in an AttributeError; another one of the name was renewed in its place."""
    server = stored(Server())
    server.conflicts = 1
    other = {"metadata": dict(server.objects["Certificate", "ironic-cert"]["metadata"], uid=uid)}
    server.meanwhile = lambda: server.objects.update({("Certificate", "ironic-cert"): other if uid else None})
    with pytest.raises(renewal.RenewalError, match=rf"operator/ironic-cert: found {found}, expected the one"):
        renew(server)
    assert server.objects["Certificate", "ironic-cert"] == (other if uid else None)


def test_the_condition_is_the_one_that_upstreams_command_sets():
    made = renewal.due({"metadata": {"generation": 3}, "status": {"revision": 1, "conditions": [
        {"type": "Ready", "status": "True"}, {"type": "Issuing", "status": "False"}]}}, "2026-01-01T00:00:00Z")
    assert made["status"]["revision"] == 1
    assert [(item["type"], item["status"]) for item in made["status"]["conditions"]] == [
        ("Ready", "True"), ("Issuing", "True")]
    assert made["status"]["conditions"][1]["observedGeneration"] == 3


def test_a_pod_starts_again_when_a_secret_that_it_mounts_has_changed_and_not_otherwise():
    def annotation(*secrets):
        deployment = {"spec": {"template": {}}}
        mounted_secrets.mark(deployment, list(secrets))
        return (deployment["spec"]["template"].get("metadata") or {}).get("annotations")

    def secret(name, value, **metadata):
        return {"metadata": dict(metadata, name=name, uid="u-" + name), "data": {"a": value}}

    first, second = secret("a", "1"), secret("b", "2")
    assert annotation() is None
    assert annotation(first, second) == annotation(second, secret("a", "1", resourceVersion="7"))
    assert len({annotation(*items)[mounted_secrets.ANNOTATION] for items in (
        (first,), (second,), (first, second), (secret("a", "3"), second))}) == 4
