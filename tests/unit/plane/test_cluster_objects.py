# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a part's settings and manifests become in mode cluster: Deployments, namespaces, certificates, order."""
from __future__ import annotations

import base64
import copy

import pytest
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import certificates, objects, settings
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue, fit, injection, order

IPAM, BMO, CERT_MANAGER = (catalogue.BY_NAME[name] for name in ("ipam", "bmo", "cert_manager"))
DIGEST = "sha256:" + "a" * 64
OWN = "registry.test:5000/team/ip-address-manager"


def deployment(name="ipam-controller-manager", args=("--webhook-port=9443",)):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": IPAM.namespace},
            "spec": {"template": {"spec": {
                "tolerations": [{"key": "k"}], "serviceAccountName": "ipam-manager",
                "containers": [{"name": "manager", "image": "quay.io/metal3-io/ip-address-manager:main",
                                "args": list(args), "imagePullPolicy": "Always", "env": [{"name": "A", "value": "1"}]}],
            }}}}


def shipped():
    service = {"name": "ipam-webhook-service", "namespace": IPAM.namespace, "path": "/validate"}
    injected = {"cert-manager.io/inject-ca-from": f"{IPAM.namespace}/ipam-serving-cert"}
    return [
        {"apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": "Provider", "version": "v0",
         "metadata": {"name": "ipam-metal3", "namespace": IPAM.namespace,
                      "labels": {"clusterctl.cluster.x-k8s.io/core": "inventory"}}},
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
         "metadata": {"name": "ipam-webhook", "annotations": dict(injected)},
         "webhooks": [{"name": "w", "clientConfig": {"service": dict(service)}}]},
        deployment(),
        {"apiVersion": "cert-manager.io/v1", "kind": "Issuer",
         "metadata": {"name": "ipam-selfsigned-issuer", "namespace": IPAM.namespace}, "spec": {"selfSigned": {}}},
        {"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
         "metadata": {"name": "ipam-serving-cert", "namespace": IPAM.namespace},
         "spec": {"secretName": "ipam-webhook-service-cert",
                  "dnsNames": [f"ipam-webhook-service.{IPAM.namespace}.svc"]}},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "b"},
         "subjects": [{"kind": "ServiceAccount", "name": "ipam-manager", "namespace": IPAM.namespace}]},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"},
         "aggregationRule": {"clusterRoleSelectors": []}, "rules": []},
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "status": {},
         "metadata": {"name": "ippools.ipam.metal3.io", "creationTimestamp": None, "annotations": dict(injected)},
         "spec": {"conversion": {"webhook": {"clientConfig": {"service": dict(service)}}}}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": IPAM.namespace}},
    ]


def kinds(items):
    return [obj["kind"] for obj in items]


def find(items, kind):
    (found,) = [obj for obj in items if obj["kind"] == kind]
    return found


def container(part, name, args=(), **given):
    made = settings.deployment(deployment(name, args), part, given, "v1.13.2")
    return made["spec"]["template"]["spec"]["containers"][0]


def test_what_is_needed_comes_first_and_the_inventory_last():
    waves = order.waves(shipped())
    assert [sorted(kinds(wave)) for wave in waves] == [
        ["CustomResourceDefinition", "Namespace"],
        ["Certificate", "ClusterRole", "ClusterRoleBinding", "Issuer"],
        ["Deployment"], ["ValidatingWebhookConfiguration"], ["Provider"]]


def test_the_operator_starts_before_other_parts_and_what_their_pods_refer_to_is_made_meanwhile():
    operator = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "operator", "namespace": "bmo"}}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "account", "namespace": "bmo"}}
    # Of no part: what is applied with them.
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mounted", "namespace": "bmo"}}
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                  "metadata": {"name": "baremetalhosts.metal3.io"}, "spec": {"group": "metal3.io"}}
    host = {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {"name": "h", "namespace": "x"}}
    items = shipped()
    find(items, "CustomResourceDefinition")["spec"]["group"] = "ipam.metal3.io"
    waves = order.quick_waves([*items, host, definition, operator, account, secret], lambda obj: {
        "operator": "bmo", "account": "bmo", "baremetalhosts.metal3.io": "bmo", "h": "", "mounted": ""}.get(
            obj["metadata"]["name"], "ipam"))
    assert [sorted(kinds(wave)) for wave in waves] == [
        ["Namespace"], ["CustomResourceDefinition", "Secret", "ServiceAccount"], ["Deployment"],
        ["Certificate", "ClusterRole", "ClusterRoleBinding", "Issuer"], ["CustomResourceDefinition"], ["Deployment"],
        ["BareMetalHost"], ["ValidatingWebhookConfiguration"], ["Provider"]]
    assert [waves[number][0]["metadata"]["name"] for number in (2, 5)] == ["operator", "ipam-controller-manager"]


def test_manifests_are_not_changed_and_what_the_server_fills_in_is_left_out():
    given = shipped()
    before = copy.deepcopy(given)
    made = objects.desired(IPAM, given, {"name": "ipam", "namespace": "other", "replicas": 3}, "v1.13.2")
    assert given == before
    definition = find(made, "CustomResourceDefinition")
    assert "status" not in definition and "creationTimestamp" not in definition["metadata"]
    assert "rules" not in find(made, "ClusterRole")
    assert find(made, "Provider")["version"] == "v1.13.2"


def test_another_namespace_is_in_all_that_names_it():
    made = objects.desired(IPAM, shipped(), {"name": "ipam", "namespace": "elsewhere"}, "v1.13.2")
    assert IPAM.namespace not in repr(made)
    assert find(made, "Certificate")["spec"]["dnsNames"] == ["ipam-webhook-service.elsewhere.svc"]
    assert find(made, "Namespace")["metadata"]["name"] == "elsewhere"


def test_a_namespace_enforces_the_pod_security_that_is_asked_for():
    made = objects.desired(IPAM, shipped(), {"name": "ipam", "pod_security": "restricted"}, "v1.13.2")
    assert find(made, "Namespace")["metadata"]["labels"] == {
        "pod-security.kubernetes.io/enforce": "restricted", "app.kubernetes.io/managed-by": "metal3.baremetal"}


@pytest.mark.parametrize("given, expected", [
    ({}, "quay.io/metal3-io/ip-address-manager:v1.13.2"),
    ({"image_registry_mirror": "reg.test:5000/m/"}, "reg.test:5000/m/quay.io/metal3-io/ip-address-manager:v1.13.2"),
    ({"digest": DIGEST}, "quay.io/metal3-io/ip-address-manager:v1.13.2@" + DIGEST),
])
def test_an_image_is_that_of_the_release(given, expected):
    assert container(IPAM, "ipam-controller-manager", **given)["image"] == expected


def test_all_settings_are_in_the_deployment():
    given = {"replicas": 2, "node_selector": {"n": "s"}, "affinity": {"nodeAffinity": {}}, "priority_class": "p",
             "tolerations": [], "pull_secrets": ["reg"], "resources": {"limits": {"cpu": "1"}},
             "image_pull_policy": "Never", "environment": {"A": 2}, "log_level": 5,
             "proxy": {"http": "http://proxy.test", "https": None, "no_proxy": "10.0.0.0/8"},
             "secret_mounts": [{"secret": "s", "path": "/x"}]}
    made = settings.deployment(deployment(), IPAM, given, "v1.13.2")
    pod = made["spec"]["template"]["spec"]
    manager = pod["containers"][0]
    assert made["spec"]["replicas"] == 2 and pod["nodeSelector"] == {"n": "s"} and pod["tolerations"] == []
    assert pod["affinity"] == {"nodeAffinity": {}} and pod["priorityClassName"] == "p"
    assert pod["imagePullSecrets"] == [{"name": "reg"}] and manager["resources"] == {"limits": {"cpu": "1"}}
    assert manager["imagePullPolicy"] == "Never"
    assert manager["args"] == ["--webhook-port=9443", "--v=5", "--leader-elect=true"]
    assert dict((item["name"], item["value"]) for item in manager["env"]) == {
        "A": "2", "HTTP_PROXY": "http://proxy.test", "http_proxy": "http://proxy.test", "NO_PROXY": "10.0.0.0/8",
        "no_proxy": "10.0.0.0/8"}
    assert pod["volumes"] == [{"name": "metal3-baremetal-0", "secret": {"secretName": "s"}}]
    assert manager["volumeMounts"] == [{"name": "metal3-baremetal-0", "mountPath": "/x", "readOnly": True}]


EVENTS = {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]}


def role(name="ipam-leader-election-role", kind="Role", rules=(EVENTS,)):
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
            "metadata": {"name": name, "namespace": IPAM.namespace}, "rules": list(rules)}


def given_rules(part, *roles):
    return [rule for obj in objects.desired(part, list(roles), {}, "v1.13.2") for rule in obj["rules"]]


def test_the_role_for_elections_lets_the_manager_hold_a_lease():
    events, leases = given_rules(IPAM, role())
    assert events["resources"] == ["events"]
    assert leases == {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"],
                      "verbs": ["get", "create", "update"]}


def test_a_right_that_a_role_gives_already_is_not_given_again():
    rule = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]}
    assert given_rules(IPAM, role(rules=[rule])) == [rule]
    assert len(given_rules(IPAM, role(), role("ipam-manager-role", "ClusterRole", [rule]))) == 2
    # No other role, and none of a part that has no such election.
    assert len(given_rules(IPAM, role("ipam-manager-role", "ClusterRole"), role("ipam-other"))) == 2
    assert len(given_rules(CERT_MANAGER, role("cert-manager-leader-election-role"))) == 1


def test_arguments_replace_those_of_the_same_flag_and_gates_are_merged():
    capi = catalogue.BY_NAME["capi"]
    made = settings.arguments(["--leader-elect", "--feature-gates=A=true,B=false", "--x=1"], capi, {
        "feature_gates": {"B": True, "C": False}, "arguments": ["--x=2", "--y"], "leader_election": False})
    assert made == ["--leader-elect=false", "--feature-gates=A=true,B=true,C=false", "--x=2", "--y"]
    # As a survey gives them.
    assert settings.arguments([], capi, {"feature_gates": {"A": "false", "B": "yes"}}) == [
        "--feature-gates=A=false,B=true"]


def test_arguments_and_environment_are_the_managers_only():
    given = {"arguments": ["--x"], "environment": {"B": "2"}, "proxy": {"http": "http://p.test"}}
    assert container(CERT_MANAGER, "cert-manager", **given)["args"] == ["--x"]
    webhook = container(CERT_MANAGER, "cert-manager-webhook", **given)
    assert webhook["args"] == [] and "B" not in [item["name"] for item in webhook["env"]]
    assert "HTTP_PROXY" in [item["name"] for item in webhook["env"]]


@pytest.mark.parametrize("given", [f"{OWN}:mine", f"{OWN}@{DIGEST}", f"{OWN}:mine@{DIGEST}"],
                         ids=["tag", "digest", "both"])
def test_an_image_of_the_sites_own_is_pulled_as_it_is_named_and_its_version_is_known(given):
    chosen = {"name": "ipam", "image": given, "image_registry_mirror": "mirror.test"}
    assert settings.problems(chosen) == []
    made = objects.desired(IPAM, shipped(), chosen, "v1.13.2")
    obj = find(made, "Deployment")
    assert obj["spec"]["template"]["spec"]["containers"][0]["image"] == given
    # As a later run finds it.
    assert fit.plane("v1.35.4", [], [obj], []).parts["ipam"].version == "v1.13.2"


@pytest.mark.parametrize("given, field", [
    ({"name": "bmo", "log_level": 2}, "log_level"),
    ({"name": "ipam", "feature_gates": {"A": True}}, "feature_gates"),
    ({"name": "capi", "feature_gates": {"A": "ture"}}, "feature_gates.A"),
    ({"name": "capi", "feature_gates": {"A": None}}, "feature_gates.A"),
    ({"name": "cert_manager", "leader_election": True}, "leader_election"),
    ({"name": "ipam", "replicas": 2, "leader_election": False}, "leader_election"),
    ({"name": "ipam", "replicas": -1}, "replicas"),
    ({"name": "ipam", "digest": "sha256:abc"}, "digest"),
    ({"name": "cert_manager", "digest": DIGEST}, "digest"),
    ({"name": "cert_manager", "image": "registry.test/cert-manager-controller:v1"}, "image"),
    ({"name": "ipam", "image": f"{OWN}:a", "digest": DIGEST}, "digest"),
    ({"name": "ipam", "image": OWN}, "image"),
    ({"name": "ipam", "image": "ip-address-manager:a"}, "image"),
    ({"name": "ipam", "image": "registry.test/other:a"}, "image"),
    ({"name": "ipam", "image": f"{OWN}:a b"}, "image"),
    ({"name": "ipam", "image": f"{OWN}@sha256:abc"}, "image"),
    ({"name": "ipam", "arguments": ["x=1"]}, "arguments"),
])
def test_what_has_no_effect_or_does_harm_is_refused(given, field):
    (problem,) = settings.problems(given)
    assert problem.field == field and problem.subject == f"part {given['name']}"


def test_a_certificate_of_the_collection_is_trusted_by_the_webhooks_and_stays():
    made = objects.desired(IPAM, shipped(), {"name": "ipam"}, "v1.13.2")
    (asked,) = objects.certificates(made)
    secret = certificates.secret(asked, None)
    result = objects.without_cert_manager(made, {(IPAM.namespace, "ipam-serving-cert"): secret})
    assert not [obj for obj in result if obj["apiVersion"].startswith("cert-manager.io")]
    for kind in ("ValidatingWebhookConfiguration", "CustomResourceDefinition"):
        obj = find(result, kind)
        assert "annotations" not in obj["metadata"]
        assert [config["caBundle"] for config in objects.client_configs(obj)] == [secret["data"]["ca.crt"]]
    certificate = x509.load_pem_x509_certificate(base64.b64decode(secret["data"]["tls.crt"]))
    certificate.verify_directly_issued_by(certificate)
    assert certificates.secret(asked, secret) == secret
    asked["spec"]["dnsNames"] = ["other.svc"]
    assert certificates.fault(secret["data"], ["other.svc"]) == "other alternative names"
    assert certificates.secret(asked, secret) != secret


@pytest.mark.parametrize("data", [{}, {"tls.crt": "AAAA", "tls.key": "AAAA", "ca.crt": "AAAA"}, {"tls.crt": 1}])
def test_what_is_no_certificate_is_issued_again(data):
    assert certificates.fault(data, ["a.svc"]) == "missing"


def test_a_key_of_an_unknown_kind_is_issued_again():
    """OpenSSL knows more of them than the library, which ended in a traceback."""
    (asked,) = objects.certificates(objects.desired(IPAM, shipped(), {"name": "ipam"}, "v1.13.2"))
    stored = certificates.secret(asked, None)
    unknown = bytes.fromhex("30 10 020100 3005 06032a0304 0404 00000000")
    pem = b"-----BEGIN PRIVATE KEY-----\n" + base64.b64encode(unknown) + b"\n-----END PRIVATE KEY-----\n"
    stored["data"]["tls.key"] = base64.b64encode(pem).decode()
    with pytest.raises(UnsupportedAlgorithm):
        serialization.load_pem_private_key(pem, None)
    assert certificates.secret(asked, stored)["data"]["tls.key"] != stored["data"]["tls.key"]


def test_each_part_comes_after_what_it_needs():
    seen = []
    for part in catalogue.PARTS:
        assert set(part.needs) <= set(seen)
        seen.append(part.name)


def test_the_authority_of_cert_managers_own_webhooks_is_looked_for_in_its_namespace():
    webhook = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {
        "name": "w", "annotations": {injection.BY_SECRET: "cert-manager/cert-manager-webhook-ca"}}, "webhooks": []}
    (made,) = objects.desired(catalogue.BY_NAME["cert_manager"], [webhook], {"namespace": "pki"}, "v1.11.5")
    assert made["metadata"]["annotations"] == {injection.BY_SECRET: "pki/cert-manager-webhook-ca"}
