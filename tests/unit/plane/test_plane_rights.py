# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/rbac/plane.yml: what is asked of an API server while a part is installed and removed is what it allows."""
from __future__ import annotations

import pathlib

import pytest
import yaml
from fakes.plane_server import Server, definition

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import service
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue

PATH = pathlib.Path(__file__).parents[3] / "docs" / "rbac" / "plane.yml"
ITEMS = yaml.safe_load(PATH.read_text())["items"]
RULES = dict((item["metadata"]["name"], item["rules"]) for item in ITEMS if item["kind"] == "ClusterRole")
WIDE = [item["roleRef"]["name"] for item in ITEMS if item["kind"] == "ClusterRoleBinding"]
NARROW = [(item["metadata"]["namespace"], item["roleRef"]["name"]) for item in ITEMS if item["kind"] == "RoleBinding"]
IPAM = catalogue.BY_NAME["ipam"]
RBAC = "rbac.authorization.k8s.io"


def allowed(verb, group, resource, namespace, name):
    """Say whether RBAC lets the account do it; a namespace of None is all of them, or none."""
    roles = WIDE + [role for where, role in NARROW if where == namespace]
    return any(verb in rule["verbs"]
               and {group, "*"} & set(rule["apiGroups"]) and {resource, "*"} & set(rule["resources"])
               and (not rule.get("resourceNames") or name in rule["resourceNames"])
               for role in roles for rule in RULES[role])


class Watched(Server):
    """Refuses what the account may not."""

    def __init__(self):
        super().__init__()
        self.asked = set()

    def _check(self, verb, resource, namespace, name=None):
        self.asked.add((verb, resource.plural))
        assert allowed(verb, resource.group, resource.plural, namespace, name), (verb, resource, namespace, name)

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        self._check("list", resource, namespace)
        return super().list(resource, namespace, label_selector, field_selector)

    def get(self, resource, namespace, name):
        self._check("get", resource, namespace, name)
        return super().get(resource, namespace, name)

    def apply(self, resource, namespace, body, dry_run=False, checked=None):
        name = body["metadata"]["name"]
        self._check("patch", resource, namespace, name)
        if (resource.kind, namespace, name) not in self.objects:
            self._check("create", resource, namespace, name)
        return super().apply(resource, namespace, body, dry_run, checked)

    def delete(self, resource, namespace, name, dry_run=False, checked=None):
        self._check("delete", resource, namespace, name)
        return super().delete(resource, namespace, name, dry_run, checked)

    def create(self, resource, namespace, body, dry_run=False):
        self._check("create", resource, namespace, body["metadata"].get("name"))
        return super().create(resource, namespace, body, dry_run)


def shipped():
    meta = {"namespace": IPAM.namespace}
    binding = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding",
               "metadata": {"name": "ipam-manager-rolebinding"}}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": IPAM.namespace}},
        definition("ipam.metal3.io", "ippools", "IPPool", "v1alpha1"),
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": dict(meta, name="ipam-manager")},
        {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": "ipam-manager-role"}, "rules": []},
        {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": dict(meta, name="leader"), "rules": []},
        binding,
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": dict(meta, name="ipam-controller-manager"),
         "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}},
                  "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [
                      {"name": "manager", "ports": [{"name": "metrics", "containerPort": 8443}]}]}}}},
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
         "metadata": {"name": "ipam-webhook"}, "webhooks": []},
    ]


@pytest.fixture
def server():
    """An API server to which an administrator has applied the file."""
    made = Watched()
    for item in ITEMS:
        if item["kind"] == "Namespace":
            made.store("Namespace", None, item, "kubectl")
    return made


def run(server, **given):
    params = dict({"parts": [{"name": "ipam"}], "certificates": "cert_manager", "objects": [], "wait": True,
                   "wait_timeout_seconds": 30, "definitions": "remove", "adopt": [], "confirm": None,
                   "confirm_among": [], "with_ironic": False}, **given)
    return service.Components(server, params, {"ipam": (shipped(), "v1.13.2")}, False, Progress(None),
                              lambda _seconds: None, lambda: 0.0)


def test_a_part_is_installed_and_removed_with_these_rights_only(server):
    assert run(server).present()["changed"]
    assert not run(server).present()["changed"]
    assert run(server, confirm="1").absent()["changed"]
    assert {("patch", "clusterroles"), ("delete", "customresourcedefinitions"), ("create", "ippools")} <= server.asked


def test_a_part_is_monitored_and_is_not_any_more_with_these_rights_only(server):
    server.serve_monitors()
    assert run(server, certificates="collection", parts=[{"name": "ipam", "monitor": True}]).present()["changed"]
    assert run(server, certificates="collection").present()["counts"]["deleted"] == 3
    assert {("patch", "servicemonitors"), ("delete", "servicemonitors")} <= server.asked


def test_network_policies_are_written_and_deleted_with_these_rights_only(server):
    assert run(server, parts=[{"name": "ipam", "network_policy": True}]).present()["changed"]
    assert run(server).present()["counts"]["deleted"] == 1
    assert {("create", "networkpolicies"), ("delete", "networkpolicies")} <= server.asked


def test_every_namespace_of_a_part_is_there_and_has_its_binding():
    expected = set(part.namespace for part in catalogue.RENDERED)
    assert set(item["metadata"]["name"] for item in ITEMS if item["kind"] == "Namespace") == expected
    assert set(where for where, role in NARROW if role == "metal3-baremetal-plane-parts") == expected
    assert WIDE == ["metal3-baremetal-plane"]


def test_outside_of_its_namespaces_it_reads_no_secret_and_gives_no_other_role():
    for namespace in (None, "default", "metal3", "kube-system"):
        assert not [verb for verb in ("get", "list", "patch") if allowed(verb, "", "secrets", namespace, "any")]
        assert not allowed("create", "", "pods", namespace, None)
    for verb in ("bind", "escalate", "patch"):
        assert not allowed(verb, RBAC, "clusterroles", None, "cluster-admin")
        assert allowed(verb, RBAC, "clusterroles", None, "ipam-manager-role")
    assert not allowed("delete", "", "namespaces", None, "metal3")
    assert "*" not in [verb for rules in RULES.values() for rule in rules for verb in rule["verbs"]]
