# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import process_mode as subject

CA = "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n"
URL = "https://127.0.0.1:21023"


def definition(conversion):
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "clusters.cluster.x-k8s.io",
            "annotations": {"cert-manager.io/inject-ca-from": "capi-system/capi-serving-cert", "kept": "yes"},
            "creationTimestamp": None,
        },
        "spec": {"group": "cluster.x-k8s.io", "conversion": conversion},
        "status": {"conditions": []},
    }


def webhooks(kind):
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "hooks", "annotations": {"cert-manager.io/inject-ca-from": "a/b"}},
        "webhooks": [
            {"name": "one", "failurePolicy": "Fail",
             "clientConfig": {"service": {"name": "s", "namespace": "n", "path": "/validate-one"}}},
            {"name": "two", "failurePolicy": "Ignore", "clientConfig": {"service": {"name": "s", "namespace": "n"}}},
            {"name": "elsewhere", "failurePolicy": "Fail", "clientConfig": {"url": "https://example.test/x"}},
        ],
    }


def deployment(config_map):
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "manager", "namespace": "capi-system"},
        "spec": {"template": {"spec": {"serviceAccountName": "manager", "containers": [
            {"name": "manager", "envFrom": [{"configMapRef": {"name": config_map}}]}]}}},
    }


def config_map(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "capi-system"}}


def test_conversion_points_to_the_process():
    service = {"name": "s", "namespace": "n", "path": "/convert"}
    original = definition({"strategy": "Webhook", "webhook": {
        "clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]}})
    made = subject.process_mode([original], URL, CA)[0]
    webhook = made["spec"]["conversion"]["webhook"]
    assert webhook["clientConfig"]["url"] == URL + "/convert"
    assert set(webhook["clientConfig"]) == {"url", "caBundle"}
    assert webhook["conversionReviewVersions"] == ["v1"]
    assert made["metadata"]["annotations"] == {"kept": "yes"}
    assert "status" not in made and "creationTimestamp" not in made["metadata"]
    assert original["spec"]["conversion"]["webhook"]["clientConfig"] == {"service": service}


def test_definitions_without_conversion_stay():
    assert subject.process_mode([definition(None)], URL, CA)[0]["spec"]["conversion"] is None


@pytest.mark.parametrize("kind", ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"])
def test_admission_points_to_the_process_and_stays_on(kind):
    made = subject.process_mode([webhooks(kind)], URL, CA)[0]
    assert [hook["clientConfig"]["url"] for hook in made["webhooks"]] == [
        URL + "/validate-one", URL + "/", "https://example.test/x"]
    assert [hook["failurePolicy"] for hook in made["webhooks"]] == ["Fail", "Ignore", "Fail"]
    assert "annotations" not in made["metadata"]


def test_in_cluster_parts_go():
    dropped = [
        deployment("environment"),
        config_map("environment"),
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}},
        {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "c"}},
        {"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": {"name": "i"}},
    ]
    kept = [
        config_map("other"),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "capi-system"}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "manager", "namespace": "capi-system"}},
    ]
    assert subject.process_mode(dropped + kept, URL, CA) == kept


def test_rules_of_aggregated_roles_are_left_to_their_controller():
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "aggregated"},
            "aggregationRule": {"clusterRoleSelectors": []}, "rules": []}
    plain = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "plain"},
             "rules": [{"verbs": ["get"]}]}
    made = subject.process_mode([role, plain], URL, CA)
    assert "rules" not in made[0]
    assert made[1] == plain
