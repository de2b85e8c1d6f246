# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster lives: its machines are replaced, reused, healed, taken away by name, and get another Kubernetes.

One control plane machine and two workers on four servers; what the tests do to them is upstream's doing.
"""
from __future__ import annotations

import base64
import calendar
import json
import re
import subprocess
import time
import uuid
from pathlib import Path

import autoscaler
import living_cluster
import meta_data_forms
import node_firmware
import other_image
import other_kubernetes
import pytest
import small_cluster
import yaml
from consoles import Bmc, Console, next_to_print, resets
from living_cluster import node_ready
from operator_account import kubectl
from support import NAMESPACE, eventually, module, only
from workload import AGNHOST, ECHO, NODE_PORT, Polled, Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects.conditions import condition
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.lifecycle]
TAKES_DIRECT = True

NAME = "living"
POOL = f"{NAME}-pool-a"
CONTROL_PLANE = f"{NAME}-control-plane"
SECONDS = 1500
OTHER_IMAGE = "node-other"
# Longer than machines of the lab take beside other jobs.
JOINS_WITHIN_SECONDS = 300


@pytest.fixture(scope="module")
def site(lab):
    """The cluster's description; the cluster is made here and deleted afterwards."""
    meta_data_forms.mark_hosts(lab, True)
    try:
        with living_cluster.made(living_cluster.Site(
                lab, NAME, {"replicas": 2}, small_cluster.variables(lab, NAME, {}, endpoint=13))) as found:
            yield found
    finally:
        meta_data_forms.mark_hosts(lab, False)
        other_image.removed(lab, OTHER_IMAGE)


@pytest.fixture(scope="module")
def backed_up(tmp_path_factory):
    """What else ``upgrade`` is given: the folder of its backups, and whom they are for."""
    folder = tmp_path_factory.mktemp("upgrade")
    return {"backup_directory": str(folder / "backups"), "backup_recipients": [recipient(folder)]}


def backups(backed_up):
    """Return the names of the backups that there are."""
    folder = Path(backed_up["backup_directory"])
    return sorted(path.name for path in folder.glob("*.age")) if folder.exists() else []


@pytest.fixture(scope="module")
def workload(lab, site):
    """The cluster with a Service of two pods."""
    found = Workload(lab, NAME, site.variables["cluster_workload_kubeconfig"])
    module("manifests", kubeconfig=str(lab.dir / "kubeconfig"), cluster_name=NAME,
           manifests=[ECHO % (AGNHOST, AGNHOST, NODE_PORT)])
    return found


def test_a_rollout_is_planned_and_wants_the_number_of_machines(lab, site, workload, backed_up, tmp_path):
    """Nothing is written until the number is repeated, in check mode neither, and ``upgrade`` makes no backup."""
    machines = workload.hosts("pool-a")
    assert len(machines) == 2
    versions = lab.versions()
    change = dict(meta_data_forms.options(NAME), node_labels={"example.org/generation": "two"},
                  image=other_image.served(lab, tmp_path, OTHER_IMAGE))
    run = site.run("--check", pool=change).ok()
    for name in machines:
        assert name in run.output
    assert f"MachineDeployment {POOL} replaces its 2 machines, one after another" in " ".join(run.output.split())
    refused = site.run().failed("expected 2, the number of machines")
    flat = " ".join(refused.output.split())
    assert all(f"{name} on host {host}" in flat for name, host in machines.items())
    assert f"{POOL}: from its creation to its Node a machine took " in flat and "1 host that matches is free" in flat
    assert f"pool {NAME}-nodes has " in flat and "all disks of 2 hosts are wiped" in flat
    refused = lab.playbook("upgrade", extra=dict(site.extra(), **backed_up)).failed(
        "expected 2, the number of machines")
    assert all(name in refused.output for name in machines) and "PLAY [Back up" not in refused.output
    assert backups(backed_up) == []
    assert lab.versions() == versions and workload.hosts("pool-a") == machines


def test_machines_are_replaced_one_after_another_and_the_service_answers(lab, site, workload, backed_up):
    """The change of the test before: label, file, meta data and image; by ``upgrade``.

    Killed when the first new machine is made, and taken up.
    """
    before, plane = workload.hosts("pool-a"), workload.hosts("control-plane")
    began = time.monotonic()
    with Polled(workload.address(control_plane=True)) as polled:
        running = lab.start("upgrade", extra=dict(site.extra(confirm=2), **backed_up))
        eventually(lambda: set(workload.machines("pool-a")) - set(before), 300, "a new machine")
        running.kill()
        assert len(backups(backed_up)) == 1
        assert len(workload.ready()) == 3, "an old machine went before the new one was there"
        # What is under way was confirmed.
        run = lab.playbook("upgrade", extra=dict(site.extra(), **backed_up), seconds=SECONDS).ok()
        assert "nodes are Ready at their version, and the pods of kube-system are Ready" in run.output
        assert len(backups(backed_up)) == 2
    print(f"rollout of 2 machines: {time.monotonic() - began:.0f} s, {polled.asked} requests")
    after = workload.hosts("pool-a")
    assert len(after) == 2 and not set(after) & set(before) and workload.hosts("control-plane") == plane
    assert [node["metadata"]["labels"].get("example.org/generation") for name, node in workload.nodes().items()
            if name in after] == ["two", "two"]
    assert polled.asked > 100 and polled.failed == []
    for name, server in after.items():
        assert workload.inside(server, "cat", other_image.PATH) == OTHER_IMAGE + "\n"
        assert meta_data_forms.problems(lab, workload, name, server) == {}
    for host in set(before.values()) - set(after.values()):
        lab.wait_for_host(host, lambda found: found["status"]["provisioning"]["state"] == "available", "available")
    assert site.run().ok().changed() == 0


def test_a_rollout_to_what_does_not_boot_stops_at_the_first_machine_and_goes_back(lab, site, workload):
    before, own = workload.hosts("pool-a"), site.pool.get("image")
    wrong = lab.dir / "www" / "images" / "not-it.sha256"
    image = own or site.variables["cluster_image"]
    wrong.write_text(f"{0:064d}  {image['url'].rpartition('/')[2]}\n")
    try:
        with Polled(workload.address(control_plane=True)) as polled:
            bad = dict(image,
                       checksum=lab.figures["urls"]["image_server"] + "/images/not-it.sha256")
            site.run(confirm=2, pool={"image": bad}).failed("the image's checksum is not the given one")
            assert set(before) <= set(workload.machines("pool-a")) and len(workload.ready()) == 3
            # Back to what it was: the machine that did not come is no node, and nothing is lost with it.
            site.run(pool={"image": own}).ok()
    finally:
        wrong.unlink()
    assert workload.hosts("pool-a") == before and polled.failed == []


def test_machines_older_than_a_time_are_replaced_without_another_change(lab, site, workload):
    """The control plane's, too: its only machine, whose API server answers again afterwards."""
    before, plane = workload.machines("pool-a"), workload.machines("control-plane")
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    change = {"cluster_control_plane": {"replicas": 1, "rollout_after": moment}}
    site.run(**change).failed("expected 1, the number of machines", f"{CONTROL_PLANE} replaces its 1 machine")
    site.run(confirm=1).ok()
    assert workload.machines("pool-a").keys() == before.keys()
    assert not workload.machines("control-plane").keys() & plane.keys() and len(workload.ready()) == 3
    assert site.run().ok().changed() == 0


def test_a_rollout_takes_about_as_long_as_by_kubectl(lab, site, workload):
    """The same rollout of two workers twice, and the same end: two new machines, three nodes Ready, none going."""
    def moment():
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def is_done(before):
        found = [item for item in lab.kube.list(KNOWN["Machine"], NAMESPACE)[0] if "pool-a" in item["metadata"]["name"]]
        names = set(item["metadata"]["name"] for item in found)
        return len(names) == 2 and not names & before and all(node_ready(lab, name) for name in names)

    def by_kubectl():
        patch = json.dumps({"spec": {"rollout": {"after": moment()}}})
        kubectl(lab, "patch", "machinedeployments.v1beta2.cluster.x-k8s.io", POOL, "-n", NAMESPACE, "--type", "merge",
                "--patch", patch).check_returncode()

    seconds = {}
    for way, roll in (("kubectl", by_kubectl),
                      ("playbook", lambda: site.run(confirm=2, pool={"rollout_after": moment()}).ok())):
        before = set(workload.machines("pool-a"))
        eventually(lambda: len(workload.ready()) == 3, 60, "three nodes are Ready", interval_seconds=1)
        began = time.monotonic()
        roll()
        eventually(lambda before=before: is_done(before), 900, f"the rollout by {way}", interval_seconds=1)
        seconds[way] = time.monotonic() - began
    print(f"rollout of 2 machines: kubectl {seconds['kubectl']:.0f} s, playbook {seconds['playbook']:.0f} s, ratio "
          f"{seconds['playbook'] / seconds['kubectl']:.2f}")
    # Whoever waits for something else than the machines takes far longer; the rest is the noise of one run.
    assert seconds["playbook"] < 2 * seconds["kubectl"]
    site.run(pool={"rollout_after": None}).ok()


def kubeconfigs(lab, site):
    """Return the client's certificate in the file, and in the Secret that Cluster API keeps."""
    stored = lab.kube.get(KNOWN["Secret"], NAMESPACE, f"{NAME}-kubeconfig")
    texts = (Path(site.variables["cluster_workload_kubeconfig"]).read_text(),
             base64.b64decode(stored["data"]["value"]) if stored else "users: [{user: {}}]")
    return [yaml.safe_load(text)["users"][0]["user"].get("client-certificate-data") for text in texts]


def renew_kubeconfig(lab, site):
    """Have Cluster API issue the kubeconfig again, as it does by itself when half of its year is over."""
    lab.kube.delete(KNOWN["Secret"], NAMESPACE, f"{NAME}-kubeconfig")
    # It looks at a control plane now and then, and when that changes.
    lab.kube.patch(KNOWN["KubeadmControlPlane"], NAMESPACE, CONTROL_PLANE, {"metadata": {"annotations": {
        "example.org/look": str(time.monotonic())}}})
    eventually(lambda: kubeconfigs(lab, site)[1], 120, "another kubeconfig")


def test_certificates_that_end_soon_are_renewed_by_new_machines(lab, site, workload):
    """The control plane's only machine is replaced, once, by runs of which the first was killed.

    Its successor's certificates end later. The kubeconfig file is brought up to date by each run.
    """
    machine, = workload.machines("control-plane").values()
    ends = eventually(lambda: lab.kube.get(KNOWN["Machine"], NAMESPACE, machine["metadata"]["name"])["status"].get(
        "certificatesExpiryDate"), 120, "Cluster API has noted when the certificates end")
    line = f"Machine {NAMESPACE}/{machine['metadata']['name']}"
    assert line in " ".join(lab.playbook("certificates").ok().output.split())
    assert lab.playbook("rotate_certificates", extra=site.extra()).ok().changed() == 0
    renew_kubeconfig(lab, site)
    assert lab.playbook("rotate_certificates", "--check", extra=site.extra()).ok().changed() == 1
    assert kubeconfigs(lab, site)[0] != kubeconfigs(lab, site)[1]
    assert lab.playbook("rotate_certificates", extra=site.extra()).ok().changed() == 1
    assert kubeconfigs(lab, site)[0] == kubeconfigs(lab, site)[1] and len(workload.ready()) == 3
    assert lab.playbook("rotate_certificates", extra=site.extra()).ok().changed() == 0
    later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(calendar.timegm(time.strptime(
        ends, "%Y-%m-%dT%H:%M:%SZ")) + 1))
    extra = {"rotate_certificates_before": later}
    workers = workload.machines("pool-a").keys()
    lab.playbook("rotate_certificates", extra=dict(site.extra(), **extra)).failed("expected 1, the number of machines")
    running = lab.start("rotate_certificates", extra=dict(site.extra(confirm=1), **extra))
    eventually(lambda: len(workload.machines("control-plane")) == 2, 300, "a new machine")
    running.kill()
    renew_kubeconfig(lab, site)
    new, = set(workload.machines("control-plane")) - {machine["metadata"]["name"]}
    # What is under way was confirmed, and the new machine is not replaced once more.
    lab.playbook("rotate_certificates", extra=dict(site.extra(), **extra), seconds=SECONDS).ok()
    assert list(workload.machines("control-plane")) == [new]
    assert kubeconfigs(lab, site)[0] == kubeconfigs(lab, site)[1]
    assert workload.machines("pool-a").keys() == workers and len(workload.ready()) == 3
    assert lab.playbook("rotate_certificates", extra=dict(site.extra(), **extra)).ok().changed() == 0


def test_the_named_machine_goes_when_there_are_to_be_fewer(lab, site, workload):
    first, second = sorted(workload.machines("pool-a"))
    extra = dict(site.extra(), machine_action="mark_for_scale_in", machine_names=[second])
    lab.playbook("machine_action", extra=extra).ok()
    assert lab.playbook("machine_action", extra=extra).ok().changed() == 0
    run = site.run(pool={"replicas": 1}).failed("loses 1 machine")
    flat = " ".join(run.output.split())
    assert f"loses 1 machine: {second} on host" in flat and first not in flat.partition("loses 1 machine")[2]
    running = lab.start("cluster", extra=site.extra(confirm=1))
    eventually(lambda: second not in workload.machines("pool-a"), 300, "the machine goes")
    running.kill()
    site.run().ok()
    assert list(workload.machines("pool-a")) == [first]


def test_a_pool_becomes_empty_and_full_again(lab, site, workload):
    """Both by a run that was killed when Cluster API had begun, and one that goes on."""
    for replicas, confirm in ((0, len(workload.machines("pool-a"))), (2, 0)):
        running = lab.start("cluster", extra=site.extra(confirm=confirm, pool={"replicas": replicas}))
        eventually(lambda replicas=replicas: len(workload.machines("pool-a")) == replicas, 300, "Cluster API has begun")
        running.kill()
        site.run().ok()
        eventually(lambda replicas=replicas: len(workload.ready()) == 1 + replicas, 300, f"{1 + replicas} nodes",
                   interval_seconds=1)
        assert len(workload.machines("pool-a")) == replicas
    assert site.run().ok().changed() == 0


def test_one_machine_has_a_cleaning_mode_of_its_own(lab, site, workload):
    """Where the template leaves it open: by its Metal3Machine, which reaches its host, and which runs leave alone."""
    site.run(pool={"automated_cleaning_mode": "host"}).ok()
    one, other = (machine["spec"]["infrastructureRef"]["name"] for machine in workload.machines("pool-a").values())
    used = dict((host["spec"]["consumerRef"]["name"], name) for name, host in lab.hosts().items()
                if host["spec"].get("consumerRef"))

    def set_mode(value):
        lab.kube.patch(KNOWN["Metal3Machine"], NAMESPACE, one, {"spec": {"automatedCleaningMode": value}})

    def modes():
        return [lab.host(used[name])["spec"].get("automatedCleaningMode") for name in (one, other)]

    before = modes()
    try:
        set_mode("disabled")
        eventually(lambda: modes() == ["disabled", before[1]], 120, "the mode reaches the machine's host")
        assert site.run().ok().changed() == 0
        assert lab.kube.get(KNOWN["Metal3Machine"], NAMESPACE, one)["spec"]["automatedCleaningMode"] == "disabled"
        assert modes() == ["disabled", before[1]]
    finally:
        set_mode("metadata")
        eventually(lambda: modes()[0] == "metadata", 120, "the mode of before")
        site.run(pool={"automated_cleaning_mode": None}).ok()


def test_without_surge_the_same_hosts_come_back_and_are_not_cleaned(lab, site, workload):
    """``node_reuse`` with ``max_surge: 0``; killed in the middle and taken up."""
    site.run(pool={"node_reuse": True, "automated_cleaning_mode": "disabled", "max_surge": 0,
                   "max_unavailable": 1}).ok()
    before = workload.hosts("pool-a")
    eventually(lambda: all(item["spec"].get("automatedCleaningMode") == "disabled" for item in lab.hosts().values()
                           if item["metadata"]["name"] in before.values()), 120, "the hosts' cleaning mode")
    cleaned = dict((name, Console(lab.dir / "machines" / name / "console.log")) for name in before.values())
    change = {"node_labels": {"example.org/generation": "three"}}
    site.run(pool=change).failed("expected 2, the number of machines", "each before another has taken its place")
    with Polled(workload=workload) as polled:
        running = lab.start("cluster", extra=site.extra(confirm=2))
        eventually(lambda: set(workload.machines("pool-a")) - set(before), 600, "the first machine that comes back")
        running.kill()
        site.run().ok()
    assert polled.asked > 100 and polled.failed == []
    after = workload.hosts("pool-a")
    assert sorted(after.values()) == sorted(before.values()) and not set(after) & set(before)
    assert not [line for console in cleaned.values() for line in console.lines() if "execute_clean_step" in line]
    site.run(pool={"node_reuse": None, "automated_cleaning_mode": None, "max_surge": None, "max_unavailable": None},
             confirm=2).ok()


def held_by_its_budget(workload, is_held):
    """Let the Service's budget need both pods, or one; wait until that counts."""
    budget, number = KNOWN["PodDisruptionBudget"], 2 if is_held else 1
    eventually(lambda: len(workload.nodes_of_echo()) == 2, 180, "both pods are Ready", interval_seconds=1)
    workload.client.patch(budget, "default", "echo", {"spec": {"minAvailable": number}})
    eventually(lambda: workload.client.get(budget, "default", "echo")["status"].get(
        "disruptionsAllowed") == 2 - number, 60, "the budget counts")


def test_what_stops_a_machine_says_beforehand_what_it_costs_and_meanwhile_how_far_it_is(lab, site, workload):
    """A budget, pods, disks, free hosts; then the pods that a drain waits for, and the host that is deprovisioned.

    By a run that is killed while the drain is held, and one that goes on.
    """
    held_by_its_budget(workload, True)
    name, machines = workload.nodes_of_echo()[0], workload.hosts("pool-a")
    host, versions = machines[name], lab.versions()
    beside, = set(machines.values()) - {host}
    budget = "PodDisruptionBudget default/echo allows no disruption and holds echo-"
    try:
        run = lab.playbook("maintain", *only(host), "--check", extra={"maintain": "reboot"}).ok()
        said = " ".join(run.output.split())
        assert f"{host} (node {name} of cluster {NAME}): evicts " in said and "default/echo-" in said and budget in said
        lab.playbook("maintain", *only(host), extra={"maintain": "reboot"}).failed(
            "evicts the pods of 1 server", f"{host} (node {name} of cluster {NAME}): evicts ", f"attention: {budget}")
        replace = {"machine_action": "replace", "machine_names": [name]}
        lab.playbook("machine_action", extra=dict(site.extra(), **replace)).failed(
            "expected 1, the number of machines", f"{POOL}: from its creation to its Node a machine took ",
            "1 host that matches is free; all disks of 1 host are wiped", f"attention: {budget}",
            "the drain waits for 1 min and then goes on without it")
        assert lab.versions() == versions
        running = lab.start("machine_action", extra=dict(site.extra(confirm=1), **replace))
        eventually(lambda: "disruption budget" in condition(lab.kube.get(
            KNOWN["Machine"], NAMESPACE, name), "Deleting").get("message", ""), 300, "a drain that is held")
        running.kill()
        # What is being deleted was confirmed; the next run waits for it.
        running = lab.start("machine_action", extra=dict(site.extra(), **replace))
        # When pods of others have ended.
        eventually(lambda: "left (default/echo-" in running.output, 180, "the pod's name in what the run prints")
        lab.playbook("maintain", *only(beside), "--check", extra={"maintain": "reboot"}).failed(
            f"Machine {name} is being deleted", "expected at most 1 unavailable at once")
    finally:
        held_by_its_budget(workload, False)
    run = running.finish(SECONDS).ok()
    assert run.changed() == 0
    said = " ".join(run.output.split())
    going = f"{name} (host {host}): being deleted; waits for "
    assert re.search(re.escape(f"{going}the drain of its node: ") + r"\d pods? left \(default/echo-", said)
    assert "cannot evict pod as it would violate the pod's disruption budget" in said
    assert f"{going}host {host}, in state deprovisioning: Ironic removes the image and cleans the disks" in said
    assert name not in workload.machines() and len(workload.ready()) == 3


def test_servers_of_one_pool_and_one_batch_are_rebooted_one_after_another_and_the_service_answers(lab, site, workload):
    """Refused without their names; killed while the first is drained, and taken up. Never two are cordoned."""
    hosts = sorted(workload.hosts("pool-a").values())
    machines, asked = workload.hosts("pool-a"), resets(lab)
    variables = {"maintain": "reboot", "maintenance_reason": "fans"}
    lab.playbook("maintain", *only(*hosts), extra=variables).failed(
        "evicts the pods of 1 server", "set metal3_confirm=" + ",".join(hosts))
    assert asked() == []
    variables.update(metal3_confirm=",".join(hosts), maintain_serial="100%")
    out = dict(variables, maintain="drain")
    lab.playbook("maintain", *only(*hosts), extra=out).failed(
        "to be away together, of pool " + POOL, "expected at most 1 unavailable at once")

    def cordoned():
        return [name for name, node in workload.nodes().items() if node["spec"].get("unschedulable")]

    with Polled(workload.address(control_plane=True)) as polled:
        running = lab.start("maintain", *only(*hosts), extra=variables)
        eventually(cordoned, 120, "a node is cordoned")
        running.kill()
        running, most = lab.start("maintain", *only(*hosts), extra=variables), []

        def ended():
            most.append(len(cordoned()))
            return running.process.poll() is not None

        eventually(ended, SECONDS, "the end of the run", interval_seconds=1)
        assert "round 2 of 2: " in running.finish(60).ok().output
    assert max(most) == 1
    assert asked() == hosts and polled.failed == []
    # How often depends on how soon the servers are back.
    assert polled.asked > 30
    assert workload.hosts("pool-a") == machines and len(workload.ready()) == 3
    for node in workload.nodes().values():
        assert not node["spec"].get("unschedulable")
    for name in hosts:
        annotations = lab.host(name)["metadata"].get("annotations", {})
        assert "metal3.baremetal/maintenance" not in annotations
        assert int(annotations[host_annotations.MAINTENANCE_TOOK]) > 0


def test_a_reboot_that_a_killed_run_has_begun_is_waited_for_and_not_done_again(lab, site, workload):
    machines = workload.hosts("pool-a")
    name, host = sorted(machines.items())[0]
    bmc, variables = Bmc(lab, host), {"maintain": "reboot", "metal3_confirm": "1"}

    def begun():
        """BMO has taken the request away: only the collection's mark says that there was one."""
        annotations = lab.host(host)["metadata"].get("annotations", {})
        return host_annotations.REBOOT_BEGUN in annotations and "reboot.metal3.io" not in annotations

    running = lab.start("maintain", *only(host), extra=variables)
    eventually(lambda: running.process.poll() is not None or begun(), SECONDS, "the server is being rebooted", 0.1)
    running.kill()
    lab.playbook("maintain", *only(host), extra=variables, seconds=SECONDS).ok()
    assert bmc.resets() == ["GracefulShutdown", "On"]
    assert name in workload.ready() and workload.hosts("pool-a") == machines
    assert host_annotations.REBOOT_BEGUN not in lab.host(host)["metadata"].get("annotations", {})


def bios_of(lab, host):
    """Return a server's BIOS settings as BMO knows them; none of one whose BMC has no such thing."""
    found = lab.kube.get(KNOWN["HostFirmwareSettings"], NAMESPACE, host) or {}
    return (found.get("status") or {}).get("settings") or {}


def test_bios_settings_of_a_server_in_use_are_changed_between_drain_and_return(lab, site, workload):
    """Killed while Ironic serves the server, and taken up: the node stays cordoned until the settings count.

    Its server is rebooted once, and is back before the run is over.
    """
    machines = workload.hosts("pool-a")
    name, host = next(pair for pair in sorted(machines.items()) if "PatrolScrubHours" in bios_of(lab, pair[1]))
    bmc = Bmc(lab, host)
    hours = (int(bios_of(lab, host)["PatrolScrubHours"]) + 1) % 24
    inventory = lab.inventory({host: {"bmh_firmware_settings": {"PatrolScrubHours": hours},
                                      "bmh_update_policy": {"firmware_settings": "onReboot"}}})
    arguments, extra = ("-i", str(inventory), *only(host)), {"maintain": "firmware"}
    lab.playbook("maintain", *arguments, extra=extra).failed("set metal3_confirm=1")
    extra["metal3_confirm"] = host
    try:
        with Polled(workload.address(control_plane=True)) as polled:
            running = lab.start("maintain", *arguments, extra=extra)
            eventually(lambda: running.process.poll() is not None
                       or lab.host(host)["status"]["operationalStatus"] == "servicing", SECONDS, "it is served", 0.5)
            running.kill()
            assert workload.nodes()[name]["spec"].get("unschedulable")
            lab.playbook("maintain", *arguments, extra=extra, seconds=SECONDS).ok()
        assert polled.failed == [] and polled.asked > 30
        assert bmc.resets() == ["GracefulShutdown", "On"]
        assert bios_of(lab, host)["PatrolScrubHours"] == str(hours)
        assert not workload.nodes()[name]["spec"].get("unschedulable") and name in workload.ready()
        assert workload.hosts("pool-a") == machines
        assert "metal3.baremetal/maintenance" not in (lab.host(host)["metadata"].get("annotations") or {})
    finally:
        client = {"kubeconfig": str(lab.dir / "kubeconfig"), "namespace": NAMESPACE}
        module("host_update_policy", policies=[{"name": host, "state": "absent"}], **client)
        module("host_firmware_settings", hosts=[{"name": host, "settings": {}}], **client)


def test_firmware_of_a_node_is_flashed_between_drain_and_return(lab, room, site, workload):
    """Whatever is seen while it is served: the node is cordoned and empty; it comes back as what it was."""
    server, asked, version = node_firmware.Flashed(lab, room, workload), resets(lab), f"2.{uuid.uuid4().hex[:8]}"
    before, booted = server.identity(), server.system()
    with server.put_right_afterwards(), node_firmware.published(lab, node_firmware.bios(version)) as (url,):
        with Polled(workload.address(control_plane=True)) as polled, node_firmware.Meanwhile(server) as meanwhile:
            run = server.maintain(url).ok()
        assert polled.failed == [] and polled.asked > 30
        assert server.flashed() == version and server.is_reported(version), run.output
        assert set(meanwhile.of_service()) == {node_firmware.Moment("servicing", True, 0)}
        # Its system went down and came up, and nobody took it for another.
        assert server.system() != booted and server.identity() == before
        assert server.node in workload.ready() and server.marks() == []
        assert asked() == [server.host] and server.others_are_untouched()
        asked, versions = resets(lab), lab.versions()
        again = server.maintain(url).ok()
        assert again.changed() == 0 and f"{server.host}: nothing is to change" in again.output
        assert asked() == [] and lab.versions() == versions


def assert_left_drained(run, server, workload):
    """Fail unless a run of ``maintain`` whose flash failed says why, and leaves the node as it says."""
    run.failed(
        "bios: a firmware image could not be flashed", "is no firmware image of this server",
        "give an image that fits the server, by another URL", f"{server.host}: the step firmware failed, for the "
        f"reason above. The servers stay marked as being maintained, and their nodes cordoned: {server.node}. Correct "
        "the cause and run maintain=firmware again")
    assert server.marks() == ["host", "Machine", "Node", "cordon"] and server.node not in workload.nodes_of_echo()
    status = server.lab.host(server.host)["status"]
    assert (status["provisioning"]["state"], status["errorType"]) == ("provisioned", "servicing error")
    # BMO has switched it off for the service, and Ironic leaves it so.
    assert server.room.server(server.host)["power"] == "Off"


def test_a_node_whose_flash_failed_stays_drained_until_another_image_is_flashed(lab, room, site, workload):
    """Some minutes later: BMO counts the former error once more, and pauses, before it begins with the other image."""
    server, asked, version = node_firmware.Flashed(lab, room, workload), resets(lab), f"3.{uuid.uuid4().hex[:8]}"
    before, former = server.identity(), server.flashed()
    with server.put_right_afterwards(), \
            node_firmware.published(lab, node_firmware.BROKEN, node_firmware.bios(version)) as (broken, url), \
            Polled(workload.address(control_plane=True)) as polled:
        assert_left_drained(server.maintain(broken), server, workload)
        assert server.flashed() == former and asked() == [server.host]
        server.maintain(url).ok()
        assert server.flashed() == version and server.marks() == [] and server.identity() == before
        assert server.node in workload.ready() and server.others_are_untouched() and asked() == [server.host]
    assert polled.failed == []


def test_a_node_whose_flash_failed_is_given_back_with_the_firmware_that_it_had(lab, room, site, workload):
    """When Ironic has let go of its service, which switches the server on."""
    server = node_firmware.Flashed(lab, room, workload)
    before, former = server.identity(), server.flashed()
    with server.put_right_afterwards(), node_firmware.published(lab, node_firmware.BROKEN) as (broken,):
        assert_left_drained(server.maintain(broken), server, workload)
        server.forget()
        server.give_back()
        assert server.flashed() == former and server.marks() == [] and server.identity() == before
        assert server.node in workload.ready()


def test_a_server_is_switched_off_for_work_and_comes_back(lab, site, workload):
    machines = workload.hosts("pool-a")
    (name, host), (_other, beside) = sorted(machines.items())
    lab.playbook("maintain", *only(host), extra={"maintain": "power_off", "metal3_confirm": "1"}, seconds=SECONDS).ok()
    eventually(lambda: name not in workload.ready(), 240, "the node is not Ready")
    lab.playbook("maintain", *only(beside), extra={"maintain": "reboot", "metal3_confirm": "1"}).failed(
        f"found {host} is being maintained (maintenance), and {beside} to go, of pool {POOL}",
        "maintain_max_unavailable_per_pool=2")
    lab.playbook("maintain", *only(host), extra={"maintain": "return"}, seconds=SECONDS).ok()
    assert name in workload.ready() and workload.hosts("pool-a") == machines
    assert lab.playbook("maintain", *only(host), extra={"maintain": "return"}, seconds=SECONDS).ok().changed() == 0


def test_a_locked_server_is_not_interrupted_by_any_playbook(lab, site, workload):
    """Refused as a whole, with the reason, before anything is written; what interrupts nothing goes on."""
    name, host = sorted(workload.hosts("pool-a").items())[0]
    lock = {"host_action": "lock", "hosts_action_reason": "RMA 4711", "hosts_action_until": "2999-01-01T00:00:00Z"}
    assert lab.playbook("host_action", *only(host), extra=lock).ok().changed() == 1
    assert lab.playbook("host_action", *only(host), extra=lock).ok().changed() == 0
    asked, versions = resets(lab), lab.versions()
    reason = f'host {host} locked until 2999-01-01T00:00:00Z: "RMA 4711"'
    reboot = {"host_action": "reboot", "hosts_force": [host], "metal3_confirm": "1"}
    for playbook, extra in (
            ("host_action", reboot), ("maintain", {"maintain": "reboot", "metal3_confirm": host}),
            ("unenroll", {"hosts_force": [host], "metal3_confirm": "1"}),
            ("deprovision_hosts", {"hosts_force": [host], "metal3_confirm": "1"})):
        lab.playbook(playbook, *only(host), extra=extra).failed(reason)
    replace = {"machine_action": "replace", "machine_names": [name]}
    lab.playbook("machine_action", extra=dict(site.extra(confirm=1), **replace)).failed(reason)
    site.run(confirm=2, pool={"node_labels": {"example.org/generation": "locked"}}).failed(reason)
    lab.playbook("teardown", extra=dict(site.variables, **small_cluster.teardown(NAME))).failed(reason)
    assert asked() == [] and lab.versions() == versions
    assert lab.playbook("host_action", *only(host), extra={"host_action": "unlock"}).ok().changed() == 1
    site.run(confirm=2, pool={"node_labels": {"example.org/generation": "locked"}}).ok()
    assert name not in workload.machines("pool-a")


def silenced(lab, workload, *commands):
    """Stop the kubelet of a worker, and return names of the Machine and its server when Cluster API has noticed."""
    name, server = sorted(workload.hosts("pool-a").items())[0]
    for command in (*commands, ("systemctl", "stop", "kubelet")):
        workload.inside(server, *command)
    eventually(lambda: not node_ready(lab, name), 240, "the Machine's node is not Ready", interval_seconds=1)
    return name, server


def test_remediation_reboots_a_server_whose_kubelet_died(lab, site, workload):
    """By a run that is killed when the reboot was asked for, and one that goes on."""
    machines, asked = workload.hosts("pool-a"), resets(lab)
    name, server = silenced(lab, workload)
    shown = lab.playbook("remediate", *only(server), "--check").ok()
    assert "Node not Ready" in shown.output
    lab.playbook("remediate", *only(server)).failed("expected 1, the number of hosts that may be rebooted")
    assert asked() == []

    def marked():
        return "cluster.x-k8s.io/skip-remediation" in (
            lab.kube.get(KNOWN["Machine"], NAMESPACE, name)["metadata"].get("annotations") or {})

    began, extra = time.monotonic(), {"metal3_confirm": server}
    running = lab.start("remediate", *only(server), extra=extra)
    eventually(marked, 120, "the Machine is kept from health checks", interval_seconds=0.2)
    running.kill()
    lab.playbook("remediate", *only(server), extra=extra, seconds=SECONDS).ok()
    print(f"{time.monotonic() - began:.0f} s from the request until the node was Ready")
    eventually(lambda: node_ready(lab, name), 60, "the node is Ready")
    assert workload.hosts("pool-a") == machines and asked() == [server] and not marked()
    assert lab.playbook("remediate", *only(server)).ok().changed() == 0


def test_remediation_replaces_a_machine_that_no_reboot_helps(lab, site, workload):
    """Its server is kept from machines until it is marked healthy."""
    asked = resets(lab)
    name, server = silenced(lab, workload, ("systemctl", "disable", "kubelet"))
    extra = {"metal3_confirm": "1", "remediation_step_timeout_seconds": 60}
    lab.playbook("remediate", *only(server), extra=extra, seconds=SECONDS).failed("tried: reboot", "set up_to to more")
    assert asked() == [server] and name in workload.machines("pool-a")
    running = lab.start("remediate", *only(server), extra=dict(extra, remediate="replace"))
    eventually(lambda: name not in workload.machines("pool-a"), SECONDS, "its Machine is deleted", interval_seconds=1)
    running.kill()
    # The host is none of a Machine any more: what comes in its place is the cluster's, which is waited for by that.
    site.run().ok()
    assert server not in workload.hosts("pool-a").values() and len(workload.machines("pool-a")) == 2
    eventually(lambda: len(workload.ready()) == 3, 300, "three nodes are Ready", interval_seconds=1)
    assert "capm3.metal3.io/unhealthy" in lab.host(server)["metadata"]["annotations"]
    lab.wait_for_host(server, lambda found: found["status"]["provisioning"]["state"] == "available", "available")
    assert lab.playbook("remediate", *only(server), extra=dict(extra, remediate="replace")).ok().changed() == 0
    left = f"BareMetalHost {server} matches and is marked unhealthy"
    assert left in " ".join(site.run().ok().output.split())
    lab.playbook("host_action", *only(server), extra={"host_action": "mark_healthy"}).ok()
    assert left not in " ".join(site.run().ok().output.split())


def test_an_autoscaler_waits_for_the_only_free_host_until_that_is_healthy_and_nobody_fights_it(lab, site, workload):
    """It makes the pool larger, for which there is only a host that is marked unhealthy, and then smaller.

    The run that waits for the host's machine is killed. The Machine that goes is the one that it has marked.
    """
    capacity = {"cpu": "2", "memory": "2Gi", "ephemeral_disk": "4Gi"}
    site.run(pool={"replicas": None, "autoscaler": {"min_size": 1, "max_size": 3, "capacity": capacity}}).ok()
    pool = lab.kube.get(KNOWN["MachineDeployment"], NAMESPACE, POOL)
    assert pool["metadata"]["annotations"]["capacity.cluster-autoscaler.kubernetes.io/memory"] == "2Gi"
    before = workload.hosts("pool-a")
    free, = set(lab.servers) - set(workload.hosts().values())
    lab.wait_for_host(free, lambda found: found["status"]["provisioning"]["state"] == "available", "available")
    lab.playbook("host_action", *only(free), extra={"host_action": "mark_unhealthy"}).ok()
    autoscaler.scale(lab, POOL, 3)
    new, = eventually(lambda: set(workload.machines("pool-a")) - set(before), 60, "a machine more")
    lab.playbook("cluster", extra=dict(site.extra(), cluster_wait_timeout_seconds=20)).failed(
        "is not available within 20 s", f"BareMetalHost {free} matches and is marked unhealthy")
    assert "consumerRef" not in lab.host(free)["spec"] and workload.hosts("pool-a") == dict(before, **{new: None})
    lab.playbook("host_action", *only(free), extra={"host_action": "mark_healthy"}).ok()
    running = lab.start("cluster", extra=site.extra())
    eventually(lambda: workload.hosts("pool-a")[new] == free, 120, "the machine takes the host")
    running.kill()
    assert site.run().ok().changed() == 0
    assert len(workload.ready()) == 4 and new in workload.machines("pool-a")
    # The one that would not go by itself: Cluster API takes the newest first.
    oldest = sorted(before)[0]
    with Polled(workload=workload) as polled:
        autoscaler.take(lab, workload, POOL, oldest, 2)
        run = site.run().ok()
        eventually(lambda: len(workload.ready()) == 3, 300, "three nodes", interval_seconds=1)
    assert run.changed() == 0 and polled.failed == []
    assert set(workload.machines("pool-a")) == {*before, new} - {oldest}
    site.run(pool={"replicas": 2, "autoscaler": None}).ok()


def test_a_remediation_made_by_hand_is_named_until_it_is_deleted(lab, site, workload):
    """No health check has made it, so that none deletes it: CAPM3 would reboot the server again after its timeout."""
    resource, machines, asked = KNOWN["Metal3Remediation"], workload.hosts("pool-a"), resets(lab)
    name, server = silenced(lab, workload)
    machine = lab.kube.get(KNOWN["Machine"], NAMESPACE, name)
    lab.kube.create(resource, NAMESPACE, {
        "apiVersion": resource.api_version, "kind": resource.kind,
        "metadata": {"name": "by-hand", "namespace": NAMESPACE, "ownerReferences": [
            {"apiVersion": KNOWN["Machine"].api_version, "kind": "Machine", "name": name,
             "uid": machine["metadata"]["uid"]}]},
        "spec": {"strategy": {"type": "Reboot", "retryLimit": 1, "timeoutSeconds": SECONDS}}})
    named = "Metal3Remediation by-hand is of no health check: delete it once the node is Ready"

    def remediation():
        return lab.kube.get(resource, NAMESPACE, "by-hand")

    try:
        eventually(lambda: (remediation().get("status") or {}).get("phase") == "Running", 120, "CAPM3 works on it",
                   interval_seconds=0.2)
        assert named in " ".join(site.run("--check").ok().output.split())
        lab.playbook("remediate", *only(server), extra={"remediate": "replace", "metal3_confirm": "1"}).failed(named)
        eventually(lambda: remediation()["status"].get("phase") == "Waiting"
                   and not remediation()["metadata"].get("finalizers"), 600, "CAPM3 has rebooted the server")
        eventually(lambda: node_ready(lab, name), 300, "the node is Ready", interval_seconds=1)
        assert named in " ".join(site.run("--check").ok().output.split())
    finally:
        lab.kube.delete(resource, NAMESPACE, "by-hand")
    eventually(lambda: remediation() is None, 60, "it is gone")
    assert site.run().ok().changed() == 0 and workload.hosts("pool-a") == machines and asked() == [server]
    assert "capm3.metal3.io/unhealthy" not in (lab.host(server)["metadata"].get("annotations") or {})


def test_a_machine_whose_kubelet_died_is_rebooted_and_comes_back(lab, room, site, workload):
    site.run(pool=living_cluster.health_check()).ok()
    name = living_cluster.reboots_the_machine_whose_kubelet_dies(lab, room, workload)
    assert "out-of-service" not in json.dumps(workload.nodes()[name]["spec"])


def test_without_a_limit_of_reboots_an_unhealthy_machine_is_replaced(lab, site, workload):
    """Cluster API deletes it and wipes its disk; its set makes another one on a host that is free, the same or not."""
    without_reboots = living_cluster.health_check()["health_check"]
    del without_reboots["reboot_retry_limit"], without_reboots["reboot_timeout_seconds"]
    site.run(pool={"health_check": without_reboots}).ok()
    machines = workload.hosts("pool-a")
    name, server = sorted(machines.items())[0]
    console, began = Console(lab.dir / "machines" / server / "console.log"), time.monotonic()
    workload.inside(server, "systemctl", "stop", "kubelet")
    eventually(lambda: name not in workload.machines("pool-a"), 300, "the Machine is deleted", interval_seconds=1)
    assert not lab.kube.list(KNOWN["Metal3Remediation"], NAMESPACE)[0]
    eventually(lambda: len(workload.machines("pool-a")) == 2 and len(workload.ready()) == 3, SECONDS,
               "three nodes are Ready", interval_seconds=1)
    print(f"{time.monotonic() - began:.0f} s until another machine was Ready")
    assert set(machines) - set(workload.machines("pool-a")) == {name}
    lab.wait_for_host(server, lambda found: (found["spec"].get("consumerRef") or {}).get("name") != name, "given up")
    assert any("execute_clean_step: SUCCEEDED" in line for line in console.lines())
    assert site.run().ok().changed() == 0


def test_a_machine_that_does_not_join_in_time_is_replaced(lab, site, workload):
    """By Cluster API alone, while the run goes on; kubeadm is killed on it, and nothing begins that again."""
    before = workload.machines("pool-a").keys()
    # Of Nodes that are there nothing is to be remediated.
    check = {"node_startup_timeout_seconds": JOINS_WITHIN_SECONDS, "unhealthy_conditions": [
        {"type": "Ready", "status": "False", "timeout_seconds": SECONDS}]}
    site.run(pool={"health_check": check}).ok()
    joins, began = next_to_print(lab, "Running pre-flight checks", SECONDS), time.monotonic()
    running = lab.start("cluster", extra=site.extra(pool={"replicas": 3}))
    workload.inside(joins(), "sh", "-c", "systemctl mask --now kubelet; pkill -KILL kubeadm")
    given_up, = set(workload.machines("pool-a")) - before
    eventually(lambda: given_up not in workload.machines("pool-a"), 2 * JOINS_WITHIN_SECONDS, "its Machine is deleted",
               interval_seconds=1)
    print(f"{time.monotonic() - began:.0f} s until it was given up")
    running.finish(SECONDS).ok()
    print(f"{time.monotonic() - began:.0f} s until another one was Ready")
    assert len(workload.ready()) == 4 and before < workload.machines("pool-a").keys()
    site.run(confirm=1, pool={"replicas": 2, "health_check": None}).ok()


def test_nothing_is_rebooted_when_too_many_are_unhealthy(lab, site, workload):
    """Half of a pool at most: of a rack that lost its switch nothing is rebooted or replaced."""
    site.run(pool=living_cluster.health_check(max_unhealthy="50%")).ok()
    machines, asked = workload.hosts("pool-a"), resets(lab)
    for server in machines.values():
        workload.inside(server, "systemctl", "stop", "kubelet")

    def refused():
        check = lab.kube.get(KNOWN["MachineHealthCheck"], NAMESPACE, POOL)
        return [entry for entry in check["status"]["conditions"] if entry["type"] == "RemediationAllowed"
                and entry["status"] == "False" and entry["reason"] == "TooManyUnhealthy"]

    try:
        eventually(refused, 300, "the health check holds back", interval_seconds=1)
        assert not lab.kube.list(KNOWN["Metal3Remediation"], NAMESPACE)[0]
    finally:
        for server in machines.values():
            workload.inside(server, "systemctl", "start", "kubelet")
    eventually(lambda: len(workload.ready()) == 3, 300, "all are Ready", interval_seconds=1)
    eventually(lambda: not refused(), 120, "the health check looks again", interval_seconds=1)
    assert workload.hosts("pool-a") == machines and asked() == []


def test_a_machine_without_power_and_bmc_is_made_up_for(lab, room, site, workload):
    """CAPM3 reboots it only when its BMC says that it is off, and Cluster API makes no other before it is gone.

    So there is one more for as long as that takes.
    """
    site.run(pool=living_cluster.health_check(max_unhealthy=None)).ok()
    machines = workload.hosts("pool-a")
    # Whose Service loses a pod with it, unless both are on others.
    name, server = sorted(machines.items(), key=lambda item: (item[0] not in workload.nodes_of_echo(), item))[0]
    action = {"machine_action": "replace", "machine_names": [name], "cluster_wait_for": "none"}
    with Polled(workload.address(control_plane=True)) as polled:
        began = time.monotonic()
        try:
            room.set_knobs(server, bmc_unreachable=True)
            room.power(server, "power_off")
            eventually(lambda: name not in workload.ready(), 240, "the node is not Ready", interval_seconds=1)
            print(f"{time.monotonic() - began:.0f} s until the node was not Ready")
            eventually(lambda: len([node for node in workload.nodes_of_echo() if node != name]) == 2, 300,
                       "both pods run elsewhere", interval_seconds=1)
            print(f"{time.monotonic() - began:.0f} s until its pods ran elsewhere")
            eventually(lambda: any(item.get("status", {}).get("phase") == "Running" for item in
                                   lab.kube.list(KNOWN["Metal3Remediation"], NAMESPACE)[0]), 240, "a remediation")
            shown = lab.playbook("cluster", "--check", extra=site.extra()).ok()
            assert "remediation (Reboot), phase Running" in shown.output
            lab.playbook("machine_action", extra=dict(site.extra(), **action)).failed("expected 1, the number of")
            lab.playbook("machine_action", extra=dict(site.extra(confirm=1), **action)).ok()
            lab.playbook("cluster", extra=dict(site.extra(pool={"replicas": 3}), cluster_wait_for="none")).ok()
            eventually(lambda: len(workload.machines("pool-a")) == 2 and all(
                item in workload.ready() for item in workload.machines("pool-a")), 600, "another is Ready",
                interval_seconds=1)
            print(f"{time.monotonic() - began:.0f} s until another was Ready; {len(polled.failed)} of {polled.asked} "
                  "requests failed")
            # The one that is going counts: nothing is taken away by this.
            lab.playbook("cluster", extra=dict(site.extra(pool={"replicas": 2}), cluster_wait_for="none")).ok()
        finally:
            room.clear_knobs(server)
    assert server not in workload.hosts("pool-a").values()
    eventually(lambda: len(workload.nodes()) == 3, 900, "the old Node is gone", interval_seconds=1)
    site.run(pool={"health_check": None}).ok()


def recipient(folder):
    """Return age's public key of a pair that is made here."""
    path = folder / "identity.txt"
    subprocess.run(["age-keygen", "-o", str(path)], check=True, capture_output=True)
    return next(line.rpartition(" ")[2] for line in path.read_text().splitlines() if "public key" in line)


def test_kubernetes_is_upgraded_control_plane_first(lab, site, workload, backed_up, tmp_path):
    following = other_kubernetes.served(lab, tmp_path)
    assert following.kubernetes_version.startswith("v1.36.")
    site.run("--check", cluster_kubernetes_version="v1.37.0").failed(
        'cluster_kubernetes_version: found "v1.37.0", expected at most one minor version after v1.35.4')
    machines = dict(workload.hosts("pool-a"), **workload.hosts("control-plane"))
    changes = {"cluster_kubernetes_version": following.kubernetes_version, "cluster_image": following.image,
               "pool": {"image": None}}
    refused = site.run(**changes).failed("expected 3, the number of machines")
    assert all(name in refused.output for name in machines)
    seen, began = [], time.monotonic()

    def note():
        try:
            versions = dict((name, node["status"]["nodeInfo"]["kubeletVersion"])
                            for name, node in workload.nodes().items())
        except KubeError:
            return running.process.poll() is not None
        seen.append((any(version == following.kubernetes_version for name, version in versions.items()
                         if "control-plane" in name),
                     any(version == following.kubernetes_version for name, version in versions.items()
                         if "pool-a" in name)))
        return running.process.poll() is not None

    made = len(backups(backed_up))
    with Polled(workload=workload) as polled:
        running = lab.start("upgrade", extra=dict(site.extra(confirm=3), **backed_up))
        eventually(note, SECONDS, "the end of the upgrade", interval_seconds=1)
        running.finish(SECONDS).ok()
    assert len(backups(backed_up)) == made + 1
    print(f"{len(polled.failed)} of {polled.asked} requests failed: {polled.failed}")
    assert polled.asked > 100 and polled.failed == []
    print(f"upgrade of 3 machines: {time.monotonic() - began:.0f} s\n{running.output}")
    assert {node["status"]["nodeInfo"]["kubeletVersion"] for node in workload.nodes().values()} == {
        following.kubernetes_version}
    assert len(workload.ready()) == 3
    assert (False, True) not in seen and (True, False) in seen, "workers were upgraded before the control plane"
    assert workload.kubernetes_versions() == {following.kubernetes_version}
    assert site.run().ok().changed() == 0
