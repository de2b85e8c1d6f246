# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of certificates: who serves and trusts each, which are urgent, and that no key is in it."""
from __future__ import annotations

import base64
import datetime
import json

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane import expiry, expiry_service
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import certificates

NOW = datetime.datetime.now(datetime.timezone.utc)
HOST = "webhook.ipam.svc"
KEY, PEM = certificates.self_signed([HOST])
dummy_key, OTHER = certificates.self_signed([HOST])


def encoded(content):
    return base64.b64encode(content).decode()


def secret(name="serving", namespace="ipam", pem=PEM, **data):
    return {"metadata": {"name": name, "namespace": namespace},
            "data": dict({"tls.crt": encoded(pem), "tls.key": encoded(KEY)}, **data)}


def webhook(name, authority=PEM):
    return {"kind": "ValidatingWebhookConfiguration", "metadata": {"name": name}, "webhooks": [
        {"clientConfig": {"caBundle": encoded(authority), "service": {"name": "webhook", "namespace": "ipam"}}}]}


def rows(held, days=0):
    return expiry.rows(held, NOW + datetime.timedelta(days=days), 30)


def test_a_webhooks_certificate_is_found_by_its_name_and_verified_by_its_authority():
    [row] = rows(expiry.of_webhooks([webhook("a"), webhook("b"), webhook("c")], [secret()], ["ipam"]))
    assert (row["status"], row["place"], row["days_left"]) == ("ok", "Secret ipam/serving", 364)
    assert row["trusted_by"] == ["ValidatingWebhookConfiguration a", "2 more"] and row["names"] == [HOST]


def test_one_of_another_authority_is_untrusted_and_one_without_a_secret_unreadable():
    [row] = rows(expiry.of_webhooks([webhook("a", OTHER)], [secret()], ["ipam"]))
    assert row["status"] == "untrusted"
    [row] = rows(expiry.of_webhooks([webhook("a")], [], ["ipam"]))
    assert (row["status"], row["place"], row["days_left"]) == ("unreadable", f"Service {HOST}", None)


def signing_itself(named):
    found = webhook("a")
    found["metadata"]["annotations"] = {"cert-manager.io/inject-ca-from-secret": named}
    return found


def test_of_a_webhook_that_signs_its_own_certificate_the_authority_counts():
    """As cert-manager's does, which made the report fail wherever cert-manager is."""
    namespace = webhook("a")["webhooks"][0]["clientConfig"]["service"]["namespace"]
    [row] = rows(expiry.of_webhooks([signing_itself(f"{namespace}/own-ca")], [], ["ipam"]))
    assert (row["status"], row["place"]) == ("ok", f"Secret {namespace}/own-ca")
    assert row["holder"].startswith("authority of webhook ") and row["not_after"]
    for other in ("elsewhere/own-ca", f"{namespace}/a b", namespace):
        [row] = rows(expiry.of_webhooks([signing_itself(other)], [], ["ipam"]))
        assert row["status"] == "unreadable"


@pytest.mark.parametrize("days, status", [(300, "ok"), (340, "expiring"), (400, "expired")])
def test_days_decide_what_is_urgent(days, status):
    held = expiry.of_webhooks([webhook("a")], [secret()], ["ipam"])
    assert [row["status"] for row in rows(held, days)] == [status]


def test_the_most_urgent_are_the_first():
    held = [expiry.Held(name, "", pem, authority, ()) for name, pem, authority in (
        ("fine", PEM, None), ("untrusted", PEM, OTHER), ("unreadable", b"x", None))]
    assert [row["place"] for row in rows(held)] == ["unreadable", "untrusted", "fine"]


def test_a_certificate_is_trusted_by_a_chain_to_its_authority(tmp_path):
    authority = certificates.Authority(str(tmp_path))
    authority.make("test")
    authority.issue({"name": "leaf", "common_name": "leaf", "organizations": [], "sans": ["leaf"],
                     "usages": ["server"]})
    leaf, root = ((tmp_path / f"{name}.crt").read_bytes() for name in ("leaf", "ca"))
    now = datetime.datetime.now(datetime.timezone.utc)
    assert expiry.signed(leaf, root, now) and expiry.signed(leaf, OTHER + root, now)
    assert not expiry.signed(leaf, OTHER, now) and not expiry.signed(leaf, b"", now)
    assert expiry.signed(leaf + root, root, now)
    assert not expiry.signed(leaf, root, now + datetime.timedelta(days=20 * 365))


class Reader:
    server = "https://server"

    def __init__(self, objects, forbidden=()):
        self.objects, self.forbidden = objects, forbidden

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        if resource.kind in self.forbidden:
            raise KubeError("forbidden", 403)
        return [item for item in self.objects.get((resource.kind, field_selector), [])
                if namespace in (None, item["metadata"].get("namespace"))], "1"

    def get(self, resource, namespace, name):
        return next((item for item in self.list(resource, namespace)[0] if item["metadata"]["name"] == name), None)


def kubeconfig(pem):
    return encoded(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {
            "server": "https://c:6443", "certificate-authority-data": encoded(PEM)}}],
        "users": [{"name": "u", "user": {"client-certificate-data": encoded(pem), "client-key-data": encoded(KEY)}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}).encode())


def params(tmp_path=None):
    return {"pki_dir": str(tmp_path) if tmp_path else None, "namespaces": ["metal3"], "warn_days": 30}


def of_cluster(name, **data):
    return {"metadata": {"name": name, "namespace": "metal3", "labels": {"cluster.x-k8s.io/cluster-name": "c1"}},
            "data": data}


def test_clusters_kubeconfigs_and_processes_are_reported_without_keys(tmp_path):
    authority = certificates.Authority(str(tmp_path))
    authority.make("test")
    authority.issue({"name": "ironic", "common_name": "ironic", "organizations": [], "sans": ["127.0.0.1"],
                     "usages": ["server"]})
    client = Reader({("Secret", "type=cluster.x-k8s.io/secret"): [
        of_cluster("c1-kubeconfig", value=kubeconfig(PEM)), of_cluster("c1-ca", **secret()["data"]),
        of_cluster("c2-kubeconfig", value=encoded(b"a: &a [1]\nb: *a\n"))]})
    result = expiry_service.report(params(tmp_path), client, None)
    found = dict((row["place"].rpartition("/")[2], row["status"]) for row in result["certificates"])
    assert found == {"c1-kubeconfig": "ok", "c1-ca": "ok", "c2-kubeconfig": "unreadable", "ca.crt": "ok",
                     "ironic.crt": "ok"}
    assert result["urgent"] == ["Secret metal3/c2-kubeconfig"]
    assert "PRIVATE" not in json.dumps(result) and encoded(KEY) not in json.dumps(result)


def test_the_public_key_of_service_accounts_is_no_certificate():
    key = encoded(b"-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n")
    damaged = of_cluster("c1-ca", **{"tls.crt": encoded(b"nothing")})
    found = expiry.of_clusters([of_cluster("c1-sa", **{"tls.crt": key, "tls.key": encoded(KEY)}), damaged], None)
    assert [(row["place"], row["status"]) for row in rows(found)] == [("Secret metal3/c1-ca", "unreadable")]


def test_the_end_of_what_kubeadm_has_issued_is_reported_as_cluster_api_has_noted_it():
    def machine(name, ends, node="n", going=None):
        labels = {} if name == "worker" else {"cluster.x-k8s.io/control-plane": ""}
        return {"metadata": {"name": name, "namespace": "metal3", "labels": labels, "deletionTimestamp": going},
                "spec": {"clusterName": "c1"}, "status": dict(
                    {"certificatesExpiryDate": ends} if ends else {}, **({"nodeRef": {"name": node}} if node else {}))}

    # One that has no Node yet has no certificates; of one that has a Node nobody has noted when they end.
    client = Reader({("Machine", None): [
        machine("worker", None), machine("c1-0", "2030-01-01T00:00:00Z"), machine("c1-1", "2026-01-20T00:00:00Z"),
        machine("c1-2", "soon"), machine("c1-3", None, None), machine("c1-4", None),
        machine("c1-5", None, going="2026-01-01T00:00:00Z")]})
    now = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    result = expiry_service.report(params(), client, None, now.timestamp)
    assert [(row["place"], row["status"], row["days_left"]) for row in result["certificates"]] == [
        ("Machine metal3/c1-2", "unreadable", None), ("Machine metal3/c1-4", "unreadable", None),
        ("Machine metal3/c1-1", "expiring", 19), ("Machine metal3/c1-0", "ok", 1461)]
    assert result["certificates"][1]["holder"] == "control plane of cluster c1"
    assert result["urgent"] == ["Machine metal3/c1-2", "Machine metal3/c1-4", "Machine metal3/c1-1"]


def test_certificates_are_looked_for_where_the_parts_run():
    """As ``options.namespace`` of a part has put them."""
    def deployment(namespace, image):
        return {"metadata": {"name": "a", "namespace": namespace}, "spec": {"template": {"spec": {
            "containers": [{"name": "manager", "image": image}]}}}}

    def in_namespace(name):
        found = secret()
        return dict(found, metadata=dict(found["metadata"], namespace=name))

    objects = {("Secret", "type=kubernetes.io/tls"): [in_namespace(name) for name in (
        "addresses", "metal", "capm3-system", "website")]}
    deployments = [deployment("addresses", "quay.io/metal3-io/ip-address-manager:v1.13.1"),
                   deployment("metal", "mirror.example/quay.io/metal3-io/ironic:v35.0.0"),
                   deployment("website", "example.org/website:1")]

    def places(reader):
        return set(row["place"].partition("/")[0] for row in expiry_service.report(params(), reader, None)[
            "certificates"])

    everywhere = places(Reader({**objects, ("Deployment", None): deployments}))
    assert everywhere == {"Secret addresses", "Secret metal", "Secret capm3-system"}
    # Who may not look for them finds upstream's.
    assert places(Reader(objects, ["Deployment"])) == {"Secret capm3-system"}


def test_webhooks_of_others_are_none_of_the_plane():
    """Each, of an ingress controller for example, was one to renew: nobody reads the Secrets of their namespaces."""
    def called(name, namespace):
        found = webhook(name)
        found["webhooks"][0]["clientConfig"]["service"]["namespace"] = namespace
        return found

    def definition(group):
        return {"metadata": {"name": f"things.{group}"}, "spec": {"group": group, "conversion": {"webhook": {
            "clientConfig": {"caBundle": encoded(PEM), "service": {"name": "of", "namespace": group}}}}}}

    deployment = {"metadata": {"name": "a", "namespace": "ipam"}, "spec": {"template": {"spec": {
        "containers": [{"name": "manager", "image": "quay.io/metal3-io/ip-address-manager:v1.13.1"}]}}}}
    webhooks = [called("of-ingress", "ingress-nginx"), called("of-ipam", "ipam"), called("of-capm3", "capm3-system")]
    definitions = [definition("example.org"), definition("infrastructure.cluster.x-k8s.io")]
    objects = {("ValidatingWebhookConfiguration", None): webhooks, ("CustomResourceDefinition", None): definitions,
               ("Secret", "type=kubernetes.io/tls"): [secret()], ("Deployment", None): [deployment]}
    found = expiry_service.report(params(), Reader(objects), None)
    assert [(row["place"], row["status"]) for row in found["certificates"]] == [
        ("Service of.infrastructure.cluster.x-k8s.io.svc", "unreadable"),
        ("Service webhook.capm3-system.svc", "unreadable"), ("Secret ipam/serving", "ok")]
    assert len(found["urgent"]) == 2


def test_what_may_not_be_read_is_warned_of():
    result = expiry_service.report(params(), Reader({}, ["Secret"]), None)
    assert result["certificates"] == [] and all("not all are listed" in text for text in result["warnings"])
    assert result["warnings"]
