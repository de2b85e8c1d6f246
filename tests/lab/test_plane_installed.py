# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole plane as pods of a cluster, Ironic among them: installed, used for a server, removed.

Installed and removed with the rights of docs/rbac/plane.yml only. The server's BMC, its agent and the image server are
the lab's, at the address that pods reach.
"""
from __future__ import annotations

import generated_definition
import metrics_scrape
import operator_account
import plane_site
import pytest
import small_cluster
from machine_room.node_boot.names import network_namespace
from support import eventually, only
from test_cluster import host_of

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds.resources import Resource
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import monitor, network_policy
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster.objects import OWNER_LABEL
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import BY_NAME, RENDERED

pytestmark = pytest.mark.nodes

SECONDS = 900
NAMESPACE = "metal3"
# Of upstream's manifests; what the agent says at the end of a deployment.
LOG_WATCH, WRITTEN = "ironic-log-watch", "agent: install_bootloader: SUCCEEDED"
ENDPOINTS = Resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", True)
LEFT = ("ClusterRole", "ClusterRoleBinding", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


@pytest.fixture(scope="module")
def variables(lab, kubeconfig, target, tmp_path_factory):
    found = plane_site.plane(lab, kubeconfig, tmp_path_factory.mktemp("ironic"))
    target.apply(KNOWN["Namespace"], None, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    found["management_plane"]["kubeconfig"] = str(operator_account.make(
        lab, tmp_path_factory.mktemp("installer"), operator_account.INSTALLER, kubeconfig))
    return found


@pytest.fixture(scope="module")
def server(lab, kubeconfig):
    """A server that the lab's own plane lets go; its name and variables."""
    name, *dummy = [name for name, host in sorted(lab.hosts().items())
                    if not host["spec"].get("consumerRef") and lab.state(name) == "available"]
    lab.remove_hosts(name)
    yield name, plane_site.server(lab, name, kubeconfig)
    lab.playbook("enroll", *only(name), seconds=SECONDS).ok()


def host(target, name):
    found = target.get(KNOWN["BareMetalHost"], NAMESPACE, name)
    return found and found["status"]


def test_a_plan_of_all_parts_writes_nothing(lab, target, variables):
    before = plane_site.namespaces(target)
    run = lab.playbook("install", "--check", "--diff", extra=variables, seconds=SECONDS).ok()
    for title in ("Deployment capi-system/capi-controller-manager", "Deployment baremetal-operator-system/ironic"):
        assert title in run.output
    assert plane_site.namespaces(target) == before and not plane_site.definitions(target)


def test_every_part_comes_up_and_a_second_run_changes_nothing(lab, target, variables):
    lab.playbook("install", extra=variables, seconds=SECONDS).ok()
    assert set(plane_site.managers(target)) == {name for part in RENDERED for name in part.images} | {"ironic"}
    assert plane_site.not_ready(target) == []
    assert lab.playbook("install", extra=variables, seconds=SECONDS).ok().changed() == 0


@pytest.fixture(scope="module")
def monitors(target):
    """What the Prometheus operator brings along; the operator itself is not there."""
    generated_definition.serve_monitors(target)


@pytest.fixture
def scrapers(target):
    """Tokens of an account that may get metrics, and of one that may not."""
    try:
        yield (metrics_scrape.token(target, NAMESPACE, "prometheus", "baremetal-operator-metrics-reader"),
               metrics_scrape.token(target, NAMESPACE, "nobody"))
    finally:
        metrics_scrape.remove_binding(target)


def served(target, part):
    """Return the ports of a part's pods that its Services lead to."""
    return set(port["port"] for item in target.list(ENDPOINTS, part.namespace)[0] for port in item["ports"])


def let_in(target, part):
    """Return the ports of its pods that its NetworkPolicies let in."""
    return set(port["port"] for item in target.list(network_policy.POLICIES, part.namespace)[0]
               for rule in item["spec"]["ingress"] for port in rule["ports"])


@pytest.mark.plane
def test_every_part_is_scraped_by_its_service_with_a_token_and_a_certificate_that_is_verified(
        lab, target, variables, monitors, scrapers):
    """With NetworkPolicies, which let in what the pods serve; the lab's network add-on does not enforce them."""
    monitored = dict(variables, management_plane=dict(variables["management_plane"], options={
        "monitor": True, "monitor_labels": {"release": "prometheus"}, "network_policy": True}))
    lab.playbook("install", extra=monitored, seconds=SECONDS).ok()
    assert plane_site.not_ready(target) == []
    server = host_of(lab, target.list(KNOWN["Node"])[0][0]["metadata"]["name"])
    # Where the addresses of Services lead to their pods.
    inside = ["ip", "netns", "exec", network_namespace(lab.figures["index"], server)]
    reader, nobody = scrapers
    for part in RENDERED:
        scraper = metrics_scrape.Scraper(target, part, inside)
        assert scraper.endpoint["scheme"] == "https" and "insecureSkipVerify" not in scraper.endpoint["tlsConfig"]
        # A pod is ready before its rules are on the node.
        status, text = eventually(lambda scraper=scraper: scraper.ask(reader), 60, f"metrics of {part.name}",
                                  not_yet=AssertionError)
        assert status == 200 and "controller_runtime_" in text, (part.name, status, text[:300])
        assert scraper.ask()[0] == 401 and scraper.ask(nobody)[0] == 403, part.name
        assert len(served(target, part)) == 2 and served(target, part) == let_in(target, part), part.name
    assert lab.playbook("install", extra=monitored, seconds=SECONDS).ok().changed() == 0


@pytest.mark.plane
def test_what_is_not_asked_for_any_more_goes_from_all_parts_but_one(lab, target, variables, monitors):
    """The one that keeps both shows that a removal takes monitor and NetworkPolicy along."""
    lab.playbook("install", extra=dict(variables, ipam_options={"monitor": True, "network_policy": True}),
                 seconds=SECONDS).ok()
    assert [item["metadata"]["namespace"] for item in target.list(network_policy.POLICIES)[0]] == [
        BY_NAME["ipam"].namespace]
    assert [item["metadata"]["name"] for item in target.list(monitor.MONITORS)[0]] == [
        monitor.name_of(BY_NAME["ipam"])]
    assert plane_site.not_ready(target) == []


@pytest.fixture
def pod(variables):
    """Where BMCs are asked from, with the installer's rights."""
    return {"kubeconfig": variables["management_plane"]["kubeconfig"]}


def test_a_bmc_that_ironics_pod_does_not_reach_is_named_before_anything_is_written(lab, target, server, pod):
    """The address in the lab's inventory is on this machine's loopback, where this machine reaches the BMC."""
    name, of_server = server
    own = dict((key, value) for key, value in of_server.items() if key != "bmc_address")
    lab.playbook("enroll", *only(name), extra=dict(own, preflight_ironic_pod=pod), seconds=SECONDS).failed(
        "asked from Deployment baremetal-operator-system/ironic", "expected a BMC that Ironic reaches",
        "look at the routes and firewalls between the two, or correct the address")
    assert host(target, name) is None


def images_that_only_this_machine_reaches_are_named(lab, name, of_server, pod):
    """Check that ``provision`` and ``cluster`` refuse images on this machine's loopback, where it reaches them."""
    own = lab.figures["urls"]["image_server"] + "/images/lab.raw"
    expected = ("connection refused, asked from Deployment baremetal-operator-system/ironic",
                "expected an image server that Ironic reaches")
    run = lab.playbook("provision", *only(name), seconds=SECONDS, extra=dict(
        of_server, bmh_image=dict(of_server["bmh_image"], url=own, checksum=own + ".sha256"), preflight_ironic_pod=pod))
    run.failed(f"bmh_image.url: found {own}: {expected[0]}", f"bmh_image.checksum: found {own}.sha256: ", expected[1])
    wanted = small_cluster.variables(lab, "unreached", {}, endpoint=14)
    run = lab.playbook("cluster", "--check", seconds=SECONDS, environment={"LAB_CLUSTER": "workload"}, extra=dict(
        wanted, metal3_kubeconfig=of_server["metal3_kubeconfig"], preflight_ironic_pod=pod))
    run.failed(f"cluster_image.url: found {wanted['cluster_image']['url']}: {expected[0]}", expected[1])


def test_a_server_is_enrolled_and_provisioned_through_it(lab, target, server, pod):
    name, of_server = server
    run = lab.playbook("enroll", *only(name), extra=dict(of_server, preflight_ironic_pod=pod), seconds=SECONDS).ok()
    assert "not asked from" not in run.output
    assert host(target, name)["provisioning"]["state"] == "available"
    images_that_only_this_machine_reaches_are_named(lab, name, of_server, pod)
    assert host(target, name)["provisioning"]["state"] == "available"
    lab.playbook("provision", *only(name), extra=dict(of_server, preflight_ironic_pod=pod), seconds=SECONDS).ok()
    assert host(target, name)["provisioning"]["state"] == "provisioned"
    # Not through the lab's own plane.
    assert lab.host(name) is None and name not in lab.nodes()


def test_what_the_servers_agent_has_sent_to_ironics_pod_is_among_the_logs(
        lab, target, server, variables, kubeconfig, tmp_path):
    """The container ``ironic-log-watch`` prints it once the agent has sent it; the playbook reads the log."""
    name, _of_server = server
    pod, = [item["metadata"]["name"] for item in target.list(KNOWN["Pod"], BY_NAME["bmo"].namespace)[0]
            if item["metadata"]["name"].startswith("ironic-") and not item["metadata"].get("deletionTimestamp")]
    path = KNOWN["Pod"].path(BY_NAME["bmo"].namespace, pod, "log")

    def printed():
        log = target.beginning(path, {"container": LOG_WATCH}, pod, 10_000_000).decode()
        return of_deployment(log)

    def of_deployment(log):
        return [line for line in log.splitlines() if f"{NAMESPACE}~{name}_" in line and WRITTEN in line]

    eventually(printed, 120, "the agent's log of the deployment", interval_seconds=1)
    plane = dict(variables["management_plane"], kubeconfig=str(kubeconfig))
    lab.playbook("collect_logs", seconds=SECONDS, extra=dict(
        variables, management_plane=plane, collect_logs_dir=str(tmp_path / "logs"))).ok()
    collected, = (tmp_path / "logs" / "pods" / BY_NAME["bmo"].namespace).glob(f"ironic-*/{LOG_WATCH}.log")
    assert of_deployment(collected.read_text())


def test_what_manages_a_host_is_not_removed(lab, target, server, variables):
    run = lab.playbook("uninstall", extra=dict(variables, metal3_confirm=",".join(plane_site.PARTS)), seconds=SECONDS)
    run.failed(f"part bmo: BareMetalHost: found 1 ({NAMESPACE}/{server[0]}), expected none")
    assert plane_site.not_ready(target) == []


def test_removal_asks_for_a_confirmation_and_leaves_nothing(lab, target, server, variables, kubeconfig, monitors):
    name, of_server = server
    lab.playbook("unenroll", *only(name), extra=dict(of_server, metal3_confirm=1), seconds=SECONDS).ok()
    assert host(target, name) is None
    lab.playbook("uninstall", extra=variables, seconds=SECONDS).failed(f"set metal3_confirm={len(plane_site.PARTS)}")
    lab.playbook("uninstall", extra=dict(variables, metal3_confirm=len(plane_site.PARTS)), seconds=SECONDS).ok()
    assert not plane_site.definitions(target)
    assert target.list(monitor.MONITORS)[0] == target.list(network_policy.POLICIES)[0] == []
    assert not plane_site.namespaces(target) & set(part.namespace for part in RENDERED)
    selector = "=".join(OWNER_LABEL)
    assert not [item["metadata"]["name"] for kind in LEFT for item in target.list(KNOWN[kind], None, selector)[0]]
    eventually(lambda: not [pod for pod in target.list(KNOWN["Pod"])[0] if "ironic" in pod["metadata"]["name"]], 60,
               "Ironic's pod gone")
    # The account's rights have gone with the namespaces.
    administrators = dict(variables, management_plane=dict(variables["management_plane"], kubeconfig=str(kubeconfig)))
    assert lab.playbook("uninstall", extra=administrators, seconds=SECONDS).ok().changed() == 0
