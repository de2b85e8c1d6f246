# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that are held for a move and released: what is written, what is refused, what is waited for."""
from __future__ import annotations

import json

import pytest
from fakes.kubernetes import Server
from fakes.planes import obj
from fakes.silence import falls_silent, last_step

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_loop import Step
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description.annotations import (
    DETACHED,
    FOR_RESTORE,
    FORMER_IRONIC,
    PAUSED,
    PAUSED_BY_CAPM3,
    STATUS,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import wait as host_wait
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.backup import verdicts
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks.rules import HELD, host_problems
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import record
from ansible_collections.metal3.baremetal.plugins.module_utils._move.pauses import hosts as hosts_service

NAMESPACE = "metal3"


def host(name, state="available", **annotations):
    return {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {
        "name": name, "namespace": NAMESPACE, "uid": "uid-" + name, "resourceVersion": "1", "annotations": annotations},
        "spec": dict({"online": True}, **deployed(state)), "status": {
            "lastUpdated": "2026-11-23T00:00:00Z", "operationalStatus": "OK", "poweredOn": True,
            "hardware": {"cpu": {}}, "provisioning": dict({"state": state, "ID": "node-" + name}, **deployed(state))}}


def deployed(state):
    return {"image": {"url": "http://192.0.2.1/i"}} if state == "provisioned" else {}


@pytest.fixture
def server():
    result = Server()
    for item in (host("used", "provisioned"), host("free")):
        result.objects["BareMetalHost", item["metadata"]["name"]] = item
    return result


def hold(server, check_mode=False):
    return hosts_service.held(server, NAMESPACE, check_mode, Progress(None), lambda _seconds: None)


def annotations(server, name):
    return server.objects["BareMetalHost", name]["metadata"]["annotations"]


def test_all_hosts_are_paused_first_and_then_their_status_is_saved(server):
    result = hold(server)
    assert result["changed"] and [item["changed"] for item in result["hosts"]] == [True, True]
    for name, state in (("used", "provisioned"), ("free", "available")):
        assert annotations(server, name)[PAUSED] == HELD
        saved = json.loads(annotations(server, name)[STATUS])
        assert saved["provisioning"]["state"] == state and "hardware" not in saved
    assert {verb for verb, _kind, _name in server.stored} == {"PATCH"}
    assert hold(server)["changed"] is False


def test_for_which_ironics_end_hosts_are_held_is_noted_until_they_are_released(server, monkeypatch):
    """A later run that does not find this Ironic must not take it for one that has stopped."""
    annotations(server, "used")[FORMER_IRONIC] = "of a run whose hosts somebody has resumed by hand"
    for place in ("process bastion:/plane", "process other:/plane"):
        hosts_service.held(server, NAMESPACE, False, Progress(None), lambda _seconds: None, former_ironic=place)
        # The second one holds nothing.
        assert {annotations(server, name)[FORMER_IRONIC] for name in ("used", "free")} == {"process bastion:/plane"}
    result = release(server, monkeypatch, {})
    assert result["changed"] and not {FORMER_IRONIC, PAUSED} & {
        *annotations(server, "used"), *annotations(server, "free")}
    annotations(server, "used")[FORMER_IRONIC] = "of before"
    hold(server)
    assert FORMER_IRONIC not in annotations(server, "used")


def twice(server):
    """Give the server of a held host to another one."""
    hold(server)
    server.objects["BareMetalHost", "free"]["spec"]["bmc"] = {"address": "ipmi://192.0.2.2"}
    other = host("another")
    other["spec"]["bmc"] = {"address": "ipmi://192.0.2.2"}
    other["metadata"]["namespace"] = "rack2"
    server.objects["BareMetalHost", "another"] = other


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_host_whose_server_somebody_has_enrolled_meanwhile_stays_held(server, monkeypatch, check_mode):
    """Two hosts would switch and clean one server."""
    twice(server)
    monkeypatch.setattr(host_wait, "follow", Operator(server, {}))
    result = hosts_service.released(server, NAMESPACE, check_mode, Progress(None), 60, lambda: 0.0,
                                    lambda _seconds: None)
    assert [text.partition(", expected")[0] for text in result["errors"] if "not released" in text] == [
        "host free: not released: spec.bmc.address: found ipmi://192.0.2.2, which the host rack2/another has, too"]
    assert annotations(server, "free")[PAUSED] == HELD
    assert (PAUSED in annotations(server, "used")) is check_mode


def test_a_detached_host_has_no_power_over_the_server_of_another_one(server, monkeypatch):
    twice(server)
    annotations(server, "another")[DETACHED] = ""
    release(server, monkeypatch, {})
    assert PAUSED not in annotations(server, "free")


def test_hosts_of_other_namespaces_that_may_not_be_read_are_a_warning(server, monkeypatch):
    hold(server)
    server.only_one_namespace = True
    assert "allow listing baremetalhosts in all namespaces" in release(server, monkeypatch, {})["warnings"][0]


def test_check_mode_holds_nothing(server):
    assert hold(server, check_mode=True)["changed"]
    assert annotations(server, "used") == {} and annotations(server, "free") == {}


@pytest.mark.parametrize("change, text", [
    ({"provisioning": {"state": "inspecting"}}, "status.provisioning.state: found inspecting"),
    ({"operationalStatus": "error", "errorType": "registration error", "errorMessage": "no", "errorCount": 1},
     "found error (registration error: no)")])
def test_a_host_that_something_is_done_with_is_refused_and_none_is_held(server, change, text):
    server.objects["BareMetalHost", "free"]["status"].update(change)
    with pytest.raises(RefusedError) as refused:
        hold(server)
    assert text in str(refused.value) and annotations(server, "used") == {}


def test_a_detached_host_is_attached_first():
    item = host("free")
    item["status"]["operationalStatus"] = "detached"
    assert [problem.hint for problem in host_problems(item)] == ["attach the host first"]


def test_a_host_that_has_begun_something_before_the_pause_reached_it_is_let_go_again(server):
    writes = []

    def also(verb, kind, name):
        writes.append(name)
        server.objects["BareMetalHost", "free"]["status"]["provisioning"]["state"] = "provisioning"
    patch = server.patch
    server.patch = lambda *given, **more: (patch(*given, **more), also(*given[:3]))[0]
    with pytest.raises(RefusedError, match="found provisioning"):
        hold(server)
    assert PAUSED not in annotations(server, "free") and STATUS not in annotations(server, "free")


def conflicting(server, monkeypatch, meanwhile):
    """Let something happen to a host in the moment before its status is saved at it."""
    patch, left = server.patch, ["free"]

    def patching(resource, namespace, name, body, *given, **more):
        if STATUS in body["metadata"]["annotations"] and name in left:
            left.remove(name)
            meanwhile(server.objects)
            raise KubeError("the object has been modified", 409, "Conflict")
        return patch(resource, namespace, name, body, *given, **more)
    monkeypatch.setattr(server, "patch", patching)


def test_a_status_that_is_not_the_one_that_was_checked_is_not_saved(server, monkeypatch):
    conflicting(server, monkeypatch, lambda objects: objects["BareMetalHost", "free"]["status"].update(
        provisioning={"state": "provisioning"}))
    with pytest.raises(KubeError, match=r"changed by somebody else during this run: .*found provisioning"):
        hold(server)
    assert STATUS not in annotations(server, "free")


def test_a_host_that_goes_while_it_is_held_ends_in_no_error(server, monkeypatch):
    conflicting(server, monkeypatch, lambda objects: objects.pop(("BareMetalHost", "free")))
    assert hold(server)["changed"] and ("BareMetalHost", "free") not in server.objects


class Operator:
    """What the operator over there makes of released hosts, look by look; in place of a watch."""

    def __init__(self, server, *looks):
        self.server, self.looks = server, looks

    def __call__(self, *_arguments, **_options):
        for look in self.looks:
            for name, status in look.items():
                item = self.server.objects["BareMetalHost", name]
                item["status"] = status
                if status.get("lastUpdated"):
                    item["metadata"]["annotations"].pop(STATUS, None)
            objects = dict((key[1], item) for key, item in self.server.objects.items() if key[0] == "BareMetalHost")
            yield Step(objects, set(objects), None, None, True)


def moved(server):
    """Bring the hosts of a server to where a move leaves them over there: held, without a status."""
    hold(server)
    for item in server.objects.values():
        item.pop("status")


def restored(server, name):
    """Bring a host to where a restore leaves it: held, without a status."""
    host_of_backup = server.objects["BareMetalHost", name]
    annotations(server, name).update({PAUSED: FOR_RESTORE, STATUS: json.dumps(host_of_backup.pop("status"))})


def status(name, state, node, **more):
    return dict(host(name, state)["status"], provisioning={"state": state, "ID": node}, **more)


def release(server, monkeypatch, *looks):
    monkeypatch.setattr(host_wait, "follow", Operator(server, *looks))
    return hosts_service.released(server, NAMESPACE, False, Progress(None), 60, lambda: 0.0, lambda _seconds: None)


@pytest.mark.parametrize("saved, text", [
    (None, "host used: not released: neither a status nor a saved one, so that the operator would begin with it"),
    ("", "neither a status nor a saved one"), ("{broken", "neither a status nor a saved one"),
    ('{"provisioning": "broken"}', "a saved status with the state None, and moved as provisioned"),
    ('{"provisioning": {"state": "available"}}', "a saved status with the state available, and moved as provisioned")])
def test_a_host_that_has_lost_its_status_over_there_stays_held(server, monkeypatch, saved, text):
    """The operator would install its server again."""
    before = dict((name, record.host_facts(server.objects["BareMetalHost", name])) for name in ("used", "free"))
    moved(server)
    server.objects["ConfigMap", record.NAME] = record.config_map(
        record.Record(record.MOVED, "a", "b", (), before, {}), NAMESPACE)
    del annotations(server, "used")[STATUS]
    if saved is not None:
        annotations(server, "used")[STATUS] = saved
    planned = hosts_service.released(server, NAMESPACE, True, Progress(None), 60, lambda: 0.0, lambda _seconds: None)
    assert len(planned["errors"]) == 1 and text in planned["errors"][0]
    result = release(server, monkeypatch, {"free": status("free", "available", "anew")})
    assert result["errors"] == planned["errors"]
    assert annotations(server, "used")[PAUSED] == HELD and PAUSED not in annotations(server, "free")


def test_a_host_that_loses_its_status_while_it_is_released_stays_held(server, monkeypatch):
    moved(server)
    patch, left = server.patch, ["used"]

    def patching(resource, namespace, name, body, *given, **more):
        if name in left:
            left.remove(name)
            del annotations(server, "used")[STATUS]
            raise KubeError("the object has been modified", 409, "Conflict")
        return patch(resource, namespace, name, body, *given, **more)

    monkeypatch.setattr(server, "patch", patching)
    release(server, monkeypatch, {"free": status("free", "available", "anew")})
    assert annotations(server, "used")[PAUSED] == HELD


@pytest.mark.parametrize("is_moved", [True, False])
@pytest.mark.parametrize("change, text", [
    (lambda item: item["spec"].pop("image"), 'http://192.0.2.1/i" is deployed, and whose spec names null'),
    (lambda item: item["spec"].update(online=False), "whose server is on, and whose spec has online false"),
    (lambda item: item["metadata"]["annotations"].update({"reboot.metal3.io": ""}), "with the annotation reboot"),
    (lambda item: item["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z"), "which is being deleted since")])
def test_a_host_that_others_have_changed_or_deleted_while_it_was_held_stays_held(
        server, monkeypatch, change, text, is_moved):
    """Nobody who releases what has moved has agreed to what the operator would do to the server at once."""
    (moved if is_moved else hold)(server)
    change(server.objects["BareMetalHost", "used"])
    planned = hosts_service.released(server, NAMESPACE, True, Progress(None), 60, lambda: 0.0, lambda _seconds: None)
    assert len(planned["errors"]) == 1 and text in planned["errors"][0]
    result = release(server, monkeypatch, {"free": status("free", "available", "anew")})
    assert result["errors"] == planned["errors"]
    assert annotations(server, "used")[PAUSED] == HELD and PAUSED not in annotations(server, "free")


def test_released_hosts_are_waited_for_until_another_ironic_has_registered_them(server, monkeypatch):
    moved(server)
    result = release(
        server, monkeypatch,
        {"used": status("used", "provisioned", "node-used"), "free": status("free", "available", "anew")},
        {"used": status("used", "provisioned", "anew-2")})
    assert result["changed"] and result["errors"] == []
    assert PAUSED not in annotations(server, "used")


@pytest.mark.parametrize("last, text", [
    (status("used", "provisioned", "node-used"), "host used: not what it was within 1 min"),
    (status("used", "inspecting", "anew"), "still inspecting"),
    (status("used", "provisioned", "anew", operationalStatus="error", errorType="provisioned registration error",
            errorMessage="no route", errorCount=3), "no route")])
def test_a_host_that_is_not_what_it_was_is_named(server, monkeypatch, last, text):
    moved(server)
    result = release(server, monkeypatch, {"free": status("free", "available", "anew"), "used": last})
    assert len(result["errors"]) == 1 and text in result["errors"][0], result["errors"]


def test_an_api_server_that_falls_silent_hides_no_host_and_no_machine(server, monkeypatch):
    moved(server)
    server.objects["ConfigMap", record.NAME] = record.config_map(
        record.Record(record.MOVED, "a", "b", (), {}, {"m": {"node": "m"}}), NAMESPACE)
    del server.objects["ConfigMap", record.NAME]["metadata"]["namespace"]

    def follow(*_arguments, **_options):
        server.objects["BareMetalHost", "used"]["status"] = status("used", "inspecting", "anew")
        yield last_step(dict((name, server.objects["BareMetalHost", name]) for name in ("free", "used")))

    monkeypatch.setattr(host_wait, "follow", follow)
    monkeypatch.setattr(hosts_service, "follow", falls_silent)
    result = hosts_service.released(server, NAMESPACE, False, Progress(None), 60, lambda: 0.0, lambda _seconds: None)
    silence = "API server https://198.18.0.1:6443 has not answered for 30 s, until the end of wait_timeout_seconds"
    assert result["changed"] and [text.partition(": connection refused")[0] for text in result["errors"]] == [
        f"host free: not what it was within 1 min: still new after 0 s; {silence}",
        f"host used: not what it was within 1 min: still inspecting after 0 s; {silence}",
        f"machine m: not what it was within 1 min: {silence}"]


def test_what_another_client_has_paused_stays_paused(server, monkeypatch):
    annotations(server, "used")[PAUSED] = "mine"
    result = release(server, monkeypatch)
    assert result["changed"] is False and annotations(server, "used")[PAUSED] == "mine"


def test_hosts_that_are_held_for_something_else_or_not_named_stay_held(server, monkeypatch):
    moved(server)
    annotations(server, "free")[PAUSED] = FOR_RESTORE
    arguments = (server, NAMESPACE, True, Progress(None), 60, lambda: 0.0, lambda _seconds: None)
    assert [item["name"] for item in hosts_service.released(*arguments)["hosts"] if item["changed"]] == ["used"]
    assert hosts_service.released(*arguments, names=[])["changed"] is False
    assert hosts_service.released(*arguments, names=["free"])["changed"] is False
    result = hosts_service.released(*arguments, names=["free", "used"], what_for=FOR_RESTORE)
    assert [item["name"] for item in result["hosts"] if item["changed"]] == ["free"]
    with pytest.raises(RefusedError, match="BareMetalHost other: hosts: found none in namespace metal3"):
        hosts_service.released(*arguments, names=["other"])


def test_only_named_hosts_are_held(server):
    result = hosts_service.held(server, NAMESPACE, False, Progress(None), lambda _seconds: None, ["free"])
    assert [item["name"] for item in result["hosts"]] == ["free"] and annotations(server, "used") == {}
    assert annotations(server, "free")[PAUSED] == HELD


def test_no_host_is_released_while_its_move_has_not_ended(server, monkeypatch):
    moved(server)
    server.objects["ConfigMap", record.NAME] = record.config_map(
        record.Record(record.MOVING, "a", "b", (), {}, {}), NAMESPACE)
    del server.objects["ConfigMap", record.NAME]["metadata"]["namespace"]
    with pytest.raises(RefusedError, match=r"ConfigMap metal3/metal3-baremetal-move: found the record of a move that"):
        release(server, monkeypatch)
    assert {annotations(server, name)[PAUSED] for name in ("free", "used")} == {HELD}


def test_what_is_restored_is_not_compared_with_an_earlier_move(server, monkeypatch):
    moved(server)
    for name in ("free", "used"):
        annotations(server, name)[PAUSED] = FOR_RESTORE
    facts = {"used": {"state": "available"}}
    server.objects["ConfigMap", record.NAME] = record.config_map(
        record.Record(record.MOVED, "a", "b", (), facts, {"m": {"node": "m"}}), NAMESPACE)
    monkeypatch.setattr(host_wait, "follow", Operator(server, {
        "used": status("used", "provisioned", "anew"), "free": status("free", "available", "anew")}))
    result = hosts_service.released(server, NAMESPACE, False, Progress(None), 60, lambda: 0.0, lambda _seconds: None,
                                    what_for=FOR_RESTORE)
    assert result["changed"] and result["errors"] == []


@pytest.mark.parametrize("state, node, error", [
    ("deprovisioning", "anew", ""), ("provisioned", "node-used", "host used: not registered within 1 min")])
def test_a_restored_host_that_the_operator_wipes_is_waited_for_until_it_is_registered(server, monkeypatch, state, node,
                                                                                      error):
    """It goes on at once, so that nobody may see it as what it was."""
    used = server.objects["BareMetalHost", "used"]
    used["spec"]["bmc"] = {"address": "redfish://192.0.2.1"}
    used["status"]["provisioning"]["image"] = {"url": "http://images/a"}
    moved(server)
    annotations(server, "used")[PAUSED] = FOR_RESTORE
    monkeypatch.setattr(host_wait, "follow", Operator(server, {"used": status("used", state, node)}))
    result = hosts_service.released(server, NAMESPACE, False, Progress(None), 60, lambda: 0.0, lambda _seconds: None,
                                    names=["used"], what_for=FOR_RESTORE, loses=verdicts.loses)
    assert result["changed"] and error in "".join(result["errors"]) and len(result["errors"]) == bool(error)


def test_a_restored_host_that_was_detached_is_so_again(server, monkeypatch):
    """The operator does not register it, so that it keeps the ID of before."""
    annotations(server, "used")[DETACHED] = ""
    before = status("used", "provisioned", "node-used", operationalStatus="detached")
    server.objects["BareMetalHost", "used"]["status"] = before
    restored(server, "used")
    monkeypatch.setattr(host_wait, "follow", Operator(server, {"used": before}))
    result = hosts_service.released(server, NAMESPACE, False, Progress(None), 60, lambda: 0.0, lambda _seconds: None,
                                    names=["used"], what_for=FOR_RESTORE, loses=verdicts.loses)
    assert result["changed"] and result["errors"] == []


@pytest.mark.parametrize("paused", [True, False])
def test_a_restored_host_of_a_paused_cluster_is_left_to_capm3(server, monkeypatch, paused):
    moved(server)
    used = server.objects["BareMetalHost", "used"]
    used["spec"]["consumerRef"] = {"kind": "Metal3Machine", "name": "m3"}
    annotations(server, "used")[PAUSED] = FOR_RESTORE
    server.objects["Metal3Machine", "m3"] = obj(
        "infrastructure.cluster.x-k8s.io/v1beta2", "Metal3Machine", "m3")
    server.objects["Metal3Machine", "m3"]["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "c"}
    server.objects["Cluster", "c"] = obj("cluster.x-k8s.io/v1beta2", "Cluster", "c", spec={"paused": paused})

    def follow(*_arguments, **_options):
        annotations(server, "used")[PAUSED] = PAUSED_BY_CAPM3
        yield Step({"used": used}, {"used"}, None, None, True)

    monkeypatch.setattr(host_wait, "follow", follow)
    result = hosts_service.released(server, NAMESPACE, False, Progress(None), 60, lambda: 0.0, lambda _seconds: None,
                                    names=["used"], what_for=FOR_RESTORE)
    if paused:
        assert result["errors"] == [] and "since its Cluster c is paused" in result["warnings"][0]
    else:
        assert "paused by metal3.io/capm3" in result["errors"][0] and result["warnings"] == []


def test_a_host_is_compared_with_the_record_of_the_move(server, monkeypatch):
    before = dict((name, record.host_facts(server.objects["BareMetalHost", name])) for name in ("used", "free"))
    moved(server)
    config = record.config_map(record.Record(record.MOVED, "a", "b", (), before, {}), NAMESPACE)
    server.objects["ConfigMap", record.NAME] = config
    off = status("used", "provisioned", "anew", poweredOn=False)
    result = release(server, monkeypatch, {"used": off, "free": status("free", "available", "anew")})
    assert len(result["errors"]) == 1 and result["errors"][0].startswith("host used: not what it was")
