# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rollout whose new machine does not come is stopped, goes on with another description, or goes back."""
from __future__ import annotations

import json

import pytest
from fakes.cluster_wait import Waits
from fakes.clusters import OTHER_IMAGE, Plane, run, service_of
from fakes.progress import Reports
from fakes.rollouts import (
    BAD,
    GOOD,
    NOTE,
    PAUSED,
    PLANE,
    POOL,
    SET,
    WORKERS,
    hold,
    made,
    marks,
    name_templates,
    new_machine,
)
from fakes.topology import ready_by_class, run_class

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.lifecycle import run as cluster_run
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.lifecycle import stopping
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.machines.service import MachineActionService
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.rollout import former
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.rollout.rollout import references
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.failures import failures
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import WaitFailedError
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import rollout_stop
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.snapshot import Snapshot
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._logs import contents
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.conversion.stored import newer


@pytest.fixture
def waits(monkeypatch):
    found = Waits()
    monkeypatch.setattr(cluster_run, "ClusterWait", found)
    return found


@pytest.fixture
def plane(monkeypatch):
    """A cluster of one control plane machine and four workers, all Ready; its own API server is not asked."""
    monkeypatch.setattr(cluster_run, "workload_client", lambda *dummy: None)
    return made(Plane())


def image_of(plane, key=POOL):
    spec = plane.spec(*key)
    machine = spec["template"]["spec"] if "template" in spec else spec["machineTemplate"]["spec"]
    name = machine["infrastructureRef"]["name"]
    return plane.spec("Metal3MachineTemplate", name)["template"]["spec"]["image"]["url"]


def go(plane, **options):
    return run(plane, wait_for="available", **options)


def stopped(plane, waits, workers=None, **options):
    """Return the failure of a run whose new machine does not come."""
    waits.fails, waits.meanwhile = "available", lambda: new_machine(plane)
    with pytest.raises(WaitFailedError) as failed:
        go(plane, workers=workers or BAD, confirm="3", **options)
    waits.fails, waits.meanwhile = None, lambda: None
    return str(failed.value)


def test_the_owner_and_the_set_of_the_new_machine_are_paused_and_nothing_else(plane, waits):
    text = stopped(plane, waits)
    assert marks(plane, POOL)[PAUSED] == NOTE and marks(plane, SET)[PAUSED] == NOTE
    paused = [name for key, item in plane.objects.items() for name in [key[1]]
              if PAUSED in (item["metadata"].get("annotations") or {})]
    assert sorted(paused) == ["c1-one", "c1-one-abcde"]
    assert text.startswith("it does not come\n- stopped: MachineDeployment c1-one is paused (annotation "
                           "cluster.x-k8s.io/paused), and so is MachineSet c1-one-abcde: c1-one-0, c1-one-1, c1-one-2 "
                           "stay, whatever becomes of the new machine")
    for step in ("1. correct the description and run again", "2. when the cause lay elsewhere and is gone, run again "
                 "with rollout=resume", "3. to go back to the former templates, run again with rollout=rollback"):
        assert step in text
    assert json.loads(marks(plane, POOL)[NOTE])["former"]["infrastructure"]["kind"] == "Metal3MachineTemplate"
    assert image_of(plane) == OTHER_IMAGE["url"]


def test_the_same_description_is_refused_and_check_mode_says_so(plane, waits):
    stopped(plane, waits)
    written = len(plane.stored)
    with pytest.raises(RefusedError, match=r"MachineDeployment c1-one, whose rollout a run has stopped at .*, and the "
                       "same description .*set rollout to resume .*or to rollback"):
        go(plane, workers=BAD)
    looked = go(plane, workers=BAD, check_mode=True)
    assert any(line.startswith("without check mode this would be refused: ") and "c1-one" in line
               for line in looked["warnings"])
    assert looked["objects"] == [] and len(plane.stored) == written and PAUSED in marks(plane, POOL)


def test_another_description_goes_on_and_takes_the_pause_away_in_the_same_write(plane, waits):
    stopped(plane, waits)
    before = len(plane.stored)
    go(plane, workers=GOOD, confirm="3")
    writes = [entry for entry in plane.stored[before:] if entry[2] in ("c1-one", "c1-one-abcde")]
    assert writes == [("APPLY", *POOL), ("PATCH", *SET)]
    assert NOTE not in marks(plane, POOL) and PAUSED not in marks(plane, POOL)
    assert marks(plane, SET) == {} and image_of(plane) == "https://x/c.raw"


def test_resume_goes_on_unchanged_without_a_number(plane, waits):
    stopped(plane, waits)
    looked = go(plane, workers=BAD, rollout="resume", check_mode=True)
    assert looked["changed"] and PAUSED in marks(plane, POOL)
    service = service_of(plane, wait_for="available", workers=BAD, rollout="resume")
    assert service.present()["changed"]
    assert any("MachineDeployment c1-one: its rollout, stopped at " in line and
               "goes on; to be replaced are c1-one-0, c1-one-1, c1-one-2" in line for line in service.progress.lines)
    assert PAUSED not in marks(plane, POOL) and image_of(plane) == OTHER_IMAGE["url"]
    # The pool comes after the control plane, as in any rollout.
    assert waits.asked[-2:] == ["c1-control-plane", "available"]
    assert not go(plane, workers=BAD, rollout="resume")["changed"]


def test_rollback_writes_the_former_templates_and_nothing_else(plane, waits):
    """Whatever the description says by now: the pool that was not begun is not begun by it."""
    was = image_of(plane)
    stopped(plane, waits)
    everywhere = {"one": {"replicas": 5, "image": OTHER_IMAGE}, "two": {"replicas": 1, "image": OTHER_IMAGE}}
    looked = go(plane, workers=everywhere, rollout="rollback", check_mode=True)
    assert looked["changed"] and looked["changes"][0]["machines"] == ["c1-one-new"] and PAUSED in marks(plane, POOL)
    before = len(plane.stored)
    result = go(plane, workers=everywhere, rollout="rollback")
    assert [entry[:2] for entry in plane.stored[before:]] == [("APPLY", "MachineDeployment"), ("PATCH", "MachineSet")]
    assert image_of(plane) == was and plane.spec(*POOL)["replicas"] == 3 and PAUSED not in marks(plane, POOL)
    assert any("the description still asks for what is taken back" in line for line in result["warnings"])
    # Once more: there is nothing to go back from, and the description is not begun by it either.
    again = go(plane, workers=everywhere, rollout="rollback", confirm="3")
    assert not again["changed"] and any("no rollout is stopped" in line for line in again["warnings"])
    # A run with the description is a rollout like the first.
    for position in range(3):
        plane.objects["Machine", f"c1-one-{position}"]["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    with pytest.raises(RefusedError, match="expected 3, the number of machines"):
        go(plane, workers=BAD)


def test_rollback_wants_the_number_of_machines_that_were_nodes(plane, waits):
    stopped(plane, waits)
    plane.objects["Machine", "c1-one-new"]["status"] = {"nodeRef": {"name": "c1-one-new"}}
    with pytest.raises(RefusedError, match=r"expected 1, the number of machines .*\n.*c1-one-new"):
        go(plane, workers=BAD, rollout="rollback")
    go(plane, workers=BAD, rollout="rollback", confirm="1")
    assert PAUSED not in marks(plane, POOL)


def test_a_rollout_that_is_stopped_twice_goes_back_to_what_was_before_the_first(plane, waits):
    was = image_of(plane)
    stopped(plane, waits)
    stopped(plane, waits, workers=GOOD)
    go(plane, workers=GOOD, rollout="rollback")
    assert image_of(plane) == was


def test_a_machine_that_came_between_two_stops_is_counted_when_both_are_taken_back(plane, waits):
    """It is as neither the first description nor the last, and may have data by then."""
    stopped(plane, waits)
    template = plane.spec(*POOL)["template"]["spec"]["infrastructureRef"]["name"]
    machine = plane.objects["Machine", "c1-one-new"]
    machine["status"] = {"nodeRef": {"name": "c1-one-new"}, "conditions": [{"type": "UpToDate", "status": "False"}]}
    made = plane.add("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3Machine", "c1-one-new", spec={})
    made["metadata"]["annotations"] = {"cluster.x-k8s.io/cloned-from-name": template}
    waits.fails = "available"
    with pytest.raises(WaitFailedError):
        go(plane, workers=GOOD, confirm="4")
    waits.fails = None
    with pytest.raises(RefusedError, match=r"expected 1, the number of machines .*\n.*c1-one-new"):
        go(plane, workers=GOOD, rollout="rollback")
    go(plane, workers=GOOD, rollout="rollback", confirm="1")
    assert PAUSED not in marks(plane, POOL)


def test_a_control_plane_goes_back_with_its_configuration_and_version(plane, waits):
    before = json.dumps([plane.spec(*PLANE)[key] for key in ("version", "kubeadmConfigSpec")], sort_keys=True)
    was = image_of(plane, PLANE)
    changed = {"control_plane": {"image": OTHER_IMAGE, "pre_commands": ["true"]}, "kubernetes_version": "v1.36.1",
               "workers": WORKERS}
    waits.fails, waits.meanwhile = "c1-control-plane", lambda: new_machine(plane, "c1-control-plane", 1)
    with pytest.raises(WaitFailedError) as failed:
        go(plane, confirm="5", **changed)
    assert "KubeadmControlPlane c1-control-plane is paused" in str(failed.value)
    assert "not begun: MachineDeployment c1-one, MachineDeployment c1-two" in str(failed.value)
    assert PAUSED not in marks(plane, POOL)
    waits.fails = None
    go(plane, rollout="rollback", **changed)
    assert json.dumps([plane.spec(*PLANE)[key] for key in ("version", "kubeadmConfigSpec")], sort_keys=True) == before
    assert image_of(plane, PLANE) == was and PAUSED not in marks(plane, PLANE)
    assert plane.spec(*POOL)["template"]["spec"]["version"] == "v1.35.4"
    assert not go(plane, workers=WORKERS)["changes"]


class BothVersions(Plane):
    """A server that has owners in v1beta1, serves both versions, and takes each by the path of its own only."""

    def list(self, resource, *arguments, **more):
        items, version = super().list(resource, *arguments, **more)
        return [self._in(resource, item) for item in items], version

    def get(self, resource, *arguments):
        return self._in(resource, super().get(resource, *arguments))

    def apply(self, resource, namespace, body, **more):
        if body["apiVersion"] != resource.api_version:
            raise KubeError("the API version in the data does not match the expected API version", 400)
        return super().apply(resource, namespace, body, **more)

    @staticmethod
    def _in(resource, item):
        converts = item and item["kind"] in rollout_stop.OWNERS and resource.version == "v1beta2"
        return newer(item) if converts else item


@pytest.mark.parametrize("key, changes, number", [
    (PLANE, {"control_plane": {"image": OTHER_IMAGE}, "workers": WORKERS}, 1), (POOL, {"workers": BAD}, 3)],
    ids=["control plane", "pool"])
def test_owners_that_are_written_in_v1beta1_are_stopped_and_go_back(monkeypatch, waits, key, changes, number):
    monkeypatch.setattr(cluster_run, "workload_client", lambda *dummy: None)
    older = {"api_version": "v1beta1"}
    plane = made(BothVersions(), **older)
    was = references(plane.objects[key])
    waits.fails, waits.meanwhile = "available", lambda: new_machine(plane, key[1], number)
    with pytest.raises(WaitFailedError, match=f"stopped: {key[0]} {key[1]} is paused"):
        go(plane, confirm=str(number), **older, **changes)
    assert marks(plane, key)[PAUSED] == NOTE and references(plane.objects[key]) != was
    waits.fails, waits.meanwhile = None, lambda: None
    go(plane, rollout="rollback", **older, **changes)
    assert references(plane.objects[key]) == was and PAUSED not in marks(plane, key)


def test_a_control_plane_goes_back_in_another_version_than_it_was_stopped_in(monkeypatch, waits):
    """The note has the configuration in the form of one version, which the other one does not take."""
    monkeypatch.setattr(cluster_run, "workload_client", lambda *dummy: None)
    stopped_in, back_in = "v1beta1", "v1beta2"
    described = {"workers": WORKERS}
    changed = dict(described, control_plane={"image": OTHER_IMAGE, "pre_commands": ["true"]})

    def config(version):
        found = Plane()
        run(found, api_version=version, **described)
        return found.spec(*PLANE)["kubeadmConfigSpec"]

    plane = made(BothVersions(), api_version=stopped_in, **described)
    waits.fails, waits.meanwhile = "available", lambda: new_machine(plane, PLANE[1], 1)
    with pytest.raises(WaitFailedError, match=f"stopped: {PLANE[0]} {PLANE[1]} is paused"):
        go(plane, confirm="1", api_version=stopped_in, **changed)
    assert json.loads(marks(plane, PLANE)[NOTE])["former"]["configVersion"] == stopped_in
    waits.fails, waits.meanwhile = None, lambda: None
    go(plane, rollout="rollback", api_version=back_in, **changed)
    assert PAUSED not in marks(plane, PLANE)
    assert plane.spec(*PLANE)["kubeadmConfigSpec"] == config(back_in) != config(stopped_in)


def test_a_noted_configuration_of_v1beta2_is_written_in_v1beta1(plane):
    noted = {"version": "v1.35.4", "config": plane.spec(*PLANE)["kubeadmConfigSpec"], "configVersion": "v1beta2",
             "infrastructure": {"kind": "Metal3MachineTemplate", "name": "a"}}
    older = Plane()
    run(older, workers=WORKERS, api_version="v1beta1")
    found = former.owner_as_before(older.objects[PLANE], noted, 1)
    assert found["spec"]["kubeadmConfigSpec"] == older.spec(*PLANE)["kubeadmConfigSpec"] != noted["config"]


@pytest.mark.parametrize("config, version", [
    ({"clusterConfiguration": {"apiServer": {"extraArgs": [{"value": "1"}]}}}, "v1beta2"),
    ({"clusterConfiguration": {"apiServer": {"extraArgs": 5}}}, "v1beta2"), ({"joinConfiguration": 5}, "v1beta2"),
    ({"initConfiguration": {"timeouts": {"discoverySeconds": 1}}}, "v1beta2"), ({}, "v1"), ({}, 5), ({}, [])])
def test_a_configuration_of_another_version_that_is_none_goes_nowhere(config, version):
    noted = {"version": "v1.35.4", "config": config, "configVersion": version}
    assert "is noted in another version than v1beta1" in former.lacks(
        "KubeadmControlPlane", noted, {}, None, "v1beta1")


@pytest.mark.parametrize(("killed", "after"), [
    ({"workers": BAD, "rollout": "resume"}, {"workers": BAD}),
    ({"workers": GOOD, "confirm": "3"}, {"workers": GOOD}),
    ({"workers": BAD, "rollout": "rollback"}, {"workers": BAD, "rollout": "rollback"}),
], ids=["resumed", "corrected", "taken back"])
def test_machine_sets_that_a_killed_run_has_not_released_are_released_by_the_next_one(
        plane, waits, monkeypatch, killed, after):
    """Cluster API would make and delete no machine of theirs, and the run would wait for nothing."""
    stopped(plane, waits)
    with monkeypatch.context() as patched:
        patched.setattr(stopping, "release", _killed)
        with pytest.raises(KeyboardInterrupt):
            go(plane, **killed)
    assert PAUSED not in marks(plane, POOL) and marks(plane, SET)[PAUSED] == NOTE
    # Nobody would come while that is so.
    replaced = MachineActionService(plane, {
        "namespace": "metal3", "cluster_name": "c1", "machines": ["c1-one-0"], "action": "replace", "confirm": "1",
        "wait": True, "wait_timeout_seconds": 60, "node_startup_timeout_seconds": 60}, True, Reports(),
        workload=lambda *_name: None).run()
    assert any("has left MachineSets of it stopped" in line for line in replaced["warnings"])
    looked = go(plane, check_mode=True, **after)
    assert looked["changed"] and marks(plane, SET)[PAUSED] == NOTE
    assert go(plane, **after)["changed"] and marks(plane, SET) == {}
    assert not go(plane, **after)["changed"]


def test_machine_sets_stay_stopped_when_others_have_paused_their_owner_since(plane, waits):
    stopped(plane, waits)
    plane.objects[POOL]["metadata"]["annotations"] = {PAUSED: "mine"}
    go(plane, workers=BAD)
    assert marks(plane, SET)[PAUSED] == NOTE


def _killed(_run, names):
    if names:
        raise KeyboardInterrupt


def test_what_others_have_paused_is_left_as_it_is(plane, waits):
    """Before the stop, and instead of it."""
    plane.objects[POOL]["metadata"]["annotations"] = {PAUSED: "mine"}
    with pytest.raises(RefusedError, match=r"attention: MachineDeployment c1-one is paused .* by somebody else"):
        go(plane, workers=BAD)
    text = stopped(plane, waits)
    assert "not paused: MachineDeployment c1-one, because somebody else has paused it already" in text
    assert marks(plane, POOL) == {PAUSED: "mine"}
    assert "stopped: " not in text
    go(plane, workers=GOOD, confirm="3")
    assert marks(plane, POOL)[PAUSED] == "mine"


def test_a_pause_that_somebody_has_made_his_own_stays(plane, waits):
    stopped(plane, waits)
    plane.patch(type("Kind", (), {"kind": "MachineDeployment"}), "metal3", "c1-one",
                {"metadata": {"annotations": {PAUSED: "mine"}}})
    go(plane, workers=GOOD, confirm="3")
    assert marks(plane, POOL) == {PAUSED: "mine"}


def test_a_pause_that_comes_while_the_run_stops_stays(plane, waits):
    def meanwhile():
        new_machine(plane)
        plane.meanwhile[POOL] = lambda: (plane.touch(*POOL), plane.objects[POOL]["metadata"].update(
            annotations={PAUSED: "mine"}))

    waits.fails, waits.meanwhile = "available", meanwhile
    with pytest.raises(WaitFailedError):
        go(plane, workers=BAD, confirm="3")
    assert marks(plane, POOL) == {PAUSED: "mine"}


def test_a_rollout_that_a_killed_run_has_begun_is_stopped_too(plane, waits):
    """What the machines were made of is read of them."""
    was = name_templates(plane)
    run(plane, workers=BAD, confirm="3")
    waits.fails, waits.meanwhile = "available", lambda: new_machine(plane)
    with pytest.raises(WaitFailedError):
        go(plane, workers=BAD)
    waits.fails = None
    go(plane, workers=BAD, rollout="rollback")
    assert plane.spec(*POOL)["template"]["spec"]["infrastructureRef"] == was["infrastructureRef"]
    assert plane.spec(*POOL)["template"]["spec"]["bootstrap"] == was["bootstrap"]


def test_a_machine_that_is_made_beside_others_stops_nothing(plane, waits):
    waits.fails = "available"
    with pytest.raises(WaitFailedError) as failed:
        go(plane, workers=dict(WORKERS, one={"replicas": 4}))
    assert str(failed.value) == "it does not come"


def test_an_api_server_that_refuses_the_pause_is_reported_beside_the_cause(plane, waits):
    def meanwhile():
        new_machine(plane)
        plane.failures["MachineSet", "c1-one-abcde"] = "no such right"

    waits.fails, waits.meanwhile = "available", meanwhile
    with pytest.raises(WaitFailedError, match=r"it does not come\n- the rollout may go on, .*\n.*no such right"):
        go(plane, workers=BAD, confirm="3")


def test_an_unfinished_cluster_is_not_stopped(plane, waits):
    plane.objects["Cluster", "c1"]["status"]["initialization"] = {}
    waits.fails, waits.meanwhile = "initialized", lambda: None
    waits.fails, waits.meanwhile = "available", lambda: new_machine(plane)
    with pytest.raises(WaitFailedError) as failed:
        go(plane, workers=BAD, confirm="3")
    assert "stopped" not in str(failed.value)


@pytest.mark.parametrize("note, text", [
    ("{}", "what it was made of before is not noted"), ("no json", "is not noted"), ("[1]", "is not noted"),
    ({"version": "latest"}, "the noted Kubernetes version is none"),
    ({"version": "v1.35.4"}, "the infrastructure template that is noted is not there any more"),
    ({"version": "v1.35.4", "infrastructure": {"kind": "Secret", "name": "a"}}, "is not there any more"),
    ({"version": "v1.35.4", "infrastructure": "a"}, "is not there any more"),
    ({"version": "v1.35.4", "failureDomain": 1}, "the noted failure domain is none")])
def test_a_note_that_is_none_goes_nowhere(plane, waits, note, text):
    """Anybody who may change the object may have written it."""
    stopped(plane, waits)
    marks(plane, POOL)[NOTE] = note if isinstance(note, str) else json.dumps({"at": 5, "former": note})
    with pytest.raises(RefusedError, match=f"rollout: found MachineDeployment c1-one: .*{text}"):
        go(plane, workers=BAD, rollout="rollback")
    assert PAUSED in marks(plane, POOL)


def test_templates_of_another_cluster_are_none_to_go_back_to(plane, waits):
    stopped(plane, waits)
    name = json.loads(marks(plane, POOL)[NOTE])["former"]["infrastructure"]["name"]
    plane.objects["Metal3MachineTemplate", name]["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"] = "c2"
    with pytest.raises(RefusedError, match="the infrastructure template that is noted is not there any more"):
        go(plane, workers=BAD, rollout="rollback")


def test_a_pool_that_is_not_described_any_more_is_deleted_and_released(plane, waits):
    """Released before, it would go on with its rollout until it is deleted."""
    stopped(plane, waits)
    hold(plane, POOL, SET)
    with pytest.raises(RefusedError, match="it is not described any more"):
        go(plane, workers={"two": {"replicas": 1}}, rollout="rollback")
    before = len(plane.stored)
    go(plane, workers={"two": {"replicas": 1}}, confirm="4")
    assert [entry for entry in plane.stored[before:] if entry[1:] in (POOL, SET)] == [
        ("DELETE", *POOL), ("DELETE", *SET), ("PATCH", *POOL), ("PATCH", *SET)]
    # Cluster API deletes nothing that is paused.
    assert PAUSED not in marks(plane, POOL) and marks(plane, SET) == {}


def test_the_configuration_of_machines_is_in_no_difference(plane, waits):
    """It may hold secrets, and stands in the note as one text."""
    secret = "kubeadm-join-token-123"
    changed = {"control_plane": {"pre_commands": ["true"]}, "workers": WORKERS}
    run(plane, control_plane={"pre_commands": [f"echo {secret}"]}, workers=WORKERS, confirm="1")
    waits.fails, waits.meanwhile = "c1-control-plane", lambda: new_machine(plane, "c1-control-plane", 1)
    service = service_of(plane, wait_for="available", confirm="1", **changed)
    waits.fails = "available"
    with pytest.raises(WaitFailedError):
        service.present()
    assert secret in marks(plane, PLANE)[NOTE]
    notes = [NOTE in json.dumps(entry) and secret in json.dumps(entry) for entry in service.done["diff"][-1:]]
    assert notes == [False]
    waits.fails = None
    result = go(plane, rollout="resume", **changed)
    assert not any(secret in json.dumps(entry) for entry in result["diff"])


def test_the_note_is_in_no_collected_object(plane, waits):
    """Secrets in it have no field of their own by which they could be hidden."""
    stopped(plane, waits)
    assert contents.shown(plane.objects[POOL])["metadata"]["annotations"] == {PAUSED: NOTE}


def test_a_note_that_would_not_fit_is_left_out():
    note = rollout_stop.Note("2026-11-29T08:00:00Z", {"config": "x" * rollout_stop.LIMIT_CHARACTERS})
    assert json.loads(rollout_stop.text_of(note)) == {"at": "2026-11-29T08:00:00Z", "former": None}


def test_an_owner_that_others_have_paused_ends_the_wait(plane):
    new_machine(plane)
    objects = {}
    plane.objects[POOL]["metadata"]["annotations"] = {PAUSED: ""}
    for (kind, _name), item in plane.objects.items():
        objects.setdefault(kind, []).append(item)
    found = [failure for failure in failures(Snapshot(objects, "c1"), 0, 0) if failure.subject.endswith(" c1-one")]
    assert len(found) == 1 and "find out who has paused it" in found[0].next_step
    plane.objects[POOL]["metadata"]["annotations"] = {PAUSED: NOTE, NOTE: "{}"}
    assert not [failure for failure in failures(Snapshot(objects, "c1"), 0, 0) if failure.subject.endswith(" c1-one")]


def broken(plane, message, reusing):
    host = plane.objects["BareMetalHost", "host-of-c1-one-0"]
    plane.objects["Machine", "c1-one-0"]["status"] = {}
    plane.objects["Metal3Machine", "c1-one-0"]["metadata"]["annotations"] = {
        "metal3.io/BareMetalHost": "metal3/host-of-c1-one-0"}
    host["status"] = {"operationalStatus": "error", "errorType": "provisioning error", "errorMessage": message,
                      "errorCount": 9, "provisioning": {"state": "provisioning"}}
    objects = {}
    for (kind, _name), item in plane.objects.items():
        objects.setdefault(kind, []).append(item)
    return [failure.next_step for failure in failures(Snapshot(objects, "c1"), 0, 0, reusing)
            if failure.subject == "BareMetalHost host-of-c1-one-0"]


def test_a_broken_disk_of_a_host_that_is_reused_is_got_away_from(plane):
    disk = "Error writing image to device: Input/output error"
    said, = broken(plane, disk, {"c1-one"})
    assert ("with node_reuse the next machine of c1-one gets this host again" in said
            and "host_action=mark_unhealthy, --limit host-of-c1-one-0" in said and "replace Machine c1-one-0" in said)
    assert "node_reuse" not in broken(plane, disk, {"c1-two"})[0]
    # What is the description's fault is no better on another host.
    assert "node_reuse" not in broken(plane, "Image failed to verify against checksum", {"c1-one"})[0]


def test_several_machines_at_once_are_named(plane):
    for options, number in (({"max_surge": 2}, 2), ({"max_surge": 1, "max_unavailable": 1}, 2), ({}, 0),
                            ({"max_surge": 0, "max_unavailable": 1}, 0), ({"max_surge": "50%"}, 2),
                            ({"max_surge": 0, "max_unavailable": "67%"}, 2), ({"max_surge": 9}, 3)):
        workers = dict(WORKERS, one=dict({"replicas": 3, "image": OTHER_IMAGE}, **options))
        found = [line for line in run(plane, check_mode=True, workers=workers)["warnings"]
                 if line.startswith("c1-one: ") and "begun at once" in line]
        assert [line.split()[1] for line in found] == ([str(number)] if number else []), options


def test_a_former_entry_of_nothing_is_none():
    assert former.of_class({"spec": {"topology": {"controlPlane": {}}}}) is None
    assert former.lacks("KubeadmControlPlane", {"version": "v1.35.4"}, {}) == \
        "its former kubeadm configuration is not noted"
    assert "ClusterClass" in former.lacks("Cluster", {"version": "v1.35.4", "class": "c1-x"}, {}, "v1.35.4")


def test_errors_of_the_server_are_not_taken_for_a_stop(plane, waits, monkeypatch):
    """An API server that is gone ends a run as before."""
    monkeypatch.setattr(waits, "until", lambda *dummy: (dummy for dummy in ()).throw(KubeError("no answer")))
    with pytest.raises(KubeError):
        go(plane, workers=BAD, confirm="3")
    assert PAUSED not in marks(plane, POOL)


# A cluster by ClusterClass: Cluster API writes the owners, and the note has the class of before.


def class_of(plane):
    return plane.spec("Cluster", "c1")["topology"]["classRef"]["name"]


@pytest.fixture
def by_class(monkeypatch):
    """A cluster by ClusterClass with its machines, whose control plane is initialized."""
    monkeypatch.setattr(cluster_run, "workload_client", lambda *dummy: None)
    return ready_by_class()


def class_stopped(plane, waits):
    def meanwhile():
        plane.follow()
        new_machine(plane)

    waits.fails, waits.meanwhile = "available", meanwhile
    with pytest.raises(WaitFailedError) as failed:
        run_class(plane, workers=BAD, confirm="3")
    waits.fails, waits.meanwhile = None, lambda: None
    return str(failed.value)


def test_a_pool_of_a_topology_is_stopped_and_resumed(by_class, waits):
    text = class_stopped(by_class, waits)
    assert "stopped: MachineDeployment c1-one is paused" in text and "c1-two" not in text
    assert marks(by_class, POOL)[PAUSED] == NOTE and PAUSED not in marks(by_class, ("Cluster", "c1"))
    with pytest.raises(RefusedError, match="MachineDeployment c1-one, whose rollout a run has stopped at"):
        run_class(by_class, workers=BAD)
    assert run_class(by_class, workers=BAD, rollout="resume", check_mode=True)["changed"]
    assert run_class(by_class, workers=BAD, rollout="resume")["changed"]
    assert PAUSED not in marks(by_class, POOL) and NOTE not in marks(by_class, POOL)
    assert marks(by_class, SET) == {}


def test_a_topology_goes_on_with_another_description_when_cluster_api_has_it(by_class, waits):
    class_stopped(by_class, waits)
    before = len(by_class.stored)
    run_class(by_class, workers=GOOD, confirm="3")
    assert PAUSED not in marks(by_class, POOL)
    kinds = [entry[1] for entry in by_class.stored[before:]]
    assert kinds.index("Cluster") < kinds.index("MachineDeployment") < kinds.index("MachineSet")


def test_a_pool_that_leaves_its_topology_is_released_when_it_is_being_deleted(by_class, waits):
    class_stopped(by_class, waits)
    hold(by_class, POOL, SET)
    before, asked = len(by_class.stored), []
    run_class(by_class, asked, workers={"two": {"replicas": 1}}, confirm="4")
    assert [entry for entry in by_class.stored[before:] if entry[1:] in (POOL, SET)] == [
        ("DELETE", *SET), ("PATCH", *POOL), ("PATCH", *SET)]
    # Cluster API has deleted it by then; it goes when it is released, and not before.
    assert by_class.objects[POOL]["metadata"]["deletionTimestamp"] and len(asked) == 1


def test_a_topology_goes_back_to_the_class_of_before(by_class, waits):
    was = class_of(by_class)
    class_stopped(by_class, waits)
    assert json.loads(marks(by_class, POOL)[NOTE])["former"] == {"class": was, "version": "v1.35.4"}
    wrong = class_of(by_class)
    with pytest.raises(RefusedError, match="expected 3, the number of machines"):
        run_class(by_class, workers=BAD, rollout="rollback")
    run_class(by_class, workers=BAD, rollout="rollback", confirm="3")
    assert class_of(by_class) == was != wrong and PAUSED not in marks(by_class, POOL)
    noted = by_class.spec("Cluster", "c1")["topology"]
    assert [noted["controlPlane"]["metadata"]["annotations"]] + [
        pool["metadata"]["annotations"] for pool in noted["workers"]["machineDeployments"]] == [
            {"metal3.baremetal/cluster-class": was}] * 3


def test_a_class_that_is_gone_is_none_to_go_back_to(by_class, waits):
    was = class_of(by_class)
    class_stopped(by_class, waits)
    del by_class.objects["ClusterClass", was]
    with pytest.raises(RefusedError, match="the ClusterClass that is noted is not there any more"):
        run_class(by_class, workers=BAD, rollout="rollback")


def test_several_pools_of_a_topology_at_the_same_time_are_named(by_class):
    for changes, is_named in (({"image": OTHER_IMAGE}, True), ({"workers": BAD}, False),
                              ({"kubernetes_version": "v1.36.0", "image": OTHER_IMAGE}, False)):
        warnings = run(by_class, check_mode=True, topology=True, **changes)["warnings"]
        assert any(line.startswith("c1-control-plane, c1-one, c1-two replace machines at the same time: of a cluster "
                                   "with a topology") for line in warnings) == is_named, changes


def test_a_stopped_cluster_is_deleted_and_one_that_others_have_paused_is_not(plane, waits):
    stopped(plane, waits)
    plane.objects[PLANE]["metadata"]["annotations"] = {PAUSED: "mine"}
    with pytest.raises(RefusedError, match="found KubeadmControlPlane c1-control-plane, expected parts that are not"):
        service_of(plane, confirm="c1").absent()
    assert PAUSED in marks(plane, POOL)
    plane.objects[PLANE]["metadata"]["annotations"] = {}
    hold(plane, POOL, SET)
    before = len(plane.stored)
    service_of(plane, confirm="c1").absent()
    # What is not being deleted yet would go on with its rollout when it is released.
    assert plane.stored[before:][:5] == [("DELETE", "Cluster", "c1"), ("DELETE", *POOL), ("DELETE", *SET),
                                         ("PATCH", *POOL), ("PATCH", *SET)]
    assert ("DELETE", "MachineDeployment", "c1-two") not in plane.stored
    assert NOTE not in marks(plane, POOL) and marks(plane, SET) == {}


def test_a_stopped_control_plane_is_being_deleted_before_it_is_released(plane, waits):
    waits.fails, waits.meanwhile = "available", lambda: new_machine(plane, "c1-control-plane", 1)
    with pytest.raises(WaitFailedError):
        go(plane, control_plane={"image": OTHER_IMAGE}, workers=WORKERS, confirm="1")
    waits.fails = None
    hold(plane, ("Cluster", "c1"), PLANE)
    before = len(plane.stored)
    service_of(plane, confirm="c1").absent()
    assert plane.stored[before:][:3] == [("DELETE", "Cluster", "c1"), ("DELETE", *PLANE), ("PATCH", *PLANE)]
    assert plane.objects[PLANE]["metadata"]["deletionTimestamp"] and PAUSED not in marks(plane, PLANE)


def test_what_others_have_paused_meanwhile_stays_paused_at_a_deletion(plane, waits):
    stopped(plane, waits)
    hold(plane, POOL, SET)
    plane.meanwhile["Cluster", "c1"] = lambda: marks(plane, POOL).update({PAUSED: "mine"})
    service_of(plane, confirm="c1").absent()
    assert ("DELETE", *POOL) not in plane.stored and marks(plane, POOL) == {PAUSED: "mine"}


def test_a_stopped_rollout_stays_stopped_when_the_deletion_of_its_cluster_is_refused(plane, waits):
    stopped(plane, waits)
    plane.meanwhile["Cluster", "c1"] = lambda: (plane.touch("Cluster", "c1"), plane.spec("Cluster", "c1").update(
        paused=True))
    with pytest.raises(KubeError, match="it is paused"):
        service_of(plane, confirm="c1").absent()
    assert PAUSED in marks(plane, POOL) and PAUSED in marks(plane, SET)


@pytest.mark.parametrize("is_pool_released", [True, False])
def test_what_is_stopped_of_a_cluster_that_is_being_deleted_is_released(plane, waits, is_pool_released):
    """By kubectl, or by a run that was killed."""
    stopped(plane, waits)
    if is_pool_released:
        plane.objects[POOL]["metadata"]["annotations"] = {}
    for key in (("Cluster", "c1"), POOL, SET):
        plane.objects[key]["metadata"].update(deletionTimestamp="2026-11-29T08:00:00Z", finalizers=["x"])
    service_of(plane, confirm="c1").absent()
    for key in (POOL, SET):
        assert key not in plane.objects or PAUSED not in marks(plane, key)
    assert ("PATCH", *SET) in plane.stored


def test_what_is_being_deleted_is_not_stopped(plane, waits):
    """Cluster API would not delete it any more."""
    def meanwhile():
        new_machine(plane)
        plane.objects["MachineSet", "c1-one-abcde"]["metadata"].update(
            deletionTimestamp="2026-11-29T08:00:00Z", finalizers=["x"])

    waits.fails, waits.meanwhile = "available", meanwhile
    with pytest.raises(WaitFailedError):
        go(plane, workers=BAD, confirm="3")
    assert PAUSED in marks(plane, POOL) and PAUSED not in marks(plane, SET)


def test_nothing_is_stopped_of_a_cluster_that_is_being_deleted(plane, waits):
    """By kubectl, while its machines were waited for: Cluster API deletes one owner after the other."""
    def meanwhile():
        new_machine(plane)
        plane.objects["Cluster", "c1"]["metadata"].update(
            deletionTimestamp="2026-11-29T08:00:00Z", finalizers=["cluster.cluster.x-k8s.io"])

    waits.fails, waits.meanwhile = "available", meanwhile
    with pytest.raises(WaitFailedError):
        go(plane, workers=BAD, confirm="3")
    assert PAUSED not in marks(plane, POOL) and PAUSED not in marks(plane, SET)


def test_a_machine_of_a_stopped_rollout_is_replaced_later(plane, waits):
    stopped(plane, waits)
    service = MachineActionService(plane, {
        "namespace": "metal3", "cluster_name": "c1", "machines": ["c1-one-new"], "action": "replace", "confirm": "1",
        "wait": True, "wait_timeout_seconds": 1, "node_startup_timeout_seconds": 1}, False, Reports(),
        sleep=lambda _seconds: None)
    result = service.run()
    assert result["changed"] and "c1-one is stopped at a rollout and makes no other machine before" in \
        result["warnings"][0]


@pytest.mark.parametrize(("pool", "goes_on"), [
    ({}, False), ({"replicas": 4}, False), ({"max_surge": 0, "max_unavailable": 1}, True),
    ({"node_drain_timeout_seconds": 60}, True)])
def test_whatever_else_is_said_of_the_pool_but_its_number_lets_it_go_on(plane, waits, pool, goes_on):
    """As where no host was free for the machine that comes first."""
    stopped(plane, waits)
    changed = dict(BAD, one=dict(BAD["one"], **pool))
    if goes_on:
        go(plane, workers=changed)
    else:
        with pytest.raises(RefusedError, match="whose rollout a run has stopped"):
            go(plane, workers=changed)
    assert (PAUSED in marks(plane, POOL)) != goes_on


@pytest.mark.parametrize(("changes", "goes_on"), [
    ({"workers": BAD}, False), ({"workers": dict(BAD, one=dict(BAD["one"], replicas=4))}, False),
    ({"workers": dict(BAD, two={"replicas": 1, "image": dict(OTHER_IMAGE, url="https://x/d.raw")}), "confirm": "1"},
     False),
    ({"workers": dict(BAD, one=dict(BAD["one"], max_surge=0, max_unavailable=1))}, True)])
def test_the_same_of_a_pool_of_a_topology(by_class, waits, changes, goes_on):
    class_stopped(by_class, waits)
    if goes_on:
        run_class(by_class, **changes)
    else:
        with pytest.raises(RefusedError, match="whose rollout a run has stopped"):
            run_class(by_class, **changes)
    assert (PAUSED in marks(by_class, POOL)) != goes_on


def test_a_rollback_keeps_the_number_of_a_pool_that_is_described_without_one(plane, waits):
    """An apply without the number that the last one had takes it away, and Cluster API's webhook makes it 1."""
    unnumbered = {"one": {"image": OTHER_IMAGE}, "two": {"replicas": 1}}
    stopped(plane, waits, workers=unnumbered)
    assert plane.spec(*POOL)["replicas"] == 3
    go(plane, workers=unnumbered, rollout="rollback")
    assert plane.spec(*POOL)["replicas"] == 3


def test_a_stop_keeps_the_number_that_somebody_has_given_a_pool_meanwhile(plane, waits):
    """With that of the description, machines would go when the rollout goes on, and nobody would have asked."""
    def meanwhile():
        new_machine(plane)
        plane.change(*POOL, replicas=5)

    waits.fails, waits.meanwhile = "available", meanwhile
    with pytest.raises(WaitFailedError):
        go(plane, workers=BAD, confirm="3")
    assert marks(plane, POOL)[PAUSED] == NOTE and plane.spec(*POOL)["replicas"] == 5
    waits.fails, waits.meanwhile = None, lambda: None
    with pytest.raises(RefusedError, match="c1-one loses 1 machine"):
        go(plane, workers=BAD, rollout="resume")


def test_fewer_machines_are_asked_for_when_a_rollout_is_resumed(plane, waits):
    stopped(plane, waits)
    fewer = dict(BAD, one=dict(BAD["one"], replicas=1))
    with pytest.raises(RefusedError, match=r"expected 3, the number of machines .*\n.*c1-one loses 3 machines out of"):
        go(plane, workers=fewer, rollout="resume")
    assert plane.spec(*POOL)["replicas"] == 3 and PAUSED in marks(plane, POOL)
    result = go(plane, workers=fewer, rollout="resume", confirm="3")
    assert plane.spec(*POOL)["replicas"] == 1 and PAUSED not in marks(plane, POOL)
    assert [change["replicas_after"] for change in result["changes"]] == [1]
