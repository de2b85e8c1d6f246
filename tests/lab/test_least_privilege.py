# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/rbac: the account is no administrator.

That its rights are enough is shown by the modules of tests that use ``as_operator``: enrolment, provisioning, removal,
actions, firmware, and clusters from their making to their teardown.
"""
from __future__ import annotations

import json

import pytest
from operator_account import RBAC, kubectl
from support import NAMESPACE

FORBIDDEN = [
    ("get", "secrets", "kube-system"), ("list", "secrets", None), ("create", "clusterrolebindings", None),
    ("create", "rolebindings", NAMESPACE), ("escalate", "clusterroles", None), ("impersonate", "users", None),
    ("create", "pods", NAMESPACE), ("patch", "customresourcedefinitions", None),
    ("list", "customresourcedefinitions", None), ("delete", "namespaces", None), ("patch", "baremetalhosts", "default"),
    ("patch", "baremetalhosts/status", NAMESPACE), ("create", "machinesets", NAMESPACE),
    ("create", "serviceaccounts/token", NAMESPACE),
]


@pytest.mark.parametrize(("verb", "resource", "namespace"), FORBIDDEN)
def test_what_the_playbooks_do_not_need_is_forbidden(lab, as_operator, verb, resource, namespace):
    where = ["--namespace", namespace] if namespace else ["--all-namespaces"]
    resource, _slash, subresource = resource.partition("/")
    asked = kubectl(lab, "auth", "can-i", verb, resource, "--subresource", subresource, *where, kubeconfig=as_operator)
    assert asked.stdout.strip() == "no" and asked.returncode == 1, (asked.stdout, asked.stderr)


def test_without_the_overview_the_checks_that_are_left_out_are_named(lab, as_operator):
    # The role is bound last and optional; taking the binding away is what a site does that grants namespaces only.
    binding = json.loads(kubectl(lab, "get", "clusterrolebinding", "metal3-operator-overview", "-o", "json").stdout)
    try:
        assert kubectl(lab, "delete", "clusterrolebinding", binding["metadata"]["name"]).returncode == 0
        run = lab.playbook("enroll", "--check").ok()
        assert "allow listing baremetalhosts in all namespaces" in " ".join(run.output.split())
    finally:
        assert kubectl(lab, "apply", "-f", str(RBAC / "bindings.yml")).returncode == 0
