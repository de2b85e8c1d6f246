# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic as two pods on two nodes of a cluster: one has the address, both answer, and one of them is lost.

Their database is a MariaDB outside of them. A pod is killed once so that it comes back, once so that it stays away.
"""
from __future__ import annotations

import base64
import json
import ssl
import subprocess
import time
import urllib.request
from pathlib import Path

import leaders
import outside_database
import plane_site
import pytest
from machine_room.node_boot.names import network_namespace
from support import eventually, only
from test_cluster import host_of

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.ironic_place import IRONIC_DEPLOYMENT
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import ironic_replicas

pytestmark = [pytest.mark.nodes, pytest.mark.plane]

SECONDS = 900
NAMESPACE, IRONICS = "metal3", "baremetal-operator-system"
INTERFACE = "eno1"
# Long enough to be found with the power on its way.
SLOW_POWER_SECONDS = 15


@pytest.fixture(scope="module")
def kubeconfig(lab):
    with plane_site.cluster(lab, "plane", cluster_workers={"pool-a": {"replicas": 1}}) as path:
        yield path


@pytest.fixture(scope="module")
def nodes(target):
    """Address → Node, of both machines."""
    found = dict((plane_site.address_of(node), node) for node in target.list(KNOWN["Node"])[0])
    assert len(found) == 2, sorted(found)
    return found


@pytest.fixture(scope="module")
def variables(lab, kubeconfig, target, nodes, tmp_path_factory):
    database = outside_database.install(lab, target, next(iter(nodes.values())), tmp_path_factory.mktemp("mariadb"),
                                        IRONICS)
    return dict(
        plane_site.plane(lab, kubeconfig, tmp_path_factory.mktemp("ironic"), address(lab), list(nodes)),
        ironic_keepalived=True, ironic_provisioning_interface=INTERFACE, ironic_replicas=2,
        ironic_replica_addresses=list(nodes), ironic_database=database)


@pytest.fixture(scope="module")
def installed(lab, variables):
    lab.playbook("install", extra=variables, seconds=SECONDS).ok()


@pytest.fixture(scope="module")
def servers(lab, kubeconfig, nodes):
    """The two servers that are no nodes, which the lab's own plane lets go: name → variables."""
    names = [name for name, host in sorted(lab.hosts().items()) if not host["spec"].get("consumerRef")]
    assert len(names) == 2
    with plane_site.let_go(lab, names, kubeconfig, SECONDS) as found:
        yield found


@pytest.fixture(scope="module")
def inventory(lab, servers):
    return str(lab.inventory(dict((name, {"bmc_address": item["bmc_address"]}) for name, item in servers.items())))


@pytest.fixture(scope="module")
def shared(servers):
    """What the playbooks of hosts are given for each of them."""
    found = dict(next(iter(servers.values())))
    del found["bmc_address"]
    return found


@pytest.fixture(scope="module")
def enrolled(lab, servers, inventory, shared, installed):
    own = dict((name, value) for name, value in shared.items() if name != "bmh_image")
    lab.playbook("enroll", "-i", inventory, *only(*servers), extra=own, seconds=SECONDS).ok()
    return list(servers)


def address(lab):
    return plane_site.held(lab)


class Ironic:
    """Ironic's API, asked at any address that it has."""

    def __init__(self, lab, kubeconfig):
        login = ":".join(Path(f"{kubeconfig}.ironic", name).read_text().strip() for name in ("username", "password"))
        self._headers = {"Authorization": "Basic " + base64.b64encode(login.encode()).decode(),
                         "X-OpenStack-Ironic-API-Version": "1.80"}
        self._context = ssl.create_default_context(cafile=str(lab.dir / "pki" / "ca.crt"))
        self._common = address(lab)

    def get(self, path, at=None):
        request = urllib.request.Request(f"https://{at or self._common}:6385/v1/{path}", headers=self._headers)
        with urllib.request.urlopen(request, timeout=30, context=self._context) as answer:
            return json.load(answer)

    def alive(self, at=None):
        """Return the names of the conductors that Ironic counts on."""
        return sorted(one["hostname"] for one in self.get("conductors", at)["conductors"] if one["alive"])

    def node(self, name):
        """Return the node of a host."""
        return next(node for node in self.get("nodes/detail")["nodes"] if node["name"].partition("~")[2] == name)


@pytest.fixture(scope="module")
def api(lab, kubeconfig, installed):
    return Ironic(lab, kubeconfig)


def pods(target):
    """Return name of the node → Ironic's pod there."""
    deployment = target.get(KNOWN["Deployment"], IRONICS, IRONIC_DEPLOYMENT)
    return dict((pod["spec"].get("nodeName"), name) for name, pod in leaders.pods(target, deployment).items())


def available(target):
    return target.get(KNOWN["Deployment"], IRONICS, IRONIC_DEPLOYMENT)["status"].get("availableReplicas")


def holding(lab, nodes):
    """Return the addresses of the nodes whose interface has the common address."""
    found = []
    for own, node in nodes.items():
        space = network_namespace(lab.figures["index"], host_of(lab, node["metadata"]["name"]))
        listed = json.loads(subprocess.run(["ip", "-n", space, "-json", "address", "show", "dev", INTERFACE],
                                           check=True, capture_output=True, text=True).stdout)
        found += [own for entry in listed[0]["addr_info"] if entry["local"] == address(lab)]
    return found


def state(target, name):
    try:
        status = (target.get(KNOWN["BareMetalHost"], NAMESPACE, name) or {}).get("status") or {}
    except KubeError:
        return None
    return (status.get("provisioning") or {}).get("state")


def error_of(target, name):
    status = (target.get(KNOWN["BareMetalHost"], NAMESPACE, name) or {}).get("status") or {}
    return status.get("errorMessage")


def test_each_node_has_a_pod_and_a_second_run_changes_nothing(lab, target, nodes, variables, installed):
    assert set(pods(target)) == {node["metadata"]["name"] for node in nodes.values()}
    assert plane_site.not_ready(target) == []
    assert lab.playbook("install", extra=variables, seconds=SECONDS).ok().changed() == 0


def test_each_api_names_both_conductors_and_one_node_has_the_address(lab, nodes, api):
    for at in (None, *nodes):
        eventually(lambda at=at: api.alive(at) == sorted(nodes), 120,
                   f"both conductors, asked at {at or 'the address'}", not_yet=OSError, interval_seconds=1)
    assert len(holding(lab, nodes)) == 1


def test_a_request_is_answered_by_the_conductor_of_its_node_wherever_it_comes_in(nodes, api, enrolled):
    for name in enrolled:
        node = api.node(name)
        assert node["conductor"] in nodes
        for at in (None, *nodes):
            # The conductor asks the BMC for it.
            found = api.get(f"nodes/{node['uuid']}/management/boot_device/supported", at)
            assert found["supported_boot_devices"], (name, at)


def provisioning(lab, inventory, shared, *names):
    # The operator gets over what a lost conductor has cost by itself: an error on the way does not end the run.
    return lab.start("provision", "-i", inventory, *only(*names), extra=dict(shared, hosts_error_limit=10))


def test_a_pod_that_is_killed_while_it_deploys_costs_at_most_an_attempt(
        lab, room, target, nodes, api, enrolled, inventory, shared):
    server = enrolled[0]
    conductor = api.node(server)["conductor"]
    pod = pods(target)[nodes[conductor]["metadata"]["name"]]
    room.set_knobs(server, slow_power=SLOW_POWER_SECONDS)
    try:
        run = provisioning(lab, inventory, shared, server)

        def at_work():
            node = api.node(server)
            return node["provision_state"] == "deploying" and node["reservation"] == conductor

        eventually(at_work, 300, f"{server} is being deployed by {conductor}", interval_seconds=0.1)
        began = time.monotonic()
        leaders.kill(target, IRONICS, pod)
    finally:
        room.clear_knobs(server)
    lost = {}

    def over():
        for what, text in (("Ironic", api.node(server)["last_error"]), ("the operator", error_of(target, server))):
            if text and what not in lost:
                lost[what] = text
                print(f"{what} reports after {time.monotonic() - began:.1f} s: {text[:300]}")
        return state(target, server) == "provisioned"

    eventually(over, SECONDS, f"{server} is provisioned", not_yet=(OSError, KubeError), interval_seconds=0.5)
    print(f"{server} is provisioned {time.monotonic() - began:.1f} s after the kill; lost: {sorted(lost) or 'nothing'}")
    run.finish(SECONDS).ok()
    assert not error_of(target, server)
    eventually(lambda: available(target) == 2 and pod not in pods(target).values(), 300, "another pod in its place")
    eventually(lambda: api.alive() == sorted(nodes), 180, "both conductors", not_yet=OSError, interval_seconds=1)


@pytest.fixture
def closed(target, nodes):
    """A callable that closes a node for new pods; it is open again afterwards, and both pods are there."""
    names = []

    def close(name):
        names.append(name)
        target.patch(KNOWN["Node"], None, name, {"spec": {"unschedulable": True}})

    yield close
    for name in names:
        target.patch(KNOWN["Node"], None, name, {"spec": {"unschedulable": None}})
    eventually(lambda: available(target) == len(nodes), 300, "both pods again")


def test_a_pod_that_does_not_come_back_is_replaced_by_the_other_with_the_address(
        lab, room, target, nodes, api, enrolled, inventory, shared, closed):
    server = enrolled[1]
    conductor = api.node(server)["conductor"]
    survivor, = set(nodes) - {conductor}
    node = nodes[conductor]["metadata"]["name"]
    # The agent writes the image meanwhile, and no conductor has the node locked.
    room.set_knobs(server, slow_download=1)
    try:
        run = provisioning(lab, inventory, shared, server)
        eventually(lambda: api.node(server)["provision_state"] == "wait call-back"
                   and api.node(server)["deploy_step"].get("step") == "write_image", 300, f"{server} writes its image",
                   interval_seconds=0.1)
        closed(node)
        began = time.monotonic()
        leaders.kill(target, IRONICS, pods(target)[node])
        eventually(lambda: holding(lab, nodes) == [survivor], 60, "the other node has the address")
        print(f"the other node has the address after {time.monotonic() - began:.1f} s")
        eventually(lambda: api.alive() == [survivor], 180, "the killed conductor is no longer counted on",
                   not_yet=OSError, interval_seconds=1)
        eventually(lambda: api.node(server)["conductor"] == survivor, 180, "the other one is responsible",
                   not_yet=OSError, interval_seconds=1)
        print(f"the other one is responsible after {time.monotonic() - began:.1f} s")
    finally:
        room.clear_knobs(server)
    run.finish(SECONDS).ok()
    print(f"{server} is provisioned {time.monotonic() - began:.1f} s after the kill")
    assert state(target, server) == "provisioned" and not error_of(target, server)
    # Nowhere for it to go: the other node has one.
    assert node not in pods(target) and available(target) == 1


def test_all_goes_again(lab, target, servers, enrolled, inventory, shared, variables):
    lab.playbook("unenroll", "-i", inventory, *only(*servers), extra=dict(shared, metal3_confirm=len(servers)),
                 seconds=SECONDS).ok()
    assert not [name for name in servers if state(target, name)]
    stored = [item["metadata"]["name"] for item in target.list(KNOWN["Secret"], IRONICS)[0]]
    assert ironic_replicas.RPC_CREDENTIALS in stored
    for name in (outside_database.LOGIN, outside_database.AUTHORITY):
        target.delete(KNOWN["Secret"], IRONICS, name)
    lab.playbook("uninstall", extra=dict(variables, metal3_confirm=len(plane_site.PARTS)), seconds=SECONDS).ok()
    assert not plane_site.definitions(target) and IRONICS not in plane_site.namespaces(target)
