# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said before machines are replaced, and in which order they are."""
from __future__ import annotations

import pytest
from fakes.cluster_wait import Waits
from fakes.clusters import OTHER_IMAGE, Plane, run

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.reader import read
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.lifecycle import run as cluster_run
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.rollout.drain_questions import drain_warnings
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.rollout.rollout_gates import budget_warnings
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import WaitFailedError
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import goals
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.snapshot import Snapshot
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts.formats import moment
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

WORKERS = {"one": {"replicas": 3}, "two": {"replicas": 1}}


@pytest.fixture
def plane(monkeypatch):
    """A cluster of one control plane machine and four workers, all Ready; its own API server is not asked."""
    monkeypatch.setattr(cluster_run, "workload_client", lambda *dummy: None)
    found = Plane()
    run(found)
    for owner, number in (("c1-control-plane", 1), ("c1-one", 3), ("c1-two", 1)):
        found.add_members(owner, number)
        for position in range(number):
            found.make_ready(f"{owner}-{position}")
    return found


def description(**options):
    return read(dict({"name": "c1", "workers": {"one": {"replicas": 1}}}, **options))[0]


def test_a_rollout_with_surge_wants_the_number_too(plane):
    with pytest.raises(RefusedError) as refused:
        run(plane, workers=dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE}))
    assert "expected 3, the number of machines that this deletes" in str(refused.value)
    assert "c1-one replaces its 3 machines, one after another, each when another has taken its place" in \
        str(refused.value)
    result = run(plane, workers=dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE}), confirm="3")
    assert [(loss["cause"], loss["count"]) for loss in result["losses"]] == [("rolled", 3)]


def test_machines_that_never_were_nodes_do_not_count(plane):
    for position in range(3):
        del plane.objects["Machine", f"c1-one-{position}"]["status"]
    result = run(plane, workers=dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE}))
    assert result["losses"] == [] and result["changes"][0]["rolls"]


def made_of_the_present_templates(plane, *names):
    """Give machines what shows of which templates they are made."""
    template = plane.spec("MachineDeployment", "c1-one")["template"]["spec"]
    for name in names:
        machine = plane.objects["Machine", name]
        machine["spec"].update(version=template["version"], bootstrap={
            "dataSecretName": "user-data", "configRef": {"kind": "KubeadmConfig", "name": name}})
        config = plane.add("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig", name, spec={})
        for obj, reference in ((plane.objects["Metal3Machine", name], template["infrastructureRef"]),
                               (config, template["bootstrap"]["configRef"])):
            obj["metadata"]["annotations"] = {"cluster.x-k8s.io/cloned-from-name": reference["name"]}


def test_going_back_counts_only_what_was_replaced(plane):
    """The machines that are still as they were stay."""
    made_of_the_present_templates(plane, "c1-one-0", "c1-one-1")
    changed = dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE})
    run(plane, workers=changed, confirm="3")
    made_of_the_present_templates(plane, "c1-one-2")
    with pytest.raises(RefusedError, match=r"its 1 machine, one after another, .*: c1-one-2 on host"):
        run(plane, workers=WORKERS)
    del plane.objects["Machine", "c1-one-2"]["status"]
    back = run(plane, workers=WORKERS)
    assert back["losses"] == [] and [change["machines"] for change in back["changes"]] == [["c1-one-2"]]


def test_a_node_that_is_not_ready_is_named(plane):
    plane.objects["Machine", "c1-two-0"]["status"]["conditions"] = [
        {"type": "Ready", "status": "False", "message": "kubelet is silent"}]
    changed = dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE})
    with pytest.raises(RefusedError, match=r"attention: Machine c1-two-0 on host host-of-c1-two-0 is not ready \("
                                           "kubelet is silent.*c1-one would take further machines away"):
        run(plane, workers=changed)
    plane.objects["Machine", "c1-control-plane-0"]["status"]["conditions"] = [
        {"type": "Ready", "status": "False", "message": "etcd"}]
    warnings = run(plane, check_mode=True, control_plane={"image": OTHER_IMAGE}, workers=WORKERS)["warnings"]
    assert any("KubeadmControlPlane c1-control-plane replaces none while one" in line for line in warnings)
    assert not any("is not ready" in line for line in run(plane, check_mode=True, workers=WORKERS)["warnings"])


@pytest.mark.parametrize("workers", [
    dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE}), dict(WORKERS, one={"replicas": 2}),
    {"one": {"replicas": 3}}],
    ids=["replaced", "fewer", "no pool"])
@pytest.mark.parametrize("paused", [True, False])
def test_a_paused_cluster_is_named_where_machines_would_go(plane, workers, paused):
    plane.objects["Cluster", "c1"]["spec"]["paused"] = paused
    with pytest.raises(RefusedError) as refused:
        run(plane, workers=workers)
    assert ("attention: Cluster c1 is paused (spec.paused): Cluster API replaces and deletes none" in str(
        refused.value)) is paused


def test_a_health_check_that_is_shorter_than_a_boot_is_named(plane):
    machine = plane.objects["Machine", "c1-two-0"]
    machine["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    machine["status"].update(phase="Running", lastUpdated="2026-01-01T00:15:00Z")
    for limit, is_named in ((600, True), (901, False), (0, False)):
        changed = dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE, "health_check": {
            "node_startup_timeout_seconds": limit}})
        warnings = run(plane, check_mode=True, workers=changed)["warnings"]
        assert any("Machine c1-two-0 took 15 min to become a node" in line and "set it to twice that, 1800" in line
                   for line in warnings) == is_named, limit


def test_how_long_a_machine_took_is_unknown_when_it_was_created_again_by_a_move(plane):
    machine = plane.objects["Machine", "c1-two-0"]
    machine["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    machine["status"].update(phase="Running", lastUpdated="2026-01-01T00:15:00Z")
    plane.objects["BareMetalHost", "host-of-c1-two-0"]["status"] = {
        "operationHistory": {"provision": {"end": "2025-12-31T00:00:00Z"}}}
    changed = dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE, "health_check": {
        "node_startup_timeout_seconds": 600}})
    assert not any("to become a node" in line for line in run(plane, check_mode=True, workers=changed)["warnings"])


def figures_of(plane, **changes):
    """Return what a refused run says of a pool's replacement besides its machines."""
    with pytest.raises(RefusedError) as refused:
        run(plane, **changes)
    line, = [line for line in str(refused.value).splitlines() if line.strip().startswith("c1-one: ")]
    return line.strip()


def test_a_refusal_names_how_long_it_took_what_is_free_and_what_is_wiped(plane):
    changed = {"workers": dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE})}
    # Nobody knows how long these took.
    nothing = figures_of(plane, **changed)
    assert nothing == "c1-one: 0 hosts that match are free; all disks of 3 hosts are wiped"
    for position, minutes in enumerate((12, 15, 12)):
        machine = plane.objects["Machine", f"c1-one-{position}"]
        machine["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
        machine["status"].update(phase="Running", lastUpdated=f"2026-01-01T00:{minutes}:00Z")
    plane.add("metal3.io/v1alpha1", "BareMetalHost", "spare", spec={})
    plane.objects["BareMetalHost", "spare"]["status"] = {"provisioning": {"state": "available"}}
    plane.objects["BareMetalHost", "host-of-c1-one-1"]["spec"]["automatedCleaningMode"] = "disabled"
    assert figures_of(plane, **changed) == (
        "c1-one: from its creation to its Node a machine took 12 min to 15 min; 1 host that matches is free; all "
        "disks of 2 hosts are wiped; not cleaned are the disks of host-of-c1-one-1 (automatedCleaningMode disabled), "
        "where an image is only written over what is there")
    # Fewer machines need no host; of which one the disks are wiped, Cluster API chooses, unless all go.
    with pytest.raises(RefusedError) as refused:
        run(plane, workers=dict(WORKERS, one={"replicas": 2}))
    assert "wiped" not in str(refused.value) and "are free" not in str(refused.value)
    assert figures_of(plane, workers=dict(WORKERS, one={"replicas": 0})).startswith("c1-one: all disks of 2 ")


@pytest.mark.parametrize(("mark", "state", "labels", "is_named"), [
    ({"capm3.metal3.io/unhealthy": "fan"}, "available", {}, " (fan)"),
    ({"capi.metal3.io/unhealthy": ""}, "ready", {}, ""),
    ({"capm3.metal3.io/unhealthy": "metal3.baremetal/host-move"}, "available", {}, None),
    ({"capm3.metal3.io/unhealthy": ""}, "provisioned", {}, None), ({}, "available", {}, None),
    ({"capm3.metal3.io/unhealthy": ""}, "available", {"rack": "r9"}, None)])
def test_a_mark_that_was_left_behind_is_named(plane, mark, state, labels, is_named):
    """Of a free host that a machine of this cluster could have; of others it is none of its business."""
    plane.add("metal3.io/v1alpha1", "BareMetalHost", "spare", spec={})
    spare = plane.objects["BareMetalHost", "spare"]
    spare["status"] = {"provisioning": {"state": state}}
    spare["metadata"].update(annotations=mark, labels=labels or {"rack": "r1"})
    selected = {"host_selector": {"rack": "r1"}}
    warnings = [line for line in run(
        plane, check_mode=True, control_plane=dict(selected, replicas=1), workers={
            "one": dict(selected, replicas=3), "two": dict(selected, replicas=1)})["warnings"]
        if "marked unhealthy" in line]
    assert len(warnings) == (is_named is not None)
    assert all(f"BareMetalHost spare matches and is marked unhealthy{is_named}, so that" in line for line in warnings)


@pytest.mark.parametrize(("state", "consumer", "is_named"), [
    ("available", None, True), ("provisioned", {"kind": "Metal3Machine", "name": "m"}, False)])
def test_a_free_host_that_is_being_maintained_is_named(plane, state, consumer, is_named):
    """Cluster API knows nothing of this collection's mark."""
    plane.add("metal3.io/v1alpha1", "BareMetalHost", "spare", spec={"consumerRef": consumer} if consumer else {})
    spare = plane.objects["BareMetalHost", "spare"]
    spare["status"] = {"provisioning": {"state": state}}
    spare["metadata"]["annotations"] = {"metal3.baremetal/maintenance": "fans"}
    warnings = [line for line in run(plane, check_mode=True)["warnings"] if "being maintained" in line]
    assert len(warnings) == is_named
    assert all("BareMetalHost spare matches and is being maintained (fans), which" in line for line in warnings)


@pytest.mark.parametrize("changes, named", [
    ({}, ["c1-control-plane", "c1-one", "c1-two"]), ({"image": OTHER_IMAGE}, []),
    ({"pre_commands": ["install v1.35.5"]}, []),
    ({"workers": dict(WORKERS, two={"replicas": 1, "image": OTHER_IMAGE})}, ["c1-control-plane", "c1-one"]),
    ({"kubernetes_version": "v1.35.4", "image": OTHER_IMAGE}, [])])
def test_a_version_without_an_image_of_it_is_named(plane, changes, named):
    """The programs of a node are those of its image: all machines would be replaced by others of the version before."""
    with pytest.raises(RefusedError) as refused:
        run(plane, **dict({"kubernetes_version": "v1.35.5", "workers": WORKERS}, **changes))
    lines = [line.strip() for line in str(refused.value).splitlines() if "keeps its image" in line]
    assert [line.partition(": ")[2].partition(" keeps")[0] for line in lines] == named
    assert all("kubernetes_version is v1.35.5" in line and line.startswith("attention: ") for line in lines)


@pytest.mark.parametrize("options, labels, words", [
    ({"failure_domains": [{"name": "r1"}]}, {}, ["control_plane: failure domain r1: found 0 hosts for it"]),
    ({"failure_domains": [{"name": "r1"}]}, {"host-of-c1-control-plane-0": "r1"}, []),
    ({"failure_domains": [{"name": "r1", "control_plane": False}]}, {}, []),
    ({"failure_domains": [{"name": "r1"}]}, {"others": "r1"}, ["failure domain r1: found 0 hosts"]),
    ({"workers": dict(WORKERS, one={"replicas": 3, "failure_domain": "r2"})},
     {"host-of-c1-one-0": "r2", "spare": "r2", "host-of-c1-two-0": "r1"},
     ["workers.one: failure domain r2: found 2 hosts for it with the label "
      "infrastructure.cluster.x-k8s.io/failure-domain=r2, expected 3: CAPM3 puts machines of that domain on any"]),
    ({"workers": dict(WORKERS, one={"replicas": 0, "failure_domain": "r2"})}, {}, []),
    ({"workers": dict(WORKERS, one={"replicas": 3, "failure_domain": "r2", "host_selector": {"a": "b"}})},
     {"spare": "r2", "host-of-c1-one-0": "r2", "host-of-c1-one-1": "r2"}, ["workers.one: failure domain r2: found 0"])])
def test_failure_domains_without_hosts_are_named(plane, options, labels, words):
    """CAPM3 takes other hosts then, and nothing shows it."""
    for name in ("spare", "others"):
        plane.add("metal3.io/v1alpha1", "BareMetalHost", name, spec={})
    plane.objects["BareMetalHost", "others"]["spec"]["consumerRef"] = {"kind": "Metal3Machine", "name": "c2-one-0"}
    for name in plane.names("Metal3Machine"):
        plane.objects["Metal3Machine", name]["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "c1"}
    for name, domain in labels.items():
        plane.objects["BareMetalHost", name]["metadata"]["labels"] = {
            "infrastructure.cluster.x-k8s.io/failure-domain": domain}
    given = dict({"workers": WORKERS}, **options)
    lines = [line for line in run(plane, check_mode=True, **given)["warnings"] if "failure domain" in line]
    assert [text in line for line, text in zip(lines, words)] == [True] * len(words) == [True] * len(lines)


def with_providers(plane):
    """Let the plane say that it serves what a cluster is made of."""
    for name in ("clusters.cluster.x-k8s.io", "metal3clusters.infrastructure.cluster.x-k8s.io"):
        plane.add("apiextensions.k8s.io/v1", "CustomResourceDefinition", name,
                  spec={"versions": [{"name": "v1beta2", "served": True}]})


@pytest.mark.parametrize("strategy", [{"max_surge": 0, "max_unavailable": 1}, {}])
def test_a_rollout_whose_machines_no_host_could_have_is_refused(plane, strategy):
    """A selector that matches none of its hosts: without surge the first machine would go, and none come again."""
    with_providers(plane)
    for name in plane.names("BareMetalHost"):
        host = plane.objects["BareMetalHost", name]
        host["metadata"]["labels"] = {"rack": "a"}
        host["status"] = {"provisioning": {"state": "provisioned"}}
    moved = {"workers": dict(WORKERS, one={"replicas": 3, "host_selector": {"rack": "b"}, **strategy}), "confirm": "3"}
    with pytest.raises(RefusedError) as refused:
        run(plane, check_hosts=True, **moved)
    assert "workers.one.host_selector: found none of 5 hosts with these labels, expected 3 available" in \
        str(refused.value)
    # Those that are free and that match are too few, one that is on its way included.
    for name, state in (("b1", "available"), ("b2", "inspecting")):
        found = plane.add("metal3.io/v1alpha1", "BareMetalHost", name, spec={})
        found["metadata"]["labels"], found["status"] = {"rack": "b"}, {"provisioning": {"state": state}}
    with pytest.raises(RefusedError) as refused:
        run(plane, check_hosts=True, **moved)
    assert "found 2 free of 2 hosts that match, expected 3 available" in str(refused.value)
    # A host that was labelled while a machine is on it comes back.
    plane.objects["BareMetalHost", "host-of-c1-one-1"]["metadata"]["labels"] = {"rack": "b"}
    assert run(plane, check_hosts=True, **moved)["losses"][0]["count"] == 3


def test_hosts_of_machines_that_go_are_enough_for_those_in_their_place(plane):
    """Also without a host to spare, and where nothing is checked but the description."""
    with_providers(plane)
    for name in plane.names("BareMetalHost"):
        plane.objects["BareMetalHost", name]["status"] = {"provisioning": {"state": "provisioned"}}
    changed = dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE})
    assert run(plane, check_hosts=True, workers=changed, confirm="3")["losses"][0]["count"] == 3
    unchecked = dict(WORKERS, one={"replicas": 3, "host_selector": {"rack": "b"}})
    assert run(plane, workers=unchecked, confirm="3")["losses"][0]["count"] == 3


def test_addresses_that_are_free_are_counted(plane):
    ipv4 = {"ranges": [{"start": "198.18.0.20", "end": "198.18.0.29"}], "prefix": 24, "gateway": "198.18.0.1"}
    networks = {"a": {"interface": "eth0", "ipv4": ipv4}}
    run(plane, networks=networks, workers=WORKERS, confirm="5")
    line = figures_of(plane, networks=networks, workers=dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE}))
    assert "; pool c1-a has 10 free addresses; all disks" in line


@pytest.mark.parametrize("ipv4, workers, words", [
    ({"gateway": "198.18.0.2"}, WORKERS, "another gateway counts for new machines: c1-one-0, c1-two-0 keep that of "
     "before until other machines take their place (rollout_after, or playbook machine_action, replace)"),
    ({"gateway": "198.18.0.2"}, dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE}), "machines: c1-two-0 keeps"),
    ({"prefix": 16}, WORKERS, "another prefix counts"),
    ({"ranges": [{"start": "198.18.0.20", "end": "198.18.0.29", "gateway": "198.18.0.2"}], "prefix": 16}, WORKERS,
     "another prefix and gateway counts"),
    ({"ranges": [{"start": "198.18.0.20", "end": "198.18.0.99"}]}, WORKERS, None), ({}, WORKERS, None)])
def test_what_addresses_keep_of_a_pool_that_changes_is_said(plane, ipv4, workers, words):
    """IPAM writes it into an address once, and nothing of a pool replaces a machine."""
    settings = {"ranges": [{"start": "198.18.0.20", "end": "198.18.0.29"}], "prefix": 24, "gateway": "198.18.0.1"}
    run(plane, networks={"a": {"interface": "eth0", "ipv4": settings}}, workers=WORKERS, confirm="5")
    for number, name in enumerate(("c1-one-0", "c1-two-0", "by-hand")):
        owner = [] if name == "by-hand" else [{"kind": "Metal3Data", "name": f"data-of-{name}"}]
        pool, claim = {"name": "c1-a"}, f"{name}-c1-a"
        item = plane.add("ipam.metal3.io/v1alpha1", "IPClaim", claim, spec={"pool": pool})
        item["metadata"]["ownerReferences"] = owner
        plane.add("ipam.metal3.io/v1alpha1", "IPAddress", claim, spec={
            "address": f"198.18.0.2{number}", "pool": pool, "claim": {"name": claim}})
        if owner:
            plane.objects["Metal3Machine", name]["status"] = {"renderedData": {"name": owner[0]["name"]}}
    changed = {"a": {"interface": "eth0", "ipv4": dict(settings, **ipv4)}}
    found = [line for line in run(plane, check_mode=True, networks=changed, workers=workers)["warnings"]
             if line.startswith("IPPool c1-a: ")]
    assert [words in line for line in found] == ([True] if words else [])


def goal_of_pool(plane, now=0):
    objects = {}
    for (kind, _name), item in plane.objects.items():
        objects.setdefault(kind, []).append(item)
    plane.objects["MachineDeployment", "c1-one"]["status"] = dict.fromkeys(
        ("upToDateReplicas", "readyReplicas", "availableReplicas"), 3)
    return goals.missing_of(Snapshot(objects, "c1"), "MachineDeployment", "c1-one", "available", now)


def test_a_rollout_that_is_noted_but_not_begun_is_waited_for(plane):
    """The numbers are those of before until Cluster API has looked at the Machines."""
    made_of_the_present_templates(plane, *(f"c1-one-{position}" for position in range(3)))
    assert goal_of_pool(plane) is None
    run(plane, workers=dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE}), confirm="3")
    assert goal_of_pool(plane) == "MachineDeployment c1-one: Machine c1-one-0 is to be replaced yet"
    made_of_the_present_templates(plane, *(f"c1-one-{position}" for position in range(3)))
    assert goal_of_pool(plane) is None


def test_machines_older_than_a_time_are_waited_for_once_it_has_come(plane):
    for position in range(3):
        plane.objects["Machine", f"c1-one-{position}"]["metadata"]["creationTimestamp"] = "2026-11-23T19:00:00Z"
    later = "2026-11-23T20:00:00Z"
    run(plane, workers=dict(WORKERS, one={"replicas": 3, "rollout_after": later}), confirm="3")
    assert goal_of_pool(plane, moment(later) - 1) is None
    assert "is to be replaced yet" in goal_of_pool(plane, moment(later))


def pod(name, labels, namespace="default", **metadata):
    return {"metadata": dict({"name": name, "namespace": namespace, "labels": labels}, **metadata)}


def budget(selector, allowed=0):
    return {"metadata": {"name": "b", "namespace": "default"}, "spec": {"selector": selector},
            "status": {"disruptionsAllowed": allowed}}


@pytest.mark.parametrize("selector, holds", [
    ({"matchLabels": {"app": "a"}}, True), ({"matchLabels": {"app": "b"}}, False), ({}, True), (None, False),
    ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "c"]}]}, True),
    ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}, False),
    ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
    ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False)],
    ids=["label", "other label", "all", "none", "in", "not in", "exists", "does not exist"])
def test_a_budget_holds_what_its_selector_says(selector, holds):
    found = budget_warnings(description(), ["c1-one"], [budget(selector)], [
        pod("p", {"app": "a"}), pod("elsewhere", {"app": "a"}, "other"),
        pod("gone", {"app": "a"}, deletionTimestamp="x")])
    assert bool(found) == holds
    if holds:
        assert "PodDisruptionBudget default/b allows no disruption and holds p: the drain waits for ever" in found[0]


def test_a_budget_that_allows_one_is_not_named():
    assert budget_warnings(description(), ["c1-one"], [budget({}, 1)], [pod("p", {})]) == []
    limited = description(node_drain_timeout_seconds=60)
    assert "waits for 1 min and then goes on without it" in budget_warnings(
        limited, ["c1-one"], [budget({})], [pod("p", {})])[0]
    assert "holds p: the drain waits for it; give" in budget_warnings(
        limited, ["c1-gone"], [budget({})], [pod("p", {})])[0], "a pool that is not described any more"


def test_a_cluster_that_does_not_answer_is_reported():
    def silent():
        raise KubeError("no answer")

    assert "is not checked: no answer" in drain_warnings(silent, description(), {"c1-one": ["n"]})[0]
    assert drain_warnings(silent, description(), {"c1-one": []}) == []
    assert drain_warnings(lambda: None, description(), {"c1-one": ["n"]}) == []


def upgraded(plane, monkeypatch, fails=None):
    plane.objects["Cluster", "c1"]["status"]["initialization"]["controlPlaneInitialized"] = True

    def version(pool):
        return plane.spec("MachineDeployment", pool)["template"]["spec"]["version"]

    waits = Waits(fails, lambda *asked: (*asked, version("c1-one"), version("c1-two")))
    monkeypatch.setattr(cluster_run, "ClusterWait", waits)
    return waits, lambda: run(plane, kubernetes_version="v1.36.1", workers=WORKERS, wait_for="available", confirm="5")


def test_workers_follow_the_control_plane_one_pool_after_another(plane, monkeypatch):
    waits, go = upgraded(plane, monkeypatch)
    go()
    before, after = "v1.35.4", "v1.36.1"
    assert waits.asked == [
        ("c1-control-plane", "available", before, before), ("c1-one", "available", after, before),
        ("available", "available", after, after)]


@pytest.mark.parametrize("fails, named", [
    ("c1-control-plane", "c1-one, MachineDeployment c1-two"), ("c1-one", "c1-two")])
def test_what_was_not_begun_stays_when_machines_do_not_come(plane, monkeypatch, fails, named):
    waits, go = upgraded(plane, monkeypatch, fails)
    with pytest.raises(WaitFailedError, match=f"not begun: MachineDeployment {named}"):
        go()
    assert plane.spec("MachineDeployment", "c1-two")["template"]["spec"]["version"] == "v1.35.4"
    assert waits.asked[-1][0] == fails


def test_a_time_alone_replaces_what_is_older(plane):
    """Leaving it out, or keeping it, replaces nothing."""
    later = dict(WORKERS, one={"replicas": 3, "rollout_after": "2026-11-23T20:00:00Z"})
    with pytest.raises(RefusedError, match="expected 3, the number of machines"):
        run(plane, workers=later)
    changes = run(plane, workers=later, confirm="3")["changes"]
    assert [(change["owner"], change["reasons"]) for change in changes] == [("c1-one", ["workers.one.rollout_after"])]
    assert not run(plane, workers=later)["changed"]
    assert run(plane, workers=WORKERS)["losses"] == []
    renewed = run(plane, check_mode=True, control_plane={"certificate_renewal_days": 30}, workers=WORKERS)
    assert renewed["changes"][0]["reasons"] == ["control_plane.certificate_renewal_days"]


@pytest.mark.parametrize("created, replaced", [
    ("2026-11-23T19:59:59Z", 1), ("2026-11-23T20:00:00Z", 0), ("2026-11-24T08:00:00Z", 0), (None, 1)])
def test_a_time_replaces_no_control_plane_machine_that_is_newer(plane, created, replaced):
    """As after rotate_certificates, which writes a later time than the inventory has."""
    plane.objects["Machine", "c1-control-plane-0"]["metadata"]["creationTimestamp"] = created
    result = run(plane, check_mode=True, workers=WORKERS, control_plane={"rollout_after": "2026-11-23T20:00:00Z"})
    assert len(result["losses"]) == replaced and result["changes"][0]["rolls"] is bool(replaced)


@pytest.mark.parametrize("options, text", [
    ({"workers": {"one": {"rollout_after": "tomorrow"}}}, 'one.rollout_after: found "tomorrow", expected a time'),
    ({"workers": {"one": {"rollout_after": "2026-13-40T00:00:00Z"}}}, "rollout_after: found"),
    ({"workers": {"one": {"certificate_renewal_days": 30}}}, "certificate_renewal_days: found 30, expected nothing"),
    ({"control_plane": {"certificate_renewal_days": 3}}, "certificate_renewal_days: found 3, expected 7 or more"),
], ids=["words", "no such day", "worker", "too few"])
def test_times_that_are_none_are_refused(plane, options, text):
    with pytest.raises(RefusedError, match=text):
        run(plane, **options)
