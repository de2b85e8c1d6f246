# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NetworkPolicies of parts: what they let in, what goes when they are not asked for any more."""
from __future__ import annotations

import pytest
from fakes.plane_server import Server, definition

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import (
    monitor,
    network_policy,
    objects,
    service,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue

IPAM, CERT_MANAGER = (catalogue.BY_NAME[name] for name in ("ipam", "cert_manager"))
OWNER = dict([objects.OWNER_LABEL])
NAME = "ipam-controller-manager-network"
EGRESS = [{"to": [{"ipBlock": {"cidr": "192.0.2.0/24"}}], "ports": [{"port": 6385}]}]


def deployment(part, name, labels, *ports):
    container = {"name": "manager", "ports": [{"name": port, "containerPort": number} for port, number in ports]}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": part.namespace},
            "spec": {"replicas": 1, "selector": {"matchLabels": dict(labels)}, "template": {
                "metadata": {"labels": dict(labels, more="x")}, "spec": {"containers": [container]}}}}


def of_service(part, name, selector, **port):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": part.namespace},
            "spec": {"selector": selector, "ports": [port]}}


def shipped():
    """As IPAM's manifests have it: what matters here of the release that is pinned."""
    labels = {"cluster.x-k8s.io/provider": "ipam-metal3"}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": IPAM.namespace}},
        definition("ipam.metal3.io", "ippools", "IPPool", "v1alpha1"),
        of_service(IPAM, "ipam-webhook-service", labels, port=443, targetPort="ipam-webhook"),
        deployment(IPAM, "ipam-controller-manager", dict(labels, plane="x"), ("ipam-webhook", 9443), ("healthz", 9440),
                   ("metrics", 8443))]


def made(part, items, **given):
    found = network_policy.added(part, dict({"network_policy": True}, **given), items)
    return dict((item["metadata"]["name"], item) for item in found if item["kind"] == "NetworkPolicy")


def ports(policy):
    return [[(port["port"], port["protocol"]) for port in rule["ports"]] for rule in policy["spec"]["ingress"]]


def test_the_pods_of_a_deployment_are_reached_where_its_services_lead_to():
    assert made(IPAM, shipped()) == {NAME: {
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": {"name": NAME, "namespace": IPAM.namespace, "labels": OWNER},
        "spec": {"podSelector": {"matchLabels": {"cluster.x-k8s.io/provider": "ipam-metal3", "plane": "x"}},
                 "policyTypes": ["Ingress"], "ingress": [{"ports": [{"protocol": "TCP", "port": 9443}]}]}}}


def test_metrics_are_reached_when_they_are_asked_for():
    items = objects.desired(IPAM, shipped(), {}, "v1.13.2")
    given = {"monitor": True}
    found = network_policy.added(IPAM, given, monitor.added(IPAM, given, items))
    assert ports(found[-1]) == [[(8443, "TCP"), (9443, "TCP")]]
    # A Service of upstream's leads to them, too.
    own = of_service(IPAM, "metrics", {"plane": "x"}, port=8443, targetPort="metrics")
    assert ports(made(IPAM, shipped() + [own])[NAME]) == [[(9443, "TCP")]]


@pytest.mark.parametrize("port, expected", [
    ({"port": 443, "targetPort": 9443}, (9443, "TCP")),
    ({"port": 443, "targetPort": "ipam-webhook"}, (9443, "TCP")),
    ({"port": 9443}, (9443, "TCP")),
    ({"port": 53, "targetPort": 5353, "protocol": "UDP"}, (5353, "UDP")),
])
def test_a_services_port_is_that_of_the_container(port, expected):
    items = [item for item in shipped() if item["kind"] != "Service"]
    service_ = of_service(IPAM, "any", {"plane": "x"}, **port)
    assert ports(made(IPAM, items + [service_])[NAME]) == [[expected]]


def test_a_deployment_that_serves_nothing_is_reached_by_nobody():
    items = [deployment(CERT_MANAGER, "cert-manager", {"app": "a"}, ("http-metrics", 9402)),
             deployment(CERT_MANAGER, "cert-manager-cainjector", {"app": "b"}),
             deployment(CERT_MANAGER, "cert-manager-webhook", {"app": "c"}, ("https", 10250)),
             of_service(CERT_MANAGER, "cert-manager", {"app": "a"}, port=9402),
             of_service(CERT_MANAGER, "cert-manager-webhook", {"app": "c"}, port=443, targetPort="https"),
             of_service(CERT_MANAGER, "somewhere-else", {}, port=1)]
    found = made(CERT_MANAGER, items)
    assert dict((name, ports(policy)) for name, policy in found.items()) == {
        "cert-manager-network": [], "cert-manager-cainjector-network": [],
        "cert-manager-webhook-network": [[(10250, "TCP")]]}
    assert ports(made(CERT_MANAGER, items, monitor=True)["cert-manager-network"]) == [[(9402, "TCP")]]


def test_what_goes_out_is_limited_when_rules_are_given():
    spec = made(IPAM, shipped(), network_policy_egress=EGRESS)[NAME]["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"] and spec["egress"] == EGRESS
    assert "egress" not in made(IPAM, shipped(), network_policy_egress=[])[NAME]["spec"]


# Whole runs

def components(server, wanted=True, check_mode=False, **given):
    params = dict({"parts": [{"name": "ipam", "network_policy": wanted}], "certificates": "collection", "objects": [],
                   "wait": True, "wait_timeout_seconds": 30, "definitions": "keep", "adopt": [], "confirm": None,
                   "confirm_among": []}, **given)
    return service.Components(server, params, {"ipam": (shipped(), "v1.13.2")}, check_mode, Progress(None),
                              lambda _seconds: None, lambda: 0.0)


def test_a_second_run_changes_nothing_and_what_is_not_asked_for_any_more_is_deleted():
    server = Server()
    assert components(server).present()["changed"]
    assert ("NetworkPolicy", IPAM.namespace, NAME) in server.objects
    assert not components(server).present()["changed"]
    planned = components(server, False, check_mode=True).present()
    assert planned["counts"]["deleted"] == 1 and ("NetworkPolicy", IPAM.namespace, NAME) in server.objects
    result = components(server, False).present()
    assert result["changed"] and server.writes[-1] == "-" + NAME
    assert [item for item in result["objects"] if item["action"] == "deleted"] == [
        {"object": f"NetworkPolicy {IPAM.namespace}/{NAME}", "action": "deleted"}]
    assert not components(server, False).present()["changed"]


def test_the_pods_are_closed_before_they_run():
    server = Server()
    components(server).present()
    assert server.writes.index(NAME) < server.writes.index("ipam-controller-manager")


def test_what_others_have_under_the_same_name_stays():
    server = Server()
    components(server, False).present()
    server.store("NetworkPolicy", IPAM.namespace, {
        "kind": "NetworkPolicy", "metadata": {"name": NAME, "namespace": IPAM.namespace}}, "helm")
    assert not components(server, False).present()["changed"]
    assert ("NetworkPolicy", IPAM.namespace, NAME) in server.objects


@pytest.mark.parametrize("status", [403, 500])
def test_who_may_not_read_them_need_not_have_asked_for_them(monkeypatch, status):
    def refuse(resource, namespace, name):
        if name == NAME:
            raise KubeError("refused", status)
        return get(resource, namespace, name)

    server = Server()
    get = server.get
    monkeypatch.setattr(server, "get", refuse)
    if status == 403:
        assert components(server, False).present()["changed"]
    else:
        with pytest.raises(KubeError):
            components(server, False).present()


@pytest.mark.parametrize("wanted", [True, False])
def test_removal_takes_it_along_whatever_the_options_say(wanted):
    server = Server()
    components(server).present()
    components(server, wanted, confirm="ipam").absent()
    assert server.writes.count("-" + NAME) == 1
