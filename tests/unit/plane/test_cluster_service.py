# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs over parts of the plane, against an API server in memory: order, second run, refusals, removal."""
from __future__ import annotations

import copy
import hashlib
import re

import pytest
from fakes.clock import Clock
from fakes.plane_server import GROUPS, Server, definition

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.problem import Problem
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import (
    inventory,
    removal_service,
    service,
    sources,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue, order

IPAM = catalogue.BY_NAME["ipam"]


def shipped():
    meta = {"namespace": IPAM.namespace}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": IPAM.namespace}},
        definition("ipam.metal3.io", "ippools", "IPPool", "v1alpha1"),
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": dict(meta, name="ipam-manager")},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": dict(meta, name="ipam-controller-manager"),
         "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}},
                  "template": {"spec": {"containers": [{"name": "manager"}]}}}},
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
         "metadata": {"name": "ipam-webhook"}, "webhooks": []},
    ]


def parameters(**given):
    return dict({"parts": [{"name": "ipam"}], "certificates": "cert_manager", "objects": [], "wait": True,
                 "wait_timeout_seconds": 30, "definitions": "keep", "adopt": [], "confirm": None,
                 "confirm_among": ["one"]}, **given)


def components(server, check_mode=False, names=("ipam",), **given):
    clock = Clock()
    return service.Components(server, parameters(**given), dict((name, (shipped(), "v1.13.2")) for name in names),
                              check_mode, Progress(None), clock.sleep, clock)


def test_objects_are_written_in_order_and_the_webhook_is_asked_until_it_answers():
    server = Server()
    server.silent = 2
    result = components(server).present()
    assert result["changed"] and result["versions"] == {"ipam": "v1.13.2"}
    assert server.writes == [
        IPAM.namespace, "ipam-manager", "ippools.ipam.metal3.io", "ipam-controller-manager", "ipam-webhook"]
    assert server.probes == ["IPPool"] * 3


class SlowServer(Server):
    """Definitions are established, and certificates issued, when they have been looked at three times."""

    CONDITIONS = {"CustomResourceDefinition": "Established", "Certificate": "Ready"}

    def __init__(self):
        super().__init__()
        self.serve("/apis/cert-manager.io/v1", "Certificate", "Issuer")
        self.looks, self.missing = {}, []

    def store(self, kind, namespace, body, manager="metal3.baremetal"):
        if kind == "Deployment":
            self.missing += [name for name in self.looks if self.looks[name] < 3]
        stored = super().store(kind, namespace, body, manager)
        if kind in self.CONDITIONS and body["metadata"]["name"] in ("ippools.ipam.metal3.io", "ipam-cert"):
            stored["status"]["conditions"][0]["status"] = "False"
            self.looks[body["metadata"]["name"]] = 0
        return stored

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        found, version = super().list(resource, namespace, label_selector, field_selector)
        for obj in found:
            name = obj["metadata"]["name"]
            if name in self.looks:
                self.looks[name] += 1
                obj["status"]["conditions"][0]["status"] = str(self.looks[name] >= 3)
        return found, version


@pytest.mark.parametrize("first, missing", [("bmo", []), ("ipam", ["ipam-cert"])])
def test_pods_start_when_their_kinds_are_served_and_but_for_the_first_when_their_certificates_are_issued(
        monkeypatch, first, missing):
    monkeypatch.setattr(order, "FIRST", first)
    server = SlowServer()
    certificate = {"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
                   "metadata": {"name": "ipam-cert", "namespace": IPAM.namespace}, "spec": {"secretName": "ipam"}}
    clock = Clock()
    made = service.Components(server, parameters(), {"ipam": ([*shipped(), certificate], "v1.13.2")}, False,
                              Progress(None), clock.sleep, clock)
    assert made.present()["changed"]
    # The run does not end before the certificate is issued.
    assert server.looks["ipam-cert"] >= 3 and server.looks["ippools.ipam.metal3.io"] >= 3 and server.missing == missing


def test_a_second_run_changes_nothing():
    server = Server()
    components(server).present()
    server.writes.clear()
    again = components(server).present()
    assert not again["changed"] and server.writes == [] and again["diff"] == []


def test_check_mode_lists_every_object_and_writes_nothing():
    server = Server()
    result = components(server, check_mode=True).present()
    assert result["counts"]["created"] == 5 and server.writes == [] and server.probes == []
    assert [item["after"] for item in result["diff"] if "ippools" in item["after_header"]] == ["(new definition)\n"]


def test_a_webhook_that_never_answers_is_named():
    server = Server()
    server.silent = 1000
    with pytest.raises(ReportedError, match=r"webhooks do not answer:\n- IP address manager: .*connection refused"):
        components(server).present()


def test_what_a_part_needs_must_be_there_unless_the_collection_issues_certificates():
    server = Server()
    for group, (plural, _kind) in GROUPS.items():
        del server.objects["CustomResourceDefinition", None, f"{plural}.{group}"]
    with pytest.raises(RefusedError) as caught:
        components(server).present()
    assert [problem.hint for problem in caught.value.problems] == ["add the part cert_manager", "add the part capi"]
    with pytest.raises(RefusedError) as caught:
        components(server, certificates="collection").present()
    assert [problem.hint for problem in caught.value.problems] == ["add the part capi"]
    assert server.writes == []


@pytest.mark.parametrize("entry, code", [
    ({"metadata": {"name": "x", "namespace": "elsewhere"}, "version": "v1.13.2"}, "part-installed-elsewhere"),
    ({"metadata": {"name": "x", "namespace": IPAM.namespace}, "version": "v1.14.0"}, "part-newer"),
])
def test_another_installation_is_not_overwritten(entry, code):
    server = Server()
    server.store("Provider", entry["metadata"]["namespace"], dict(
        entry, kind="Provider", type="IPAMProvider", providerName="metal3"))
    with pytest.raises(RefusedError) as caught:
        components(server).present()
    assert [problem.code for problem in caught.value.problems] == [code]
    assert server.writes == []


def others_deployment(label=None):
    """The manager of a part as clusterctl installs it."""
    container = {"name": "manager", "image": IPAM.images["ipam-controller-manager"] + ":v1.13.2"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {
        "name": "ipam-controller-manager", "namespace": IPAM.namespace,
        "labels": {"app.kubernetes.io/managed-by": label} if label else {}},
        "spec": {"template": {"spec": {"containers": [container]}}}, "status": {"availableReplicas": 1}}


@pytest.mark.parametrize("label", [None, "Helm"])
@pytest.mark.parametrize("check_mode", [True, False])
def test_what_somebody_else_has_installed_is_refused_until_it_is_adopted(label, check_mode):
    server = Server()
    server.store("Deployment", IPAM.namespace, others_deployment(label))
    with pytest.raises(RefusedError) as caught:
        components(server, check_mode).present()
    assert [str(problem) for problem in caught.value.problems] == [
        f"part ipam: Deployment {IPAM.namespace}/ipam-controller-manager: "
        f"metadata.labels.app.kubernetes.io/managed-by: {'found Helm' if label else 'not set'}, "
        "expected metal3.baremetal; leave it to what has installed it (mode external), or add ipam to adopt "
        "(management_plane.adopt): it is applied and removed by this collection from then on"]
    assert server.writes == []
    with pytest.raises(RefusedError):
        components(server, check_mode, adopt=["capi"]).present()
    assert components(server, check_mode, adopt=["ipam"]).present()["changed"]
    if not check_mode:
        assert not components(server).present()["changed"]


@pytest.mark.parametrize("level, host_network, refused", [
    ("restricted", True, True), ("baseline", True, True), ("privileged", True, False), ("restricted", False, False),
    (None, True, False)])
def test_a_level_that_a_neighbours_pod_does_not_keep_is_refused(level, host_network, refused):
    server = Server()
    server.store("Deployment", IPAM.namespace, {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "ironic", "namespace": IPAM.namespace},
        "spec": {"template": {"spec": {"hostNetwork": host_network, "containers": [{"image": "ironic"}]}}}})
    run = components(server, parts=[{"name": "ipam", "pod_security": level}])
    if not refused:
        assert run.present()["changed"]
        return
    with pytest.raises(RefusedError) as caught:
        run.present()
    assert [str(problem) for problem in caught.value.problems] == [
        f'part ipam: pod_security: found "{level}", expected privileged, because Deployment {IPAM.namespace}/ironic '
        "is in the nodes' network, which this level refuses; set pod_security=privileged for ipam"]
    assert server.writes == []


def test_cert_manager_is_installed_alone():
    with pytest.raises(RefusedError, match="found other parts in the same run, expected this part alone"):
        components(Server(), names=("cert_manager", "ipam"), parts=[
            {"name": "cert_manager"}, {"name": "ipam"}]).present()


def test_removal_asks_for_the_number_and_goes_backwards():
    server = Server()
    components(server).present()
    server.writes.clear()
    with pytest.raises(ReportedError, match=r"removes 1 part \(ipam\) from the cluster. To continue, set "
                                            r"metal3_confirm=1"):
        components(server).absent()
    planned = components(server, check_mode=True).absent()
    assert planned["changed"] and "metal3_confirm=1" in planned["warnings"][0] and server.writes == []
    result = components(server, confirm="1").absent()
    assert server.writes == ["-ipam-webhook", "-ipam-controller-manager", "-ipam-manager", "-" + IPAM.namespace]
    assert result["changed"] and ("CustomResourceDefinition", None, "ippools.ipam.metal3.io") in server.objects
    assert not components(server).absent()["changed"] and not components(server, check_mode=True).absent()["warnings"]


def test_removal_takes_definitions_when_asked_to():
    server = Server()
    components(server).present()
    server.writes.clear()
    components(server, confirm="ipam", definitions="remove").absent()
    assert server.writes[-2:] == ["-ippools.ipam.metal3.io", "-" + IPAM.namespace]


@pytest.mark.parametrize("definitions", ["keep", "remove"])
def test_removal_is_refused_while_something_is_managed(definitions):
    server = Server()
    components(server).present()
    server.writes.clear()
    server.store("IPPool", "metal3", {"kind": "IPPool", "metadata": {"name": "nodes", "namespace": "metal3"}})
    with pytest.raises(RefusedError, match=r"part ipam: IPPool: found 1 \(metal3/nodes\), expected none"):
        components(server, confirm="1", definitions=definitions).absent()
    assert server.writes == []


def test_what_somebody_else_has_applied_is_not_removed():
    server = Server()
    components(server).present()
    server.store("ServiceAccount", IPAM.namespace, {
        "kind": "ServiceAccount", "metadata": {"name": "ipam-manager", "namespace": IPAM.namespace}}, "kubectl")
    server.writes.clear()
    with pytest.raises(RefusedError, match=r"app\.kubernetes\.io/managed-by: not set, expected metal3\.baremetal"):
        components(server, confirm="1").absent()
    assert server.writes == []


def installed():
    server = Server()
    components(server).present()
    server.writes.clear()
    return server


def taken_over(server):
    """Somebody else applies the webhook that is about to be deleted."""
    kind = "ValidatingWebhookConfiguration"
    labels = {"app.kubernetes.io/managed-by": "helm"}
    server.store(kind, None, {"kind": kind, "metadata": {"name": "ipam-webhook", "labels": labels}}, "helm")


def pool(server):
    server.store("IPPool", "metal3", {"kind": "IPPool", "metadata": {"name": "nodes", "namespace": "metal3"}})


def neighbour(server, **metadata):
    server.store("Deployment", IPAM.namespace, {
        "kind": "Deployment", "metadata": dict({"name": "database", "namespace": IPAM.namespace}, **metadata)})


def test_what_somebody_else_takes_over_during_a_removal_stays():
    server = installed()
    server.meanwhile = [taken_over]
    with pytest.raises(KubeError, match=r"managed-by: found helm, expected metal3.baremetal"):
        components(server, confirm="1").absent()
    assert server.writes == []


def test_definitions_stay_when_an_object_of_theirs_is_created_during_a_removal():
    """Their deletion takes all objects of the kind along, and no precondition of Kubernetes says that there is none."""
    server = installed()
    server.meanwhile = [pool]
    with pytest.raises(RefusedError, match=r"part ipam: IPPool: found 1 \(metal3/nodes\), expected none"):
        components(server, confirm="1", definitions="remove").absent()
    assert ("CustomResourceDefinition", None, "ippools.ipam.metal3.io") in server.objects
    assert ("Namespace", None, IPAM.namespace) in server.objects


def test_a_namespace_with_something_else_in_it_stays():
    server = installed()
    neighbour(server)
    with pytest.raises(RefusedError, match=r"Namespace metal3-ipam-system: found Deployment database, expected noth"):
        components(server, confirm="1").absent()
    assert server.writes == []
    neighbour(server, ownerReferences=[owned_by("ConfigMap", "gone", "v1")])
    components(server, confirm="1").absent()
    assert ("Namespace", None, IPAM.namespace) not in server.objects


def keep(server, kind, name, **more):
    metadata = dict({"name": name, "namespace": IPAM.namespace}, **more.pop("metadata", {}))
    server.store(kind, IPAM.namespace, dict({"kind": kind, "metadata": metadata}, **more), "kubectl")


def test_a_namespace_with_an_ironic_of_the_operator_stays():
    """It bears the label of this collection, which has asked the operator for it, and went uncounted."""
    server = installed()
    server.serve("/apis/ironic.metal3.io/v1alpha1", "Ironic")
    keep(server, "Ironic", "ironic", metadata={"labels": {"app.kubernetes.io/managed-by": "metal3.baremetal"}})
    with pytest.raises(RefusedError, match=r"found Ironic ironic, .*plane_ironic_operator with state absent"):
        components(server, confirm="1").absent()
    assert server.writes == []


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
def test_a_namespace_with_a_secret_or_settings_of_the_operator_stays(kind):
    """A namespace of the operator's choice took them along."""
    server = installed()
    keep(server, kind, "of-the-operator")
    with pytest.raises(RefusedError, match=f"Namespace metal3-ipam-system: found {kind} of-the-operator, expected"):
        components(server, confirm="1").absent()
    assert server.writes == []


@pytest.mark.parametrize("path, kind", [
    ("/apis/example.org/v1", "Database"), ("/api/v1", "Service"), ("/apis/networking.k8s.io/v1", "Ingress"),
    # Of a second version of a group.
    ("/apis/ipam.metal3.io/v1beta2", "Reservation")])
def test_a_namespace_with_an_object_of_any_other_kind_stays(path, kind):
    """What others manage by an operator of theirs went with the namespace, and no message had named it."""
    server = installed()
    server.serve("/apis/example.org/v1", "Usage", verbs=["get", "list"])
    keep(server, "Usage", "computed")
    keep(server, "Role", "auditor")
    keep(server, "Event", "scheduled")
    server.serve(path, kind)
    keep(server, kind, "of-the-operator")
    with pytest.raises(RefusedError) as refusal:
        components(server, confirm="1").absent()
    assert [problem.actual for problem in refusal.value.problems] == [f"{kind} of-the-operator"] and server.writes == []
    keep(server, kind, "of-the-operator", metadata={"ownerReferences": [owned_by("ConfigMap", "gone", "v1")]})
    components(server, confirm="1").absent()
    assert ("Namespace", None, IPAM.namespace) not in server.objects


def test_a_namespace_stays_when_the_account_may_not_see_what_is_in_it():
    server = installed()
    server.serve("/apis/example.org/v1", "Database")
    server.hidden = {"Database"}
    with pytest.raises(RefusedError, match=r"this account may not list: databases\.example\.org, .*rbac/plane"):
        components(server, confirm="1").absent()
    assert server.writes == []


def owned_by(kind, name, api_version="apps/v1"):
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": "u-" + name}


@pytest.mark.parametrize(("owner", "named"), [
    (owned_by("Node", "node-1", "v1"), "Node node-1"), (owned_by("Site", "s", "example.org/v1"), "Site s"),
    # Of a kind that comes with each namespace, and that nobody has listed.
    (owned_by("ServiceAccount", "default", "v1"), "ServiceAccount default"),
    (owned_by("IPPool", "nodes", "example.org/v1"), "IPPool nodes")])
def test_a_namespace_with_an_object_stays_whose_owner_outlasts_it(owner, named):
    """It went with the namespace unnamed, for any owner counted as one that goes, too."""
    server = installed()
    keep(server, "PersistentVolumeClaim", "data", metadata={"ownerReferences": [
        owned_by("Deployment", "ipam-controller-manager"), owner]})
    with pytest.raises(RefusedError, match=f"found PersistentVolumeClaim data, which {named} owns, expected nothing"):
        components(server, confirm="1").absent()
    assert server.writes == []


def test_objects_that_own_each_other_are_reported():
    server = installed()
    keep(server, "Pod", "one", metadata={"ownerReferences": [owned_by("ConfigMap", "other", "v1")]})
    keep(server, "ConfigMap", "other", metadata={"ownerReferences": [owned_by("Pod", "one", "v1")]})
    with pytest.raises(RefusedError) as refusal:
        components(server, confirm="1").absent()
    assert [problem.actual for problem in refusal.value.problems] == [
        "ConfigMap other, which Pod one owns", "Pod one, which ConfigMap other owns"]


def test_what_a_reported_object_owns_is_not_reported_besides():
    server = installed()
    neighbour(server)
    keep(server, "Pod", "of-it", metadata={"ownerReferences": [owned_by("Deployment", "database")]})
    keep(server, "Secret", "of-that", metadata={"ownerReferences": [owned_by("Pod", "of-it", "v1")]})
    with pytest.raises(RefusedError) as refusal:
        components(server, confirm="1").absent()
    assert [problem.actual for problem in refusal.value.problems] == ["Deployment database"]


@pytest.mark.parametrize("owner", [
    owned_by("Deployment", "ipam-controller-manager"), owned_by("Namespace", IPAM.namespace, "v1"),
    owned_by("ValidatingWebhookConfiguration", "ipam-webhook", "admissionregistration.k8s.io/v1"),
    # Gone with its definition, while what it owns is not collected yet.
    owned_by("IPPool", "nodes", "ipam.metal3.io/v1beta1"), owned_by("StatefulSet", "gone")])
def test_what_goes_with_its_owner_keeps_no_namespace(owner):
    server = installed()
    keep(server, "Pod", "of-it", metadata={"ownerReferences": [owner]})
    components(server, confirm="1", definitions="remove").absent()
    assert ("Namespace", None, IPAM.namespace) not in server.objects


def test_what_is_applied_beside_the_parts_goes_unless_it_runs_or_keeps_data():
    server = Server()
    server.serve("/apis/example.org/v1", "Database")
    beside = [{"apiVersion": "example.org/v1", "kind": "Database", "metadata": {
        "name": "beside", "namespace": IPAM.namespace}}]
    components(server, objects=beside).present()
    server.writes.clear()
    keep(server, "PersistentVolumeClaim", "data", metadata={"labels": {
        "app.kubernetes.io/managed-by": "metal3.baremetal"}})
    with pytest.raises(RefusedError, match="found PersistentVolumeClaim data, expected"):
        components(server, confirm="1").absent()
    del server.objects["PersistentVolumeClaim", IPAM.namespace, "data"]
    components(server, confirm="1").absent()
    assert ("Namespace", None, IPAM.namespace) not in server.objects


def test_what_was_applied_beside_the_parts_goes_with_their_namespace():
    server = Server()
    beside = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": IPAM.namespace},
              "data": {"password": "cA=="}}
    components(server, objects=[beside]).present()
    components(server, confirm="1").absent()
    assert ("Namespace", None, IPAM.namespace) not in server.objects


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
@pytest.mark.parametrize("labels", [{}, {"app.kubernetes.io/managed-by": "site"}])
def test_a_namespace_with_what_a_user_has_applied_by_this_collection_stays(kind, labels):
    """The module manifests has the parts' field manager, and what it has applied may be a site's authority."""
    server = installed()
    server.store(kind, IPAM.namespace, {"kind": kind, "metadata": {
        "name": "site-ca", "namespace": IPAM.namespace, "labels": labels}})
    with pytest.raises(RefusedError, match=f"Namespace metal3-ipam-system: found {kind} site-ca, expected nothing but"):
        components(server, confirm="1").absent()
    assert server.writes == []


CERTIFICATE = {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {
    "name": "serving", "namespace": IPAM.namespace}, "spec": {"secretName": "serving-cert", "dnsNames": []}}


@pytest.mark.parametrize("name, annotations", [
    ("site-ca", {"cert-manager.io/certificate-name": "site-ca"}),
    # A name of a Certificate of the part in another Secret, which nobody has issued for it.
    ("site-ca", {"cert-manager.io/certificate-name": "serving"}),
    ("site-ca", {"cert-manager.io/allow-direct-injection": "true"})])
def test_a_namespace_with_a_key_of_the_operator_stays_though_cert_manager_has_issued_it(monkeypatch, name, annotations):
    """The only copy of a site's authority went with the namespace, and no message had named it."""
    server = installed()
    monkeypatch.setattr(service.objects, "desired", desired_with_certificate(service.objects.desired))
    keep(server, "Secret", "serving-cert", metadata={"annotations": {"cert-manager.io/certificate-name": "serving"}})
    keep(server, "Secret", name, metadata={"annotations": annotations})
    with pytest.raises(RefusedError, match=f"Namespace metal3-ipam-system: found Secret {name}, expected nothing but"):
        components(server, confirm="1").absent()
    assert server.writes == []


def desired_with_certificate(desired):
    return lambda *arguments: [*desired(*arguments), copy.deepcopy(CERTIFICATE)]


def test_what_kubernetes_cert_manager_and_this_collection_have_put_into_a_namespace_goes_with_it(monkeypatch):
    server = installed()
    monkeypatch.setattr(service.objects, "desired", desired_with_certificate(service.objects.desired))
    keep(server, "ConfigMap", "kube-root-ca.crt")
    keep(server, "Secret", "default-token", type="kubernetes.io/service-account-token")
    keep(server, "Secret", "serving-cert", metadata={"annotations": {"cert-manager.io/certificate-name": "serving"}})
    keep(server, "Secret", "cert-manager-webhook-ca", metadata={
        "annotations": {"cert-manager.io/allow-direct-injection": "true"}})
    keep(server, "Secret", "credentials", metadata={"labels": {"app.kubernetes.io/managed-by": "metal3.baremetal"}})
    components(server, confirm="1").absent()
    assert ("Namespace", None, IPAM.namespace) not in server.objects


def test_what_is_being_deleted_already_does_not_keep_a_namespace():
    server = installed()
    neighbour(server, deletionTimestamp="2026-11-25T00:00:00Z")
    components(server, confirm="1").absent()
    assert ("Namespace", None, IPAM.namespace) not in server.objects


def test_a_namespace_stays_when_something_is_put_into_it_during_a_removal():
    server = installed()
    server.meanwhile = [neighbour]
    with pytest.raises(RefusedError, match="found Deployment database"):
        components(server, confirm="1").absent()
    assert ("Namespace", None, IPAM.namespace) in server.objects


def delete(server, key, held_by):
    server.objects[key]["metadata"].update(deletionTimestamp="2026-11-25T00:00:00Z", finalizers=[held_by])


@pytest.mark.parametrize("check_mode", [True, False])
def test_parts_are_not_installed_into_what_is_being_deleted(check_mode):
    server = installed()
    delete(server, ("Namespace", None, IPAM.namespace), "example.org/own")
    with pytest.raises(RefusedError, match=f"Namespace {IPAM.namespace}: found an object that is being deleted since"):
        components(server, check_mode).present()
    assert server.writes == []


def test_a_part_that_was_removed_a_moment_ago_is_waited_for_and_installed_again():
    server = installed()
    run = components(server)
    key = ("Deployment", IPAM.namespace, "ipam-controller-manager")
    delete(server, key, "foregroundDeletion")

    def sleep(seconds):
        run.clock.sleep(seconds)
        server.objects.pop(key, None)

    run.sleep = sleep
    result = run.present()
    assert {"object": f"Deployment {IPAM.namespace}/{key[2]}", "action": "created"} in result["objects"]


def test_a_removal_that_was_interrupted_goes_on():
    server = installed()
    delete(server, ("Deployment", IPAM.namespace, "ipam-controller-manager"), "foregroundDeletion")
    assert components(server, confirm="1").absent()["changed"]
    assert ("Namespace", None, IPAM.namespace) not in server.objects


OLD, NEW = "v1.13.1", "v1.13.2"
DEPLOYMENT = ("Deployment", IPAM.namespace, "ipam-controller-manager")


def released(version):
    """What a release of IPAM ships: the newer one has another role, and an argument more."""
    items = shipped()
    container = items[3]["spec"]["template"]["spec"]["containers"][0]
    container.update(image=f"quay.io/metal3-io/ip-address-manager:{version}", args=["--new"] if version == NEW else [])
    if version == NEW:
        items.append({"apiVersion": "v1", "kind": "ServiceAccount",
                      "metadata": {"name": "ipam-new", "namespace": IPAM.namespace}})
    return items


def release(server, version, check_mode=False, **given):
    clock = Clock()
    return service.Components(server, parameters(**given), {"ipam": (released(version), version)}, check_mode,
                              Progress(None), clock.sleep, clock)


def content(server):
    return dict((key, {name: value for name, value in obj.items() if name != "metadata"})
                for key, obj in server.objects.items())


def test_an_older_part_is_upgraded_and_named():
    server = Server()
    assert release(server, OLD).present()["upgrades"] == []
    planned = release(server, NEW, check_mode=True).present()
    assert planned["upgrades"] == [{"part": "ipam", "found": OLD, "planned": NEW, "interrupts": False}]
    release(server, NEW).present()
    assert server.objects[DEPLOYMENT]["spec"]["template"]["spec"]["containers"][0]["args"] == ["--new"]
    assert not release(server, NEW).present()["changed"]


def test_a_part_that_does_not_come_up_is_rolled_back_to_what_was_there():
    server = Server()
    release(server, OLD).present()
    before, server.broken = content(server), NEW
    with pytest.raises(ReportedError) as caught:
        release(server, NEW).present()
    text = str(caught.value)
    assert text.startswith(f"the upgrade of IP address manager from {OLD} to {NEW} failed and was rolled back: "), text
    assert "Deployment metal3-ipam-system/ipam-controller-manager" in text and "has timed out progressing" in text
    assert content(server) == before
    server.broken = ""
    assert release(server, NEW).present()["changed"]


class Ended(Server):
    """A run is killed before it writes what says in clusterctl's inventory that the upgrade is done."""

    is_ended = False

    def apply(self, resource, namespace, body, dry_run=False, checked=None):
        if self.is_ended and not dry_run and resource.kind == "Provider":
            raise KeyboardInterrupt
        return super().apply(resource, namespace, body, dry_run, checked)


def with_provider(version):
    return [inventory.definition(), *released(version), {
        "apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": "Provider", "type": "IPAMProvider",
        "providerName": "metal3", "version": version,
        "metadata": {"name": "ipam-metal3", "namespace": IPAM.namespace, "labels": {catalogue.CORE_LABEL: ""}}}]


def test_what_a_killed_run_has_written_is_named_and_goes_back_by_the_release_of_before():
    """What was there before that run nobody knows any more: the next one has found what is half new."""
    server = Ended()

    def install(version):
        clock = Clock()
        return service.Components(server, parameters(), {"ipam": (with_provider(version), version)}, False,
                                  Progress(None), clock.sleep, clock).present()
    install(OLD)
    before, server.broken, server.is_ended = content(server)[DEPLOYMENT], NEW, True
    with pytest.raises(KeyboardInterrupt):
        install(NEW)
    assert content(server)[DEPLOYMENT] != before
    server.is_ended = False
    with pytest.raises(ReportedError) as caught:
        install(NEW)
    text = str(caught.value)
    assert text.startswith(
        f"the upgrade of IP address manager from {OLD} to {NEW} failed, and is as an earlier run has left it, which "
        "was ended before it had upgraded the part: Deployment metal3-ipam-system/ipam-controller-manager is that of "
        f"{NEW} already, and what was there before it is not known; put the cause right, then run again; or go back by "
        f"install with the release of this collection that has {OLD}"), text
    assert "was rolled back" not in text and "has timed out progressing" in text
    server.broken = ""
    install(OLD)
    assert content(server)[DEPLOYMENT] == before


def test_a_rollback_names_what_is_being_deleted_and_brings_nothing_back_into_it():
    class Deleted(Server):
        """Somebody deletes the account as soon as the new Deployment is written."""

        def apply(self, resource, namespace, body, dry_run=False, checked=None):
            if not dry_run and self.broken and resource.kind == "Deployment":
                delete(self, ("ServiceAccount", namespace, "ipam-manager"), "example.org/own")
                self.objects["ServiceAccount", namespace, "ipam-manager"]["automountServiceAccountToken"] = False
            return super().apply(resource, namespace, body, dry_run, checked)

    server = Deleted()
    release(server, OLD).present()
    items, server.broken = released(NEW), NEW
    items[2]["automountServiceAccountToken"] = True
    clock = Clock()
    with pytest.raises(ReportedError, match=r"failed and was rolled back: (?s:.*)these stay: ServiceAccount "
                                            "metal3-ipam-system/ipam-manager, which is being deleted since 2026"):
        service.Components(server, parameters(), {"ipam": (items, NEW)}, False, Progress(None), clock.sleep,
                           clock).present()


def test_a_rollback_leaves_what_others_have_made_since_the_upgrade_was_planned():
    class Refusing(Server):
        """Somebody makes what the upgrade would make after the Deployment, which is refused."""

        def apply(self, resource, namespace, body, dry_run=False, checked=None):
            image = str(body.get("spec")) if resource.kind == "Deployment" else ""
            if not dry_run and NEW in image:
                self.store("ValidatingWebhookConfiguration", None, {
                    "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "ipam-late"}}, "kubectl")
                raise KubeError("quota exceeded", 403, "Forbidden")
            return super().apply(resource, namespace, body, dry_run, checked)

    server = Refusing()
    release(server, OLD).present()
    late = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "ipam-late"}, "webhooks": []}
    clock = Clock()
    with pytest.raises(ReportedError, match=r"failed and was rolled back: (?s:.*)these stay: "
                                            "ValidatingWebhookConfiguration ipam-late, which others have made"):
        service.Components(server, parameters(), {"ipam": ([*released(NEW), late], NEW)}, False, Progress(None),
                           clock.sleep, clock).present()
    assert ("ValidatingWebhookConfiguration", None, "ipam-late") in server.objects


def test_a_failed_upgrade_does_not_go_back_behind_another_run_that_has_upgraded_the_part():
    newest = NEW + "-next"
    server = Server()
    release(server, OLD).present()
    server.broken = NEW

    class Late(Clock):
        """Another run upgrades further while this one waits."""

        def __call__(self):
            if server.objects[DEPLOYMENT]["spec"]["template"]["spec"]["containers"][0]["image"].endswith(NEW):
                server.store("Deployment", DEPLOYMENT[1], released(newest)[3])
                server.objects[DEPLOYMENT]["status"] = {"updatedReplicas": 1, "replicas": 2, "conditions": [{
                    "type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]}
            return super().__call__()

    clock = Late()
    with pytest.raises(ReportedError, match=r"so did going back: Deployment .*: found another one than this run has"):
        service.Components(server, parameters(), {"ipam": (released(NEW), NEW)}, False, Progress(None), clock.sleep,
                           clock).present()
    stored = server.objects[DEPLOYMENT]["spec"]["template"]["spec"]["containers"][0]["image"]
    assert stored.endswith(newest) and ("ServiceAccount", DEPLOYMENT[1], "ipam-new") in server.objects


def test_a_rollback_that_fails_says_so_and_what_to_do():
    server = Server()
    release(server, OLD).present()
    server.broken = (OLD, NEW)
    with pytest.raises(ReportedError, match=r"failed, and so did going back: (?s:.*); put the cause right, then"):
        release(server, NEW).present()


def test_an_upgrade_to_another_minor_asks_for_the_number_and_check_mode_warns():
    server = Server()
    release(server, "v1.12.3").present()
    server.writes.clear()
    server.store("Deployment", "capi-system", {"kind": "Deployment", "metadata": {
        "name": "capi-controller-manager", "namespace": "capi-system"}, "spec": {"template": {"spec": {"containers": [
            {"image": "registry.k8s.io/cluster-api/cluster-api-controller:v1.13.5"}]}}}})
    planned = release(server, NEW, check_mode=True).present()
    assert "To continue, set metal3_confirm=1" in planned["confirmation"]
    assert planned["confirmation"] in planned["warnings"][-1]
    with pytest.raises(ReportedError, match=r"This upgrades 1 part \(ipam\): .* To continue, set metal3_confirm=1"):
        release(server, NEW).present()
    assert server.writes == []
    assert release(server, NEW, confirm="1").present()["changed"]


SEVERAL = r"metal3_confirm: found 2 planes \(one, two\) in this play, .*; repeat the run with --limit <plane>"


@pytest.mark.parametrize("confirm", [None, "1", "ipam"])
def test_with_several_planes_in_the_play_no_confirmation_counts(confirm):
    server, given = Server(), {"confirm": confirm, "confirm_among": ["one", "two"]}
    assert release(server, "v1.12.3", **given).present()["changed"]
    assert not release(server, "v1.12.3", **given).present()["changed"]
    server.store("Deployment", "capi-system", {"kind": "Deployment", "metadata": {
        "name": "capi-controller-manager", "namespace": "capi-system"}, "spec": {"template": {"spec": {"containers": [
            {"image": "registry.k8s.io/cluster-api/cluster-api-controller:v1.13.5"}]}}}})
    server.writes.clear()
    assert re.search(SEVERAL, release(server, NEW, check_mode=True, **given).present()["confirmation"])
    with pytest.raises(ReportedError, match=SEVERAL):
        release(server, NEW, **given).present()
    with pytest.raises(ReportedError, match=SEVERAL):
        components(server, **given).absent()
    assert server.writes == [] and components(server, check_mode=True, **given).absent()["changed"]


def test_what_stands_against_an_upgrade_is_asked_again_before_a_part_is_written(monkeypatch):
    server = Server()
    release(server, OLD).present()
    server.writes.clear()
    answers = [[], [Problem("upgrade-host-in-transition", "part ipam", "BareMetalHost", "1 in transition", "none")]]
    monkeypatch.setattr(service.upgrade, "problems", lambda _due, _managed: answers.pop(0))
    with pytest.raises(ReportedError, match=f"IP address manager stays {OLD}.*\n- part ipam: .* 1 in transition"):
        release(server, NEW).present()
    assert server.writes == [] and answers == []


MANIFESTS = b"""
apiVersion: apps/v1
kind: Deployment
metadata: {name: ipam-controller-manager, namespace: metal3-ipam-system}
spec: {template: {spec: {serviceAccountName: ipam-manager, containers: [{name: manager, args: ["--x=${X:=1}"]}]}}}
"""
CHECKSUM = "sha256:" + hashlib.sha256(MANIFESTS).hexdigest()


def own(**given):
    settings = dict({"name": "ipam", "manifests": "https://releases.test/ipam.yaml", "version": "v1.13.2",
                     "checksum": CHECKSUM}, **given)
    return sources.read([settings], None, lambda _url, _limit: MANIFESTS)


def test_manifests_of_a_release_are_labelled_as_clusterctl_does():
    objects, version = own()["ipam"]
    assert [obj["kind"] for obj in objects] == ["Namespace", "Deployment", "Provider"] and version == "v1.13.2"
    assert objects[1]["spec"]["template"]["spec"]["containers"][0]["args"] == ["--x=1"]


@pytest.mark.parametrize("given, field", [
    ({"checksum": None}, "checksum"), ({"checksum": "sha256:" + "0" * 64}, "checksum"), ({"version": None}, "version"),
    ({"version": "latest"}, "version"), ({"manifests": "/nowhere/ipam.yaml"}, "manifests"),
])
def test_manifests_that_are_not_what_they_should_be_are_refused(given, field):
    with pytest.raises(RefusedError) as caught:
        own(**given)
    assert [problem.field for problem in caught.value.problems] == [field]


def test_manifests_that_are_none_are_refused(tmp_path):
    path = tmp_path / "m.yaml"
    for text in ("a: [", "- 1", "kind: Deployment\n", "x: ${NAME}", "\x00"):
        path.write_text(text)
        with pytest.raises(RefusedError, match="expected manifests of this part"):
            own(manifests=str(path), checksum=None)


class Rendered:
    """An engine whose go.mod pins cert-manager only."""

    def __init__(self, folder, path):
        self.folder, self.path, self.pins = folder, path, self

    def has(self, module):
        return module == catalogue.CERT_MANAGER

    def version(self, _module):
        return "v1.11.5"

    def manifests_of(self, _part):
        return str(self.path)


def test_a_part_may_be_pinned_by_a_folder_of_its_own(tmp_path):
    path = tmp_path / "cert_manager.yaml"
    path.write_text("{apiVersion: v1, kind: Namespace, metadata: {name: cert-manager}}\n")
    asked = []

    def rendered(folder):
        asked.append(folder)
        return Rendered(folder, path)

    found = sources.read([{"name": "cert_manager", "source_dir": "/pins"}], rendered)
    assert found["cert_manager"][1] == "v1.11.5" and len(found["cert_manager"][0]) == 1 and asked == ["/pins"]
    with pytest.raises(RefusedError, match=r"part ipam: source_dir: .*expected a folder whose go.mod requires"):
        sources.read([{"name": "ipam", "source_dir": "/pins"}], rendered)


def test_a_plan_may_have_cert_manager_and_what_needs_it():
    server = Server()
    for group, (plural, _kind) in GROUPS.items():
        if group == "cert-manager.io":
            del server.objects["CustomResourceDefinition", None, f"{plural}.{group}"]
    of_cert_manager = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cert-manager"}},
                       definition("cert-manager.io", "certificates", "Certificate")]
    certificate = {"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
                   "metadata": {"name": "serving", "namespace": IPAM.namespace}, "spec": {"secretName": "s"}}
    result = service.Components(
        server, parameters(parts=[{"name": "cert_manager"}, {"name": "ipam"}]),
        {"cert_manager": (of_cert_manager, "v1.11.5"), "ipam": ([*shipped(), certificate], "v1.13.2")}, True,
        Progress(None)).present()
    titles = [item["object"] for item in result["objects"]]
    assert f"Certificate {IPAM.namespace}/serving" in titles and server.writes == []


def test_what_a_certificate_that_goes_has_made_is_not_in_the_way():
    owned_by = {"metadata": {"name": "r", "namespace": "a", "ownerReferences": [{"kind": "Certificate", "name": "c"}]}}
    assert removal_service.goes_with(owned_by, {("Certificate", "a", "c")})
    assert not removal_service.goes_with(owned_by, {("Certificate", "b", "c")})
    assert not removal_service.goes_with({"metadata": {"name": "r"}}, {("Certificate", "a", "c")})


def test_parts_that_are_not_rendered_need_manifests():
    with pytest.raises(RefusedError, match="part cert_manager: manifests: not set"):
        sources.read([{"name": "cert_manager"}], sources.pinned_by(None, "/nowhere"))
    with pytest.raises(RefusedError, match="part ipam: manifests: not set, expected a file or a URL, or the option"):
        sources.read([{"name": "ipam"}], sources.pinned_by(None, "/nowhere"))
