# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three control plane machines and three workers on seven servers: replaced without surge, rebooted, given up.

Each host has an address of its own, which its machines get one after another.

What the tests do to the servers is upstream's doing.
"""
from __future__ import annotations

import json
import time

import pytest
import role_settings
import small_cluster
import starting_state
from consoles import resets
from living_cluster import etcd_is_healthy
from support import NAMESPACE, eventually, module, only
from workload import Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects.finalizers import is_going
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.ha]

NAME = "three"
CONTROL_PLANE, POOL = f"{NAME}-control-plane", f"{NAME}-pool-a"
SECONDS = 2400
TAKES_DIRECT = True
KEPT = """
apiVersion: v1
kind: ConfigMap
metadata: {name: kept, namespace: default}
data: {a: "1"}
"""
CHECK = {"unhealthy_conditions": [{"type": "Ready", "status": status, "timeout_seconds": 40}
                                  for status in ("Unknown", "False")],
         "reboot_retry_limit": 1, "reboot_timeout_seconds": 100}


class Site:
    """The description of the cluster, which the tests change; what is left out stays as it was."""

    def __init__(self, lab):
        self.lab, self.variables = lab, small_cluster.variables(lab, NAME, {}, endpoint=13)
        # Otherwise a Node that was deleted comes back as one that Cluster API does not know.
        self.variables["cluster_options"] = dict(small_cluster.labs_options(), provider_id_by_kubelet=True)
        self.control_plane, self.pool = {"replicas": 3}, {"replicas": 3}
        prefix = lab.figures["bridge"]["network"].rpartition(".")[0]
        self.addresses = dict((name, f"{prefix}.{81 + number}") for number, name in enumerate(sorted(lab.servers)))
        self.variables["cluster_networks"]["nodes"]["ipv4"]["pre_allocations"] = dict(
            (f"{name}-{NAME}-nodes", address) for name, address in self.addresses.items())

    def extra(self, confirm=0, control_plane=None, pool=None):
        """Return extra variables; changes stay for the runs that follow, None takes an option away."""
        for options, changes in ((self.control_plane, control_plane), (self.pool, pool)):
            options.update(changes or {})
            for option in [option for option, value in options.items() if value is None]:
                del options[option]
        return dict(self.variables, cluster_control_plane=self.control_plane, cluster_workers={"pool-a": self.pool},
                    metal3_confirm=str(confirm or ""))

    def run(self, **changes):
        return self.lab.playbook("cluster", seconds=SECONDS, extra=self.extra(**changes))


@pytest.fixture(scope="module")
def site(lab):
    """The cluster; made here and deleted afterwards."""
    starting_state.free_direct(lab, SECONDS)
    found = Site(lab)
    with role_settings.preallocation_by_host(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        try:
            began = time.monotonic()
            found.run().ok()
            print(f"seconds to 3 + 3 Available: {time.monotonic() - began:.0f}")
            yield found
        finally:
            lab.playbook("teardown", seconds=SECONDS, extra=dict(found.variables, **small_cluster.teardown(NAME))).ok()


@pytest.fixture(scope="module")
def workload(lab, site):
    return Workload(lab, NAME, site.variables["cluster_workload_kubeconfig"])


def remediations(lab):
    return lab.kube.list(KNOWN["Metal3Remediation"], NAMESPACE)[0]


def addresses(workload):
    """Return the address of each host that is a node."""
    hosts = workload.hosts()
    return dict((hosts[name], entry["address"]) for name, node in workload.nodes().items()
                for entry in node["status"]["addresses"] if entry["type"] == "InternalIP")


def ended(lab, workload, count=6):
    """Wait until no server is being remediated and so many nodes are Ready."""
    eventually(lambda: len(workload.ready()) == count and not remediations(lab), 900,
               f"{count} nodes are Ready, and no remediation is left", interval_seconds=1)


def replaced_by_two_runs(lab, site, name, server, **more):
    """Remediate by a run that is killed when the Machine is being deleted; the cluster's run waits for the rest."""
    extra = dict(more, remediate="replace", metal3_confirm="1")
    running = lab.start("remediate", *only(server), extra=extra)
    eventually(lambda: is_going(lab.kube.get(KNOWN["Machine"], NAMESPACE, name)), 300, f"{name} is being deleted",
               interval_seconds=0.2)
    running.kill()
    lab.playbook("remediate", *only(server), extra=extra).failed(
        f"Machine {name}, which is being deleted", "the playbook cluster waits for the machine that takes its place")
    site.run().ok()


def test_three_and_three_are_ready_and_a_second_run_changes_nothing(site, workload):
    assert len(workload.ready()) == 6
    assert all(site.addresses[name] == address for name, address in addresses(workload).items())
    assert site.run().ok().changed() == 0


def test_without_surge_the_control_plane_gets_its_hosts_back(lab, site, workload):
    """``max_surge: 0`` with ``node_reuse``: never a fourth machine, and two of three keep etcd's quorum.

    By a run that was killed after the first machine, and one that goes on.
    """
    site.run(control_plane={"node_reuse": True, "automated_cleaning_mode": "disabled", "max_surge": 0}).ok()
    before, kept = workload.hosts("control-plane"), addresses(workload)
    eventually(lambda: all(lab.host(name)["spec"].get("automatedCleaningMode") == "disabled"
                           for name in before.values()), 120, "the hosts' cleaning mode")
    site.control_plane["node_labels"] = {"example.org/generation": "two"}
    site.run().failed("expected 3, the number of machines")
    running = lab.start("cluster", extra=site.extra(confirm=3))
    most = 0

    def machines():
        nonlocal most
        found = workload.machines("control-plane")
        most = max(most, len(found))
        return set(found)

    eventually(lambda: machines() - set(before), SECONDS, "the first machine that comes back", interval_seconds=1)
    running.kill()
    # What is under way was confirmed.
    running = lab.start("cluster", extra=site.extra())
    eventually(lambda: machines() and running.process.poll() is not None, SECONDS, "the end of the rollout",
               interval_seconds=1)
    running.finish(60).ok()
    after = workload.hosts("control-plane")
    assert most == 3 and sorted(after.values()) == sorted(before.values()) and not set(after) & set(before)
    assert addresses(workload) == kept
    site.run(control_plane={"node_reuse": None, "automated_cleaning_mode": None, "max_surge": None}).ok()
    ended(lab, workload)


def test_a_control_plane_machine_whose_kubelet_died_is_rebooted(lab, site, workload):
    site.run(control_plane={"health_check": CHECK}).ok()
    machines, asked = workload.hosts("control-plane"), resets(lab)
    name, server = sorted(machines.items())[0]
    workload.inside(server, "systemctl", "stop", "kubelet")
    eventually(lambda: remediations(lab), 300, "a Metal3Remediation", interval_seconds=1)
    ended(lab, workload)
    assert workload.hosts("control-plane") == machines and asked() == [server] and name in workload.ready()
    site.run(control_plane={"health_check": None}).ok()


def test_a_node_that_is_deleted_is_remediated_at_once(lab, site, workload):
    """Without the time of a condition, as docs/docsite/rst/lifecycle.rst warns."""
    # A condition alone would take ten minutes.
    patient = dict(CHECK, unhealthy_conditions=[{"type": "Ready", "status": "False", "timeout_seconds": 600}])
    site.run(pool={"health_check": patient}).ok()
    machines, asked = workload.hosts("pool-a"), resets(lab)
    name, server = sorted(machines.items())[0]
    workload.client.delete(KNOWN["Node"], None, name)
    began = time.monotonic()
    eventually(lambda: remediations(lab), 120, "a Metal3Remediation", interval_seconds=0.5)
    print(f"seconds until the deleted Node was remediated: {time.monotonic() - began:.0f}")
    ended(lab, workload)
    assert asked() == [server] and workload.hosts("pool-a") == machines


def test_a_machine_that_reboots_do_not_help_is_named_and_replaced_on_another_server(lab, site, workload):
    """CAPM3 1.13 gives up in a way that Cluster API 1.13 does not see, so that nobody replaces it.

    Its server is kept from machines until it is marked healthy.
    """
    site.run(pool={"health_check": CHECK}).ok()
    machines, asked = workload.hosts("pool-a"), resets(lab)
    name, server = sorted(machines.items())[0]
    for verb in ("disable", "stop"):
        workload.inside(server, "systemctl", verb, "kubelet")
    eventually(lambda: [item for item in remediations(lab)
                        if item.get("status", {}).get("phase") == "Deleting machine"], 900,
               "CAPM3 has given up", interval_seconds=1)
    assert name in workload.machines("pool-a") and server in asked()
    words = "run the playbook remediate with remediate=replace"
    assert words in lab.playbook("cluster", "--check", extra=site.extra()).ok().output
    extra = {"remediate": "replace", "metal3_confirm": "1", "remediation_step_timeout_seconds": 600}
    lab.playbook("remediate", *only(server), extra=extra, seconds=SECONDS).ok()
    ended(lab, workload)
    after = workload.hosts("pool-a")
    assert server not in after.values() and len(after) == 3 and len(set(after) & set(machines)) == 2
    assert "capm3.metal3.io/unhealthy" in lab.host(server)["metadata"]["annotations"]
    site.run(pool={"health_check": None}).ok()
    lab.playbook("host_action", *only(server), extra={"host_action": "mark_healthy"}).ok()


def test_a_lost_etcd_member_is_named_and_its_machine_replaced(lab, site, workload):
    """Its data is gone, so that etcd does not start again; two of three keep what is stored, and the API answers."""
    machines, asked = workload.hosts("control-plane"), resets(lab)
    name, server = sorted(machines.items())[0]
    module("manifests", kubeconfig=str(lab.dir / "kubeconfig"), cluster_name=NAME, manifests=[KEPT])
    workload.inside(server, "rm", "-r", "/var/lib/etcd/member")
    workload.inside(server, "pkill", "-KILL", "-x", "etcd")
    began = time.monotonic()
    # Its kubelet asks the API server beside it alone, so that the node is not Ready; the kubelet itself says why.

    def said():
        return lab.playbook("remediate", "--check", *only(server), extra={"remediate": "replace"}).ok().output

    eventually(lambda: "etcd member lost" in " ".join(said().split()), 600, "the lost member is named",
               interval_seconds=5)
    print(f"seconds until the lost member was named: {time.monotonic() - began:.0f}")
    # A reboot does not help, so none is tried.
    run = lab.playbook("remediate", *only(server), extra={"metal3_confirm": "1"}).failed("etcd member lost")
    assert "tried: nothing" in " ".join(run.output.split()) and server not in asked()
    lab.playbook("remediate", *only(server), extra={"remediate": "replace"}).failed(
        f"{server} (", "etcd member lost", "replace; to continue")
    replaced_by_two_runs(lab, site, name, server)
    print(f"seconds until it was replaced: {time.monotonic() - began:.0f}")
    ended(lab, workload)
    after = workload.hosts("control-plane")
    assert server not in after.values() and len(after) == 3 and len(set(after) & set(machines)) == 2
    eventually(lambda: etcd_is_healthy(lab, CONTROL_PLANE), 300, "etcd's three members are healthy", interval_seconds=1)
    assert workload.client.get(KNOWN["ConfigMap"], "default", "kept")["data"] == {"a": "1"}
    lab.playbook("host_action", *only(server), extra={"host_action": "mark_healthy"}).ok()
    lab.wait_for_host(server, lambda found: found["status"]["provisioning"]["state"] == "available", "available")
    assert site.run().ok().changed() == 0


def test_a_control_plane_machine_whose_disk_dies_is_replaced_on_another_server(lab, room, site, workload):
    """No reboot helps, as nothing boots; its server, without a disk, is given up by Ironic all the same."""
    machines, endpoint = workload.hosts("control-plane"), site.variables["cluster_endpoint"]["host"]
    # Whoever holds the endpoint's address would go on answering from memory.
    name, server = next(pair for pair in sorted(machines.items())
                        if endpoint not in workload.inside(pair[1], "ip", "-4", "-o", "address"))
    began = time.monotonic()
    room.set_knobs(server, first_disk_failed=True)
    try:
        eventually(lambda: name not in workload.ready(), 600, "the node is not Ready", interval_seconds=1)
        print(f"seconds until the node was not Ready: {time.monotonic() - began:.0f}")
        extra = {"remediate": "replace", "remediation_step_timeout_seconds": 120}
        lab.playbook("remediate", *only(server), extra=extra).failed(f"{server} (", "replace; to continue")
        replaced_by_two_runs(lab, site, name, server, remediation_step_timeout_seconds=120)
        print(f"seconds until it was replaced: {time.monotonic() - began:.0f}")
        ended(lab, workload)
        after = workload.hosts("control-plane")
        assert server not in after.values() and len(after) == 3 and len(set(after) & set(machines)) == 2
        eventually(lambda: etcd_is_healthy(lab, CONTROL_PLANE), 300, "etcd's three members are healthy",
                   interval_seconds=1)
        lab.wait_for_host(server, lambda found: found["status"]["provisioning"]["state"] == "available", "available")
        assert "capm3.metal3.io/unhealthy" in lab.host(server)["metadata"]["annotations"]
    finally:
        room.clear_knobs(server)
    lab.playbook("host_action", *only(server), extra={"host_action": "mark_healthy"}).ok()
    assert site.run().ok().changed() == 0


def test_a_standalone_machine_is_made_stays_as_it_is_and_goes_by_name(lab, site, workload):
    """Beside the pool; killed when its Machine is made, and taken up. Nothing replaces it."""
    others, name = workload.machines().keys(), f"{NAME}-db"
    described = {"node_labels": {"example.org/use": "db"}}
    site.variables["cluster_standalone_machines"] = {"db": described}
    checked = lab.playbook("cluster", "--check", extra=site.extra()).ok()
    assert f"Machine {name}: machines 0 to 1" in checked.output and workload.machines("-db") == {}
    running = lab.start("cluster", extra=site.extra())
    eventually(lambda: workload.machines("-db"), 120, "the Machine", interval_seconds=0.5)
    running.kill()
    began = time.monotonic()
    site.run().ok()
    print(f"seconds to a standalone machine: {time.monotonic() - began:.0f}")
    machine = workload.machines("-db")[name]
    node, host = workload.nodes()[machine["status"]["nodeRef"]["name"]], workload.host_of(machine)
    assert node["metadata"]["labels"]["example.org/use"] == "db" and len(workload.ready()) == 7
    assert addresses(workload)[host] == site.addresses[host]
    assert site.run().ok().changed() == 0
    # Another description is only warned of, and nothing else replaces it.
    described["node_labels"] = {"example.org/use": "other"}
    run = site.run().ok()
    assert run.changed() == 0 and f"Machine {name} was made of another description" in " ".join(run.output.split())
    lab.playbook("machine_action", extra=dict(site.extra(confirm=1), machine_action="replace", machine_names=[name])
                 ).failed("a standalone Machine goes by state: absent")
    site.variables["cluster_standalone_machines"] = {"db": {"state": "absent"}}
    site.run().failed("expected 1, the number of machines", f"{name} on host {host}")
    site.run(confirm=1).ok()
    assert workload.machines().keys() == others and len(workload.ready()) == 6
    lab.wait_for_host(host, lambda found: found["status"]["provisioning"]["state"] == "available", "available")
    for kind in ("Metal3Machine", "KubeadmConfig"):
        assert not [item for item in lab.kube.list(KNOWN[kind], NAMESPACE)[0] if item["metadata"]["name"] == name]
    del site.variables["cluster_standalone_machines"]
    assert site.run().ok().changed() == 0


def generations(workload, servers):
    """Return what the meta data of each server says, as cloud-init has read it."""
    found = {}
    for server in servers:
        read = json.loads(workload.inside(server, "cat", "/run/cloud-init/instance-data-sensitive.json"))
        found[server] = read["ds"]["meta_data"].get("generation")
    return found


def test_a_rollout_without_a_spare_host_waits_and_max_surge_lets_it_go_on(lab, site, workload):
    """Other meta data, which is a data template of its own; each host keeps its address."""
    site.run(pool={"replicas": 4}).ok()
    before, kept = workload.hosts("pool-a"), addresses(workload)
    assert len(kept) == len(lab.servers) == 7, "a host is free"
    site.pool["metadata"] = {"strings": [{"key": "generation", "value": "two"}]}
    site.run().failed("expected 4, the number of machines", "no host that matches is free", "set max_surge to 0")
    site.run(confirm=4).failed("can't become ready", "no host is free, of 7 that match", "set max_surge to 0")
    assert set(before) <= set(workload.machines("pool-a")) and len(workload.ready()) == 7
    assert generations(workload, before.values()) == dict.fromkeys(before.values())
    began = time.monotonic()
    site.run(pool={"max_surge": 0, "max_unavailable": 1}).ok()
    print(f"rollout of 4 machines without a spare host: {time.monotonic() - began:.0f} s")
    after = workload.hosts("pool-a")
    assert sorted(after.values()) == sorted(before.values()) and not set(after) & set(before)
    assert generations(workload, after.values()) == dict.fromkeys(after.values(), "two")
    assert addresses(workload) == kept and len(workload.ready()) == 7
    assert site.run().ok().changed() == 0
