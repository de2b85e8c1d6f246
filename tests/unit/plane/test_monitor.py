# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Monitors of parts: what is written so that Prometheus scrapes a manager, what is refused, what is deleted again."""
from __future__ import annotations

import base64
import copy

import pytest
from cryptography import x509
from fakes.plane_server import GROUPS, Server, definition

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import (
    certificates,
    monitor,
    objects,
    service,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue

IPAM, BMO, CERT_MANAGER = (catalogue.BY_NAME[name] for name in ("ipam", "bmo", "cert_manager"))
OWNER = dict([objects.OWNER_LABEL])
NAME = "ipam-controller-manager-metrics"
HOST = f"{NAME}.{IPAM.namespace}.svc"
FOLDER = "/tmp/k8s-metrics-server/serving-certs"


def deployment(part, labels, port, args=()):
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": next(iter(part.images)), "namespace": part.namespace},
            "spec": {"replicas": 1, "selector": {"matchLabels": dict(labels)}, "template": {
                "metadata": {"labels": dict(labels, more="x")}, "spec": {"containers": [{
                    "name": "manager", "args": list(args),
                    "ports": [{"name": "webhook-server", "containerPort": 9443},
                              {"name": port[0], "containerPort": port[1]}]}]}}}}


def of_service(part, name, labels, port):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": part.namespace},
            "spec": {"selector": labels, "ports": [port]}}


def certificate(part):
    return {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {
        "name": "serving", "namespace": part.namespace}, "spec": {
            "secretName": "serving-cert", "issuerRef": {"kind": "Issuer", "name": "selfsigned"},
            "dnsNames": [f"webhook-service.{part.namespace}.svc"]}}


def shipped(part=IPAM, args=("--diagnostics-address=:8443", "--insecure-diagnostics=false")):
    """As upstream's manifests have it: what matters here of the releases that are pinned."""
    labels = {"cluster.x-k8s.io/provider": "ipam-metal3"}
    if part is BMO:
        labels = {"control-plane": "controller-manager"}
        return [deployment(part, labels, ("https", 8443), ["--enable-leader-election"]), certificate(part),
                of_service(part, "webhook-service", labels, {"port": 443, "targetPort": 9443}),
                of_service(part, "upstreams-metrics-service", labels, {
                    "name": "https", "port": 8443, "targetPort": "https"})]
    if part is CERT_MANAGER:
        labels = {"app.kubernetes.io/component": "controller"}
        return [deployment(part, labels, ("http-metrics", 9402)),
                of_service(part, "cert-manager", labels, {
                    "name": "tcp-prometheus-servicemonitor", "port": 9402, "targetPort": 9402})]
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": part.namespace}},
        definition("ipam.metal3.io", "ippools", "IPPool", "v1alpha1"),
        of_service(part, "webhook-service", labels, {"port": 443, "targetPort": "webhook-server"}),
        deployment(part, labels, ("metrics", 8443), args), certificate(part)]


def made(part, **given):
    given = dict({"name": part.name, "monitor": True}, **given)
    return monitor.added(part, given, objects.desired(part, shipped(part), given, "v1.13.2"))


def find(items, kind, name=None):
    (found,) = [item for item in items if item["kind"] == kind and name in (None, item["metadata"]["name"])]
    return found


def test_a_manager_gets_a_service_a_certificate_and_a_monitor():
    items = made(IPAM, monitor_labels={"release": "prometheus", "tier": 1})
    assert find(items, "Service", NAME) == {
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": NAME, "namespace": IPAM.namespace, "labels": dict(OWNER, **{monitor.LABEL: "ipam"})},
        "spec": {"selector": {"cluster.x-k8s.io/provider": "ipam-metal3"},
                 "ports": [{"name": "metrics", "port": 8443, "targetPort": "metrics"}]}}
    assert find(items, "ServiceMonitor") == {
        "apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor",
        "metadata": {"name": NAME, "namespace": IPAM.namespace,
                     "labels": dict(OWNER, release="prometheus", tier="1")},
        "spec": {"selector": {"matchLabels": {monitor.LABEL: "ipam"}}, "endpoints": [{
            "port": "metrics", "path": "/metrics", "scheme": "https",
            "bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
            "tlsConfig": {"serverName": HOST, "ca": {"secret": {"name": NAME, "key": "ca.crt"}}}}]}}
    asked = find(items, "Certificate", NAME)["spec"]
    assert asked["issuerRef"] == {"kind": "Issuer", "name": "selfsigned"} and asked["secretName"] == NAME
    assert asked["dnsNames"] == [HOST, HOST + ".cluster.local"]
    pod = find(items, "Deployment")["spec"]["template"]["spec"]
    assert pod["volumes"] == [{"name": "metal3-baremetal-metrics", "secret": {"secretName": NAME}}]
    assert pod["containers"][0]["volumeMounts"] == [
        {"name": "metal3-baremetal-metrics", "mountPath": FOLDER, "readOnly": True}]


def test_the_service_of_upstream_is_used_where_there_is_one():
    items = made(BMO, namespace="elsewhere")
    used = find(items, "Service", "upstreams-metrics-service")
    assert used["metadata"]["labels"] == dict(OWNER, **{monitor.LABEL: "bmo"})
    assert monitor.LABEL not in find(items, "Service", "webhook-service")["metadata"]["labels"]
    assert len([item for item in items if item["kind"] == "Service"]) == 2
    (endpoint,) = find(items, "ServiceMonitor")["spec"]["endpoints"]
    assert endpoint["port"] == "https"
    assert endpoint["tlsConfig"]["serverName"] == "upstreams-metrics-service.elsewhere.svc"
    assert {item["metadata"].get("namespace") for item in items if item["kind"] != "Namespace"} == {"elsewhere"}


def test_who_serves_metrics_to_anybody_gets_no_token():
    items = made(CERT_MANAGER)
    assert find(items, "ServiceMonitor")["spec"]["endpoints"] == [
        {"port": "tcp-prometheus-servicemonitor", "path": "/metrics", "scheme": "http"}]
    assert not [item for item in items if item["kind"] == "Certificate"]
    assert "volumes" not in find(items, "Deployment")["spec"]["template"]["spec"]


def test_every_part_says_how_it_serves_metrics():
    assert all(part.metrics for part in catalogue.PARTS)
    assert [part.name for part in catalogue.PARTS if not part.metrics.is_secure] == ["cert_manager"]


@pytest.mark.parametrize("given, field, expected", [
    ({"arguments": ["--insecure-diagnostics"]}, "arguments", "--insecure-diagnostics=false"),
    ({"arguments": ["--insecure-diagnostics=true"]}, "arguments", "--insecure-diagnostics=false"),
    ({"arguments": ["--diagnostics-address=localhost:8443"]}, "arguments", "--diagnostics-address=:8443"),
    ({"arguments": ["--diagnostics-address=:9000"]}, "arguments", "--diagnostics-address=:8443"),
    ({"secret_mounts": [{"secret": "s", "path": FOLDER + "/"}]}, "secret_mounts", "another folder"),
    ({"environment": {"TMPDIR": "/x"}}, "environment.TMPDIR", "no value"),
])
def test_what_prometheus_could_not_scrape_is_refused(given, field, expected):
    (problem,) = monitor.problems(IPAM, given, shipped(), "collection")
    assert (problem.subject, problem.field) == ("part ipam", field) and problem.expected.startswith(expected)


def test_what_the_manifests_lack_is_refused():
    assert monitor.problems(IPAM, {"arguments": ["--diagnostics-address=0.0.0.0:8443"]}, shipped(), "collection") == []
    without = [item for item in shipped() if item["kind"] != "Certificate"]
    assert monitor.problems(IPAM, {}, without, "collection") == []
    (problem,) = monitor.problems(IPAM, {}, without, "cert_manager")
    assert problem.hint == "set certificates=collection, or remove monitor"
    older = copy.deepcopy(shipped())
    find(older, "Deployment")["spec"]["template"]["spec"]["containers"][0].pop("ports")
    (problem,) = monitor.problems(IPAM, {}, older, "collection")
    assert problem.expected.startswith("manifests whose manager has a port named metrics and labels")


# Whole runs

def parameters(monitored, **given):
    return dict({"parts": [{"name": "ipam", "monitor": monitored}], "certificates": "collection", "objects": [],
                 "wait": True, "wait_timeout_seconds": 30, "definitions": "keep", "adopt": [], "confirm": None,
                 "confirm_among": []}, **given)


def components(server, monitored=True, check_mode=False, **given):
    return service.Components(server, parameters(monitored, **given), {"ipam": (shipped(), "v1.13.2")}, check_mode,
                              Progress(None), lambda _seconds: None, lambda: 0.0)


def left(server):
    return sorted(kind for kind, _namespace, name in server.objects if name == NAME)


@pytest.fixture
def server():
    found = Server()
    found.serve_monitors()
    return found


def test_a_cluster_without_the_prometheus_operator_is_refused_before_anything_is_written():
    server = Server()
    for check_mode in (True, False):
        with pytest.raises(RefusedError) as caught:
            components(server, check_mode=check_mode).present()
        (problem,) = caught.value.problems
        assert str(problem) == ("part ipam: monitor: found true, expected false, because the cluster does not serve "
                                "ServiceMonitor of monitoring.coreos.com/v1; install the Prometheus operator first, or "
                                "remove monitor")
    assert server.writes == []
    # Who asks for none is not asked for it.
    assert components(server, False).present()["changed"]


def test_the_collection_issues_the_certificate_and_a_second_run_changes_nothing(server):
    components(server).present()
    assert left(server) == ["Secret", "Service", "ServiceMonitor"]
    secret = server.objects["Secret", IPAM.namespace, NAME]
    names = x509.load_pem_x509_certificate(base64.b64decode(secret["data"]["tls.crt"])).extensions
    assert HOST in names.get_extension_for_class(x509.SubjectAlternativeName).value.get_values_for_type(x509.DNSName)
    assert certificates.fault(secret["data"], [HOST, HOST + ".cluster.local"]) is None
    assert not components(server).present()["changed"]


def test_what_is_not_asked_for_any_more_is_deleted_first_who_scrapes(server):
    components(server).present()
    server.writes.clear()
    check = components(server, False, check_mode=True).present()
    assert check["counts"]["deleted"] == 3 and server.writes == []
    result = components(server, False).present()
    assert result["changed"] and server.writes[-4:] == ["ipam-controller-manager", *["-" + NAME] * 3]
    assert [item["object"].split()[0] for item in result["objects"] if item["action"] == "deleted"] == [
        "ServiceMonitor", "Service", "Secret"]
    assert left(server) == [] and not components(server, False).present()["changed"]


def test_a_deletion_that_was_interrupted_is_continued(server):
    components(server).present()
    delete, deleted = server.delete, []

    def interrupted(resource, *arguments, **options):
        if deleted:
            raise KubeError("killed", 403)
        deleted.append(resource.kind)
        return delete(resource, *arguments, **options)

    server.delete = interrupted
    with pytest.raises(KubeError):
        components(server, False).present()
    server.delete = delete
    assert deleted == ["ServiceMonitor"] and left(server) == ["Secret", "Service"]
    components(server, False).present()
    assert left(server) == []


def test_what_others_have_under_the_same_name_stays(server):
    components(server, False).present()
    for kind in ("ServiceMonitor", "Secret"):
        server.store(kind, IPAM.namespace, {"kind": kind, "metadata": {"name": NAME, "namespace": IPAM.namespace}},
                     "helm")
    assert not components(server, False).present()["changed"] and left(server) == ["Secret", "ServiceMonitor"]
    for kind in ("Secret", "ServiceMonitor"):
        with pytest.raises(RefusedError, match=f"found {kind} {NAME}, expected nothing but the parts that are removed"):
            components(server, False, confirm="1").absent()
        del server.objects[kind, IPAM.namespace, NAME]
    assert components(server, False, confirm="1").absent()["changed"]


def test_who_may_not_read_monitors_need_not_have_asked_for_them(server, monkeypatch):
    def refuse(resource, namespace, name):
        if name == NAME:
            raise KubeError("forbidden", 403)
        return get(resource, namespace, name)

    get = server.get
    monkeypatch.setattr(server, "get", refuse)
    assert components(server, False).present()["changed"]


@pytest.mark.parametrize("monitored", [True, False])
def test_removal_takes_the_monitor_along_whatever_the_options_say(server, monitored):
    components(server).present()
    server.writes.clear()
    components(server, monitored, confirm="ipam").absent()
    assert server.writes.count("-" + NAME) == 3 and left(server) == []


def test_cert_manager_issues_the_certificate_where_it_does(server):
    assert "cert-manager.io" in GROUPS
    server.served["/apis/cert-manager.io/v1"] = [{"name": "certificates", "kind": "Certificate", "namespaced": True}]
    components(server, certificates="cert_manager", wait=False).present()
    assert left(server) == ["Certificate", "Service", "ServiceMonitor"]
    # As cert-manager does, with the labels that the Certificate names.
    labels = server.objects["Certificate", IPAM.namespace, NAME]["spec"]["secretTemplate"]["labels"]
    server.store("Secret", IPAM.namespace, {"kind": "Secret", "metadata": {
        "name": NAME, "namespace": IPAM.namespace, "labels": labels}}, "cert-manager")
    components(server, False, certificates="cert_manager", wait=False).present()
    assert left(server) == []
