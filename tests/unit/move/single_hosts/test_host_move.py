# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Single hosts that change planes, between two API servers in memory with what their operators do."""
from __future__ import annotations

import copy
import json

import pytest
from fakes import moves
from fakes.planes import NAMESPACE, Plane, host, obj, server
from fakes.silence import away, last_step

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_loop import Step
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._host.rotation import claim
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import handed_over, lock
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import wait as host_wait
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks import rules as checks
from ansible_collections.metal3.baremetal.plugins.module_utils._move.single_hosts import copies as host_copies
from ansible_collections.metal3.baremetal.plugins.module_utils._move.single_hosts import obstacles as host_obstacles
from ansible_collections.metal3.baremetal.plugins.module_utils._move.single_hosts import service as host_move_service

NAMES = ["free", "used"]


class Killed(BaseException):
    """The run was killed."""


class World(Plane):
    """An API server with its operator; the run is killed before write number ``steps``."""

    steps = None
    ironic = frozenset()
    adopts = True

    def _step(self):
        World.done += 1
        if World.steps is not None and World.done > World.steps:
            raise Killed

    def create(self, resource, _namespace, body, **_more):
        self._step()
        name = body["metadata"]["name"]
        if (resource.kind, name) in self.objects:
            raise KubeError(f"{resource.kind} {name} already exists", 409)
        stored = copy.deepcopy(body)
        stored["metadata"].update(uid=f"new-{resource.kind}-{name}", resourceVersion="1")
        self.objects[resource.kind, name] = stored
        return copy.deepcopy(stored)

    def patch(self, *given, **more):
        self._step()
        return super().patch(*given, **more)

    def delete(self, resource, namespace, name, **more):
        self._step()
        stored = self.objects.get((resource.kind, name))
        if stored is not None and resource.kind == "BareMetalHost":
            assert stored["status"]["operationalStatus"] == "detached", "it would be deprovisioned"
            uid = stored["metadata"]["uid"]
            # The operator lets go of a detached host at once; the garbage collector takes what it owns.
            stored["metadata"].pop("finalizers", None)
            for of in [of for of, item in list(self.objects.items()) if any(
                    owner["uid"] == uid for owner in item["metadata"].get("ownerReferences", []))]:
                del self.objects[of]
        return super().delete(resource, namespace, name, **more)

    def operate(self):
        for (kind, name), item in self.objects.items():
            found = host_annotations.of(item)
            if kind != "BareMetalHost" or host_annotations.PAUSED in found:
                continue
            if host_annotations.STATUS in found and "status" not in item:
                item["status"] = json.loads(item["metadata"]["annotations"].pop(host_annotations.STATUS))
                known = item["status"]["provisioning"]["ID"]
                item["status"]["provisioning"]["ID"] = ("back-" if known == "anew-" + name else "anew-") + name
                if not self.adopts:
                    item["status"].update(operationalStatus="error", errorType="registration error",
                                          errorMessage="no route to the BMC", errorCount=9)
            if host_annotations.DETACHED in found:
                item["status"]["operationalStatus"] = "detached"
        self.ironic = frozenset(
            name for (kind, name), item in self.objects.items() if kind == "BareMetalHost" and "status" in item
            and item["status"]["operationalStatus"] != "detached"
            and host_annotations.PAUSED not in host_annotations.of(item))


@pytest.fixture(autouse=True)
def planes(monkeypatch):
    World.done, World.steps = 0, None
    here = server("a", "https://198.18.0.1:6443", [
        host("used", "provisioned", bmc={"address": "ipmi://192.0.2.1", "credentialsName": "used-bmc"},
             bootMACAddress="00:5c:52:00:00:01", image={"url": "http://192.0.2.9/image"},
             userData={"name": "used-data", "namespace": NAMESPACE}),
        host("free", bmc={"address": "ipmi://192.0.2.2", "credentialsName": "free-bmc"},
             bootMACAddress="00:5c:52:00:00:02"),
        host("other", bmc={"address": "ipmi://192.0.2.3", "credentialsName": "other-bmc"}),
        *(obj("v1", "Secret", name, owner, data={"value": name}) for name, owner in (
            ("used-bmc", ("BareMetalHost", "used")), ("free-bmc", ("BareMetalHost", "free")),
            ("other-bmc", ("BareMetalHost", "other")), ("used-data", None))),
        obj("metal3.io/v1alpha1", "HardwareData", "used", ("BareMetalHost", "used"), spec={"hardware": {}}),
        obj("metal3.io/v1alpha1", "HostFirmwareSettings", "used", ("BareMetalHost", "used"),
            spec={"settings": {"Quiet": "true"}})])
    for item in here.objects.values():
        if item["kind"] == "BareMetalHost":
            item["metadata"]["annotations"] = {}
    there = server("b", "https://198.18.0.2:6443")
    here.__class__ = there.__class__ = World

    def follow(client, _resource, *_arguments, **_options):
        for _look in range(3):
            here.operate()
            there.operate()
            assert not here.ironic & there.ironic, "two Ironics have power over one server"
            objects = dict((of[1], item) for of, item in client.objects.items() if of[0] == "BareMetalHost")
            yield Step(objects, set(objects) | set(NAMES), None, None, True)

    monkeypatch.setattr(host_wait, "follow", follow)
    moves.complete(monkeypatch)
    return here, there


def move(planes, names=("used", "free"), confirm="2", check_mode=False, among=()):
    params = {"namespace": NAMESPACE, "hosts": list(names), "confirm": confirm, "confirm_among": list(among),
              "to_kubeconfig": "there",
              "to_context": None, "reach_from": "none", "ironic_namespace": "ns",
              "ironic_deployment": "ironic", "wait_timeout_seconds": 60}
    run = host_move_service.HostMove(*planes, params, check_mode, Progress(None), lambda: 0.0, lambda _seconds: None,
                                     lambda: 0.0)
    return run.moved()


def kinds(of, name):
    return sorted(kind for (kind, found), item in of.objects.items()
                  if found == name and item["metadata"].get("namespace") == NAMESPACE)


def check_moved(here, there):
    assert kinds(here, "used") == kinds(here, "free") == []
    assert kinds(there, "used") == ["BareMetalHost", "HardwareData", "HostFirmwareSettings"]
    assert kinds(there, "free") == ["BareMetalHost"]
    assert ("BareMetalHost", "other") in here.objects and ("BareMetalHost", "other") not in there.objects
    for name, state in (("used", "provisioned"), ("free", "available")):
        arrived = there.objects["BareMetalHost", name]
        assert arrived["status"]["provisioning"] == {"state": state, "ID": f"anew-{name}"}
        assert arrived["status"]["operationalStatus"] == "OK" and arrived["metadata"]["annotations"] == {}
        assert there.objects["Secret", name + "-bmc"]["data"] == {"value": name + "-bmc"}
    assert there.objects["Secret", "used-data"]["data"] == {"value": "used-data"}
    assert sorted(handed_over.read(here.objects["ConfigMap", handed_over.NAME])) == ["free", "used"]
    settings = there.objects["HostFirmwareSettings", "used"]
    assert settings["spec"] == {"settings": {"Quiet": "true"}}
    assert settings["metadata"]["ownerReferences"][0]["uid"] == "new-BareMetalHost-used"


def test_hosts_go_with_what_belongs_to_them_and_the_second_run_changes_nothing(planes):
    result = move(planes)
    assert result["changed"] and result["errors"] == []
    assert [(item["name"], item["state"], item["was"]) for item in result["hosts"]] == [
        ("free", "available", "here"), ("used", "provisioned", "here")]
    check_moved(*planes)
    again = move(planes, confirm=None)
    assert again["changed"] is False and [item["was"] for item in again["hosts"]] == ["there", "there"]


def test_a_free_host_goes_with_the_names_that_its_last_machine_has_left(planes):
    """CAPM3 1.13 deletes the Secrets and leaves their names in the host, which could not be moved any more."""
    left = {"metaData": {"name": "m-metadata"}, "networkData": {"name": "m-networkdata"}}
    change_host("free", **left)(*planes)
    assert move(planes)["errors"] == []
    check_moved(*planes)
    assert left.items() <= planes[1].objects["BareMetalHost", "free"]["spec"].items()


def test_check_mode_writes_nothing_and_says_what_is_to_be_confirmed(planes):
    result = move(planes, confirm=None, check_mode=True)
    assert result["changed"] and "metal3_confirm=2" in result["confirmation"] and World.done == 0


@pytest.mark.parametrize("confirm", [None, "1", "3", "used"])
def test_nothing_moves_without_its_number(planes, confirm):
    with pytest.raises(RefusedError, match="metal3_confirm=2"):
        move(planes, confirm=confirm)
    assert World.done == 0


@pytest.mark.parametrize("confirm, is_enough", [
    ("2", False), ("used,free", True), ("used,free,other", True), ("used", False)])
def test_one_of_several_batches_is_moved_by_names(planes, confirm, is_enough):
    if is_enough:
        assert move(planes, confirm=confirm, among=["used", "free", "other"])["errors"] == []
        return
    with pytest.raises(RefusedError, match="metal3_confirm=free,other,used: the play has several batches"):
        move(planes, confirm=confirm, among=["used", "free", "other"])
    assert World.done == 0


def test_all_writes_are_counted(planes):
    move(planes)
    assert World.done == 16


@pytest.mark.parametrize("steps", range(16))
def test_a_run_that_is_killed_at_any_write_is_finished_by_the_next(planes, steps):
    World.steps = steps
    with pytest.raises(Killed):
        move(planes)
    World.steps = None
    left = [name for name in NAMES if ("BareMetalHost", name) in planes[0].objects]
    result = move(planes, confirm=str(len(left)) if left else None)
    assert result["changed"] and result["errors"] == []
    check_moved(*planes)


def test_a_host_that_the_other_plane_cannot_register_stays_here_too(planes):
    planes[1].adopts = False
    result = move(planes)
    assert len(result["errors"]) == 2 and "no route to the BMC" in result["errors"][0]
    stored = planes[0].objects["BareMetalHost", "used"]
    assert stored["status"]["operationalStatus"] == "detached"
    # The way back: deleted over there, attached here.
    planes[1].adopts = True
    for name in NAMES:
        planes[1].objects["BareMetalHost", name]["status"].update(operationalStatus="OK", errorType="", errorMessage="")
    assert move(planes)["errors"] == []
    check_moved(*planes)


def change_host(name="used", status=None, annotations=None, **spec):
    def change(here, _there):
        item = here.objects["BareMetalHost", name]
        item["spec"].update(spec)
        item["status"].update(status or {})
        item["metadata"]["annotations"].update(annotations or {})
    return change


def add_there(item):
    def change(_here, there):
        there.objects[item["kind"], item["metadata"]["name"]] = item
    return change


def add_here(item):
    def change(here, _there):
        here.objects[item["kind"], item["metadata"]["name"]] = item
    return change


@pytest.mark.parametrize("change, text", [
    (change_host(consumerRef={"kind": "Metal3Machine", "name": "m"}), "found Metal3Machine m, expected no consumer"),
    (change_host(status={"provisioning": {"state": "inspecting"}}), "found inspecting"),
    (change_host(annotations={host_annotations.PAUSED: "mine"}), "expected not paused"),
    (change_host(annotations={host_annotations.DETACHED: ""}), "attach the host first"),
    (change_host(annotations={lock.LOCKED: lock.value("repair", "")}), "locked without an end"),
    (change_host(userData={"name": "elsewhere", "namespace": "b"}), "name a Secret of the host's own namespace"),
    (change_host(networkData={"name": "missing"}), "Secret missing, which is not there"),
    (add_there(host("used")), "another host of this name over there"),
    (add_there(host("x", bmc={"address": "IPMI://192.0.2.1"})), "the host metal3/x over there has, too"),
    (add_there(host("x", bmc={"address": "ipmi://192.0.2.9"}, bootMACAddress="00:5C:52:00:00:01")),
     "one server in one plane only"),
    (add_there(obj("v1", "Secret", "used-data", data={"value": "secret-of-theirs"})), "other content over there"),
    (lambda here, there: there.objects["Namespace", "kube-system"]["metadata"].update(uid="a-kube-system"),
     "the cluster that kubeconfig leads to"),
    (lambda here, there: setattr(there, "forbidden", frozenset(["create baremetalhosts"])),
     "may not create baremetalhosts.metal3.io"),
    (change_host(annotations={host_annotations.DETACHED: host_annotations.compact(
        {host_annotations.TO_PLANE: "c-kube-system"})}), "on its way to another plane"),
    (change_host(annotations={host_annotations.DETACHED: host_annotations.compact(
        {host_annotations.TO_PLANE: "b-kube-system"})}, consumerRef={"kind": "Metal3Machine", "name": "m"}),
     "found Metal3Machine m, expected no consumer"),
    (change_host(annotations={host_annotations.DETACHED: host_annotations.compact(
        {host_annotations.TO_PLANE: "b-kube-system", "force": True})},
        status={"operationalStatus": "detached", "provisioning": {"state": "provisioning", "ID": "x"}}),
     "found provisioning"),
    (change_host(annotations={host_annotations.PAUSED: checks.HELD}), "found held for a pivot"),
    (change_host(status={"provisioning": {"state": "unmanaged"}}), "found unmanaged"),
    (change_host(image={"url": "oci://r/i", "ociAuthSecretName": "pull"}), "Secret pull, which is not there"),
    (lambda here, there: here.objects["BareMetalHost", "used"]["metadata"].update(
        ownerReferences=[{"kind": "Owner", "name": "o", "uid": "u"}]), "found Owner o, expected no owner"),
    (add_there(host("x", bmc={"address": "ipmi://192.0.2.1:623"})), "the host metal3/x over there has, too"),
    (add_there({"kind": "ConfigMap", "apiVersion": "v1", "immutable": True, "metadata": {
        "name": handed_over.NAME, "namespace": NAMESPACE}}), "found immutable")])
def test_what_is_in_the_way_is_named_and_nothing_is_written(planes, change, text):
    change(*planes)
    with pytest.raises(RefusedError) as refused:
        move(planes)
    assert text in str(refused.value) and World.done == 0
    assert "secret-of-theirs" not in str(refused.value)


@pytest.mark.parametrize("kind, spec", [
    ("DataImage", {}), ("BMCEventSubscription", {"hostName": "used"}), ("HostFirmwareComponents", {"updates": [{}]})])
def test_what_is_bound_to_the_bmc_is_taken_away_first(planes, kind, spec):
    name = "events" if kind == "BMCEventSubscription" else "used"
    found = host_obstacles.problems(planes[0].objects["BareMetalHost", "used"], [
        *planes[0].objects.values(), obj("metal3.io/v1alpha1", kind, name, spec=spec)], 0.0, "b-kube-system")
    assert [problem.actual.partition(" with")[0] for problem in found] == [f"{kind} {name}"]


def killed_with_copies(planes):
    """Have a run killed when hosts are over there, and return these."""
    World.steps = 8
    with pytest.raises(Killed):
        move(planes)
    World.steps = None
    copied = [item for (kind, _name), item in planes[1].objects.items() if kind == "BareMetalHost"]
    assert copied
    return copied


def test_a_copy_that_others_have_changed_is_not_released(planes):
    copied = killed_with_copies(planes)
    copied[0]["spec"]["bmc"]["address"] = "ipmi://192.0.2.66"
    with pytest.raises(RefusedError, match="another specification over there"):
        move(planes, confirm=None)


def test_a_mark_that_others_have_written_makes_up_for_no_confirmation(planes):
    for name in NAMES:
        change_host(name, annotations=host_copies.detaching(planes[0].objects["BareMetalHost", name], "b-kube-system"))(
            *planes)
    with pytest.raises(RefusedError, match="metal3_confirm=2"):
        move(planes, confirm=None)


def test_no_machine_gets_a_host_on_its_way(planes):
    World.steps = 8
    with pytest.raises(Killed):
        move(planes)
    for plane in planes:
        for name in NAMES:
            item = plane.objects.get(("BareMetalHost", name))
            assert item is None or host_annotations.UNHEALTHY in item["metadata"]["annotations"]


def test_a_host_that_somebody_takes_meanwhile_is_not_deleted(planes, monkeypatch):
    delete = host_move_service.HostMove._delete

    def late(self, names):
        planes[0].objects["BareMetalHost", "free"]["spec"]["consumerRef"] = {"kind": "Metal3Machine", "name": "m"}
        return delete(self, names)

    monkeypatch.setattr(host_move_service.HostMove, "_delete", late)
    result = move(planes)
    assert len(result["errors"]) == 1 and "expected no consumer" in result["errors"][0]
    assert ("BareMetalHost", "free") in planes[0].objects and ("BareMetalHost", "used") not in planes[0].objects


def test_a_name_that_is_in_neither_plane_is_refused(planes):
    with pytest.raises(RefusedError, match="no such host in either plane"):
        move(planes, ["used", "gone"], "2")


def test_hosts_that_come_back_are_noted_there_and_not_here(planes):
    move(planes)
    World.done = 0
    assert move(planes[::-1])["errors"] == []
    assert handed_over.read(planes[0].objects["ConfigMap", handed_over.NAME]) == {}
    assert sorted(handed_over.read(planes[1].objects["ConfigMap", handed_over.NAME])) == ["free", "used"]


def test_what_is_flashed_already_is_not_flashed_again():
    updates = [{"component": "bios", "url": "http://192.0.2.1/b"}]
    item = obj("metal3.io/v1alpha1", "HostFirmwareComponents", "used", spec={"updates": updates},
               status={"updates": updates})
    assert host_copies.companion_copy(item, {})["spec"] == {"updates": []}
    assert host_obstacles.problems(host("used"), [item], 0.0, "b")[1:] == []


def meanwhile(monkeypatch, step, action):
    """Let others do something right before a step."""
    original = getattr(host_move_service.HostMove, step)

    def late(self, names):
        action()
        return original(self, names)

    monkeypatch.setattr(host_move_service.HostMove, step, late)


def attached(item):
    item["metadata"]["annotations"].pop(host_annotations.DETACHED)


def made_anew(item):
    item["metadata"].update(uid="another")


def deployed(item):
    item["status"]["provisioning"].update(state="provisioning")


@pytest.mark.parametrize("change, text, step", [
    (attached, "not detached for this move any more", "_copy"),
    (attached, "not detached for this move any more", "_release"),
    *((change, text, step) for step in ("_copy", "_release", "_delete") for change, text in (
        (made_anew, "deleted here by somebody else"), (deployed, "it is provisioning by now")))])
def test_a_host_that_has_changed_meanwhile_is_not_given_away(planes, monkeypatch, change, text, step):
    here, there = planes
    meanwhile(monkeypatch, step, lambda: change(here.objects["BareMetalHost", "free"]))
    result = move(planes)
    assert len(result["errors"]) == 1 and text in result["errors"][0], result["errors"]
    assert ("BareMetalHost", "free") in here.objects and ("BareMetalHost", "used") not in here.objects
    if step != "_delete":
        copied = there.objects.get(("BareMetalHost", "free"))
        assert copied is None or copied["metadata"]["annotations"][host_annotations.PAUSED] == host_copies.HELD


@pytest.mark.parametrize("begun_at", ["", "_detach", "_copy"])
def test_a_host_whose_password_is_being_replaced_stays(planes, monkeypatch, begun_at):
    here, there = planes
    here.objects["BareMetalHost", "free"]["spec"]["bmc"]["credentialsName"] = "free-bmc"

    def begin():
        found = claim.claim("free-bmc", NAMESPACE, "new-password", "node:/locks")
        found["metadata"].update(uid="claim", resourceVersion="1")
        here.objects["Secret", "free-bmc-rotation"] = found

    if not begun_at:
        begin()
        with pytest.raises(RefusedError, match="Secret free-bmc-rotation: found a rotation of a BMC's password"):
            move(planes)
        assert World.done == 0
        # Left over: what counts is in the Secret of the BMC.
        here.objects["Secret", "free-bmc"]["data"] = dict(here.objects["Secret", "free-bmc-rotation"]["data"])
        assert move(planes)["errors"] == [] and ("Secret", "free-bmc-rotation") not in there.objects
        return
    meanwhile(monkeypatch, begun_at, begin)
    error, = move(planes)["errors"]
    assert "a rotation of a BMC's password that has not ended" in error and "new-password" not in error
    assert ("BareMetalHost", "free") in here.objects and ("BareMetalHost", "free") not in there.objects
    assert ("BareMetalHost", "used") in there.objects


@pytest.mark.parametrize("change, text", [
    (lambda item: item["spec"].update(image={"url": "http://192.0.2.9/other"}), "the operator would deprovision it"),
    (lambda item: item["spec"].update(online=False), "whose spec has online false"),
    (lambda item: item["metadata"]["annotations"].update({"reboot.metal3.io": ""}), "the annotation reboot.metal3.io"),
    (lambda item: item["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z"), "is being deleted since")])
def test_a_copy_that_would_cost_the_server_stays_held_and_the_host_here(planes, monkeypatch, change, text):
    here, there = planes
    used = here.objects["BareMetalHost", "used"]
    used["status"].update(poweredOn=True)
    used["status"]["provisioning"]["image"] = used["spec"]["image"]
    meanwhile(monkeypatch, "_release", lambda: change(there.objects["BareMetalHost", "used"]))
    result = move(planes)
    assert len(result["errors"]) == 1 and "its copy over there is still held" in result["errors"][0]
    assert text in result["errors"][0]
    assert there.objects["BareMetalHost", "used"]["metadata"]["annotations"][host_annotations.PAUSED] == \
        host_copies.HELD
    assert ("BareMetalHost", "used") in here.objects and ("BareMetalHost", "free") not in here.objects


def test_a_mark_for_a_third_plane_that_comes_after_the_check_is_not_overwritten(planes, monkeypatch):
    other = host_annotations.compact({host_annotations.TO_PLANE: "c-kube-system"})

    def mark():
        item = planes[0].objects["BareMetalHost", "free"]
        item["metadata"]["annotations"][host_annotations.DETACHED] = other
        item["metadata"]["resourceVersion"] = "99"

    meanwhile(monkeypatch, "_detach", mark)
    with pytest.raises(KubeError, match="on its way to another plane"):
        move(planes)
    assert planes[0].objects["BareMetalHost", "free"]["metadata"]["annotations"][host_annotations.DETACHED] == other


def test_an_api_server_that_falls_silent_hides_no_host(planes, monkeypatch):
    here, dummy = planes

    def follow(*_arguments, **_options):
        here.operate()
        here.objects["BareMetalHost", "free"]["status"]["operationalStatus"] = "OK"
        yield last_step(dict((name, here.objects["BareMetalHost", name]) for name in NAMES))
        monkeypatch.setattr(World, "list", away)

    monkeypatch.setattr(host_wait, "follow", follow)
    free, used = move(planes)["errors"]
    assert free.startswith("host free: not detached within 1 min: still available after 0 s; API server "
                           "https://198.18.0.1:6443 has not answered for 30 s, until the end of wait_timeout_seconds")
    assert used == "host used: connection refused; run again: the move goes on from here"


def test_a_copy_that_is_deleted_over_there_keeps_the_host_here(planes, monkeypatch):
    meanwhile(monkeypatch, "_delete", lambda: planes[1].objects["BareMetalHost", "free"]["metadata"].update(
        deletionTimestamp="now"))
    result = move(planes)
    assert len(result["errors"]) == 1 and "not over there any more what it is here" in result["errors"][0]
    assert ("BareMetalHost", "free") in planes[0].objects


def test_after_a_kill_a_host_is_deleted_here_only_once_it_is_registered_there(planes):
    World.steps = 10
    with pytest.raises(Killed):
        move(planes)
    World.steps = None
    for (kind, _name), item in planes[1].objects.items():
        if kind == "BareMetalHost" and host_annotations.STATUS in item["metadata"]["annotations"]:
            # Released, and the operator has taken over the status, no more.
            item["metadata"]["annotations"].pop(host_annotations.PAUSED, None)
            item["status"] = json.loads(item["metadata"]["annotations"].pop(host_annotations.STATUS))
    result = move(planes)
    assert len(result["errors"]) == 2 and all(("BareMetalHost", name) in planes[0].objects for name in NAMES)


def test_a_status_that_was_copied_before_it_changed_is_renewed(planes):
    copied = killed_with_copies(planes)
    for item in copied:
        item["metadata"]["annotations"][host_annotations.STATUS] = "{}"
    assert move(planes)["errors"] == []
    check_moved(*planes)


def test_a_field_that_is_dropped_over_there_keeps_the_copy_held(planes, monkeypatch):
    create = World.create

    def pruning(self, resource, namespace, body, **more):
        if resource.kind == "BareMetalHost":
            body = dict(body, spec=dict((name, value) for name, value in body["spec"].items() if name != "online"))
        return create(self, resource, namespace, body, **more)

    monkeypatch.setattr(World, "create", pruning)
    result = move(planes)
    assert len(result["errors"]) == 2 and "does not keep spec.online (lost)" in result["errors"][0]
    for name in NAMES:
        assert planes[1].objects["BareMetalHost", name]["metadata"]["annotations"][host_annotations.PAUSED]


def test_a_host_that_comes_from_a_third_plane_is_none_of_this_move(planes):
    item = host("stranger")
    item["metadata"]["annotations"] = {host_annotations.PAUSED: host_copies.HELD,
                                       host_annotations.FROM_PLANE: "c-kube-system/uid"}
    planes[1].objects["BareMetalHost", "stranger"] = item
    assert move(planes, ["stranger"], None)["changed"] is False
    assert item["metadata"]["annotations"][host_annotations.PAUSED] == host_copies.HELD


def test_a_webhook_that_quotes_a_secret_does_not_spread_it(planes, monkeypatch):
    planes[0].objects["Secret", "used-bmc"]["data"] = {"password": "Y2FuYXJ5LXBhc3N3b3Jk"}

    def refusing(_self, resource, _namespace, body, **_more):
        raise KubeError(f"denied: {json.dumps(body)}", 422)

    monkeypatch.setattr(World, "create", refusing)
    with pytest.raises(KubeError) as refused:
        move(planes, ["used"], "1")
    assert "denied" in str(refused.value) and "Y2FuYXJ5" not in str(refused.value)
