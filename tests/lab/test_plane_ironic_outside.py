# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane as pods of a cluster with an Ironic outside of it, the process of the lab; a server enrolled through it.

Ironic is reached from pods through a server on the lab's bridge, with a certificate for that address.
"""
from __future__ import annotations

from urllib.parse import urlsplit

import bmc_certificates
import outside_ironic
import plane_site
import pytest
from support import eventually, only

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.fitness import pod_question
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.pods import short_pod
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._network import pod_reach
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import RENDERED

pytestmark = pytest.mark.plane

SECONDS = 900
NAMESPACE, OPERATORS = "metal3", outside_ironic.NAMESPACE
# The lab's, which has Python.
IMAGE = "quay.io/metal3-io/ironic:latest"


@pytest.fixture(scope="module")
def outside(lab, tmp_path_factory):
    """The lab's Ironic at the address that pods reach."""
    with outside_ironic.served(lab, tmp_path_factory.mktemp("outside")) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def variables(lab, kubeconfig, target, outside):
    outside_ironic.add_secrets(lab, target)
    given = dict(outside_ironic.variables(lab, outside), **outside_ironic.operator(lab, outside))
    return dict(given, ironic_check_image=IMAGE,
                management_plane={"mode": "cluster", "kubeconfig": str(kubeconfig), "certificates": "collection",
                                  "definitions": "remove"})


@pytest.fixture(scope="module")
def server(lab):
    """A server that the lab's own plane lets go."""
    name = min(name for name, host in lab.hosts().items()
               if not host["spec"].get("consumerRef") and lab.state(name) == "available")
    lab.remove_hosts(name)
    yield name
    lab.playbook("enroll", *only(name), seconds=SECONDS).ok()


def test_an_authority_that_has_not_signed_ironics_certificate_is_refused_before_anything_is_written(
        lab, target, variables, tmp_path):
    (other, _key), _signer = bmc_certificates.issue(tmp_path, "other")
    lab.playbook("install", extra=dict(variables, ironic_ca_file=other), seconds=SECONDS).failed(
        f"TLS with {variables['ironic_url']}/v1 fails")
    assert not plane_site.definitions(target)


def probes(target):
    return [item for item in target.list(KNOWN["Pod"])[0] if item["metadata"]["name"] == pod_question.NAME]


def test_an_ironic_that_only_this_machine_reaches_is_refused_before_anything_is_written(lab, target, variables):
    lab.playbook("install", extra=dict(variables, ironic_url=lab.figures["urls"]["ironic"]), seconds=SECONDS).failed(
        f"ironic: endpoint: found connection refused at {lab.figures['address']}:",
        f"asked from Pod {OPERATORS}/{pod_question.NAME}", "an Ironic that answers where the Bare Metal Operator runs")
    assert not plane_site.definitions(target)
    eventually(lambda: not probes(target), 60, "the pod gone")


@pytest.fixture(scope="module")
def questions(lab, target, kubeconfig, outside):
    """Variables of the playbook network_check: each node's pod asks for an Ironic that it reaches."""
    address, nodes = urlsplit(outside.url), [node["metadata"]["name"] for node in target.list(KNOWN["Node"])[0]]
    assert nodes
    return {"network_check_tcp": [{"name": "Ironic outside", "host": address.hostname, "port": address.port}],
            "network_check_http": [{"name": "its API", "url": outside.url, "ca_file": str(lab.dir / "pki" / "ca.crt")}],
            "network_check_pods": {"kubeconfig": str(kubeconfig), "namespace": OPERATORS, "image": IMAGE,
                                   "nodes": sorted(nodes), "tolerations": [{"operator": "Exists"}],
                                   "timeout_seconds": 300}}


def asking(target):
    kind = {short_pod.NAME_LABEL: pod_reach.KIND}.items()
    return [item for item in target.list(KNOWN["Pod"])[0] if kind <= (item["metadata"].get("labels") or {}).items()]


def test_pods_on_each_node_ask_for_what_they_reach(lab, target, variables, questions):
    run = lab.playbook("network_check", extra=questions, seconds=SECONDS).ok()
    for node in questions["network_check_pods"]["nodes"]:
        assert f" on node {node})" in run.output
    assert not asking(target)


def test_a_port_that_only_this_machine_reaches_is_named_with_the_node_that_asked(lab, target, variables, questions):
    only_here = {"name": "here", "host": lab.figures["address"], "port": lab.figures["ports"]["ironic"]}
    wrong = dict(questions, network_check_tcp=[only_here], network_check_http=[])
    lab.playbook("network_check", extra=wrong, seconds=SECONDS).failed(
        f"here ({only_here['host']}:{only_here['port']}): tcp: found connection refused, asked from Pod {OPERATORS}/",
        f" on node {questions['network_check_pods']['nodes'][0]}, expected a connection")
    assert not asking(target)


def test_an_image_that_the_registry_does_not_have_says_nothing_of_ironic(lab, target, variables):
    wrong = dict(variables, ironic_check_image="quay.io/metal3-io/ironic:v0.0.1")
    lab.playbook("install", extra=wrong, seconds=SECONDS).failed(
        "ironic: from_pod: found no answer from Pod", "correct image, pull_secrets, node_selector or tolerations")
    assert not plane_site.definitions(target)
    eventually(lambda: not probes(target), 60, "the pod gone")


def test_every_part_but_ironic_comes_up_and_a_second_run_changes_nothing(lab, target, variables):
    lab.playbook("install", extra=variables, seconds=SECONDS).ok()
    assert set(plane_site.managers(target)) == {name for part in RENDERED for name in part.images}
    assert plane_site.not_ready(target) == []
    assert lab.playbook("install", extra=variables, seconds=SECONDS).ok().changed() == 0


def test_a_server_is_enrolled_through_the_ironic_outside(lab, target, variables, server, kubeconfig):
    given = {"metal3_kubeconfig": str(kubeconfig)}
    lab.playbook("enroll", *only(server), extra=given, seconds=SECONDS).ok()
    status = target.get(KNOWN["BareMetalHost"], NAMESPACE, server)["status"]
    assert status["provisioning"]["state"] == "available" and not status.get("errorType")
    # The lab's own operator has no such host, its Ironic has the node.
    assert lab.host(server) is None
    assert lab.nodes()[server].id == status["provisioning"]["ID"]
    lab.playbook("uninstall", extra=dict(variables, metal3_confirm=len(RENDERED)), seconds=SECONDS).failed(
        f"part bmo: BareMetalHost: found 1 ({NAMESPACE}/{server}), expected none")
    lab.playbook("unenroll", *only(server), extra=dict(given, metal3_confirm=1), seconds=SECONDS).ok()
    assert target.get(KNOWN["BareMetalHost"], NAMESPACE, server) is None and server not in lab.nodes()


def test_removal_leaves_ironic_as_it_was(lab, target, variables):
    before = set(lab.nodes())
    outside_ironic.remove_secrets(target)
    lab.playbook("uninstall", extra=dict(variables, metal3_confirm=len(RENDERED)), seconds=SECONDS).ok()
    assert not plane_site.definitions(target) and set(lab.nodes()) == before
