# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions on Machines: what is refused, what is written, and what is not written a second time."""
from __future__ import annotations

import pytest
from fakes.cluster_wait import Waits
from fakes.clusters import OTHER_IMAGE, Plane, run, service_of
from fakes.kubernetes import Server
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.machines import service as machines_service
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.machines.service import MachineActionService
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import WaitFailedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import lock as host_lock
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

MARK = "cluster.x-k8s.io/delete-machine"


@pytest.fixture
def plane():
    """A cluster of three control plane machines, all Ready, and three workers."""
    found = Plane()
    run(found, control_plane={"replicas": 3})
    found.add_members("c1-control-plane", 3)
    found.add_members("c1-one", 3)
    for number in range(3):
        found.make_ready(f"c1-control-plane-{number}")
    return found


class Workload(Server):
    """The cluster's own API server: a pod on each worker, held by a budget."""

    def __init__(self):
        super().__init__()
        for number in range(3):
            self.objects["Pod", f"web-{number}"] = {
                "kind": "Pod", "metadata": {"name": f"web-{number}", "namespace": "default", "labels": {"app": "web"}},
                "spec": {"nodeName": f"c1-one-{number}"}}
        self.objects["PodDisruptionBudget", "web"] = {
            "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}}, "status": {"disruptionsAllowed": 0}}

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        items, version = super().list(resource, namespace, label_selector)
        name = (field_selector or "").partition("spec.nodeName=")[2]
        return [item for item in items if not name or item["spec"].get("nodeName") == name], version


PARAMS = {"namespace": "metal3", "cluster_name": "c1", "action": "replace", "confirm": None, "wait": False,
          "wait_timeout_seconds": 1, "node_startup_timeout_seconds": 0}


def act(plane, action, *machines, check_mode=False, confirm=None, workload=lambda *_name: None, progress=None):
    params = dict(PARAMS, machines=list(machines), action=action, confirm=confirm)
    return MachineActionService(plane, params, check_mode, progress or Progress(), workload=workload).run()


def annotations(plane, name):
    return plane.objects["Machine", name]["metadata"].get("annotations") or {}


def test_a_mark_is_set_and_taken_away_once(plane):
    assert act(plane, "mark_for_scale_in", "c1-one-1", check_mode=True)["changed"]
    assert not annotations(plane, "c1-one-1")
    result = act(plane, "mark_for_scale_in", "c1-one-1", "c1-one-2")
    assert result["machines"][0] == {
        "name": "c1-one-1", "action": "mark_for_scale_in", "changed": True, "host": "host-of-c1-one-1"}
    assert result["diff"][0]["after"] == {"metadata": {"annotations": {MARK: "true"}}}
    assert MARK in annotations(plane, "c1-one-1") and MARK in annotations(plane, "c1-one-2")
    writes = len(plane.writes())
    assert not act(plane, "mark_for_scale_in", "c1-one-1")["changed"] and len(plane.writes()) == writes
    assert act(plane, "unmark_for_scale_in", "c1-one-1")["diff"][0]["before"] == {
        "metadata": {"annotations": {MARK: "true"}}}
    assert MARK not in annotations(plane, "c1-one-1")


def test_fewer_replicas_take_those_that_are_marked(plane):
    act(plane, "mark_for_scale_in", "c1-one-1")
    for replicas, texts in ((2, "(?m)loses 1 machine: c1-one-1 on host host-of-c1-one-1$"),
                            (1, "loses 2 machines out of")):
        with pytest.raises(RefusedError, match=texts):
            run(plane, control_plane={"replicas": 3}, workers={"one": {"replicas": replicas}, "two": {"replicas": 1}})


def test_what_is_there_only_is_acted_on(plane):
    plane.objects["Machine", "c1-one-0"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    with pytest.raises(RefusedError) as refused:
        act(plane, "skip_remediation", "c1-one-0", "c1-one-1", "c1-one-1", "other")
    text = str(refused.value)
    assert "found c1-one-0, which is being deleted" in text and "found other, expected one of c1-control" in text
    assert "found c1-one-1 twice" in text
    with pytest.raises(RefusedError, match="no such Cluster"):
        MachineActionService(plane, {"namespace": "metal3", "cluster_name": "c9", "machines": ["a"], "confirm": None,
                                     "action": "skip_remediation"}, False, Progress()).run()


def test_machines_are_replaced_when_their_number_is_repeated(plane):
    for confirm in (None, "1", "c1-one-0", "c1-one-0,c1-one-2"):
        with pytest.raises(RefusedError, match=r"expected 2, the number of machines .*c1-one-1 on host host-of"):
            act(plane, "replace", "c1-one-0", "c1-one-1", confirm=confirm)
    [warning] = act(plane, "replace", "c1-one-0", "c1-one-1", check_mode=True)["warnings"]
    assert "refused: " in warning and "c1-one-0 on host " in warning
    assert "c1-one-0" in plane.names("Machine")
    act(plane, "replace", "c1-one-0", "c1-one-1", confirm="2")
    assert [name for name in plane.names("Machine") if "one" in name] == ["c1-one-2"]


def test_a_replacement_that_was_killed_is_taken_up(plane):
    """Without another confirmation, and without a write: what takes the machine's place is waited for."""
    going = plane.objects["Machine", "c1-one-0"]["metadata"]
    going["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    writes = len(plane.writes())
    result = act(plane, "replace", "c1-one-0")
    assert not result["changed"] and result["diff"] == [] and len(plane.writes()) == writes
    owner = plane.objects["MachineDeployment", "c1-one"]
    owner["status"] = dict(owner["spec"], upToDateReplicas=2, readyReplicas=2, availableReplicas=2)
    with pytest.raises(WaitFailedError, match="MachineDeployment c1-one"):
        MachineActionService(plane, dict(PARAMS, machines=["c1-one-0"], wait=True), False, Progress(),
                             sleep=lambda _seconds: None).run()
    # Of the others the number is repeated, and those alone are named.
    with pytest.raises(RefusedError, match=r"expected 1, the number of machines .*\(c1-one-1 on host") as refused:
        act(plane, "replace", "c1-one-0", "c1-one-1", confirm="2")
    assert "c1-one-0 on host" not in str(refused.value)
    assert [item["changed"] for item in act(plane, "replace", "c1-one-0", "c1-one-1", confirm="1")["machines"]] == [
        False, True]
    with pytest.raises(RefusedError, match="one that an earlier run has replaced is gone; the playbook cluster waits"):
        act(plane, "replace", "c1-one-1", confirm="1")


def outlook(plane, *machines, workload=lambda *_name: None):
    """Return what a refused replacement says besides the number."""
    with pytest.raises(RefusedError) as refused:
        act(plane, "replace", *machines, workload=workload)
    return [line.strip() for line in str(refused.value).splitlines() if line.startswith("    ")]


def test_a_replacement_says_what_it_costs_and_what_stands_against_it(plane):
    for number in (0, 1):
        plane.make_ready(f"c1-one-{number}")
    plane.objects["BareMetalHost", "host-of-c1-one-1"]["spec"]["automatedCleaningMode"] = "disabled"
    machine = plane.objects["Machine", "c1-one-0"]
    machine["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    machine["status"].update(phase="Running", lastUpdated="2026-01-01T00:12:00Z")
    machine["spec"]["deletion"] = {"nodeDrainTimeoutSeconds": 600}
    plane.make_ready("c1-one-2")
    plane.objects["Machine", "c1-one-2"]["status"]["conditions"] = [
        {"type": "Ready", "status": "False", "message": "kubelet is silent"}]
    workload = Workload()
    figure = ("c1-one: from its creation to its Node a machine took 12 min; 0 hosts that match are free; all disks of "
              "1 host are wiped")
    assert outlook(plane, "c1-one-0", workload=lambda *_name: workload) == [
        figure, "attention: c1-one: 0 hosts that match are free for 1 new machine: the rest waits until "
        "host-of-c1-one-0 is deprovisioned and available; free or enrol a host first to be without it for less time",
        "attention: Machine c1-one-2 on host host-of-c1-one-2 is not ready (kubelet is silent): others go beside it; "
        "bring it back first, or delete the Machine for its owner to make another",
        "attention: PodDisruptionBudget default/web allows no disruption and holds web-0: the drain waits for 10 min "
        "and then goes on without it; give it more replicas, or a smaller minAvailable"]
    both = outlook(plane, "c1-one-0", "c1-one-1", workload=lambda *_name: workload)
    assert "not cleaned are the disks of host-of-c1-one-1" in both[0]
    assert "holds web-0, web-1: the drain waits for ever" in both[3]
    # Confirmed, it is said all the same, before anything is written.
    reports = Reports()
    result = act(plane, "replace", "c1-one-0", confirm="1", check_mode=True, workload=lambda *_name: workload,
                 progress=reports)
    assert figure in reports.lines and len(result["warnings"]) == 3


def test_free_hosts_are_those_that_the_machine_s_selector_matches(plane):
    for name, labels, state in (("a", {"use": "web"}, "available"), ("b", {}, "available"),
                                ("c", {"use": "web"}, "inspecting"), ("d", {"use": "web"}, "provisioned")):
        plane.add("metal3.io/v1alpha1", "BareMetalHost", name, spec={}, status={"provisioning": {"state": state}})
        plane.objects["BareMetalHost", name]["metadata"]["labels"] = labels
    plane.objects["Metal3Machine", "c1-one-0"]["spec"]["hostSelector"] = {"matchLabels": {"use": "web"}}
    assert outlook(plane, "c1-one-0") == ["c1-one: 1 host that matches is free; all disks of 1 host are wiped"]
    del plane.objects["BareMetalHost", "a"]
    assert "the rest waits until c, host-of-c1-one-0 are deprovisioned" in outlook(plane, "c1-one-0")[1]


def test_a_cluster_that_does_not_answer_is_no_reason_against_it(plane):
    plane.make_ready("c1-one-0")

    def silent(*_name):
        raise KubeError("no answer")

    assert outlook(plane, "c1-one-0", workload=silent)[-1] == (
        "attention: cluster metal3/c1: whether disruption budgets keep nodes from being drained is not checked: no "
        "answer")


def test_a_machine_that_nobody_makes_again_stays(plane):
    plane.add("cluster.x-k8s.io/v1beta2", "Machine", "alone", spec={"bootstrap": {}, "infrastructureRef": {}})
    plane.objects["Machine", "alone"]["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "c1"}
    with pytest.raises(RefusedError, match="found alone, which no KubeadmControlPlane or MachineDeployment owns"):
        act(plane, "replace", "alone", confirm="1")


def test_etcd_keeps_its_quorum(plane):
    with pytest.raises(RefusedError, match=r"found 2 machines of the control plane .*expected one at a time"):
        act(plane, "replace", "c1-control-plane-0", "c1-control-plane-1", confirm="2")
    act(plane, "replace", "c1-control-plane-0", confirm="1", check_mode=True)
    del plane.objects["Machine", "c1-control-plane-2"]["status"]
    with pytest.raises(RefusedError, match="with 1 other healthy machines of 3, expected more than 1 others"):
        act(plane, "replace", "c1-control-plane-0", confirm="1")
    act(plane, "replace", "c1-control-plane-2", confirm="1")
    assert "c1-control-plane-2" not in plane.names("Machine")


@pytest.mark.parametrize("change, text", [
    ({"annotations": {"metal3.baremetal/maintenance": "fan"}}, r"is being maintained \(fan\)"),
    ({"annotations": {"reboot.metal3.io": ""}}, "has the annotation reboot.metal3.io"),
    ({"annotations": {"reboot.metal3.io/rma": ""}}, "has the annotation reboot.metal3.io/rma"),
    ({"online": False}, "has online false")], ids=["maintained", "rebooted", "held", "off"])
def test_a_member_whose_server_is_about_to_stop_counts_as_away(plane, change, text):
    """Its Node is Ready until then, which may be in an hour."""
    host = plane.objects["BareMetalHost", "host-of-c1-control-plane-2"]
    host["metadata"]["annotations"] = change.get("annotations", {})
    host["spec"]["online"] = change.get("online", True)
    with pytest.raises(RefusedError, match="with 1 other healthy machines of 3; host-of-c1-control-plane-2 " + text):
        act(plane, "replace", "c1-control-plane-0", confirm="1")
    assert "c1-control-plane-0" in plane.names("Machine")
    act(plane, "replace", "c1-control-plane-2", confirm="1")
    assert "c1-control-plane-2" not in plane.names("Machine")


def test_a_machine_of_another_run_is_not_deleted(plane):
    """It has gone and come again under its name between the check and the write."""
    def comes_again():
        plane.objects["Machine", "c1-one-0"]["metadata"]["uid"] = "another"

    plane.meanwhile["Machine", "c1-one-0"] = comes_again
    with pytest.raises(Exception, match="another object of this name"):
        act(plane, "replace", "c1-one-0", confirm="1")
    assert "c1-one-0" in plane.names("Machine")


LOCK = {host_lock.LOCKED: host_lock.value("RMA 4711", "2999-01-01T00:00:00Z")}


def test_a_machine_on_a_locked_host_is_not_replaced(plane):
    plane.objects["BareMetalHost", "host-of-c1-one-1"]["metadata"]["annotations"] = dict(LOCK)
    writes = len(plane.writes())
    with pytest.raises(RefusedError, match=r'machines: found host host-of-c1-one-1 locked until 2999-.*: "RMA 4711"'):
        act(plane, "replace", "c1-one-0", "c1-one-1", confirm="2")
    assert len(plane.writes()) == writes
    # What interrupts nothing goes on.
    assert act(plane, "mark_for_scale_in", "c1-one-1")["changed"]
    assert act(plane, "replace", "c1-one-0", confirm="1")["changed"]


def test_a_cluster_takes_no_machine_from_a_locked_host(plane):
    plane.objects["BareMetalHost", "host-of-c1-one-1"]["metadata"]["annotations"] = dict(LOCK)
    before = {"control_plane": {"replicas": 3}, "workers": {"one": {"replicas": 3}, "two": {"replicas": 1}}}
    run(plane, confirm="2", **before)
    fewer = dict(before, workers=dict(before["workers"], one={"replicas": 2}))
    with pytest.raises(RefusedError, match=r"RMA 4711.*mark 1 machine on other hosts"):
        run(plane, confirm="1", **fewer)
    rolled = dict(before, workers=dict(before["workers"], one={"replicas": 3, "image": OTHER_IMAGE}))
    with pytest.raises(RefusedError, match="MachineDeployment c1-one: found host host-of-c1-one-1 locked"):
        run(plane, confirm="3", **rolled)
    act(plane, "mark_for_scale_in", "c1-one-0")
    assert run(plane, confirm="1", **fewer)["losses"]


def test_a_cluster_with_a_locked_host_is_not_deleted(plane):
    plane.objects["Metal3Machine", "c1-one-1"]["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "c1"}
    plane.objects["BareMetalHost", "host-of-c1-one-1"]["metadata"]["annotations"] = dict(LOCK)
    with pytest.raises(RefusedError, match="cluster metal3/c1: found host host-of-c1-one-1 locked"):
        service_of(plane, confirm="c1").absent()


def test_a_machine_that_is_not_the_one_that_a_caller_has_checked_stays(plane):
    params = dict(PARAMS, machines=["c1-one-0", "c1-one-1"], confirm="2")
    with pytest.raises(RefusedError, match=r"1 problem, .*\n- cluster metal3/c1: machines: found another Machine of "
                                           r"the name c1-one-0, expected the one that was checked"):
        MachineActionService(plane, params, False, Progress(), checked={
            "c1-one-0": "former", "c1-one-1": "uid-c1-one-1"}).run()
    assert "c1-one-1" in plane.names("Machine")
    MachineActionService(plane, params, False, Progress(), checked={"c1-one-0": "uid-c1-one-0"}).run()
    assert "c1-one-1" not in plane.names("Machine")


def test_the_machines_of_another_owner_of_the_name_are_not_those_that_are_waited_for(plane):
    """It was deleted and created again during the wait, and had all its machines."""
    owner = plane.objects["MachineDeployment", "c1-one"]
    owner["spec"]["replicas"], owner["status"] = 2, dict.fromkeys(
        ("upToDateReplicas", "readyReplicas", "availableReplicas"), 2)
    for number in (1, 2):
        plane.make_ready(f"c1-one-{number}")
    listed = plane.list

    def list_then(resource, *arguments, **more):
        if resource.kind == "MachineDeployment" and "c1-one-0" not in plane.names("Machine"):
            owner["metadata"]["uid"] = "another"
        return listed(resource, *arguments, **more)

    params = dict(PARAMS, machines=["c1-one-0"], confirm="1", wait=True, wait_timeout_seconds=20,
                  node_startup_timeout_seconds=900)
    plane.list = list_then
    with pytest.raises(WaitFailedError, match="found another MachineDeployment c1-one, expected the one whose"):
        MachineActionService(plane, params, False, Progress()).run()


def test_machines_of_metal_stack_are_waited_for_by_the_kinds_of_their_provider(plane, monkeypatch):
    """A plane of metal-stack alone does not know those of CAPM3, and a wait for them would end when its time is up."""
    providers = []

    class Wait(Waits):
        def __call__(self, *dummy, provider=None, **dummy_options):
            providers.append(provider and provider.name)
            return self

        def until_rolled(self, _kind, name, goal, _seconds, _uid=None):
            self._until(name, goal)

    waits = Wait()
    monkeypatch.setattr(machines_service, "ClusterWait", waits)
    params = dict(PARAMS, machines=["c1-one-0"], confirm="1", wait=True)
    plane.spec("Cluster", "c1")["infrastructureRef"]["kind"] = "MetalStackCluster"
    MachineActionService(plane, params, False, Progress(), workload=lambda *_name: None).run()
    assert providers == ["metalstack"] and waits.asked == ["c1-one"]


@pytest.mark.parametrize("kind, name, words", [
    ("Cluster", "c1", "spec.paused: found true, expected a cluster that is not paused; it is paused"),
    ("Machine", "c1-one-0", "found Machine c1-one-0, which is paused"),
    ("Metal3Machine", "c1-one-0", "found Metal3Machine c1-one-0, which is paused"),
    ("MachineDeployment", "c1-one", "found MachineDeployment c1-one, which is paused"),
    ("MachineSet", "c1-one-x", "found MachineSet c1-one-x, which is paused")])
def test_what_is_paused_is_not_replaced_at_the_moment_when_it_is_resumed(plane, kind, name, words):
    plane.add("cluster.x-k8s.io/v1beta2", "MachineSet", "c1-one-x", spec={})["metadata"]["labels"] = {
        "cluster.x-k8s.io/cluster-name": "c1", "cluster.x-k8s.io/deployment-name": "c1-one"}
    item = plane.objects[kind, name]
    if kind == "Cluster":
        item["spec"]["paused"] = True
    else:
        item["metadata"]["annotations"] = {"cluster.x-k8s.io/paused": ""}
    with pytest.raises(RefusedError, match=words):
        act(plane, "replace", "c1-one-0", confirm="1")
    assert "c1-one-0" in plane.names("Machine")
    # What deletes nothing goes on.
    assert act(plane, "mark_for_scale_in", "c1-one-0")["changed"]
