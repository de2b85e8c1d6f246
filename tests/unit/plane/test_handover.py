# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From cert-manager's certificates to given ones on a running Ironic: what issues goes first, then each Secret."""
from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path

import bmc_certificates
import pytest
from fakes.plane_server import Server

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import handover, ironic, ironic_service

NAMESPACE = "baremetal-operator-system"
LABELS = {"app.kubernetes.io/managed-by": "metal3.baremetal"}
API = "cert-manager.io/v1"
SECRETS = ("ironic-cert", "ironic-cacert")


def pair():
    with tempfile.TemporaryDirectory() as folder:
        paths, _signer = bmc_certificates.issue(Path(folder), "ironic", address="192.0.2.2")
        return [Path(path).read_text() for path in paths]


CERTIFICATE, KEY = pair()


def options(**changes):
    return dict({
        "namespace": NAMESPACE, "authentication": "http_basic", "credentials_dir": None, "tls": "files",
        "tls_certificate": CERTIFICATE, "tls_key": KEY, "tls_authority": CERTIFICATE, "provisioning_ip": "192.0.2.2",
        "keepalived": False, "standby": False, "mariadb": False, "mariadb_claim": None, "http_port": 6180,
        "deploy_kernel_url": "https://images.example/kernel", "deploy_ramdisk_url": "https://images.example/ramdisk",
        "fast_track": True, "image_version": "v39.0.0", "environment": {}, "rotation": "none",
        "renew_certificate": False, "with_cert_manager": False, "adopt": [], "confirm": "ironic",
        "confirm_upgrade": None, "confirm_among": [],
        "wait": False, "wait_timeout_seconds": 1, "certificates": "cert_manager"}, **changes)


def shipped():
    certificates = [{"apiVersion": API, "kind": "Certificate", "metadata": {"name": name},
                     "spec": {"secretName": name}} for name in SECRETS]
    issuers = [{"apiVersion": API, "kind": "Issuer", "metadata": {"name": name}, "spec": {}}
               for name in ("ca-issuer", "selfsigned-issuer")]
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "ironic"}, "spec": {"template": {
        "metadata": {}, "spec": {"initContainers": [], "containers": [{"name": "ironic", "image": ironic.IMAGE}]}}}}
    return [*issuers, *certificates, deployment]


class Running(Server):
    """A cluster in which cert-manager has issued Ironic's certificates."""

    def __init__(self):
        super().__init__()
        self.served["/apis/" + API] = [
            {"name": "certificates", "kind": "Certificate", "namespaced": True, "verbs": ["get", "list", "delete"]},
            {"name": "issuers", "kind": "Issuer", "namespaced": True, "verbs": ["get", "list", "delete"]}]
        for obj in shipped()[:-1]:
            self.store(obj["kind"], NAMESPACE, dict(obj, metadata=dict(
                obj["metadata"], namespace=NAMESPACE, labels=dict(LABELS))))
        for name in SECRETS:
            self.issue(name)

    def issue(self, name, by=None, uid=None):
        """Write what cert-manager writes."""
        stored = self.store("Secret", NAMESPACE, {
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "data": {"tls.crt": "b2xk"},
            "metadata": {
                "name": name, "namespace": NAMESPACE,
                "annotations": {"cert-manager.io/certificate-name": by or name}}}, "cert-manager")
        if uid:
            stored["metadata"]["uid"] = uid

    def apply(self, resource, namespace, body, dry_run=False, checked=None):
        stored = self.objects.get((resource.kind, namespace, body["metadata"]["name"]))
        assert not stored or stored.get("type") == body.get("type"), "type: field is immutable"
        return super().apply(resource, namespace, body, dry_run, checked)


def run(server, check_mode=False, **changes):
    return ironic_service.IronicComponents(
        server, options(**changes), shipped(), check_mode, Progress(None), sleep=lambda seconds: None,
        clock=lambda: 0.0)


def actions(result):
    return dict((item["object"].replace(NAMESPACE + "/", ""), item["action"]) for item in result["objects"])


def types(server):
    return [server.objects["Secret", NAMESPACE, name]["type"] for name in SECRETS]


def test_what_issues_goes_before_the_secrets_and_the_pod_starts_last():
    server = Running()
    result = run(server).present()
    order = server.writes
    issuing = [order.index("-" + name) for name in ("ca-issuer", "selfsigned-issuer")]
    # The Certificates are named like their Secrets and go first.
    assert order[:2] == ["-ironic-cacert", "-ironic-cert"] or order[:2] == ["-ironic-cert", "-ironic-cacert"]
    for name in SECRETS:
        replaced = order.index("-" + name, 2)
        assert max(issuing) < replaced and order[replaced + 1] == name
    assert order.index("ironic") > max(order.index(name) for name in SECRETS)
    assert types(server) == ["Opaque", "Opaque"] and not [key for key in server.objects if key[0] in (
        "Certificate", "Issuer")]
    found = actions(result)
    assert found["Certificate ironic-cert"] == found["Issuer ca-issuer"] == "deleted"
    assert found["Secret ironic-cert"] == "created" and result["changed"]
    stored = server.objects["Secret", NAMESPACE, "ironic-cert"]["data"]["tls.crt"]
    assert base64.b64decode(stored).decode() == CERTIFICATE
    assert KEY not in json.dumps(result) and base64.b64encode(KEY.encode()).decode() not in json.dumps(result)
    assert not run(server, confirm=None).present()["changed"]


def test_a_secret_that_cert_manager_has_written_without_changing_its_type_is_replaced_too():
    server = Running()
    for name in SECRETS:
        server.objects["Secret", NAMESPACE, name]["type"] = "Opaque"
    with pytest.raises(RefusedError, match="to continue set metal3_confirm=ironic"):
        run(server, confirm=None).present()
    run(server).present()
    assert not [key for key in server.objects if key[0] == "Certificate"]
    assert not server.objects["Secret", NAMESPACE, "ironic-cert"]["metadata"].get("annotations")


def test_check_mode_says_the_same_and_writes_nothing():
    server = Running()
    result = run(server, check_mode=True, confirm=None).present()
    assert server.writes == [] and types(server) == ["kubernetes.io/tls"] * 2
    assert "to continue set metal3_confirm=ironic" in result["warnings"][0]
    assert actions(result) == actions(run(Running()).present())


@pytest.mark.parametrize("confirm", [None, "1", "other"])
def test_it_is_confirmed_by_name(confirm):
    server = Running()
    with pytest.raises(RefusedError, match="the Secrets ironic-cert, ironic-cacert are replaced"):
        run(server, confirm=confirm).present()
    with pytest.raises(RefusedError, match=r"2 planes \(one, two\) in this play, expected one"):
        run(server, confirm=confirm or "ironic", confirm_among=["one", "two"]).present()
    assert server.writes == []


def test_a_run_that_was_killed_is_continued_at_each_step():
    complete = Running()
    run(complete).present()
    for steps in range(len(complete.writes)):
        server = Running()

        class Killed(Exception):
            """The run ends here."""

        def store(*_arguments, server=server, steps=steps, **_options):
            if len(server.writes) >= steps:
                raise Killed
        apply, delete = server.apply, server.delete

        def applied(resource, namespace, body, dry_run=False, checked=None, store=store, apply=apply):
            if not dry_run:
                store()
            return apply(resource, namespace, body, dry_run, checked)

        def deleted(resource, namespace, name, dry_run=False, checked=None, store=store, delete=delete):
            if not dry_run:
                store()
            return delete(resource, namespace, name, dry_run, checked)
        server.apply, server.delete = applied, deleted
        with pytest.raises(Killed):
            run(server).present()
        del server.apply, server.delete
        run(server).present()
        assert types(server) == ["Opaque", "Opaque"], steps
        assert not run(server, confirm=None).present()["changed"]


def test_what_others_have_issued_is_not_touched():
    server = Running()
    server.objects["Certificate", NAMESPACE, "ironic-cert"]["metadata"]["labels"] = {}
    with pytest.raises(RefusedError, match=r"/ironic-cert: spec\.secretName: found ironic-cert"):
        run(server).present()
    server = Running()
    server.issue("ironic-cacert", by="somebodys")
    with pytest.raises(RefusedError, match=f"Secret {NAMESPACE}/ironic-cacert: type: found kubernetes.io/tls"):
        run(server).present()
    assert server.writes == []


def test_a_secret_that_is_another_one_by_now_is_not_deleted():
    server = Running()
    # Before the first deletion, after everything was looked at.
    server.meanwhile.append(lambda other: other.issue("ironic-cert", uid="another"))
    with pytest.raises(ReportedError, match=r"Secret .*/ironic-cert: found another one than at the beginning"):
        run(server).present()
    assert server.objects["Secret", NAMESPACE, "ironic-cert"]["metadata"]["uid"] == "another"


def test_certificates_that_do_not_go_leave_the_secrets(monkeypatch):
    server = Running()
    monkeypatch.setattr(handover, "until_nothing", lambda left, *_arguments: ["Certificate a/b"])
    with pytest.raises(ReportedError, match=r"Certificate a/b: still there 60 s after the deletion.*No Secret was"):
        run(server).present()
    assert types(server) == ["kubernetes.io/tls"] * 2


def test_a_secret_that_is_written_again_meanwhile_is_reported():
    server = Running()
    apply = server.apply

    def late(resource, namespace, body, dry_run=False, checked=None):
        result = apply(resource, namespace, body, dry_run, checked)
        if resource.kind == "Deployment" and not dry_run:
            server.issue("ironic-cert")
        return result
    server.apply = late
    with pytest.raises(ReportedError, match="ironic-cert: found other contents than the given ones"):
        run(server).present()
