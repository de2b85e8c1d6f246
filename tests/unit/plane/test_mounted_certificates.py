# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates that Ironic's pod mounts: those of any Secret, and whether it has read the one that is there."""
from __future__ import annotations

import base64
import datetime

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._plane import expiry_service, mounted
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import certificates

NAMESPACE = "baremetal-operator-system"
KEY, PEM = certificates.self_signed(["192.0.2.1"])
NOW = datetime.datetime.now(datetime.timezone.utc)


class Reader:
    server = "https://server"

    def __init__(self, **objects):
        self.objects = objects

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        found = [item for item in self.objects.get(resource.kind, []) if namespace in (
            None, item["metadata"]["namespace"])]
        if field_selector:
            found = [item for item in found if field_selector == f"type={item.get('type')}"]
        return found, "1"


def secret(name, kind="Opaque", **data):
    return {"type": kind, "metadata": {"name": name, "namespace": NAMESPACE},
            "data": dict((key.replace("_", "."), base64.b64encode(value).decode()) for key, value in data.items())}


def deployment(name="ironic", *secrets):
    return {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {
        "selector": {"matchLabels": {"name": "ironic"}}, "template": {"spec": {"volumes": [
            {"name": "a", "emptyDir": {}}, *({"name": item, "secret": {"secretName": item}} for item in secrets)]}}}}


def pod(started, labels=None, **metadata):
    return {"metadata": dict({"name": "ironic-1", "namespace": NAMESPACE, "labels": labels or {"name": "ironic"}},
                             **metadata),
            "status": {"containerStatuses": [{"state": {"waiting": {}}}, {"state": {"running": {
                "startedAt": started.strftime("%Y-%m-%dT%H:%M:%SZ")}}}]}}


def report(*pods, secrets=None):
    secrets = secrets or [secret("ironic-cert", tls_crt=PEM, tls_key=KEY, ca_crt=PEM)]
    client = Reader(Deployment=[deployment("ironic", "ironic-cert"), deployment("other", "unused")], Pod=list(pods),
                    Secret=secrets)
    result = expiry_service.report({"pki_dir": None, "namespaces": ["metal3"], "warn_days": 30}, client, None)
    return [(row["place"].rpartition("/")[2], row["holder"], row["trusted_by"], row["status"])
            for row in result["certificates"]]


def test_a_secret_of_any_type_that_ironic_mounts_is_listed_with_who_verifies_it():
    assert report(pod(NOW + datetime.timedelta(seconds=5))) == [
        ("ironic-cert", f"Deployment {NAMESPACE}/ironic", ["Bare Metal Operator"], "ok")]


def test_one_of_cert_managers_type_is_listed_once_and_an_unmounted_one_as_before():
    found = report(pod(NOW), secrets=[secret("ironic-cert", "kubernetes.io/tls", tls_crt=PEM),
                                      secret("other", "kubernetes.io/tls", tls_crt=PEM)])
    assert sorted((name, holder.split()[0]) for name, holder, *_others in found) == [
        ("ironic-cert", "Deployment"), ("other", "whoever")]


@pytest.mark.parametrize("minutes, status", [(30, "outdated"), (0, "ok")])
def test_a_certificate_that_was_issued_after_the_pods_start_is_outdated(minutes, status):
    assert report(pod(NOW - datetime.timedelta(minutes=minutes)))[0][3] == status


def test_pods_that_go_and_pods_of_others_say_nothing():
    before = NOW - datetime.timedelta(hours=1)
    assert report(pod(before, deletionTimestamp="2026-11-29T00:00:00Z"), pod(before, {"name": "other"}),
                  pod(NOW))[0][3] == "ok"
    assert report()[0][3] == "ok"


def test_objects_of_another_shape_are_no_failure():
    assert mounted.secrets_of({"spec": {"template": {"spec": {"volumes": [{"secret": None}, {"secret": {}}]}}}}) == []
    assert mounted.first_start([{"metadata": {}, "status": {"containerStatuses": [{"state": {"running": None}}]}}]
                               ) is None
