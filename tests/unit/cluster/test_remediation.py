# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that are brought back: what is wrong with each, what is tried in which order, and what is refused."""
from __future__ import annotations

import pytest
from fakes.clusters import Plane, run
from fakes.killed import Killed, Life, each_kill
from fakes.progress import Reports
from fakes.silence import falls_silent
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.machines.service import MachineActionService
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.remediation import diagnosis
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.remediation import (
    service as remediation_service,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.remediation.service import (
    RemediationError,
    RemediationService,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import WaitFailedError
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.etcd_member import crashing_etcd
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import lock as host_lock
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

ILL, WELL = "host-of-c1-one-0", "host-of-c1-one-1"
PLANE = "host-of-c1-control-plane-0"
SKIP, UNHEALTHY = "cluster.x-k8s.io/skip-remediation", "capm3.metal3.io/unhealthy"
RETRY, REBOOT = "metal3.baremetal/retry", "reboot.metal3.io"
KUBELET = "Kubelet stopped posting node status."


def set_ready(plane, name, status="True", message="", reason="NodeReady"):
    conditions = plane.objects["Machine", name]["status"]["conditions"]
    conditions[:] = [entry for entry in conditions if entry["type"] != "NodeReady"] + [
        {"type": "NodeReady", "status": status, "message": message, "reason": reason}]


def set_error(plane, host, kind="", message=""):
    plane.objects["BareMetalHost", host]["status"].update(
        operationalStatus="error" if kind else "OK", errorType=kind, errorMessage=message)


def made():
    """Return a cluster of three control plane machines and three workers, of which the first has no living kubelet."""
    found = Plane()
    run(found, control_plane={"replicas": 3})
    for owner in ("c1-control-plane", "c1-one"):
        found.add_members(owner, 3)
        for position in range(3):
            name = f"{owner}-{position}"
            found.make_ready(name)
            set_ready(found, name)
            found.objects["Metal3Machine", name]["metadata"]["ownerReferences"] = [{"kind": "Machine", "name": name}]
            host = found.objects["BareMetalHost", "host-of-" + name]
            host["spec"]["online"] = True
            host["status"] = {"poweredOn": True, "operationalStatus": "OK", "lastUpdated": "t",
                              "provisioning": {"state": "provisioned"}}
    set_ready(found, "c1-one-0", "False", KUBELET)
    return found


@pytest.fixture
def plane():
    """A cluster of which one host is ill."""
    return made()


def go(plane, *hosts, up_to="reboot", confirm="1", check_mode=False, then=lambda seconds: None, workload=None, **more):
    """Run the service; ``then`` is called with the seconds that have gone by, at each look at the API server."""
    params = dict({"namespace": "metal3", "hosts": list(hosts or [ILL]), "up_to": up_to, "mode": "hard",
                   "confirm": confirm, "confirm_among": [], "step_timeout_seconds": 60, "wait": False,
                   "wait_timeout_seconds": 60, "node_startup_timeout_seconds": 0}, **more)
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds
        then(now[0])

    return RemediationService(plane, params, check_mode, Reports(), lambda: now[0], sleep, lambda: 1767225600.0,
                              workload or (lambda *_name: None)).run()


def add_second_cluster(plane):
    """Another cluster, of which a worker has no living kubelet, too; return the name of its host."""
    run(plane, name="c2")
    plane.add_members("c2-one", 1, "c2")
    plane.make_ready("c2-one-0", "c2")
    set_ready(plane, "c2-one-0", "False", KUBELET)
    plane.objects["Metal3Machine", "c2-one-0"]["metadata"]["ownerReferences"] = [
        {"kind": "Machine", "name": "c2-one-0"}]
    host = plane.objects["BareMetalHost", "host-of-c2-one-0"]
    host["spec"]["online"] = True
    host["status"] = {"poweredOn": True, "operationalStatus": "OK", "lastUpdated": "t",
                      "provisioning": {"state": "provisioned"}}
    return "host-of-c2-one-0"


def annotations(plane, kind, name):
    return plane.objects[kind, name]["metadata"].get("annotations") or {}


def test_a_well_host_is_left_as_it_is(plane):
    writes = len(plane.writes())
    result = go(plane, WELL, up_to="replace", confirm=None)
    assert not result["changed"] and len(plane.writes()) == writes
    assert result["hosts"] == [{"name": WELL, "cluster": "c1", "machine": "c1-one-1", "reason": "", "steps": [],
                                "tried": [], "helped": None}]


@pytest.mark.parametrize("up_to, steps", [
    ("retry", ["retry"]), ("reboot", ["retry", "reboot"]), ("replace", ["retry", "reboot", "replace"])])
def test_the_least_that_helps_comes_first_and_no_more_than_is_allowed(plane, up_to, steps):
    set_error(plane, ILL, "power management error", "BMC: no answer")
    result = go(plane, up_to=up_to, check_mode=True, confirm=None)
    assert result["hosts"][0]["steps"] == steps and result["changed"]
    assert ["refused: " in line and ILL in line for line in result["warnings"]] == [True] * (up_to != "retry")
    assert result["hosts"][0]["reason"] == (
        f"host in error (power management error): BMC: no answer; Node not Ready: {KUBELET}")
    assert annotations(plane, "BareMetalHost", ILL) == {}


def test_a_reboot_is_confirmed_asked_for_and_waited_for(plane):
    writes = len(plane.writes())
    for confirm in (None, "2", WELL):
        with pytest.raises(RefusedError, match=rf"expected 1, .*{ILL} \(Node not Ready: {KUBELET}\): reboot; to cont"):
            go(plane, confirm=confirm)
    assert len(plane.writes()) == writes
    seen = []

    def then(seconds):
        seen.append((dict(annotations(plane, "BareMetalHost", ILL)), SKIP in annotations(plane, "Machine", "c1-one-0")))
        if seconds > 20:
            set_ready(plane, "c1-one-0")

    result = go(plane, then=then)
    assert result["hosts"][0]["tried"] == ["reboot"] and result["hosts"][0]["helped"] == "reboot"
    assert seen[0][0][REBOOT] == '{"mode":"hard"}'
    # Health checks are kept from it meanwhile, and no longer.
    assert seen[0][1] and SKIP not in annotations(plane, "Machine", "c1-one-0")
    assert UNHEALTHY not in annotations(plane, "BareMetalHost", ILL)
    assert not go(plane, confirm=None)["changed"]


def test_a_replacement_says_what_is_free_and_what_the_disks_lose(plane):
    """Its own host is kept from machines then, so that it does not come back."""
    attention = r"attention: c1-one: 0 hosts that match are free for 1 new machine: the rest waits until one is;"
    with pytest.raises(RefusedError, match=rf"(?s)reboot, replace; to continue .*:\n    c1-one: 0 hosts that match are "
                                           rf"free; all disks of 1 host are wiped\n    {attention}"):
        go(plane, up_to="replace", confirm=None)
    with pytest.raises(RefusedError) as refused:
        go(plane, confirm=None)
    assert "attention" not in str(refused.value), "nothing is replaced"
    plane.add("metal3.io/v1alpha1", "BareMetalHost", "spare", spec={}, status={"provisioning": {"state": "available"}})
    set_ready(plane, "c1-one-2", "False", KUBELET)
    plane.objects["Machine", "c1-one-2"]["status"]["conditions"][0].update(status="False", message="silent")
    warnings = go(plane, up_to="replace", check_mode=True)["warnings"]
    assert [line.partition(":")[0] for line in warnings] == [
        "Machine c1-one-2 on host host-of-c1-one-2 is not ready (silent)"]


def test_what_is_said_of_a_replacement_is_made_of_what_was_read_for_the_diagnosis(plane):
    plane.requests.clear()
    go(plane, up_to="replace", check_mode=True)
    assert [request[:2] for request in plane.requests].count(("LIST", "Machine")) == 1


def test_an_error_is_tried_again_before_anything_is_rebooted(plane):
    set_ready(plane, "c1-one-0")
    set_error(plane, ILL, "power management error", "BMC: no answer")

    def then(dummy):
        if RETRY in annotations(plane, "BareMetalHost", ILL):
            set_error(plane, ILL)

    result = go(plane, up_to="replace", confirm=None, then=then)
    assert result["hosts"][0]["steps"] == ["retry"] and result["hosts"][0]["helped"] == "retry"
    assert REBOOT not in annotations(plane, "BareMetalHost", ILL)


def test_what_a_reboot_does_not_help_is_replaced_and_its_host_kept_from_machines(plane):
    result = go(plane, up_to="replace")
    assert result["hosts"][0]["tried"] == ["reboot", "replace"] and result["hosts"][0]["helped"] == "replace"
    assert ("Machine", "c1-one-0") not in plane.objects
    assert annotations(plane, "BareMetalHost", ILL)[UNHEALTHY] == f"metal3.baremetal: Node not Ready: {KUBELET}"


def test_what_somebody_has_written_at_a_host_that_is_marked_already_stays(plane):
    plane.objects["BareMetalHost", ILL]["metadata"]["annotations"] = {UNHEALTHY: "RMA 4711"}
    assert go(plane, up_to="replace")["hosts"][0]["helped"] == "replace"
    assert annotations(plane, "BareMetalHost", ILL)[UNHEALTHY] == "RMA 4711"


def test_a_host_that_a_move_keeps_from_machines_is_not_replaced(plane):
    plane.objects["BareMetalHost", ILL]["metadata"]["annotations"] = {UNHEALTHY: "metal3.baremetal/host-move"}
    with pytest.raises(RemediationError, match="replace not tried: found a host that the playbook move_hosts keeps"):
        go(plane, up_to="replace")
    assert ("Machine", "c1-one-0") in plane.objects


def test_what_nothing_has_helped_fails_with_what_was_tried(plane):
    with pytest.raises(RemediationError) as failed:
        go(plane)
    assert str(failed.value).startswith(f"1 host not brought back:\n- {ILL}: Node not Ready: {KUBELET}; tried: reboot; "
                                        "after 1 min of reboot: Node not Ready")
    assert "set up_to to more" in str(failed.value)
    assert SKIP not in annotations(plane, "Machine", "c1-one-0")


def test_a_step_that_bmo_would_ignore_is_not_tried_and_the_next_one_is(plane):
    plane.objects["BareMetalHost", ILL]["status"]["poweredOn"] = False
    result = go(plane, up_to="replace")
    assert result["hosts"][0]["tried"] == ["replace"]
    assert REBOOT not in annotations(plane, "BareMetalHost", ILL)


def test_a_mark_that_a_killed_run_has_left_is_taken_away_and_no_other(plane):
    set_ready(plane, "c1-one-0")
    plane.objects["Machine", "c1-one-0"]["metadata"]["annotations"] = {SKIP: "metal3.baremetal"}
    plane.objects["Machine", "c1-one-1"]["metadata"]["annotations"] = {SKIP: "true"}
    assert go(plane, ILL, WELL, confirm=None)["changed"]
    assert annotations(plane, "Machine", "c1-one-0") == {}
    assert annotations(plane, "Machine", "c1-one-1") == {SKIP: "true"}
    plane.objects["BareMetalHost", ILL]["metadata"]["annotations"] = {"metal3.baremetal/maintenance": "fan"}
    plane.objects["Machine", "c1-one-0"]["metadata"]["annotations"] = {SKIP: "metal3.baremetal"}
    assert not go(plane, ILL, confirm=None)["changed"]


def operated(plane, helps):
    """Return what a remediation calls at each look: BMO, which takes requests away and carries them out.

    :param helps: names of the requests after which the node is Ready, or the host free of errors
    """
    def then(_seconds):
        found = plane.objects["BareMetalHost", ILL]["metadata"].get("annotations") or {}
        for request in [name for name in (RETRY, REBOOT) if name in found]:
            if request == REBOOT:
                del found[request]
            if request in helps:
                set_ready(plane, "c1-one-0")
                set_error(plane, ILL)

    return then


def treated(helps=(), **options):
    """Return a run on the host that is ill."""
    def act(plane):
        go(plane, then=operated(plane, helps), **options)

    return act


@pytest.mark.parametrize("helps, up_to, writes", [((REBOOT,), "reboot", 3), ((), "replace", 5)])
def test_a_host_on_which_a_killed_run_has_worked_is_brought_back_by_the_next_one(helps, up_to, writes):
    def act(plane):
        treated(helps, up_to=up_to)(plane)

    assert each_kill(lambda: (made(),), act) == writes


def test_a_machine_that_a_killed_run_has_kept_from_health_checks_is_given_back_by_the_retry_that_helps():
    """It is of the reboot that was killed, and the next run may be one that reboots nothing."""
    def ill():
        plane = made()
        set_error(plane, ILL, "power management error", "BMC: no answer")
        return plane

    life = Life()
    treated((REBOOT,))(life.of(ill()))
    for number in range(life.written):
        plane = ill()
        with pytest.raises(Killed):
            treated((REBOOT,))(Life(number).of(plane))
        set_error(plane, ILL, "power management error", "BMC: no answer")
        plane.objects["BareMetalHost", ILL]["metadata"].get("annotations", {}).pop(RETRY, None)
        treated((RETRY,), up_to="retry", confirm=None)(plane)
        assert SKIP not in annotations(plane, "Machine", "c1-one-0"), f"killed after {number} of {life.written} writes"


def test_a_machine_is_given_back_to_its_health_checks_when_a_reboot_cannot_be_waited_for(plane, monkeypatch):
    def refuse(*_arguments):
        assert SKIP in annotations(plane, "Machine", "c1-one-0")
        raise KubeError("the API server refuses to list Machines", 403)

    monkeypatch.setattr(RemediationService, "_until_well", refuse)
    with pytest.raises(KubeError, match="refuses to list"):
        go(plane)
    assert SKIP not in annotations(plane, "Machine", "c1-one-0")


def test_a_retry_during_which_the_api_server_falls_silent_says_so(plane, monkeypatch):
    set_error(plane, ILL, "power management error", "BMC: no answer")
    monkeypatch.setattr(remediation_service, "poll", falls_silent)
    with pytest.raises(RemediationError, match=r"after 1 min of retry: API server \S+ has not answered for 30 s"):
        go(plane, up_to="retry", confirm=None)


def test_a_well_host_that_no_machine_gets_is_named(plane):
    """A run has replaced its Machine, or was killed before it did."""
    plane.objects["BareMetalHost", WELL]["metadata"]["annotations"] = {UNHEALTHY: "metal3.baremetal: Node not Ready"}
    result = go(plane, WELL, confirm=None)
    assert not result["changed"] and result["warnings"] == [
        f"{WELL}: nothing is wrong with it, and it is marked unhealthy, so that no machine gets it (metal3.baremetal: "
        "Node not Ready); when it is repaired, mark it healthy (playbook host_action, mark_healthy)"]
    for value in ("RMA 4711", "metal3.baremetal/host-move"):
        plane.objects["BareMetalHost", WELL]["metadata"]["annotations"] = {UNHEALTHY: value}
        assert go(plane, WELL, confirm=None)["warnings"] == []


def test_check_mode_says_that_nothing_allowed_would_help(plane):
    assert go(plane, up_to="retry", check_mode=True, confirm=None)["warnings"] == [
        f"without check mode this would fail: {ILL}: Node not Ready: {KUBELET}; nothing that is allowed (up_to retry) "
        "helps"]


def lock(plane):
    plane.objects["BareMetalHost", ILL]["metadata"]["annotations"] = {
        host_lock.LOCKED: host_lock.value("RMA 4711", "2999-01-01T00:00:00Z")}


def maintain(plane):
    plane.objects["BareMetalHost", ILL]["metadata"]["annotations"] = {"metal3.baremetal/maintenance": "fan"}


def delete(plane):
    plane.objects["Machine", "c1-one-0"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"


def remediate(plane):
    plane.add("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3Remediation", "c1-one-0",
              spec={"strategy": {"type": "Reboot", "retryLimit": 1}}, status={"phase": "Running"})


def test_a_machine_that_its_health_check_has_rebooted_without_success_is_replaced_at_once(plane):
    """Cluster API 1.13 does not see CAPM3's word that it is to be replaced."""
    remediate(plane)
    plane.objects["Metal3Remediation", "c1-one-0"]["status"] = {"phase": "Deleting machine", "retryCount": 1}
    assert [item["steps"] for item in go(plane, up_to="replace", check_mode=True)["hosts"]] == [["replace"]]
    assert [item["steps"] for item in go(plane, up_to="reboot", check_mode=True)["hosts"]] == [[]]


def remediate_by_hand(plane):
    plane.add("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3Remediation", "by-hand", status={"phase": "Waiting"},
              spec={"strategy": {"type": "Reboot", "retryLimit": 1}})
    plane.objects["Metal3Remediation", "by-hand"]["metadata"]["ownerReferences"] = [
        {"kind": "Machine", "name": "c1-one-0"}]


def annotate(**annotations):
    def change(plane):
        plane.objects["BareMetalHost", ILL]["metadata"]["annotations"] = annotations
    return change


def switch_off(plane):
    plane.objects["BareMetalHost", ILL]["spec"]["online"] = False


@pytest.mark.parametrize("change, text", [
    (annotate(**{"baremetalhost.metal3.io/paused": "x"}), "a paused host"),
    (annotate(**{"baremetalhost.metal3.io/detached": ""}), "a detached host"),
    (annotate(**{"reboot.metal3.io/fan": ""}), "held powered off by the annotation reboot.metal3.io/fan"),
    (switch_off, "a host with online false"),
    (remediate_by_hand, "phase Waiting.*Metal3Remediation by-hand is of no health check: delete it once the node is"),
    (lock, 'locked until 2999-01-01T00:00:00Z: "RMA 4711"'), (maintain, "a host that is being maintained: fan"),
    (delete, "Machine c1-one-0, which is being deleted"),
    (remediate, r"Machine c1-one-0 with a remediation \(Reboot\), phase Running")])
def test_a_host_on_which_somebody_else_works_is_refused(plane, change, text):
    change(plane)
    writes = len(plane.writes())
    with pytest.raises(RefusedError, match=text):
        go(plane, up_to="replace")
    assert len(plane.writes()) == writes


def test_all_mistakes_of_a_list_are_reported_at_once(plane):
    with pytest.raises(RefusedError) as refused:
        go(plane, "nobody", ILL, ILL)
    assert "nobody: hosts: found no such BareMetalHost" in str(refused.value) and "named twice" in str(refused.value)


def test_the_control_plane_keeps_its_quorum(plane):
    for position in range(2):
        set_ready(plane, f"c1-control-plane-{position}", "False", KUBELET)
    with pytest.raises(RefusedError, match="2 machines of the control plane"):
        go(plane, PLANE, "host-of-c1-control-plane-1", confirm="2")
    # Two are not healthy: of three no one may go for good, but one of them may be rebooted.
    for position in range(2):
        plane.objects["Machine", f"c1-control-plane-{position}"]["status"]["conditions"].append(
            {"type": "Ready", "status": "False"})
        plane.objects["Machine", f"c1-control-plane-{position}"]["status"]["conditions"].pop(0)
    with pytest.raises(RefusedError, match="etcd must keep its quorum"):
        go(plane, PLANE, up_to="replace")
    result = go(plane, PLANE, then=lambda seconds: set_ready(plane, "c1-control-plane-0"))
    assert result["hosts"][0]["helped"] == "reboot"


def test_workers_of_a_cluster_that_cannot_be_asked_are_not_rebooted(plane):
    """Their Nodes are as unknown as that of a worker that died: what is wrong is the control plane."""
    set_ready(plane, "c1-one-0", "Unknown", "Remote connection down", "ConnectionDown")
    set_ready(plane, "c1-control-plane-0", "Unknown", "Remote connection down", "ConnectionDown")
    objects = dict((kind, [item for (found, _name), item in plane.objects.items() if found == kind])
                   for kind in ("BareMetalHost", "Machine", "Metal3Machine", "Metal3Remediation"))
    found, problems = diagnosis.patients([ILL, PLANE], objects, "metal3", "reboot", 0)
    assert not problems and [item.steps for item in found] == [(), ("reboot",)]
    assert "remediate the control plane first" in found[0].reason


def test_a_machine_that_is_being_made_is_no_patient(plane):
    machine = plane.objects["Machine", "c1-one-0"]
    machine["status"] = {"conditions": [{"type": "NodeReady", "status": "Unknown", "reason": "InspectionFailed"}]}
    host = plane.objects["BareMetalHost", ILL]
    assert diagnosis.patient(host, dict(machine, status={})).steps == ()
    host["status"] = {"operationalStatus": "error", "errorType": "provisioning error", "errorMessage": "m",
                      "provisioning": {"state": "provisioning"}}
    assert diagnosis.patient(host, dict(machine, status={})).steps == ("retry", "replace")
    assert diagnosis.patient(host, None).steps == ("retry",)


def two_ill(plane):
    """A host with an error, whose retry is waited for, and one that only a reboot or more is for."""
    set_error(plane, WELL, "power management error", "BMC: no answer")
    return WELL, ILL


def recover(plane):
    set_ready(plane, "c1-one-0")


def make_anew(plane):
    plane.objects["Machine", "c1-one-0"]["metadata"]["uid"] = "another"


def enrol_anew(plane):
    plane.objects["BareMetalHost", ILL]["metadata"]["uid"] = "another"


def lose_the_cluster(plane):
    set_ready(plane, "c1-one-0", "Unknown", "Remote connection down", "ConnectionDown")


def forget(plane):
    del plane.objects["BareMetalHost", ILL]


def test_a_host_that_recovers_while_others_are_retried_is_not_rebooted(plane):
    hosts = two_ill(plane)

    def then(seconds):
        if seconds > 20:
            recover(plane)
        if seconds > 40:
            set_error(plane, WELL)

    result = go(plane, *hosts, then=then)
    assert result["hosts"][1]["tried"] == [] and result["hosts"][1]["helped"] is None
    assert result["hosts"][0]["helped"] == "retry"
    assert REBOOT not in annotations(plane, "BareMetalHost", ILL)


def test_a_host_that_recovers_late_from_its_reboot_is_not_replaced(plane):
    """A step's time is over, and before the next one begins the Node is Ready."""
    waited = RemediationService._until_well

    def until_well(self, step, due):
        waited(self, step, due)
        recover(plane)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RemediationService, "_until_well", until_well)
        result = go(plane, up_to="replace")
    assert result["hosts"][0]["tried"] == ["reboot"] and result["hosts"][0]["helped"] == "reboot"
    assert ("Machine", "c1-one-0") in plane.objects
    assert UNHEALTHY not in annotations(plane, "BareMetalHost", ILL)


def test_a_run_that_has_tried_nothing_has_changed_nothing(plane, monkeypatch):
    """The host recovers while the confirmation is looked at."""
    asked = RemediationService._ask

    def ask(self, *arguments):
        asked(self, *arguments)
        recover(plane)

    monkeypatch.setattr(RemediationService, "_ask", ask)
    result = go(plane)
    assert result["hosts"][0]["tried"] == [] and not result["changed"] and result["diff"] == []


def free(plane, machine="c1-one-0"):
    """Do what a scale-down does: the Machine is gone, and its host is nobody's."""
    del plane.objects["Machine", machine], plane.objects["Metal3Machine", machine]
    del plane.objects["BareMetalHost", "host-of-" + machine]["spec"]["consumerRef"]


def free_and_enrol_anew(plane):
    free(plane)
    enrol_anew(plane)


def replace_and_recover(plane):
    make_anew(plane)
    recover(plane)


def test_a_machine_that_does_not_come_keeps_nothing_from_another_cluster(plane, monkeypatch):
    """It was waited for an hour, and nothing was said of the other cluster, whose host stayed as it was."""
    other, replace = add_second_cluster(plane), MachineActionService.run

    def act(self):
        result = replace(self)
        if self.params["cluster_name"] == "c1":
            raise WaitFailedError("cluster metal3/c1 is not available within 1 h:\n- no host is free", [])
        return result

    monkeypatch.setattr(MachineActionService, "run", act)
    with pytest.raises(RemediationError, match=rf"1 host not brought back.*\n- {ILL}: .*tried: reboot, replace; .*the "
                       "machine in its place does not come: cluster metal3/c1 is not available within 1 h: - no "
                       "host is free"):
        go(plane, ILL, other, up_to="replace", confirm="2")
    assert ("Machine", "c2-one-0") not in plane.objects and UNHEALTHY in annotations(plane, "BareMetalHost", other)


@pytest.mark.parametrize("up_to", ["reboot", "replace"])
@pytest.mark.parametrize("change, text", [
    (free, "found no Machine on it by now, expected the one of before"),
    (free_and_enrol_anew, "found another BareMetalHost of this name, expected the one of before"),
    (replace_and_recover, "found Machine c1-one-0 on it by now, expected the one of before"),
    (forget, "found no such BareMetalHost any more")])
def test_a_reboot_has_not_helped_a_machine_that_is_gone(plane, change, text, up_to):
    """Nothing was wrong with what had the host's name by then, and the run ended with "helped: reboot"."""
    looks = []

    def then(seconds):
        looks.append(seconds)
        if 20 < seconds < 30:
            change(plane)

    with pytest.raises(RemediationError, match=rf"{ILL}: Node not Ready: .*tried: reboot; while reboot was waited for: "
                                               rf"{text}"):
        go(plane, up_to=up_to, then=then)
    assert max(looks) < 30, "nothing is waited for that cannot come"
    assert UNHEALTHY not in str(plane.objects.get(("BareMetalHost", ILL)))


def test_a_machine_that_has_come_before_the_next_step_is_not_taken_for_the_one_that_was_ill(plane, monkeypatch):
    waited = RemediationService._until_well

    def until_well(self, step, due):
        waited(self, step, due)
        replace_and_recover(plane)

    monkeypatch.setattr(RemediationService, "_until_well", until_well)
    with pytest.raises(RemediationError, match="replace not tried: found Machine c1-one-0 on it by now, expected the"):
        go(plane, up_to="replace")
    assert ("Machine", "c1-one-0") in plane.objects


def test_a_host_of_no_cluster_that_a_machine_gets_after_the_retry_has_recovered(plane):
    host = plane.add("metal3.io/v1alpha1", "BareMetalHost", "spare", spec={"online": True}, status={
        "poweredOn": True, "operationalStatus": "OK", "lastUpdated": "t", "provisioning": {"state": "available"}})
    set_error(plane, "spare", "power management error", "BMC: no answer")

    def then(dummy):
        if RETRY in annotations(plane, "BareMetalHost", "spare"):
            set_error(plane, "spare")
            plane.add("cluster.x-k8s.io/v1beta2", "Machine", "new", spec={}, status={})
            plane.add("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3Machine", "new", spec={})["metadata"][
                "ownerReferences"] = [{"kind": "Machine", "name": "new"}]
            host["spec"]["consumerRef"] = {"kind": "Metal3Machine", "name": "new"}

    assert go(plane, "spare", confirm=None, then=then)["hosts"][0]["helped"] == "retry"


def give_to_another(plane):
    plane.objects["BareMetalHost", ILL]["spec"]["consumerRef"] = {
        "kind": "Metal3Machine", "name": "other", "namespace": "metal3"}


@pytest.mark.parametrize("change, text", [
    (enrol_anew, "found another BareMetalHost of this name, expected the one that was checked"),
    (give_to_another, "found a host in use by Metal3Machine metal3/other, expected Metal3Machine /c1-one-0, its consum"
                      "er when it was checked")])
def test_a_reboot_goes_to_the_host_that_was_confirmed_only_and_others_are_rebooted(plane, change, text):
    """It went to whatever had the name when the Machine was marked, protected from nothing."""
    set_ready(plane, "c1-one-1", "False", KUBELET)
    plane.meanwhile["Machine", "c1-one-0"] = lambda: change(plane)
    with pytest.raises(RemediationError, match=rf"1 host not .*\n- {ILL}: .*tried: nothing; reboot not tried: {text}"):
        go(plane, ILL, WELL, confirm="2", then=lambda seconds: set_ready(plane, "c1-one-1"))
    assert REBOOT not in annotations(plane, "BareMetalHost", ILL)
    assert REBOOT in annotations(plane, "BareMetalHost", WELL)
    assert [SKIP in annotations(plane, "Machine", f"c1-one-{number}") for number in range(2)] == [False, False]


def test_a_host_whose_reboot_was_not_stored_is_not_waited_for(plane):
    plane.failures["BareMetalHost", ILL] = "denied"
    with pytest.raises(RemediationError, match="tried: nothing; reboot failed: denied\n"):
        go(plane, then=lambda seconds: recover(plane))
    assert SKIP not in annotations(plane, "Machine", "c1-one-0")


def test_health_checks_are_kept_from_the_machine_that_was_confirmed_only(plane, monkeypatch):
    asked = RemediationService._asked

    def ask(self, step, due):
        if due:
            make_anew(plane)
        return asked(self, step, due)

    monkeypatch.setattr(RemediationService, "_asked", ask)
    with pytest.raises(RemediationError, match="found Machine c1-one-0 on it by now"):
        go(plane)
    assert not [request for request in plane.requests if request[:3] == ("PATCH", "Machine", "c1-one-0")]


def around_marks(monkeypatch, before=lambda: None, after=lambda: None):
    """Let something happen before, and after, a run marks the hosts of machines that it is about to replace."""
    kept = RemediationService._kept_from_machines

    def keep(self, due):
        before()
        result = kept(self, due)
        after()
        return result

    monkeypatch.setattr(RemediationService, "_kept_from_machines", keep)


def test_a_host_that_is_another_one_when_it_is_to_be_marked_keeps_its_machine(plane, monkeypatch):
    around_marks(monkeypatch, lambda: enrol_anew(plane))
    with pytest.raises(RemediationError, match="replace not tried: found another BareMetalHost of this name"):
        go(plane, up_to="replace")
    assert ("Machine", "c1-one-0") in plane.objects and UNHEALTHY not in annotations(plane, "BareMetalHost", ILL)


def test_a_machine_that_is_another_one_when_it_is_to_be_replaced_stays(plane, monkeypatch):
    around_marks(monkeypatch, after=lambda: make_anew(plane))
    with pytest.raises(RemediationError, match="replace not tried: found another Machine of the name c1-one-0, expect"):
        go(plane, up_to="replace")
    assert ("Machine", "c1-one-0") in plane.objects and UNHEALTHY not in annotations(plane, "BareMetalHost", ILL)


@pytest.mark.parametrize("reason", [f"metal3.baremetal: Node not Ready: {KUBELET}", "broken"])
def test_a_run_whose_replacement_is_refused_leaves_the_mark_of_the_run_that_replaces(plane, monkeypatch, reason):
    """The other one has marked the host and deleted its Machine since this one has looked."""
    def mark():
        plane.objects["BareMetalHost", ILL]["metadata"].setdefault("annotations", {})[UNHEALTHY] = reason

    around_marks(monkeypatch, mark, lambda: make_anew(plane))
    with pytest.raises(RemediationError, match="replace not tried: found another Machine of the name c1-one-0, expect"):
        go(plane, up_to="replace")
    assert UNHEALTHY in annotations(plane, "BareMetalHost", ILL)


def replaced_first(monkeypatch, then):
    """Let something happen while the machines of the first cluster are replaced, which takes up to an hour."""
    replace = MachineActionService.run

    def act(self):
        result = replace(self)
        if self.params["cluster_name"] == "c1":
            then()
        return result

    monkeypatch.setattr(MachineActionService, "run", act)


def test_a_host_that_recovers_while_another_cluster_s_are_replaced_keeps_its_machine(plane, monkeypatch):
    other = add_second_cluster(plane)
    replaced_first(monkeypatch, lambda: set_ready(plane, "c2-one-0"))
    result = go(plane, ILL, other, up_to="replace", confirm="2")
    assert [item["tried"] for item in result["hosts"]] == [["reboot", "replace"], ["reboot"]]
    assert ("Machine", "c1-one-0") not in plane.objects and ("Machine", "c2-one-0") in plane.objects
    assert UNHEALTHY not in annotations(plane, "BareMetalHost", other)


def test_a_host_that_is_taken_while_another_cluster_s_are_replaced_keeps_its_machine(plane, monkeypatch):
    other = add_second_cluster(plane)
    replaced_first(monkeypatch, lambda: plane.objects["Machine", "c2-one-0"]["metadata"].update(uid="another"))
    with pytest.raises(RemediationError, match=r"1 host not brought back.*\n.*replace not tried: .*the one of before"):
        go(plane, ILL, other, up_to="replace", confirm="2")
    assert ("Machine", "c2-one-0") in plane.objects and UNHEALTHY not in annotations(plane, "BareMetalHost", other)


def test_a_replacement_that_is_refused_after_the_mark_leaves_none_and_goes_on_with_another_cluster(plane):
    """The host would be passed over for ever, and nothing would say why."""
    other = add_second_cluster(plane)
    lock = host_lock.value("RMA 4711", "2999-01-01T00:00:00Z")

    writes = []

    def note(resource, namespace, name, body, *arguments, **options):
        found = patch(resource, namespace, name, body, *arguments, **options)
        if (resource.kind, name) == ("BareMetalHost", ILL) and UNHEALTHY in str(body) and not writes:
            writes.append(body)
            plane.objects["BareMetalHost", ILL]["metadata"]["annotations"][host_lock.LOCKED] = lock
        return found

    patch, plane.patch = plane.patch, note
    with pytest.raises(RemediationError, match=f"(?s){ILL}.*replace not tried: .*RMA 4711"):
        go(plane, ILL, other, up_to="replace", confirm="2")
    assert writes and UNHEALTHY not in annotations(plane, "BareMetalHost", ILL)
    assert ("Machine", "c1-one-0") in plane.objects
    assert ("Machine", "c2-one-0") not in plane.objects and UNHEALTHY in annotations(plane, "BareMetalHost", other)


def test_both_clusters_machines_are_replaced_and_their_hosts_kept_from_machines(plane):
    other = add_second_cluster(plane)
    result = go(plane, ILL, other, up_to="replace", confirm="2")
    assert [item["helped"] for item in result["hosts"]] == ["replace", "replace"]
    assert ("Machine", "c2-one-0") not in plane.objects and UNHEALTHY in annotations(plane, "BareMetalHost", other)


def test_a_cluster_that_refuses_leaves_no_mark_on_the_hosts_of_another(plane, monkeypatch):
    other = add_second_cluster(plane)

    def refuse(self):
        raise RefusedError([])

    monkeypatch.setattr(MachineActionService, "run", refuse)
    with pytest.raises(RemediationError, match="2 hosts not brought back"):
        go(plane, ILL, other, up_to="replace", confirm="2")
    assert UNHEALTHY not in {**annotations(plane, "BareMetalHost", ILL), **annotations(plane, "BareMetalHost", other)}


@pytest.mark.parametrize("up_to", ["reboot", "replace"])
@pytest.mark.parametrize("change, text", [
    (make_anew, "found Machine c1-one-0 on it by now, expected the one of before"),
    (enrol_anew, "found another BareMetalHost of this name"),
    (lose_the_cluster, r"Remote connection down.*for which it is not"),
    (forget, "no such BareMetalHost"), (lock, 'locked until 2999-01-01T00:00:00Z: "RMA 4711"'),
    (maintain, "a host that is being maintained: fan"), (delete, "Machine c1-one-0, which is being deleted"),
    (remediate, r"Machine c1-one-0 with a remediation \(Reboot\)")])
def test_a_host_that_is_not_what_was_confirmed_any_more_is_left_alone(plane, change, text, up_to):
    hosts = two_ill(plane)

    def then(seconds):
        if 20 < seconds < 30:
            change(plane)
            set_error(plane, WELL)

    with pytest.raises(RemediationError, match=rf"{ILL}: Node not Ready: .*tried: nothing; reboot not tried: .*{text}"):
        go(plane, *hosts, up_to=up_to, then=then)
    assert REBOOT not in str(plane.objects.get(("BareMetalHost", ILL)))
    assert ("Machine", "c1-one-0") in plane.objects


def test_a_quorum_that_is_lost_meanwhile_keeps_a_machine(plane):
    """MachineActionService refused it with "nothing was changed", after a reboot."""
    set_ready(plane, "c1-control-plane-0", "False", KUBELET)

    def then(seconds):
        if seconds > 20:
            for position in range(2):
                plane.objects["Machine", f"c1-control-plane-{position}"]["status"]["conditions"].append(
                    {"type": "Ready", "status": "False"})
                plane.objects["Machine", f"c1-control-plane-{position}"]["status"]["conditions"].pop(0)

    with pytest.raises(RemediationError, match=r"tried: reboot; .*replace not tried: .*etcd must keep its quorum"):
        go(plane, PLANE, up_to="replace", then=then)
    assert ("Machine", "c1-control-plane-0") in plane.objects


def note_of_etcd(plane, name, kind, status, reason, message=""):
    plane.objects["Machine", name]["status"]["conditions"].append(
        {"type": kind, "status": status, "reason": reason, "message": message})


@pytest.mark.parametrize("kind, reason, message, text, steps", [
    ("EtcdPodHealthy", "PodFailed", "CrashLoopBackOff", "etcd member lost: its pod does not run (CrashLoopBackOff)",
     ["replace"]),
    ("EtcdPodHealthy", "PodDoesNotExist", "", "its pod does not run (PodDoesNotExist)", ["replace"]),
    ("EtcdMemberHealthy", "NotHealthy", "Etcd reports the cluster is composed by a, b, but the etcd member hosted on "
     "this Machine is not included", "the etcd member hosted on this Machine is not included", ["replace"]),
    ("EtcdMemberHealthy", "NotHealthy", "Etcd reports alarms: CORRUPT", "alarms: CORRUPT", ["replace"]),
    # What is wrong with all members is no better with another machine.
    ("EtcdMemberHealthy", "NotHealthy", "Etcd reports alarms: NOSPACE", "alarms: NOSPACE", []),
    ("EtcdMemberHealthy", "NotHealthy", "Etcd endpoint e reports errors: e", "reports errors", []),
    ("EtcdPodHealthy", "PodProvisioning", "Waiting for startup or readiness probes", "", [])])
def test_a_lost_etcd_member_is_named_and_replaced_without_a_reboot(plane, kind, reason, message, text, steps):
    note_of_etcd(plane, "c1-control-plane-0", kind, "False", reason, message)
    found = go(plane, PLANE, up_to="replace", check_mode=True)["hosts"][0]
    assert found["steps"] == steps and text in found["reason"]
    assert bool(found["reason"]) == bool(text)
    # Its kubelet may be silent for the same reason: its API server has no etcd.
    set_ready(plane, "c1-control-plane-0", "False", KUBELET)
    found = go(plane, PLANE, up_to="replace", check_mode=True)["hosts"][0]
    assert found["steps"] == (steps if text else ["reboot", "replace"])


def test_a_lost_etcd_member_is_replaced_after_confirmation_and_only_with_a_quorum(plane):
    note_of_etcd(plane, "c1-control-plane-0", "EtcdPodHealthy", "False", "PodFailed", "CrashLoopBackOff")
    with pytest.raises(RefusedError, match=r"etcd member lost: .*: replace; to continue"):
        go(plane, PLANE, up_to="replace", confirm=None)
    with pytest.raises(RemediationError, match=r"etcd member lost: .*tried: nothing"):
        go(plane, PLANE, up_to="reboot")
    note_of_etcd(plane, "c1-control-plane-1", "EtcdPodHealthy", "False", "PodFailed", "CrashLoopBackOff")
    with pytest.raises(RefusedError, match=r"1 other healthy machines of 3.*etcd must keep its quorum"):
        go(plane, PLANE, up_to="replace")
    plane.objects["Machine", "c1-control-plane-1"]["status"]["conditions"].pop()
    assert go(plane, PLANE, up_to="replace")["hosts"][0]["helped"] == "replace"
    assert ("Machine", "c1-control-plane-0") not in plane.objects


class Kubelets:
    """A workload cluster whose API server hands requests on to kubelets."""

    def __init__(self, *statuses, component="etcd", error=None):
        self.asked, self.error = [], error
        self.pods = {"kind": "PodList", "items": [{"metadata": {
            "namespace": "kube-system", "labels": {"component": component}}, "status": {"containerStatuses": [status]}}
            for status in statuses]}

    def request(self, method, path, **_options):
        self.asked.append((method, path))
        if self.error:
            raise self.error
        return self.pods

    @staticmethod
    def list(*_arguments, **_options):
        """Return no disruption budget."""
        return [], "1"


CRASHING = {"ready": False, "restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
BETWEEN = {"ready": False, "restartCount": 5, "state": {"running": {}}, "lastState": {"terminated": {"exitCode": 2}}}
REBOOTED = dict(BETWEEN, restartCount=1)
RUNNING = dict(BETWEEN, ready=True)


def silenced(plane, name="c1-control-plane-0"):
    """Let a kubelet be silent, so that Cluster API knows nothing of the pods beside it."""
    set_ready(plane, name, "Unknown", KUBELET)
    note_of_etcd(plane, name, "EtcdPodHealthy", "Unknown", "InspectionFailed", "Pod data might be stale")


@pytest.mark.parametrize("kubelets, text", [
    (Kubelets(CRASHING), "its pod does not run (CrashLoopBackOff, 2 restarts)"),
    (Kubelets(BETWEEN), "its pod does not run (CrashLoopBackOff, 5 restarts)"), (Kubelets(REBOOTED), ""),
    (Kubelets(RUNNING), ""), (Kubelets(), ""), (Kubelets(CRASHING, component="kube-apiserver"), ""),
    (Kubelets(error=KubeError("no route", 503)), ""), (None, "")])
def test_a_silent_kubelet_of_the_control_plane_is_asked_through_the_other_api_servers(plane, kubelets, text):
    silenced(plane)
    found = go(plane, PLANE, up_to="replace", check_mode=True, workload=lambda *_name: kubelets)["hosts"][0]
    assert found["steps"] == (["replace"] if text else ["reboot", "replace"])
    assert text in found["reason"] and found["reason"].startswith(f"Node not Ready: {KUBELET}")
    if kubelets:
        assert kubelets.asked == [("GET", "/api/v1/nodes/c1-control-plane-0/proxy/pods")]


def test_nobody_else_is_asked(plane):
    """Workers, kubelets that are well, and those whose etcd Cluster API knows to be lost."""
    kubelets = Kubelets(CRASHING)
    note_of_etcd(plane, "c1-control-plane-1", "EtcdPodHealthy", "False", "PodFailed", "CrashLoopBackOff")
    set_ready(plane, "c1-control-plane-1", "Unknown", KUBELET)
    for host in (ILL, PLANE, "host-of-c1-control-plane-1"):
        go(plane, host, up_to="replace", check_mode=True, workload=lambda *_name: kubelets)
    assert kubelets.asked == []


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), lambda inner: st.lists(
    inner, max_size=3) | st.dictionaries(st.sampled_from([
        "items", "metadata", "namespace", "labels", "component", "status", "containerStatuses", "restartCount", "state",
        "lastState", "terminated", "waiting", "exitCode"]), inner, max_size=4), max_leaves=12))
def test_whatever_a_kubelet_answers_is_no_traceback(answer):
    assert isinstance(crashing_etcd(answer), str)
    assert crashing_etcd({"items": [{"metadata": {"namespace": "kube-system", "labels": {"component": "etcd"}},
                                     "status": {"containerStatuses": [answer]}}]}) == "" or isinstance(answer, dict)


def test_a_silent_kubelet_whose_etcd_is_lost_is_replaced_without_a_reboot(plane):
    silenced(plane)
    result = go(plane, PLANE, up_to="replace", workload=lambda *_name: Kubelets(CRASHING))
    assert result["hosts"][0]["tried"] == ["replace"] and ("Machine", "c1-control-plane-0") not in plane.objects
    assert REBOOT not in annotations(plane, "BareMetalHost", PLANE)
    assert "etcd member lost" in annotations(plane, "BareMetalHost", PLANE)[UNHEALTHY]


def test_etcd_of_workers_and_of_machines_that_go_is_not_looked_at(plane):
    note_of_etcd(plane, "c1-one-1", "EtcdPodHealthy", "False", "PodFailed", "CrashLoopBackOff")
    assert go(plane, WELL, up_to="replace", confirm=None)["hosts"][0]["reason"] == ""
