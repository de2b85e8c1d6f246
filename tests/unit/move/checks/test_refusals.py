# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each check before a move violated one by one: it is named, and nothing is written on either side."""
from __future__ import annotations

import ast
import copy
import json
import os
import sys

import pytest
from fakes import refused_moves
from fakes.plane_server import definition
from fakes.planes import GATE_IS_OFF, MOVE, NAMESPACE, classes, obj
from fakes.refused_moves import attempt, ironic

from ansible_collections.metal3.baremetal.plugins.module_utils._common import bounded_run
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._elsewhere import asking
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks import rules as checks
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks.other_hosts import OtherHosts
from ansible_collections.metal3.baremetal.plugins.module_utils._move.handover import bmc_reach
from ansible_collections.metal3.baremetal.plugins.module_utils._move.rehearsal import operator as operator_rehearsal
from ansible_collections.metal3.baremetal.plugins.module_utils._move.rehearsal import service as rehearsal
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import (
    CLUSTERCTL_LABEL,
    MOVE_LABEL,
)

# Ports on which nothing listens.
CLOSED = "redfish+http://127.0.0.1:1/redfish/v1/Systems/1"


@pytest.fixture(autouse=True)
def versions(monkeypatch, here):
    """The versions of the parts, side → part → version, which a test may change."""
    return refused_moves.complete(monkeypatch, here)


def unlabelled(here, _there, _versions):
    del here.objects["CustomResourceDefinition", "hostfirmwaresettings.metal3.io"]["metadata"]["labels"][
        CLUSTERCTL_LABEL]


def without_its_label(here, _there, _versions):
    del here.objects["CustomResourceDefinition", "hardwaredata.metal3.io"]["metadata"]["labels"][MOVE_LABEL]


def in_transition(here, _there, _versions):
    here.objects["BareMetalHost", "used"]["status"]["provisioning"]["state"] = "deprovisioning"


def detached(here, _there, _versions):
    here.objects["BareMetalHost", "free"]["metadata"]["annotations"][host_annotations.DETACHED] = ""
    here.objects["BareMetalHost", "free"]["status"]["operationalStatus"] = "detached"


def reboots(here, _there, _versions):
    here.objects["BareMetalHost", "free"]["metadata"]["annotations"][host_annotations.REBOOT] = ""


def paused(here, _there, _versions):
    here.objects["BareMetalHost", "used"]["metadata"]["annotations"][host_annotations.PAUSED] = "by hand"


def paused_cluster(here, _there, _versions):
    here.objects["Cluster", "c"]["spec"]["paused"] = True


def machine_goes(here, _there, _versions):
    here.objects["Machine", "m"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"


def blocked(here, _there, _versions):
    here.objects["IPPool", "p"]["metadata"]["annotations"] = {checks.BLOCK: ""}


def owner_gone(here, _there, _versions):
    here.objects["HardwareData", "used"]["metadata"]["ownerReferences"] = [
        {"kind": "Machine", "name": "old", "uid": "x"}]


def older_operator(_here, _there, versions):
    versions["there"]["bmo"] = "v0.12.1"


def name_taken(_here, there, _versions):
    there.objects["BareMetalHost", "used"] = obj("metal3.io/v1alpha1", "BareMetalHost", "used")


def version_not_served(_here, there, _versions):
    there.objects["CustomResourceDefinition", "machines.cluster.x-k8s.io"]["spec"]["versions"][0]["name"] = "v1beta1"


def older_cluster_api(here, there, _versions):
    of_here, of_there = (side.objects["CustomResourceDefinition", "clusters.cluster.x-k8s.io"]["spec"]["versions"]
                         for side in (here, there))
    of_here[0]["name"] = "v1beta1"
    of_there.append({"name": "v1beta1", "served": True, "storage": False})


def may_not_create(_here, there, _versions):
    there.forbidden = frozenset(("create baremetalhosts", "create secrets"))


def may_not_delete(here, _there, _versions):
    here.forbidden = frozenset(("delete machines",))


def no_room(_here, there, _versions):
    there.objects["ResourceQuota", "few"] = obj(
        "v1", "ResourceQuota", "few", spec={"hard": {"count/secrets": "2", "limits.memory": "1Gi"}}, status={
            "used": {"count/secrets": "1"}})


def unreachable(here, _there, _versions):
    here.objects["BareMetalHost", "free"]["spec"]["bmc"]["address"] = CLOSED
    here.objects["BareMetalHost", "used"]["spec"]["bmc"] = {}


def firmware(here, there, _versions):
    for side in (here, there):
        item = copy.deepcopy(side.objects["CustomResourceDefinition", "hostfirmwaresettings.metal3.io"])
        item["metadata"]["name"] = "hostfirmwarecomponents.metal3.io"
        item["spec"]["names"] = {"plural": "hostfirmwarecomponents", "kind": "HostFirmwareComponents"}
        side.objects["CustomResourceDefinition", "hostfirmwarecomponents.metal3.io"] = item
    updates = [{"component": "bios", "url": "http://192.0.2.1/b"}]
    here.objects["HostFirmwareComponents", "used"] = obj(
        "metal3.io/v1alpha1", "HostFirmwareComponents", "used", ("BareMetalHost", "used"), spec={"updates": updates},
        status={"updates": updates})


def user_data_stays(here, _there, _versions):
    here.objects["BareMetalHost", "used"]["spec"]["userData"] = {"name": "unrelated", "namespace": NAMESPACE}
    here.objects["BareMetalHost", "free"]["spec"]["preprovisioningNetworkDataName"] = "unrelated"


def owner_of_credentials_stays(here, _there, _versions):
    """External Secrets and others make Secrets with an owner of their own, and clusterctl wants all owners to move."""
    here.logs_in = False
    here.objects["BareMetalHost", "free"]["spec"]["bmc"]["credentialsName"] = "free-bmc"
    here.objects["Secret", "free-bmc"]["metadata"]["ownerReferences"].append(
        {"kind": "ExternalSecret", "name": "free-bmc", "uid": "uid-of-another-kind"})


def host_of_another_namespace(here, _there, _versions):
    for name, namespace, status in (("apart", "rack2", {}), ("gone", "rack3", {"operationalStatus": "detached"})):
        status["provisioning"] = {"state": "available"}
        other = obj("metal3.io/v1alpha1", "BareMetalHost", name, spec={"bmc": {"address": "ipmi://192.0.2.77"}},
                    status=status)
        other["metadata"]["namespace"] = namespace
        here.objects["BareMetalHost", name] = other
    # The operator of this fake attaches what has no annotation.
    here.objects["BareMetalHost", "gone"]["metadata"]["annotations"] = {host_annotations.DETACHED: ""}


def may_not_stop_ironic(here, _there, _versions):
    here.objects["Deployment", "ironic"] = ironic(replicas=0)
    here.forbidden = frozenset(("patch deployments", "list pods"))


def may_not_start_ironic(_here, there, _versions):
    there.objects["Deployment", "ironic"] = ironic(replicas=0)
    there.objects["Node", "n"] = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {}, "status": {
        "allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"},
        "conditions": [{"type": "Ready", "status": "True"}]}}
    there.forbidden = frozenset(("patch deployments",))


def may_not_note(here, _there, _versions):
    """The record is created on both sides."""
    here.forbidden = frozenset(("create configmaps",))


def may_not_ask_in_ironics_pod(_here, there, _versions):
    running = ironic()
    running["status"] = {"availableReplicas": 1}
    there.objects["Deployment", "ironic"] = running
    there.forbidden = frozenset(("create pods/exec",))


def gate_is_off(here, there, _versions):
    classes(here, there, GATE_IS_OFF)


REFUSALS = {
    user_data_stays: "Secret unrelated: found one that would stay, and that hosts name: BareMetalHost free "
                     "(spec.preprovisioningNetworkDataName), BareMetalHost used (spec.userData.name), expected a "
                     "Secret that is moved with them; give it the label clusterctl.cluster.x-k8s.io/move, or an owner",
    owner_of_credentials_stays: "BareMetalHost free: spec.bmc.credentialsName: found Secret free-bmc, which would "
                                "stay: ExternalSecret free-bmc owns it, which does not move, expected a Secret that is "
                                "moved with the host; take its owner ExternalSecret free-bmc away, and give it the "
                                "label",
    host_of_another_namespace: "namespace metal3: found 1 hosts in other namespaces of the plane that lets go "
                               "(rack2/apart), whose Ironic would be stopped, expected all hosts of that plane",
    may_not_stop_ironic: "kubeconfig: found a user who may not patch deployments.apps, list pods, expected one who "
                         "may, in namespace "
                         "baremetal-operator-system of https://198.18.0.1:6443",
    may_not_start_ironic: "to_kubeconfig: found a user who may not patch deployments.apps, expected one who may, in "
                          "namespace baremetal-operator-system of https://198.18.0.2:6443",
    may_not_note: "kubeconfig: found a user who may not create configmaps, expected one who may",
    may_not_ask_in_ironics_pod: "to_kubeconfig: found a user who may not create pods/exec, expected one who may, in "
                                "namespace baremetal-operator-system",
    gate_is_off: "ClusterClass fast: topology: found a class that the plane refuses, expected Cluster API with its "
                 "feature gate ClusterTopology, which is off; set capi_cluster_topology: true for that plane and run",
    firmware: "HostFirmwareComponents used: spec.updates: found 1 updates, which would be flashed over there",
    unlabelled: "kind HostFirmwareSettings of metal3.io: found 1 objects that clusterctl does not look for",
    without_its_label: "CustomResourceDefinition hardwaredata.metal3.io: metadata.labels: found not the labels",
    in_transition: "BareMetalHost used: status.provisioning.state: found deprovisioning",
    detached: "BareMetalHost free: status.operationalStatus: found detached",
    reboots: "BareMetalHost free: metadata.annotations.reboot.metal3.io: found set",
    paused: 'BareMetalHost used: metadata.annotations.baremetalhost.metal3.io/paused: found "by hand"',
    paused_cluster: "Cluster c: spec.paused: found true",
    machine_goes: "Machine m: found being deleted",
    blocked: "IPPool p: metadata.annotations.clusterctl.cluster.x-k8s.io/block-move",
    owner_gone: "HardwareData used: metadata.ownerReferences: found Machine old",
    older_operator: "part bmo: version: found v0.12.1 over there (Deployment x/bmo), expected v0.13.2 as here",
    name_taken: "BareMetalHost used: found an object of this name over there",
    version_not_served: "kind Machine: versions: found v1beta1, expected v1beta2",
    older_cluster_api: "namespace metal3: found Cluster API that stores v1beta1, expected v1beta2",
    may_not_create: "to_kubeconfig: found a user who may not create secrets, create baremetalhosts.metal3.io, expected",
    may_not_delete: "kubeconfig: found a user who may not delete machines.cluster.x-k8s.io, expected one who may",
    no_room: "ResourceQuota few: spec.hard.count/secrets: found room for 1 over there, expected room for 3",
    unreachable: "BareMetalHost free: spec.bmc.address: found connection refused at 127.0.0.1:1/tcp, asked from this "
                 "machine",
}


OPTIONS = {unreachable: {"reach_from": "here"}, may_not_stop_ironic: {"former_ironic_deployment": "ironic"},
           may_not_ask_in_ironics_pod: {"reach_from": "auto"}}


def test_a_remediation_is_not_moved_since_it_would_begin_again_with_a_reboot(here, there):
    kind = definition("infrastructure.cluster.x-k8s.io", "metal3remediations", "Metal3Remediation", "v1beta1")
    kind["metadata"]["labels"] = MOVE
    for side in (here, there):
        side.objects["CustomResourceDefinition", "metal3remediations.infrastructure.cluster.x-k8s.io"] = kind
    item = obj("infrastructure.cluster.x-k8s.io/v1beta1", "Metal3Remediation", "m", ("Machine", "m"),
               status={"phase": "Waiting"})
    here.objects["Metal3Remediation", "m"] = item
    with pytest.raises(RefusedError, match=r"Metal3Remediation m: found a remediation that has not ended"):
        attempt(here, there)
    # CAPM3 leaves its finalizer on one whose Machine is gone.
    item["metadata"]["deletionTimestamp"] = "2026-11-24T00:00:00Z"
    assert attempt(here, there, check_mode=True)["due"]


@pytest.mark.parametrize("namespace", [NAMESPACE, "elsewhere"])
def test_a_server_that_another_host_has_over_there_is_not_moved(here, there, namespace):
    other = obj("metal3.io/v1alpha1", "BareMetalHost", "other", spec={"bmc": {"address": "redfish://192.0.2.2"}})
    other["metadata"]["namespace"] = namespace
    there.objects["BareMetalHost", "other"] = other
    with pytest.raises(RefusedError) as refused:
        attempt(here, there)
    assert [problem.actual for problem in refused.value.problems if problem.field == "spec.bmc.address"] == [
        f"ipmi://192.0.2.2, which the host {namespace}/other over there has, too"]
    other["spec"]["bmc"]["address"] = "redfish://192.0.2.3"
    assert attempt(here, there, check_mode=True)["due"]


def test_an_address_that_nobody_here_can_read_is_one_bmc_all_the_same():
    hosts = [obj("metal3.io/v1alpha1", "BareMetalHost", name, spec={"bmc": {"address": "vendor-x://192.0.2.2"}})
             for name in ("one", "two")]
    found = OtherHosts(hosts[:1], NAMESPACE, []).problems(hosts[1:])
    assert [problem.actual for problem in found] == [
        f"vendor-x://192.0.2.2, which the host {NAMESPACE}/one over there has, too"]
    assert OtherHosts(hosts[:1], NAMESPACE, ["one"]).problems(hosts[1:]) == []


@pytest.mark.parametrize("check_mode", [False, True], ids=["run", "check"])
@pytest.mark.parametrize("violate", REFUSALS, ids=lambda violate: violate.__name__)
def test_what_is_in_the_way_is_named_and_nothing_is_written(here, there, versions, violate, check_mode):
    violate(here, there, versions)
    before = copy.deepcopy((here.objects, there.objects))
    with pytest.raises(RefusedError) as refused:
        attempt(here, there, check_mode, **OPTIONS.get(violate, {}))
    assert REFUSALS[violate] in str(refused.value)
    assert len(refused.value.problems) == 1
    assert (here.objects, there.objects) == before


@pytest.mark.parametrize("has_namespace, error, warned", [
    (True, None, False), (False, None, False),
    (True, KubeError("ClusterClass fast: User u cannot create resource clusterclasses", 403), True),
    (True, KubeError("ClusterClass fast: no answer within 30 s"), True)],
    ids=["taken", "elsewhere", "forbidden", "lost"])
def test_a_class_is_tried_without_being_stored(here, there, has_namespace, error, warned):
    asked = classes(here, there, error)
    if not has_namespace:
        del there.objects["Namespace", NAMESPACE]
    result = attempt(here, there, check_mode=True)
    namespace = NAMESPACE if has_namespace else "default"
    assert asked == [(namespace, {"name": "fast", "namespace": namespace}, True)]
    words = " ".join(result["warnings"])
    assert ("lets in 1 of 11 objects was not found out: ClusterClass fast: " in words) is warned
    assert (f"namespace {NAMESPACE} is not at {there.server} yet" in words) is not has_namespace


def test_a_refusal_that_is_missing_fails_its_test_and_leaves_nothing_on_the_machine(here, there, monkeypatch):
    monkeypatch.setattr(os, "makedirs", lambda path, *_more, **_options: pytest.fail(f"created {path}"))
    with pytest.raises(AssertionError, match="clusterctl was run"):
        attempt(here, there)


def test_an_older_version_here_is_none_of_a_problem(here, there, versions):
    versions["here"].update(bmo="v0.12.1", capm3=None)
    versions["there"]["ipam"] = "v1.0.0"
    assert attempt(here, there, check_mode=True)["changed"]


@pytest.mark.parametrize(("quota", "used"), [
    ({"count/secrets": "4"}, {"count/secrets": "1"}), ({"pods": "0"}, {}), ({"count/secrets": "3"}, {}),
    ({"secrets": "1Gi"}, {})])
def test_a_quota_with_room_is_no_problem(here, there, quota, used):
    there.objects["ResourceQuota", "q"] = obj("v1", "ResourceQuota", "q", spec={"hard": quota}, status={"used": used})
    assert attempt(here, there, check_mode=True)["changed"]


@pytest.mark.parametrize("given, fields", [
    ({}, ["clusterctl"]), ({"clusterctl": "/c"}, []), ({"state": "undone"}, []),
    ({"rehearsal_operator": True}, ["clusterctl", "rehearsal_programs"]),
    ({"clusterctl": "/c", "rehearsal_operator": True, "rehearsal_programs": "/p"}, [])])
def test_options_that_others_need_are_required(given, fields):
    params = {"state": "moved", "clusterctl": None, "rehearsal_operator": False, "rehearsal_programs": None, **given}
    assert [problem.field for problem in checks.options(params)] == fields


def rehearsed(problems=(), warnings=(), **operated):
    def rehearse(*arguments, operate):
        rehearse.calls.append((*arguments, operate))
        return rehearsal.Outcome(list(problems), list(warnings), 10, 1.25, 300 * 1024 ** 2, **operated)
    rehearse.calls = []
    return rehearse


def test_what_a_rehearsal_has_shown_is_refused_before_anything_is_written(here, there):
    problem = rehearsal.Problem("rehearsal-changed", "BareMetalHost used", "spec.raid", "a field that would be lost",
                                "the same")
    before = copy.deepcopy((here.objects, there.objects))
    with pytest.raises(RefusedError, match=r"BareMetalHost used: spec\.raid: found a field that would be lost"):
        attempt(here, there, rehearse=rehearsed([problem]), rehearsal_programs="/programs")
    assert (here.objects, there.objects) == before


def test_a_rehearsal_that_goes_well_is_part_of_the_result(here, there):
    rehearse = rehearsed(warnings=["BareMetalHost used: would get spec.x over there"])
    result = attempt(here, there, True, rehearse, rehearsal_programs="/programs")
    assert result["rehearsal"] == {"objects": 10, "seconds": 1.2, "resident_mib": 300, "hosts": None, "operator": None}
    assert result["warnings"] == ["BareMetalHost used: would get spec.x over there"]
    assert attempt(here, there, True, rehearse)["rehearsal"] is None
    assert len(rehearse.calls) == 1 and rehearse.calls[0][-1] is None


@pytest.mark.parametrize("over_there, words", [
    ("v0.13.1", "the rehearsal's operator is v0.13.2, that over there v0.13.1 (Deployment "), ("v0.13.2", "")])
def test_an_operator_of_another_version_than_the_rehearsals_is_a_warning(here, there, versions, over_there, words):
    versions["here"]["bmo"] = versions["there"]["bmo"] = over_there
    rehearse = rehearsed(hosts=2, operator="v0.13.2")
    result = attempt(here, there, True, rehearse, rehearsal_programs="/programs", rehearsal_operator=True)
    assert (result["rehearsal"]["hosts"], result["rehearsal"]["operator"]) == (2, "v0.13.2")
    assert [warning[:len(words)] for warning in result["warnings"]] == ([words] if words else [])
    assert rehearse.calls[0][-1] is operator_rehearsal.operated


def test_what_is_refused_anyway_is_not_rehearsed(here, there, versions):
    in_transition(here, there, versions)
    rehearse = rehearsed()
    with pytest.raises(RefusedError, match="deprovisioning"):
        attempt(here, there, True, rehearse, rehearsal_programs="/programs")
    assert rehearse.calls == []


def host(address, name="h"):
    return {"metadata": {"name": name}, "spec": {"bmc": {"address": address}}}


def test_bmcs_are_asked_by_the_program_that_ironics_container_gets():
    """Run by this Python in place of the container's."""
    hosts = [host("ipmi://127.0.0.1:1"), host(CLOSED, "closed"), host("ipmi://no-such-name.invalid", "nowhere"),
             host("no address", "left-out"), host("ipmi://127.0.0.1:1", "same")]
    found = dict((problem.subject, problem.actual) for problem in bmc_reach.problems(
        hosts, asking.by_command([sys.executable, "-"], "the pod"))[0])
    assert sorted(found) == [f"BareMetalHost {name}" for name in ("closed", "h", "nowhere", "same")]
    assert found["BareMetalHost closed"] == "connection refused at 127.0.0.1:1/tcp, asked from the pod"
    assert found["BareMetalHost nowhere"].startswith("no address for that name at no-such-name.invalid:623/udp")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_pod_that_prints_without_an_end_is_left(monkeypatch, tmp_path, stream):
    """Who runs it decides what it prints."""
    monkeypatch.setattr(bounded_run, "_OUTPUT_BYTES", 100_000)
    pod = tmp_path / "pod.py"
    pod.write_text(f"import sys\nwhile True: sys.{stream}.write('x' * 1000)\n")
    found, (warning,) = bmc_reach.problems([host(CLOSED)], asking.by_command([sys.executable, str(pod)], "the pod"))
    assert found == [] and "OSError: it prints more than" in warning


def test_a_pod_that_says_nothing_is_left(monkeypatch):
    monkeypatch.setattr(asking, "LIMIT_SECONDS", 0.5)
    pod = [sys.executable, "-c", "import time; time.sleep(60)"]
    found, (warning,) = bmc_reach.problems([host(CLOSED)], asking.by_command(pod, "the pod"))
    assert found == [] and "TimeoutExpired" in warning


def test_an_address_is_no_part_of_the_program():
    given = []

    def run(program):
        given.append(program.decode())
        return asking.from_here().run(program)

    hosts = [host("redfish+http://127.0.0.1:1/')+exit(3)+('")]
    found, warnings = bmc_reach.problems(hosts, asking.Asked(run, "this machine"))
    assert warnings == [] and "exit" not in given[0].rpartition("main(")[2]
    assert [problem.subject for problem in found] == ["BareMetalHost h"]


@pytest.mark.parametrize(("code", "output"), [
    (1, b""), (0, b""), (0, b"[]"), (0, b"{}"), (0, b'[""]'), (1, b'[{"reached": true}]'), (0, b"\xff")])
def test_a_pod_that_cannot_be_asked_is_a_warning(code, output):
    asked = asking.Asked(lambda _program: asking.Printed(output, b"error: \033[31munable to upgrade\n", code),
                         "Deployment n/ironic")
    found, (warning,) = bmc_reach.problems([host(CLOSED)], asked)
    assert found == [] and "was not asked from Deployment n/ironic" in warning and "unable to upgrade" in warning
    assert "\033" not in warning


def test_nobody_is_asked_without_a_pod_of_ironic(here, there):
    result = attempt(here, there, True, reach_from="auto")
    assert "was not asked: no Deployment baremetal-operator-system/ironic" in result["warnings"][0]
    there.objects["Deployment", "ironic"] = obj(
        "apps/v1", "Deployment", "ironic", status={"availableReplicas": 1}, spec={"template": {"spec": {
            "containers": [{"name": "ironic", "image": "quay.io/metal3-io/ironic:v1"}]}}})
    result = attempt(here, there, True, reach_from="auto")
    name = "Deployment baremetal-operator-system/ironic"
    assert f"was not asked from {name}: {name}: found no pod that runs" in result["warnings"][0]


def test_answers_are_matched_with_their_hosts():
    def run(program):
        literal = program.decode().rpartition("json.loads(")[2].rpartition("))")[0]
        questions = json.loads(ast.literal_eval(literal))
        return asking.Printed(json.dumps([{"reached": not question[1].endswith(".2"), "words": "no answer within 5 s"}
                                          for question in questions]).encode(), b"", 0)

    found, _warnings = bmc_reach.problems([host("ipmi://192.0.2.1", "one"), host("ipmi://192.0.2.2", "two")],
                                          asking.Asked(run, "this machine"))
    assert [problem.subject for problem in found] == ["BareMetalHost two"]
