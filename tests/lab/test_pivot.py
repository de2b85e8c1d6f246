# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The management moves from the lab's plane into a cluster that it has made, is used there, and moves back.

The cluster is one by ClusterClass; test_site_pivot.py has a plain one. Both planes are upstream's, each with an Ironic
of its own; the servers are the lab's, whose consoles say what their BMCs were asked for, and whose BMCs' logs say by
whom: never by two Ironics.
"""
from __future__ import annotations

import json
import re
import time

import keystoneauth1.exceptions
import openstack
import plane_site
import pytest
import small_cluster
from bmc_requests import BmcLogs
from lost_plane import backup_variables, new_identity
from plane_killer import Killer
from support import HOST, NAMESPACE, eventually, module, only
from watching import Polled, Untouched, facts
from workload import AGNHOST, ECHO, NODE_PORT, Workload
from workload import Polled as Served

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.pods import short_pod
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._move.nodes import question as node_question
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects.record import NAME as RECORD
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import CLUSTERCTL_LABEL

pytestmark = [pytest.mark.nodes, pytest.mark.pivot]

SECONDS = 1500
CLUSTER = "plane"


@pytest.fixture(scope="module")
def addresses(lab):
    """BMC addresses that both planes reach."""
    bridge, port = plane_site.bridge(lab), lab.figures["ports"]["redfish"]
    found = dict((name, server["bmc"]["address"].partition("/redfish/")[2]) for name, server in lab.servers.items())
    return {"bmc_address": "{{ lab_bmc_addresses[inventory_hostname] }}", "lab_bmc_addresses": dict(
        (name, f"redfish-virtualmedia+https://{bridge}:{port}/redfish/{path}") for name, path in found.items())}


@pytest.fixture(scope="module")
def hosts(lab, addresses):
    """All servers as hosts by these addresses; one of them is provisioned without Cluster API."""
    lab.remove_hosts(*lab.hosts())
    lab.playbook("enroll", extra=addresses, seconds=SECONDS).ok()
    lab.playbook("provision", *only("server-03"), extra=addresses, seconds=SECONDS).ok()
    yield sorted(lab.servers)
    lab.remove_hosts(*lab.hosts())
    lab.playbook("enroll", seconds=SECONDS).ok()


@pytest.fixture(scope="module")
def cluster(lab, hosts):
    """The variables of a cluster of one machine that is to manage itself."""
    url = plane_site.image_server(lab) + "/images/node.qcow2"
    variables = dict(small_cluster.variables(lab, CLUSTER, {"url": url, "checksum": url + ".sha256"}, endpoint=13),
                     cluster_control_plane={"replicas": 1, "node_taints": []},
                     cluster_options=dict(small_cluster.labs_options(), topology=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        lab.playbook("cluster", seconds=SECONDS, extra=variables).ok()
        yield variables
        if lab.kube.get(KNOWN["Cluster"], NAMESPACE, CLUSTER) is not None:
            lab.playbook("teardown", seconds=SECONDS, extra=dict(variables, **small_cluster.teardown(CLUSTER))).ok()


@pytest.fixture(scope="module")
def kubeconfig(cluster):
    return cluster["cluster_workload_kubeconfig"]


@pytest.fixture(scope="module")
def service(lab, kubeconfig):
    """The address at which a Service of two pods answers; the cluster has one machine, which runs both."""
    found = Workload(lab, CLUSTER, kubeconfig)
    module("manifests", kubeconfig=kubeconfig, manifests=[ECHO % (AGNHOST, AGNHOST, NODE_PORT)])
    return found.address(control_plane=True)


@pytest.fixture(scope="module")
def there(lab, kubeconfig, tmp_path_factory):
    """The variables of the plane in the cluster."""
    return plane_site.plane(lab, kubeconfig, tmp_path_factory.mktemp("ironic"))


@pytest.fixture(scope="module")
def installed(lab, there):
    lab.playbook("install", extra=there, seconds=SECONDS).ok()


@pytest.fixture(scope="module")
def forth(kubeconfig):
    """The variables of the playbook from the lab's plane to the cluster's."""
    return {"pivot_to_kubeconfig": kubeconfig}


@pytest.fixture(scope="module")
def back(lab, kubeconfig):
    """The same for the way back."""
    return {"pivot_kubeconfig": kubeconfig, "pivot_to_kubeconfig": str(lab.dir / "kubeconfig"),
            "pivot_ironic_mode": "cluster", "pivot_reach_from": "here"}


def managed(client):
    """Return the names of what a plane has of hosts, clusters and addresses."""
    return sorted(f"{kind}/{item['metadata']['name']}" for kind in (
        "BareMetalHost", "HardwareData", "Cluster", "Machine", "Metal3Machine", "IPPool", "IPAddress", "Metal3Data",
        "ClusterClass")
        for item in client.list(KNOWN[kind], NAMESPACE)[0])


def test_a_plan_says_what_would_move_and_writes_nothing(lab, installed, target, forth, hosts):
    before, versions = managed(lab.kube), lab.versions()
    run = lab.playbook("pivot", "--check", "--diff", extra=forth, seconds=SECONDS).ok()
    for title in (*(f"BareMetalHost {name}" for name in hosts), f"Cluster {CLUSTER}", f"Secret {CLUSTER}-kubeconfig"):
        assert title in run.output, run.output
    # By the real clusterctl, and from the pod of the Ironic that takes over.
    assert re.search(r"Rehearsal: [1-9]\d* objects arrived as they were", " ".join(run.output.split())), run.output
    assert "was not asked" not in run.output and "were not checked" not in run.output
    assert "over there run already" in run.output and "servers: " in run.output
    # Check mode makes no pod on a node.
    assert "a run without check mode asks from Node " in " ".join(run.output.split())
    assert managed(lab.kube) == before and lab.versions() == versions and managed(target) == []


def test_without_the_number_of_hosts_nothing_is_written(lab, installed, forth, hosts):
    versions = lab.versions()
    lab.playbook("pivot", extra=forth, seconds=SECONDS).failed(f"set metal3_confirm={len(hosts)}")
    assert lab.versions() == versions


def test_an_ironic_that_does_not_trust_the_bmcs_or_has_our_address_is_named(lab, installed, target, there, forth):
    """The BMCs' certificates are of the lab's authority; without verify_ca the pod trusts those of Debian alone."""
    untrusting = dict(there["ironic_environment"])
    del untrusting["OS_REDFISH__VERIFY_CA"]
    address = plane_site.node_address(target)
    lab.playbook("install", "--tags", "ironic", extra=dict(there, ironic_environment=untrusting), seconds=SECONDS).ok()
    try:
        lab.playbook("pivot", "--check", seconds=SECONDS,
                     extra=dict(forth, pivot_ironic_url=f"https://{address}:6385")).failed(
            "that the other plane's Ironic does not trust, asked from Deployment baremetal-operator-system/ironic",
            f"env.PROVISIONING_IP: found {address}, which this machine has")
        assert managed(target) == []
    finally:
        lab.playbook("install", "--tags", "ironic", extra=there, seconds=SECONDS).ok()


@pytest.fixture
def nowhere(target):
    """The name of another Deployment over there that says it were an Ironic, at a port where nobody listens."""
    namespace = "baremetal-operator-system"
    ironic = target.get(KNOWN["Deployment"], namespace, "ironic")["spec"]["template"]["spec"]["containers"]
    image, = [item["image"] for item in ironic if item["name"] == "ironic"]
    labels = {"app": "nowhere"}
    env = {"PROVISIONING_IP": plane_site.node_address(target), "IRONIC_ACCESS_PORT": "7", "HTTP_PORT": "9"}
    target.create(KNOWN["Deployment"], namespace, {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "nowhere", "namespace": namespace},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {
            "terminationGracePeriodSeconds": 0, "containers": [{
                "name": "ironic", "image": image, "imagePullPolicy": "IfNotPresent",
                "command": ["python3", "-c", "import signal; signal.pause()"],
                "env": [{"name": name, "value": value} for name, value in env.items()]}]}}}})
    eventually(lambda: (target.get(KNOWN["Deployment"], namespace, "nowhere").get("status") or {}).get(
        "availableReplicas"), 300, "a pod that runs")
    yield "nowhere"
    target.delete(KNOWN["Deployment"], namespace, "nowhere")


def test_a_node_that_does_not_reach_the_ironic_over_there_is_named(lab, installed, target, forth, nowhere):
    """Asked by a pod on the node, which is gone afterwards; without the number of hosts nothing moves in any case."""
    address, versions = plane_site.node_address(target), lab.versions()
    machine, = lab.kube.list(KNOWN["Machine"], NAMESPACE)[0]
    node = machine["status"]["nodeRef"]["name"]
    lab.playbook("pivot", seconds=SECONDS, extra=dict(
        forth, pivot_to_ironic_deployment=nowhere, pivot_reach_from="none", pivot_rehearsal=False)).failed(
        *(f"connection refused at {address}:{port}, asked from Node {node} of cluster {CLUSTER}" for port in (7, 9)))
    eventually(lambda: not target.list(KNOWN["Pod"], "kube-system", f"{short_pod.NAME_LABEL}={node_question.LABEL}")[0],
               60, "the pod gone")
    assert lab.versions() == versions and managed(target) == []


@pytest.fixture
def gate_is_off(lab, there, installed):
    """The plane in the cluster, whose Cluster API takes no ClusterClasses for a while."""
    lab.playbook("install", "--tags", "capi", extra=dict(there, capi_cluster_topology=False), seconds=SECONDS).ok()
    yield
    lab.playbook("install", "--tags", "capi", extra=there, seconds=SECONDS).ok()


def test_what_is_in_the_way_is_named_all_at_once(lab, gate_is_off, target, forth, hosts):
    lab.playbook("host_action", *only("server-04"), extra={"host_action": "pause", "hosts_action_reason": "mine"}).ok()
    taken = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"{CLUSTER}-ca", "namespace": NAMESPACE}}
    target.apply(KNOWN["Namespace"], None, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    target.create(KNOWN["Secret"], NAMESPACE, taken)
    target.create(KNOWN["ResourceQuota"], NAMESPACE, {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few", "namespace": NAMESPACE},
        "spec": {"hard": {"count/hardwaredata.metal3.io": "1"}}})
    lab.kube.patch(KNOWN["CustomResourceDefinition"], None, "hostfirmwaresettings.metal3.io",
                   {"metadata": {"labels": {CLUSTERCTL_LABEL: None}}})
    try:
        versions = lab.versions()
        lab.playbook("pivot", extra=dict(forth, metal3_confirm=len(hosts)), seconds=SECONDS).failed(
            'BareMetalHost server-04: metadata.annotations.baremetalhost.metal3.io/paused: found "mine"',
            f"Secret {CLUSTER}-ca: found an object of this name over there",
            "kind HostFirmwareSettings of metal3.io: found",
            "topology: found a class that the plane refuses, expected Cluster API with its feature gate",
            "ResourceQuota few: spec.hard.count/hardwaredata.metal3.io: found room for")
        assert lab.versions() == versions
    finally:
        lab.kube.patch(KNOWN["CustomResourceDefinition"], None, "hostfirmwaresettings.metal3.io",
                       {"metadata": {"labels": {CLUSTERCTL_LABEL: ""}}})
        target.delete(KNOWN["ResourceQuota"], NAMESPACE, "few")
        target.delete(KNOWN["Secret"], NAMESPACE, f"{CLUSTER}-ca")
        lab.playbook("host_action", *only("server-04"), extra={"host_action": "resume"}).ok()


def test_a_run_that_is_killed_is_taken_up_and_no_server_is_touched(
        lab, installed, target, kubeconfig, service, forth, hosts, tmp_path):
    before, had, touched, logs = facts(lab.kube), managed(lab.kube), Untouched(lab), BmcLogs(lab)
    backups = tmp_path / "backups"
    variables = dict(forth, metal3_confirm=len(hosts), **backup_variables(backups, new_identity(tmp_path)))
    journals = {"XDG_STATE_HOME": str(tmp_path / "state"), "METAL3_LAB_HOME": str(lab.dir.parent)}
    with Polled(kubeconfig) as polled, Served(service) as served:
        running = lab.start("pivot", extra=variables, environment=journals)
        eventually(lambda: target.get(KNOWN["ConfigMap"], NAMESPACE, RECORD), SECONDS, "record of the move")
        running.kill()
        # Read again and rehearsed, before the first write; the run that goes on makes no other one.
        backup, = backups.glob("*.age")
        assert "read again: True" in running.output and backup.stat().st_mode & 0o777 == 0o600
        run = lab.playbook("pivot", extra=variables, seconds=SECONDS, environment=journals).ok()
    print(run.output)
    # For when neither plane answers.
    journal, = (tmp_path / "state" / "metal3.baremetal" / "moves").iterdir()
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert lines[0]["step"] == "begins" and sorted(lines[0]["hosts"]) == sorted(hosts)
    assert [line["step"] for line in lines[-2:]] == ["goes on", "has ended"] and journal.stat().st_mode & 0o777 == 0o600
    assert "hosts: 1 reach the Ironic over there, asked from their nodes" in " ".join(running.output.split())
    assert "No backup is made before the move, for it has begun" in " ".join(run.output.split())
    assert list(backups.glob("*.age")) == [backup]
    assert managed(target) == had and managed(lab.kube) == []
    assert facts(target) == before
    assert touched.resets() == {} and logs.mistakes() == [] and polled.asked > 50 and polled.failed == []
    assert served.asked > 50 and served.failed == []
    # The one that let go has no power any more.
    assert "ironic" not in [name for name, part in lab.parts().items() if part["pid"]]
    assert lab.playbook("pivot", extra=variables, seconds=SECONDS).ok().changed() == 0


def test_the_cluster_grows_through_its_own_plane(lab, kubeconfig, target, cluster, hosts):
    variables = dict(cluster, cluster_workers={"more": {"replicas": 1}}, metal3_kubeconfig=kubeconfig)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        lab.playbook("cluster", extra=variables, seconds=SECONDS).ok()
    nodes = target.list(KNOWN["Node"])[0]
    assert len(nodes) == 2 and len(facts(target).machines) == 2
    assert managed(lab.kube) == []


def test_a_server_is_enrolled_through_the_new_plane(lab, addresses, kubeconfig, target, hosts):
    """Registered, inspected and cleaned by the operator and the Ironic over there; it moves back with the others."""
    through = dict(addresses, metal3_kubeconfig=kubeconfig)
    name, former = next((item["metadata"]["name"], item["metadata"]["uid"]) for item in target.list(HOST, NAMESPACE)[0]
                        if item["status"]["provisioning"]["state"] == "available" and "consumerRef" not in item["spec"])
    lab.playbook("unenroll", *only(name), extra=dict(through, metal3_confirm=1), seconds=SECONDS).ok()
    assert target.get(HOST, NAMESPACE, name) is None and target.get(KNOWN["HardwareData"], NAMESPACE, name) is None
    lab.playbook("enroll", *only(name), extra=through, seconds=SECONDS).ok()
    made = target.get(HOST, NAMESPACE, name)
    assert made["metadata"]["uid"] != former and made["status"]["provisioning"]["state"] == "available"
    assert target.get(KNOWN["HardwareData"], NAMESPACE, name)["spec"]["hardware"]["nics"]
    assert managed(lab.kube) == []


def test_it_moves_back(lab, kubeconfig, target, service, back, hosts):
    lab.playbook("install", "--tags", "ironic", seconds=SECONDS).ok()
    assert lab.nodes() == {}
    before, touched, logs = facts(target), Untouched(lab), BmcLogs(lab)
    began = time.monotonic()
    with Polled(kubeconfig) as polled, Served(service) as served:
        lab.playbook("pivot", extra=dict(back, metal3_confirm=len(hosts)), seconds=SECONDS).ok()
    print(f"pivot of {len(hosts)} hosts from its start until they are verified: {time.monotonic() - began:.0f} s")
    assert facts(lab.kube) == before and managed(target) == []
    assert touched.resets() == {} and polled.failed == [] and served.failed == []
    assert logs.mistakes(back=True) == []
    assert set(lab.nodes()) == set(hosts)


def paused(client):
    """Return whether a host is held for the move."""
    return any(host_annotations.PAUSED in (item["metadata"].get("annotations") or {})
               for item in client.list(HOST, NAMESPACE)[0])


def answers(lab):
    """Return whether the lab's own Ironic answers, or was stopped by the move."""
    part = lab.parts().get("ironic")
    if not part or not part["pid"]:
        return True
    try:
        return isinstance(lab.nodes(), dict)
    except (openstack.exceptions.SDKException, keystoneauth1.exceptions.ClientException):
        return False


# When something is killed, and what: the operator and Ironic of the side that lets go or of the one that takes over.
# Each round begins where the one before has ended.
ROUNDS = [
    ("forth", "held", [("from", "bmo"), ("from", "ironic")]),
    ("back", "recorded", [("from", "bmo"), ("to", "bmo"), ("to", "ironic")]),
    ("forth", "arrived", [("to", "bmo"), ("to", "ironic")]),
    ("back", "gone", [("from", "bmo"), ("to", "bmo"), ("to", "ironic")])]


@pytest.mark.parametrize("way, moment, victims", ROUNDS, ids=[f"{way}-{moment}" for way, moment, _victims in ROUNDS])
def test_the_operator_and_ironic_of_either_side_are_killed_on_the_way(
        lab, kubeconfig, target, there, service, forth, back, hosts, way, moment, victims):
    """By SIGKILL; what keeps them running starts them again. The run that meets it may fail, and is run again."""
    sides = {"from": lab.kube, "to": target} if way == "forth" else {"from": target, "to": lab.kube}
    # Stopped by the move before; it has no node of these hosts. The cluster has two machines by now, of which one has
    # Ironic's address.
    waits = moment == "arrived"
    on_its_node = dict(there, ironic_node_selector={"node-role.kubernetes.io/control-plane": ""}, ironic_standby=waits)
    lab.playbook("install", "--tags", "ironic", extra=on_its_node if way == "forth" else None, seconds=SECONDS).ok()
    before, had = facts(sides["from"]), managed(sides["from"])
    assert had and managed(sides["to"]) == []
    # One that waits is started by the move, when the former one has stopped.
    pods = target.get(KNOWN["Deployment"], "baremetal-operator-system", "ironic")["spec"]["replicas"]
    assert pods == (0 if waits else 1)
    killers = [Killer.of_processes(lab), Killer.of_pods(lab)]
    killers = dict(zip(("from", "to") if way == "forth" else ("to", "from"), killers))
    variables = dict(forth if way == "forth" else back, metal3_confirm=len(hosts))
    touched, logs = Untouched(lab), BmcLogs(lab)
    reached = {"held": lambda: paused(sides["from"]),
               "recorded": lambda: sides["to"].get(KNOWN["ConfigMap"], NAMESPACE, RECORD) is not None,
               "arrived": lambda: bool(sides["to"].list(HOST, NAMESPACE)[0]),
               "gone": lambda: len(sides["from"].list(HOST, NAMESPACE)[0]) < len(hosts)}[moment]
    with Polled(kubeconfig) as polled, Served(service) as served:
        running = lab.start("pivot", extra=variables)
        eventually(lambda: reached() or running.process.poll() is not None, SECONDS, f"the move has {moment}", 0.05)
        assert running.process.poll() is None, running.output
        killed = [pid for side, program in victims for pid in killers[side].kill(program)]
        running.finish(SECONDS)
        eventually(lambda: answers(lab) and plane_site.not_ready(target) == [], SECONDS, "what was killed runs again")
        lab.playbook("pivot", extra=variables, seconds=SECONDS).ok()
    print(f"{way}, {moment}: killed {len(killed)} processes; the run that met it ended with {running.returncode}")
    assert killed, "nothing was killed"
    assert managed(sides["to"]) == had and managed(sides["from"]) == []
    assert facts(sides["to"]) == before
    assert touched.resets() == {} and polled.failed == [] and served.failed == []
    assert logs.mistakes(back=way == "back") == []
    assert lab.playbook("pivot", extra=variables, seconds=SECONDS).ok().changed() == 0
