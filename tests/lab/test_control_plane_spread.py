# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three control plane machines over three failure domains and two workers: maintained, and what stands in the way.

All playbooks have the rights of docs/rbac only. What the tests do to the servers is upstream's doing.
"""
from __future__ import annotations

import calendar
import time

import living_cluster
import pyrage
import pytest
import small_cluster
import watching
from consoles import resets
from living_cluster import SECONDS, etcd_is_healthy, node_ready
from support import NAMESPACE, eventually, module, only
from workload import AGNHOST, ECHO, NODE_PORT, Polled, Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.machines.actions import NOT_REMEDIATED
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.maintenance.node import CORDONED
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description.annotations import MAINTENANCE
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects.conditions import condition, is_true
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.ha]
TAKES_DIRECT = True

NAME = "spread"
CONTROL_PLANE, POOL = f"{NAME}-control-plane", f"{NAME}-pool-a"
DOMAIN_LABEL = "infrastructure.cluster.x-k8s.io/failure-domain"
# Of each two neighbours only one may be of the control plane: that many are maintained at once.
PLANE = {"server-01": "r1", "server-03": "r2", "server-05": "r3", "server-07": "r1"}
WORKERS, SPARE = ("server-02", "server-04"), "server-06"
CONTROL = {"replicas": 3, "host_selector": {"use": "plane"}, "node_labels": {"example.org/generation": "one"}}
LONELY = """
apiVersion: v1
kind: Pod
metadata: {name: lonely, namespace: default}
spec:
  nodeName: %s
  terminationGracePeriodSeconds: 1
  containers: [{name: lonely, image: %s, args: [pause], volumeMounts: [{name: scratch, mountPath: /scratch}]}]
  volumes: [{name: scratch, emptyDir: {}}]
"""


def label(lab, host, **labels):
    lab.kube.patch(KNOWN["BareMetalHost"], NAMESPACE, host, {"metadata": {"labels": labels}})


@pytest.fixture(scope="module")
def site(lab, as_operator):
    """The cluster; made here and deleted afterwards."""
    options = dict(small_cluster.labs_options(), failure_domains=[{"name": name} for name in ("r1", "r2", "r3")])
    variables = dict(small_cluster.variables(lab, NAME, {}, endpoint=13), cluster_options=options,
                     cluster_control_plane=CONTROL)
    try:
        for host, domain in PLANE.items():
            label(lab, host, use="plane", **{DOMAIN_LABEL: domain})
        for host in WORKERS:
            label(lab, host, use="work")
        pool = {"replicas": 2, "host_selector": {"use": "work"}, "node_labels": CONTROL["node_labels"]}
        with living_cluster.made(living_cluster.Site(lab, NAME, pool, variables)) as found:
            yield found
    finally:
        for host in lab.servers:
            label(lab, host, use=None, **{DOMAIN_LABEL: None})


@pytest.fixture(scope="module")
def workload(lab, site):
    """The cluster with a Service of two pods."""
    found = Workload(lab, NAME, site.variables["cluster_workload_kubeconfig"])
    manifests(lab, ECHO % (AGNHOST, AGNHOST, NODE_PORT))
    return found


def manifests(lab, text):
    module("manifests", kubeconfig=str(lab.dir / "kubeconfig"), cluster_name=NAME, manifests=[text])


def domains(lab, workload):
    """Return the failure domain of each host of the control plane, which its machine and its label agree on."""
    found = {}
    for machine in workload.machines("control-plane").values():
        host = workload.host_of(machine)
        found[host] = lab.host(host)["metadata"]["labels"][DOMAIN_LABEL]
        assert machine["spec"]["failureDomain"] == found[host]
    return found


def marks(lab, workload):
    """Return the hosts that are being maintained and the nodes that are cordoned."""
    return sorted([name for name, host in lab.hosts().items() if MAINTENANCE in (
        host["metadata"].get("annotations") or {})] + [
            name for name, node in workload.nodes().items() if node["spec"].get("unschedulable")])


def test_the_control_plane_is_spread_over_the_failure_domains(lab, site, workload):
    assert len(workload.ready()) == 5
    assert sorted(domains(lab, workload).values()) == ["r1", "r2", "r3"]
    assert sorted(workload.hosts("pool-a").values()) == sorted(WORKERS)
    assert site.run().ok().changed() == 0


def test_a_machine_whose_certificates_end_first_is_replaced_in_its_failure_domain(lab, site, workload):
    """The oldest one alone, on the host that is free, which is put into its domain for that."""
    ends = eventually(lambda: dict(
        (name, found) for name in workload.machines("control-plane")
        for found in [lab.kube.get(KNOWN["Machine"], NAMESPACE, name)["status"].get("certificatesExpiryDate")] if found
    ) if len(workload.machines("control-plane")) == 3 else {}, 120, "when certificates end", interval_seconds=1)
    assert len(ends) == 3
    before, spread = workload.hosts("control-plane"), domains(lab, workload)
    oldest = min(ends, key=ends.get)
    free, = set(PLANE) - set(spread)
    label(lab, free, **{DOMAIN_LABEL: spread[before[oldest]]})
    later = calendar.timegm(time.strptime(ends[oldest], "%Y-%m-%dT%H:%M:%SZ")) + 1
    extra = {"rotate_certificates_before": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(later))}
    lab.playbook("rotate_certificates", extra=dict(site.extra(), **extra)).failed("expected 1, the number of machines")
    began = time.monotonic()
    with watching.Polled(workload.kubeconfig, timeout_seconds=3) as endpoint:
        lab.playbook("rotate_certificates", extra=dict(site.extra(confirm=1), **extra), seconds=SECONDS).ok()
    print(f"one machine of three with new certificates: {time.monotonic() - began:.0f} s; endpoint: {endpoint}")
    after = workload.hosts("control-plane")
    assert set(before) - set(after) == {oldest} and len(after) == 3 and free in after.values()
    assert sorted(domains(lab, workload).values()) == ["r1", "r2", "r3"]
    assert lab.playbook("rotate_certificates", extra=dict(site.extra(), **extra)).ok().changed() == 0
    eventually(lambda: not [key for key in lab.versions() if any(oldest in str(part) for part in key)], 300,
               "all of the former machine is gone")


def test_two_machines_of_the_control_plane_at_once_are_not_maintained(lab, workload):
    """Neither as one batch, nor the worker in it; where each comes back before the next one goes, they take turns."""
    first, second = sorted(workload.hosts("control-plane").values())[:2]
    asked, versions = resets(lab), lab.versions()
    names = sorted([first, second, *WORKERS])
    variables = {"maintain": "drain", "maintain_serial": len(names), "metal3_confirm": ",".join(names)}
    lab.playbook("maintain", *only(*names), extra=variables).failed(
        "2 machines of the control plane", "one at a time, for etcd must keep its quorum")
    run = lab.playbook("maintain", *only(*names), "--check", extra=dict(variables, maintain="reboot")).ok()
    assert "round 1 of 2: " in run.output and "round 2 of 2: " in run.output
    assert asked() == [] and lab.versions() == versions and marks(lab, workload) == []


def test_what_pods_would_lose_is_refused_until_it_is_allowed(lab, workload):
    """Of all servers at once, before a node is cordoned."""
    names, (node, host) = sorted(WORKERS), sorted(workload.hosts("pool-a").items())[0]
    manifests(lab, LONELY % (node, AGNHOST))
    pod = eventually(lambda: workload.client.get(KNOWN["Pod"], "default", "lonely"), 60, "the pod")
    variables = {"maintain": "drain", "maintain_serial": 2, "metal3_confirm": ",".join(names)}
    lab.playbook("maintain", *only(*names), extra=variables).failed(
        f"BareMetalHost {NAMESPACE}/{host}", "pods without a controller: default/lonely",
        "pods with emptyDir volumes: default/lonely")
    lost = {"maintenance_allow_bare_pods": True}
    run = lab.playbook("maintain", *only(*names), extra=dict(variables, **lost)).failed("emptyDir volumes")
    assert "without a controller" not in run.output and marks(lab, workload) == []
    assert workload.client.get(KNOWN["Pod"], "default", "lonely")["metadata"]["uid"] == pod["metadata"]["uid"]
    lost["maintenance_allow_local_data"] = True
    lab.playbook("maintain", *only(host), extra=dict(variables, metal3_confirm=host, **lost)).ok()
    assert workload.client.get(KNOWN["Pod"], "default", "lonely") is None and marks(lab, workload) == [host, node]
    lab.playbook("maintain", *only(host), extra={"maintain": "return"}).ok()
    assert marks(lab, workload) == []


def allow_no_disruption(workload, held):
    """Let the Service's budget need both pods, or one; wait until that counts."""
    budget, number = KNOWN["PodDisruptionBudget"], 2 if held else 1
    eventually(lambda: len(workload.nodes_of_echo()) == 2, 180, "both pods are Ready", interval_seconds=1)
    workload.client.patch(budget, "default", "echo", {"spec": {"minAvailable": number}})
    eventually(lambda: workload.client.get(budget, "default", "echo")["status"].get(
        "disruptionsAllowed") == 2 - number, 60, "the budget counts")


def test_a_budget_that_lets_no_pod_go_holds_a_drain(lab, workload):
    """Until its time is over, with the pod's name and the reason, and the node stays as it is."""
    allow_no_disruption(workload, True)
    node = workload.nodes_of_echo()[0]
    host = workload.hosts("pool-a")[node]
    variables = {"maintain": "drain", "metal3_confirm": host}
    planned = lab.playbook("maintain", *only(host), "--check", extra=variables).ok()
    assert "PodDisruptionBudget default/echo allows no disruption and holds echo-" in " ".join(planned.output.split())
    with Polled(workload.address(control_plane=True)) as polled:
        try:
            lab.playbook("maintain", *only(host), extra=dict(
                variables, maintenance_wait_timeout_seconds=20)).failed(
                    "not drained within 20 s", "the eviction of default/echo-",
                    "The disruption budget echo needs 2 healthy pods and has 2 currently",
                    "The hosts stay marked and their nodes cordoned")
            assert node in workload.nodes_of_echo() and marks(lab, workload) == [host, node]
        finally:
            allow_no_disruption(workload, False)
        lab.playbook("maintain", *only(host), extra=variables).ok()
        assert node not in workload.nodes_of_echo()
        lab.playbook("maintain", *only(host), extra={"maintain": "return"}).ok()
    assert polled.failed == [] and marks(lab, workload) == []


def test_all_machines_are_rebooted_two_at_a_time(lab, site, workload):
    """A worker beside a control plane machine; what others have cordoned, and kept from remediation, stays so."""
    machines, asked = workload.hosts(), resets(lab)
    hosts = sorted(machines.values())
    # One whose pods have another place.
    others = max(workload.hosts("control-plane"))
    action = {"machine_names": [others], "machine_action": "skip_remediation"}
    assert lab.playbook("machine_action", extra=dict(site.extra(), **action)).ok().changed() == 1
    workload.client.patch(KNOWN["Node"], None, others, {"spec": {"unschedulable": True}})
    addresses = [entry["address"] for node in workload.nodes().values() for entry in node["status"]["addresses"]
                 if entry["type"] == "InternalIP"]
    variables = {"maintain": "reboot", "maintain_serial": 2, "metal3_confirm": ",".join(hosts)}
    began = time.monotonic()
    with Polled(*addresses) as polled, watching.Polled(workload.kubeconfig, timeout_seconds=3) as endpoint:
        lab.playbook("maintain", *only(*hosts), extra=variables, seconds=SECONDS).ok()
    print(f"5 machines rebooted, two at a time: {time.monotonic() - began:.0f} s; endpoint: {endpoint}")
    assert asked() == hosts and polled.failed == [] and polled.asked > 30
    assert endpoint.longest_silence_seconds < 20
    assert workload.hosts() == machines and len(workload.ready()) == 5
    eventually(lambda: etcd_is_healthy(lab, CONTROL_PLANE), 120, "etcd's three members are healthy")
    assert marks(lab, workload) == [others]
    assert CORDONED not in workload.nodes()[others]["metadata"]["annotations"]
    assert [name for name, machine in workload.machines().items()
            if NOT_REMEDIATED in (machine["metadata"].get("annotations") or {})] == [others]
    workload.client.patch(KNOWN["Node"], None, others, {"spec": {"unschedulable": None}})
    action["machine_action"] = "allow_remediation"
    assert lab.playbook("machine_action", extra=dict(site.extra(), **action)).ok().changed() == 1


def test_a_silent_control_plane_machine_holds_back_rollouts_and_maintenance(lab, site, workload):
    """It is named before anything is replaced; Cluster API replaces none; ``remediate`` brings it back."""
    machines, asked = workload.hosts(), resets(lab)
    (name, server), (_name, other) = sorted(workload.hosts("control-plane").items())[:2]
    workload.inside(server, "systemctl", "stop", "kubelet")
    eventually(lambda: not node_ready(lab, name), 240, "the node is not Ready", interval_seconds=1)
    unready = f"Machine {name} on host {server} is not ready"
    lab.playbook("maintain", *only(other), extra={"maintain": "reboot", "metal3_confirm": other}).failed(
        "of a control plane with 1 other healthy machines of 3", "more than 1 others, for etcd must keep its quorum")
    changed = {"node_labels": {"example.org/generation": "two"}}
    site.run(pool=changed).failed(
        "expected 2, the number of machines", unready, f"{POOL} would take further machines away beside it")
    of_plane = dict(CONTROL, **changed)
    site.run(pool={"node_labels": CONTROL["node_labels"]}, cluster_control_plane=of_plane).failed(
        "expected 3, the number of machines", unready,
        f"KubeadmControlPlane {CONTROL_PLANE} replaces none while one of its machines is not healthy")
    site.run(confirm=3, cluster_wait_for="none").ok()
    eventually(lambda: is_true(lab.kube.get(KNOWN["KubeadmControlPlane"], NAMESPACE, CONTROL_PLANE), "RollingOut"),
               60, "Cluster API has seen the change")
    # Taken back before anything could go on. That none of them is of the other description is not known beforehand.
    site.run(confirm=3, cluster_control_plane=CONTROL, cluster_wait_for="none").ok()
    site.variables.pop("cluster_wait_for")
    assert workload.hosts() == machines and asked() == []
    lab.playbook("remediate", *only(server)).failed("expected 1, the number of hosts that may be rebooted")
    lab.playbook("remediate", *only(server), extra={"metal3_confirm": server}, seconds=SECONDS).ok()
    eventually(lambda: node_ready(lab, name), 120, "the node is Ready", interval_seconds=1)
    eventually(lambda: etcd_is_healthy(lab, CONTROL_PLANE), 120, "etcd's three members are healthy")
    assert workload.hosts() == machines and asked() == [server]
    assert site.run().ok().changed() == 0


def drain_seconds(lab, name):
    """Return how long a Machine that is being deleted has been drained when its disruption budget was named."""
    machine = lab.kube.get(KNOWN["Machine"], NAMESPACE, name)
    if machine is None or "disruption budget" not in condition(machine, "Deleting").get("message", ""):
        return 0
    return time.time() - calendar.timegm(time.strptime(
        machine["status"]["deletion"]["nodeDrainStartTime"], "%Y-%m-%dT%H:%M:%SZ"))


def test_a_rollout_tells_of_the_budget_that_will_hold_it(lab, site, workload):
    """And of how long: the drain of a machine goes on without it afterwards."""
    label(lab, SPARE, use="work")
    before = workload.hosts("pool-a")
    allow_no_disruption(workload, True)
    try:
        told = ["PodDisruptionBudget default/echo allows no disruption and holds echo-",
                "the drain waits for 1 min and then goes on without it"]
        site.run(pool={"node_labels": {"example.org/generation": "three"}}).failed(
            "expected 2, the number of machines", *told)
        running = lab.start("cluster", extra=site.extra(confirm=2))
        longest = {}

        def ended():
            for name in before:
                longest[name] = max(longest.get(name, 0), drain_seconds(lab, name))
            return running.process.poll() is not None

        eventually(ended, SECONDS, "the rollout's end", interval_seconds=1)
        running.finish(60).ok()
    finally:
        allow_no_disruption(workload, False)
    print(f"seconds that the budget held drains: {longest}")
    assert max(longest.values()) > 45, "no drain was held"
    said = " ".join(running.output.split())
    assert "being deleted; waits for the drain of its node: 1 pod left (default/echo-" in said
    assert all(f"{name} (host {host}): being deleted; waits for host {host}, in state deprovisioning" in said
               for name, host in before.items())
    assert not set(before) & set(workload.machines("pool-a")) and len(workload.ready()) == 5


def test_other_playbooks_work_with_the_rights_of_docs_rbac(lab, site, workload, tmp_path):
    """What they are for is shown elsewhere."""
    pool = {"name": "spread-extra", "prefix": 24, "ranges": [{"start": "203.0.113.20", "end": "203.0.113.22"}]}
    claim = {"name": "spread-claim", "pool": pool["name"], "address": "203.0.113.21"}
    kept = {"ip_pools_list": [pool], "ip_pools_claims": [claim]}
    assert lab.playbook("ip_pools", extra=kept).ok().changed() == 2
    assert lab.playbook("ip_pools", extra=kept).ok().changed() == 0
    lab.playbook("ip_pools", extra=dict(kept, ip_pools_claims=[dict(claim, state="absent")])).ok()
    lab.playbook("ip_pools", extra={"ip_pools_list": [dict(pool, state="absent")]}).ok()
    lab.playbook("compliance", *only(SPARE), extra={"bmh_expected": {"cpus_minimum": 1}}).ok()
    snapshots = tmp_path / "snapshots"
    lab.playbook("etcd_snapshot", extra=dict(
        site.extra(), etcd_cluster=NAME, etcd_directory=str(snapshots),
        etcd_recipients=[str(pyrage.x25519.Identity.generate().to_public())]), seconds=SECONDS).ok()
    assert len(list(snapshots.iterdir())) == 1
    name, host = sorted(workload.hosts("pool-a").items())[0]
    action = {"machine_action": "replace", "machine_names": [name]}
    lab.playbook("machine_action", extra=dict(site.extra(), **action)).failed("expected 1, the number of")
    lab.playbook("machine_action", extra=dict(site.extra(confirm=1), **action), seconds=SECONDS).ok()
    assert name not in workload.machines() and len(workload.ready()) == 5
    lab.wait_for_host(host, lambda found: (found["spec"].get("consumerRef") or {}).get("name") != name, "given up")
