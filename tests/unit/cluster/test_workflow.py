# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One cluster is taken through the 15 steps of the deployment workflow, object by object, as its controllers do."""
from __future__ import annotations

from types import SimpleNamespace

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting import failures as workflow_failures
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting import service as cluster_wait
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import (
    goals as workflow_goals,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import (
    snapshot as workflow_snapshot,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import (
    steps as workflow_steps,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import (
    tree as workflow_tree,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts import formats
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_loop import Step
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state.host_errors import HostErrors

T0 = "2026-01-01T00:00:00Z"
LABELS = {"cluster.x-k8s.io/cluster-name": "c1"}
NOW = formats.moment("2026-01-01T01:00:00Z")


def obj(kind, name, spec=None, status=None, labels=None, owner=None, **metadata):
    metadata.update(name=name, creationTimestamp=T0, labels=dict(LABELS, **(labels or {})))
    if owner:
        metadata["ownerReferences"] = [{"kind": owner[0], "name": owner[1]}]
    return {"kind": kind, "metadata": metadata, "spec": spec or {}, "status": status or {}}


def conditions(**entries):
    return [{"type": kind, "status": value[0], "message": value[1], "reason": "R", "lastTransitionTime": T0}
            for kind, value in entries.items()]


class Story:
    """The objects of a cluster with one control plane machine and one worker, at the beginning."""

    def __init__(self):
        self.cluster = obj("Cluster", "c1", {"infrastructureRef": {"name": "c1"},
                                             "controlPlaneRef": {"name": "c1-control-plane"}})
        self.infrastructure = obj("Metal3Cluster", "c1")
        self.plane = obj("KubeadmControlPlane", "c1-control-plane", {"replicas": 1})
        self.pool = obj("MachineDeployment", "c1-pool", {"replicas": 1})
        self.host = obj("BareMetalHost", "host-1", {}, {"provisioning": {"state": "available"}})
        self.spare = obj("BareMetalHost", "host-2", {}, {"provisioning": {"state": "available"}})
        self.more = []

    def snapshot(self):
        return workflow_snapshot.Snapshot(self.objects(), "c1")

    def objects(self):
        items = [self.cluster, self.infrastructure, self.plane, self.pool, self.host, self.spare] + self.more
        objects = {}
        for item in items:
            objects.setdefault(item["kind"], []).append(item)
        return objects

    def step(self):
        """The control plane's machine, made or not."""
        return workflow_steps.machine_steps(self.snapshot())[0]

    # Each method is what one controller does next.
    def s1_owner(self):
        self.infrastructure["metadata"]["ownerReferences"] = [{"kind": "Cluster", "name": "c1"}]

    def s2_endpoint(self):
        self.infrastructure["status"]["initialization"] = {"provisioned": True}

    def s3_infrastructure(self):
        self.cluster["status"]["initialization"] = {"infrastructureProvisioned": True}

    def s4_plane_owner(self):
        self.plane["metadata"]["ownerReferences"] = [{"kind": "Cluster", "name": "c1"}]

    def s5_machine(self):
        self.machine = obj("Machine", "c1-control-plane-x", {
            "bootstrap": {"configRef": {"name": "x"}}, "infrastructureRef": {"name": "x"}},
            labels={"cluster.x-k8s.io/control-plane": ""})
        self.metal3_machine = obj("Metal3Machine", "x", {"dataTemplate": {"name": "t"}})
        self.config = obj("KubeadmConfig", "x")
        self.more += [self.machine, self.metal3_machine, self.config]

    def s6_user_data(self):
        self.config["status"]["dataSecretName"] = "x"

    def s7_handed_over(self):
        self.machine["spec"]["bootstrap"]["dataSecretName"] = "x"

    def s8_host(self):
        self.metal3_machine["metadata"]["annotations"] = {"metal3.io/BareMetalHost": "metal3/host-1"}

    def s9_claim(self):
        self.claim = obj("Metal3DataClaim", "x", status={"renderedData": {"name": "t-0"}})
        self.data = obj("Metal3Data", "t-0")
        self.more += [self.claim, self.data]

    def s10_data(self):
        self.data["status"]["ready"] = True

    def s11_host_written(self):
        self.host["spec"].update(consumerRef={"kind": "Metal3Machine", "name": "x"}, image={"url": "u"})

    def s12_deployed(self):
        self.host["status"].update(provisioning={"state": "provisioned"}, operationHistory={"provision": {"end": T0}})

    def s13_node_found(self):
        self.machine["status"]["initialization"] = {"infrastructureProvisioned": True}

    def s14_linked(self):
        self.machine["status"]["nodeRef"] = {"name": "node-1"}

    def s15_ready(self):
        self.machine["status"]["conditions"] = conditions(Ready=("True", ""))

    def until(self, number):
        """Play the story up to the point where the machine is at a step."""
        acts = sorted((name for name in dir(self) if name[0] == "s" and name[1].isdigit()),
                      key=lambda name: int(name[1:].split("_")[0]))
        for name in acts[:number - 1]:
            getattr(self, name)()
        return self


WAITS = {
    1: "an ownerReference on Metal3Cluster c1", 2: "Metal3Cluster c1 to be ready",
    3: "Cluster's infrastructureProvisioned", 4: "an ownerReference on KubeadmControlPlane c1-control-plane",
    5: "KubeadmControlPlane to make the Machine", 6: "user data from KubeadmConfig x",
    7: "Cluster API to copy the Secret's name", 8: "a BareMetalHost that matches its selector",
    9: "a Metal3DataClaim x", 10: "the Secrets of Metal3Data t-0", 11: "BareMetalHost host-1 to be written",
    12: "host host-1, in state available", 13: "a Node with the label metal3.io/uuid of its host",
    14: "a Node with providerID None", 15: "the node to be ready",
}


@pytest.mark.parametrize("number", sorted(WAITS))
def test_each_step_is_recognised_and_says_what_it_waits_for(number):
    step = Story().until(number).step()
    assert (step["step"], step["waits_for"], step["complete"]) == (number, WAITS[number], False)
    assert step["title"] == workflow_steps.STEPS[number]


def test_after_the_last_step_a_machine_is_complete():
    step = Story().until(16).step()
    assert (step["step"], step["complete"], step["node"], step["host"]) == (15, True, "node-1", "host-1")


def test_since_is_the_time_of_the_condition_that_tells():
    story = Story().until(8)
    story.metal3_machine["status"]["conditions"] = [
        {"type": "AssociateBareMetalHost", "status": "False", "lastTransitionTime": "2026-01-01T00:10:00Z",
         "message": "no available host found. Requeuing"}]
    step = story.step()
    assert (step["since"], step["waits_for"]) == ("2026-01-01T00:10:00Z", "no available host found. Requeuing")


def test_a_host_counts_from_its_consumer_reference_on():
    """CAPM3 writes the Metal3Machine's annotation after it."""
    story = Story().until(8)
    story.host["spec"]["consumerRef"] = {"kind": "Metal3Machine", "name": "x"}
    assert (story.step()["step"], story.step()["host"]) == (9, "host-1")
    story.host["spec"]["consumerRef"]["kind"] = "Somebody"
    assert (story.step()["step"], story.step()["host"]) == (8, None)
    story.metal3_machine["metadata"]["annotations"] = {"metal3.io/BareMetalHost": "metal3/host-2"}
    story.host["spec"]["consumerRef"]["kind"] = "Metal3Machine"
    assert story.step()["host"] == "host-2"


def test_a_time_of_others_that_python_can_not_read_ends_no_run():
    """API servers take the year 0."""
    story = Story().until(5)
    story.plane["status"]["conditions"] = [
        {"type": "ScalingUp", "status": "True", "lastTransitionTime": "0000-01-01T00:00:00Z", "message": "soon"}]
    assert workflow_steps.step_text(story.step(), NOW) == f"step 5 of 15, {workflow_steps.STEPS[5]}"


def test_machines_that_others_want_by_the_million_fill_no_memory():
    story = Story().until(12)
    story.plane["spec"]["replicas"] = 10 ** 6
    steps = workflow_steps.machine_steps(story.snapshot())
    assert len([step for step in steps if step["role"] == "control-plane"]) == 5001


def test_a_worker_waits_for_the_control_plane():
    worker = workflow_steps.machine_steps(Story().until(8).snapshot())[1]
    assert (worker["machine"], worker["owner"], worker["step"]) == (None, "c1-pool", 5)
    assert worker["waits_for"] == "the first control plane machine"


def test_further_control_plane_machines_wait_for_their_turn():
    story = Story().until(12)
    story.plane["spec"]["replicas"] = 3
    steps = workflow_steps.machine_steps(story.snapshot())
    assert [step["step"] for step in steps[:3]] == [12, 15, 15]
    assert "one after the other" in steps[1]["waits_for"]


def test_a_pool_that_gives_no_address_is_named_and_ends_the_wait():
    story = Story().until(10)
    claim = obj("IPClaim", "t-0-prov", {"pool": {"name": "prov"}}, {"errorMessage": "Exhausted IP Pools"},
                owner=("Metal3Data", "t-0"))
    story.more.append(claim)
    assert story.step()["waits_for"] == "an address of pool prov (Exhausted IP Pools)"
    failure = workflow_failures.failures(story.snapshot(), NOW, 900)[0]
    assert failure.subject == "IPClaim t-0-prov" and "Exhausted IP Pools" in failure.cause


def test_a_claim_that_capm3_does_not_know_yet_ends_the_wait_only_when_it_lasts():
    story = Story().until(10)
    story.more = [item for item in story.more if item["kind"] != "IPClaim"]
    data = next(item for item in story.snapshot().all("Metal3Data"))
    data.setdefault("status", {})["errorMessage"] = "Failed to create secrets: pool not found in cache"
    begun = formats.moment(T0)
    for seconds, named in ((workflow_failures.GRACE_SECONDS + 1, False), (workflow_failures.NOT_YET_SECONDS + 1, True)):
        found = workflow_failures.failures(story.snapshot(), begun + seconds, 900)
        assert [failure.subject for failure in found] == (["Metal3Data t-0"] if named else []), seconds


def failures(story, now=NOW, limit=900):
    return workflow_failures.failures(story.snapshot(), now, limit)


def test_a_wait_goes_on_while_the_story_goes_on():
    for number in range(1, 13):
        assert failures(Story().until(number)) == [], number


@pytest.mark.parametrize("paused, expected", [(True, ["Cluster c1"]), (False, []), (None, [])])
def test_a_paused_cluster_is_not_waited_for(paused, expected):
    story = Story().until(8)
    story.cluster["spec"]["paused"] = paused
    assert [failure.subject for failure in failures(story, formats.moment(T0) + 5)] == expected


def test_no_host_that_matches():
    story = Story().until(8)
    story.metal3_machine["spec"]["hostSelector"] = {"matchLabels": {"rack": "r9"}}
    assert failures(story, formats.moment(T0) + 5) == []
    failure = failures(story)[0]
    assert failure.subject == "Metal3Machine x"
    assert failure.cause == "no host matches its selector, of 2 in the namespace"


@pytest.mark.parametrize("annotations, operational, cause, shown", [
    ({"baremetalhost.metal3.io/paused": "an operator"}, "OK", "it is paused by an operator", "which is paused"),
    ({"baremetalhost.metal3.io/paused": ""}, "error", "it is paused, so", "which is paused"),
    ({"baremetalhost.metal3.io/paused": "metal3.io/capm3"}, "OK", None, "which is paused"),
    ({"baremetalhost.metal3.io/detached": ""}, "detached", "it is detached", "which is detached"),
    ({}, "OK", None, "in state"),
])
def test_a_host_that_bmo_leaves_alone_ends_the_wait(annotations, operational, cause, shown):
    story = Story().until(12)
    story.host["metadata"].update(annotations=annotations)
    story.host["status"]["operationalStatus"] = operational
    assert shown in story.step()["waits_for"]
    assert failures(story, formats.moment(T0) + 5) == []
    found = failures(story)
    assert [(failure.subject, cause in failure.cause) for failure in found] == (
        [("BareMetalHost host-1", True)] if cause else [])


REPLACED = "replace Machine c1-control-plane-x (playbook machine_action, machine_action=replace)"


@pytest.mark.parametrize("number", [9, 10, 11, 12, 13, 14, 15])
def test_a_host_that_is_being_deleted_ends_the_wait(number):
    story = Story().until(number)
    story.host["metadata"].update(deletionTimestamp=T0, finalizers=["f"])
    assert failures(story, formats.moment(T0) + 5) == []
    failure, = failures(story)
    assert failure.subject == "BareMetalHost host-1" and REPLACED in failure.next_step
    assert failure.cause == (f"it is being deleted since {T0}, held by f: Machine c1-control-plane-x loses its server, "
                             "and CAPM3 gives it no other one")


@pytest.mark.parametrize("number", [9, 12, 13, 15, 16])
def test_a_host_that_was_deleted_ends_the_wait_though_another_one_is_free(number):
    story = Story().until(number)
    story.host["metadata"]["name"] = "host-3"
    story.host["spec"] = {}
    assert story.step()["waits_for"] == "BareMetalHost host-1, which it was given and which was deleted"
    failure, = failures(story)
    assert failure.subject == "BareMetalHost host-1"
    assert failure.cause == "it was deleted, and CAPM3 gives Machine c1-control-plane-x, which had it, no other one"
    assert failure.next_step == (
        f"{REPLACED}, so that its owner makes another one on a free host; or enrol the host again by the same name "
        "(playbook enroll): CAPM3 deploys it then")


def test_a_deleted_host_of_a_machine_without_owner_is_another_ones_to_describe():
    story = Story().until(12)
    del story.machine["metadata"]["labels"]["cluster.x-k8s.io/control-plane"]
    story.host["metadata"]["name"] = "host-3"
    assert "state: absent" in next(failure for failure in failures(story) if "host-1" in failure.subject).next_step


@pytest.mark.parametrize("change", [
    # The machine goes as well; the host that it was given is in another namespace, of which nothing is read.
    lambda story: story.machine["metadata"].update(deletionTimestamp=T0),
    lambda story: story.metal3_machine["metadata"].update(namespace="other"),
])
def test_a_host_that_is_not_there_ends_no_wait_where_it_is_not_missing(change):
    story = Story().until(12)
    story.host["metadata"]["name"] = "host-3"
    change(story)
    assert failures(story) == []


def test_hosts_that_are_kept_for_others_end_the_wait():
    story = Story().until(8)
    reuse = "infrastructure.cluster.x-k8s.io/node-reuse"
    story.host["metadata"]["labels"][reuse] = story.spare["metadata"]["labels"][reuse] = "cp-c1-control-plane"
    assert failures(story) == []
    story.host["metadata"]["labels"][reuse] = story.spare["metadata"]["labels"][reuse] = "cp-c2-control-plane"
    assert "host-1 is kept for cp-c2-control-plane (label" in failures(story)[0].cause


def test_no_host_that_is_free_tells_why_each_is_not():
    story = Story().until(8)
    story.host["spec"]["consumerRef"] = {"kind": "Metal3Machine", "name": "other"}
    story.spare["status"].update(operationalStatus="error", errorMessage="disk broken")
    failure = failures(story)[0]
    assert "host-1 is in use by Metal3Machine other; host-2 is in error: disk broken" in failure.cause


def test_hosts_that_will_be_free_are_waited_for():
    story = Story().until(8)
    story.host["status"]["provisioning"]["state"] = "inspecting"
    story.spare["spec"]["consumerRef"] = {"kind": "x", "name": "other"}
    assert failures(story) == []
    story.host["status"]["provisioning"]["state"] = "provisioned"
    assert len(failures(story)) == 1
    story.more.append(obj("Machine", "leaving", {"bootstrap": {}}, deletionTimestamp=T0))
    assert failures(story) == []


def test_a_wrong_checksum_ends_the_wait_at_once_and_a_silent_bmc_after_some_errors():
    story = Story().until(12)
    story.host["status"].update(operationalStatus="error", errorType="provisioning error", errorCount=1,
                                errorMessage="Image provisioning failed: checksum mismatch")
    failure = failures(story)[0]
    assert failure.subject == "BareMetalHost host-1" and "checksum" in failure.cause
    story.host["status"].update(errorMessage="Connection refused")
    assert failures(story) == []
    story.host["status"].update(errorCount=3)
    assert len(failures(story)) == 1


def ended_by(monkeypatch, story, *looks):
    """Return what ends a wait for a cluster through looks at its host, each an error count and whether it is in error.

    :returns: the text, and how many looks it took
    """
    seen = []

    def steps(*_arguments, **_options):
        for count, is_in_error in looks:
            seen.append(count)
            story.host["status"].update(
                operationalStatus="error" if is_in_error else "OK", errorCount=count,
                errorType="provisioning error" if is_in_error else "",
                errorMessage="Connection refused" if is_in_error else "")
            objects = dict((kind, dict((item["metadata"]["name"], item) for item in items))
                           for kind, items in story.objects().items())
            yield Step(objects, {("BareMetalHost", "host-1")}, None, None, True)

    monkeypatch.setattr(cluster_wait, "follow_kinds", steps)
    with pytest.raises(cluster_wait.WaitFailedError) as caught:
        cluster_wait.ClusterWait(SimpleNamespace(server="here"), "metal3", "c1", 1000, Progress(None),
                                 clock=lambda: 0, wall_clock=lambda: NOW).until("available", 900)
    return str(caught.value), len(seen)


@pytest.mark.parametrize("looks, number", [
    # Between two attempts, or during the last error of before: the next error is the first one of the wait.
    ([(5, False), (6, True), (6, False), (7, True), (7, False), (8, True), (8, True)], 6),
    ([(5, True), (5, False), (6, True), (6, False), (7, True), (7, False), (8, True), (8, True)], 7),
    # A step was done.
    ([(5, False), (0, False), (3, True), (3, True)], 3),
    ([(0, False), (3, True), (3, True)], 2)])
def test_errors_of_a_host_from_before_a_wait_for_a_cluster_do_not_count(monkeypatch, looks, number):
    """BMO's count goes on over its attempts: the first error of a run on a corrected description ended the wait."""
    text, taken = ended_by(monkeypatch, Story().until(12), *looks)
    assert "BareMetalHost host-1" in text and "can't become ready" in text and taken == number


def test_errors_of_a_host_from_before_a_deprovisioning_do_not_count():
    """BMO begins to deprovision with the count of the deployment that has failed."""
    def host(count, message="no route to the BMC"):
        return obj("BareMetalHost", "h", status={
            "errorCount": count, "errorMessage": message, "errorType": "provisioning error" if message else "",
            "operationalStatus": "error" if message else "OK"})

    errors = HostErrors([host(5, "image is larger than the disk")])
    for count, is_end in ((6, False), (7, False), (8, True)):
        found = workflow_failures.not_deprovisioned([host(count)], {"h"}, errors, 1)
        assert (found is not None) is is_end, count
    errors = HostErrors([host(5)])
    for seconds in (1, workflow_failures.OLD_FAILURE_SECONDS):
        assert (workflow_failures.not_deprovisioned([host(5)], {"h"}, errors, seconds) is not None) is (seconds > 1)


def test_a_control_plane_machine_that_is_older_than_the_description_is_to_be_deleted():
    """KubeadmControlPlane replaces no machine while one has no Node, so the corrected description has no effect."""
    story = Story().until(12)
    story.host["status"].update(operationalStatus="error", errorType="provisioning error", errorCount=1,
                                errorMessage="Image provisioning failed: checksum mismatch")
    story.machine["status"]["conditions"] = conditions(UpToDate=("True", ""))
    assert "delete" not in failures(story)[0].next_step
    story.machine["status"]["conditions"] = conditions(UpToDate=("False", "* Metal3Machine is not up-to-date"))
    failure = failures(story)[0]
    assert failure.next_step == (
        "correct image.checksum and image.checksum_type, or the image on the server; Machine c1-control-plane-x is "
        "older than the description, and KubeadmControlPlane c1-control-plane replaces none while one has no Node: "
        "when the description is right, delete that Machine")


def test_bootstrap_that_can_not_begin_or_never_ends():
    story = Story().until(6)
    story.config["status"]["deprecated"] = {"v1beta1": {"conditions": [
        {"type": "DataSecretAvailable", "status": "False", "reason": "DataSecretGenerationFailed",
         "message": "no secret"}]}}
    assert failures(story)[0].cause == "the user data can't be made: no secret"
    story = Story().until(13)
    assert failures(story, formats.moment(T0) + 899) == []
    assert "bootstrap failed" in failures(story)[0].cause
    assert failures(story, limit=0) == []


def test_a_node_that_waits_for_its_cloud_controller_is_no_failed_bootstrap():
    story = Story().until(13)
    story.infrastructure["spec"]["cloudProviderEnabled"] = True
    step, = [item for item in workflow_steps.machine_steps(story.snapshot()) if item["host"]]
    assert step["waits_for"] == "a Node with the provider ID that a cloud controller gives it"
    failure = failures(story)[0]
    assert "cloud_provider_enabled" in failure.cause and "cloud controller" in failure.next_step


def test_a_node_that_has_joined_again_without_its_provider_id_is_named():
    """CAPM3 links a machine's Node once, so that the wait would go on to its end."""
    story = Story().until(15)
    story.machine["spec"]["providerID"] = "metal3://m/host-1/x"
    story.machine["status"]["conditions"] = [
        dict(item, reason="NodeDeleted") for item in conditions(Ready=("False", ""), NodeHealthy=("False", "deleted"))]
    assert failures(story, formats.moment(T0) + workflow_failures.OLD_FAILURE_SECONDS - 1) == []
    failure, = failures(story)
    assert failure.subject == f"Machine {story.machine['metadata']['name']}"
    assert failure.cause == "Node node-1 was deleted, and no other one has the providerID metal3://m/host-1/x"
    assert "spec.providerID" in failure.next_step and "delete the Machine" in failure.next_step
    # What replaces it is under way.
    story.machine["metadata"]["deletionTimestamp"] = T0
    assert failures(story) == []


def test_goals_are_reached_one_after_the_other():
    story = Story().until(16)
    assert workflow_goals.missing(story.snapshot(), "initialized") == "the control plane is not initialized"
    story.cluster["status"]["initialization"]["controlPlaneInitialized"] = True
    assert workflow_goals.missing(story.snapshot(), "initialized") is None
    story.pool["spec"]["replicas"] = 0
    assert workflow_goals.missing(story.snapshot(), "nodes") == (
        "KubeadmControlPlane c1-control-plane: upToDateReplicas is 0 of 1")
    story.plane["status"].update(upToDateReplicas=1)
    assert workflow_goals.missing(story.snapshot(), "nodes") is None
    assert "readyReplicas is 0 of 1" in workflow_goals.missing(story.snapshot(), "available")
    story.plane["status"].update(readyReplicas=1, availableReplicas=1)
    story.cluster["status"]["conditions"] = conditions(Available=("False", "why not"))
    assert workflow_goals.missing(story.snapshot(), "available") == "the Cluster is not Available: why not"
    story.cluster["status"]["conditions"] = conditions(Available=("True", ""))
    assert workflow_goals.missing(story.snapshot(), "available") is None


def test_a_change_that_no_controller_has_seen_is_not_taken_for_done():
    story = Story().until(16)
    story.cluster["status"]["initialization"]["controlPlaneInitialized"] = True
    story.plane["metadata"]["generation"] = 2
    assert "is not observed yet" in workflow_goals.missing(story.snapshot(), "nodes")


def test_progress_counts_and_changes_name():
    story = Story().until(12)
    assert workflow_goals.progress(story.snapshot(), 0)[0].startswith(
        "cluster c1: 0/2 machines complete, 1 at step 5 of 15")
    before = workflow_steps.machine_steps(story.snapshot())
    assert workflow_goals.changes(before, before) == []
    story.s12_deployed()
    after = workflow_steps.machine_steps(story.snapshot())
    assert workflow_goals.changes(before, after) == [
        "c1-control-plane-x (host host-1): step 13 of 15, the machine boots and joins, and CAPM3 finds its Node; "
        "waits for a Node with the label metal3.io/uuid of its host"]


def test_progress_says_where_the_server_of_the_slowest_machine_is():
    story = Story().until(12)
    asked = []

    def phase(bmh, seconds):
        asked.append((bmh["metadata"]["name"], seconds >= 0))
        return "the agent is at write_image"

    now = 4e9
    assert workflow_goals.progress(story.snapshot(), now, phase)[1].endswith(
        "waits for host host-1, in state available (the agent is at write_image)")
    assert asked == [("host-1", True)]
    assert workflow_goals.progress(story.snapshot(), now)[1].endswith("in state available")
    # Once BMO is done, Ironic is not.
    story.s12_deployed()
    assert "write_image" not in workflow_goals.progress(story.snapshot(), now, phase)[1]


def test_an_error_of_a_host_is_reported_when_it_occurs():
    story = Story().until(12)
    before = workflow_steps.machine_steps(story.snapshot())
    story.host["status"].update(operationalStatus="error", errorMessage="no\n disk")
    after = workflow_steps.machine_steps(story.snapshot())
    assert workflow_goals.changes(before, after) == ["c1-control-plane-x (host host-1): error: no disk"]
    assert workflow_goals.changes(after, after) == []


def test_the_tree_goes_from_the_cluster_to_the_node():
    story = Story().until(16)
    text = "\n".join(workflow_tree.lines(workflow_tree.tree(story.snapshot())))
    assert text == """\
Cluster c1
├─ Metal3Cluster c1
├─ KubeadmControlPlane c1-control-plane: 0/1 ready
│  └─ Machine c1-control-plane-x: complete
│     ├─ KubeadmConfig x
│     ├─ Metal3Machine x
│     │  └─ BareMetalHost host-1: provisioned, off
│     └─ Node node-1
└─ MachineDeployment c1-pool: 0/1 ready"""


def test_a_machine_that_is_remediated_is_not_complete():
    story = Story().until(16)
    story.more.append(obj("Metal3Remediation", "c1-control-plane-x", spec={"strategy": {
        "type": "Reboot", "retryLimit": 2}}, status={"phase": "Waiting", "retryCount": 1},
        annotations={"cluster.x-k8s.io/cloned-from-name": "c1-control-plane"}))
    step = story.step()
    text = "remediation (Reboot), phase Waiting, 1 of 2 further tries"
    assert not step["complete"] and step["waits_for"] == text
    assert f"└─ Metal3Remediation c1-control-plane-x: {text}" in "\n".join(
        workflow_tree.lines(workflow_tree.tree(story.snapshot()))).replace("├─", "└─")
    story.more[-1]["status"] = {"phase": "Deleting machine", "retryCount": 2}
    assert story.step()["waits_for"].endswith("run the playbook remediate with remediate=replace")
    story.more[-1]["status"] = story.more[-1]["spec"] = {}
    assert story.step()["waits_for"] == "remediation (Reboot), phase (none yet), 0 of 0 further tries"


def test_a_remediation_of_another_name_is_its_owner_s():
    """Made by hand; CAPM3 goes by the owner reference, and nobody deletes it."""
    story = Story().until(16)
    story.more.append(obj("Metal3Remediation", "by-hand", spec={"strategy": {"type": "Reboot", "retryLimit": 1}},
                          status={"phase": "Waiting"}, owner=("Machine", "c1-control-plane-x")))
    by_hand, waits_for = story.more[-1], story.step()["waits_for"]
    assert "0 of 1 further tries; Metal3Remediation by-hand is of no health check: delete it" in waits_for
    story.more.append(obj("Metal3Remediation", "a-former", status={"phase": "Deleting machine"},
                          owner=("Machine", "c1-control-plane-x")))
    assert story.step()["waits_for"] == waits_for, "one that has ended tells less"
    by_hand["metadata"]["ownerReferences"][0]["name"] = "another"
    assert story.step()["waits_for"].endswith("run the playbook remediate with remediate=replace")
    story.more.pop()
    assert story.step()["complete"]
