# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rehearsal between API servers in memory: what is copied, what is compared, what never reaches a disk.

With real API servers and the real clusterctl: ``tests/lab/test_rehearsal.py``.
"""
from __future__ import annotations

import base64
import copy
import json
import os
from pathlib import Path

import pytest
from fakes.planes import DEFINITIONS, NAMESPACE, obj, server, world

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.problem import Problem
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks import rules as checks
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import clusterctl, copies, graph
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects.reading import Side
from ansible_collections.metal3.baremetal.plugins.module_utils._move.rehearsal import service as rehearsal
from ansible_collections.metal3.baremetal.plugins.module_utils._move.rehearsal.operator_findings import Operated

SECRET = base64.b64encode(b"a password").decode()


class Empty:
    """An API server of a rehearsal in memory: takes what is created, and gives it uids and versions of its own."""

    def __init__(self):
        self.objects, self.statuses, self.refused = {}, [], {}

    def create(self, resource, _namespace, body, dry_run=False):
        assert "uid" not in body["metadata"] and "resourceVersion" not in body["metadata"]
        name = body["metadata"]["name"]
        if (resource.kind, name) in self.refused:
            raise KubeError(self.refused[resource.kind, name], 422)
        if dry_run:
            return body
        stored = dict(copy.deepcopy(body), apiVersion=resource.api_version, kind=resource.kind)
        stored.pop("status", None)
        stored["metadata"].update(uid=f"new-{resource.kind}-{name}", resourceVersion="1", generation=1)
        self.objects[resource.kind, name] = stored
        return stored

    def patch(self, resource, _namespace, name, body, subresource=None):
        assert subresource == "status"
        self.statuses.append((resource.kind, name))
        self.objects[resource.kind, name]["status"] = body["status"]
        return self.objects[resource.kind, name]

    def list(self, resource, _namespace=None):
        return [item for (kind, _name), item in self.objects.items() if kind == resource.kind], "1"


@pytest.fixture
def here():
    plane = server("a", "https://198.18.0.1:6443", world())
    for (kind, _name), item in plane.objects.items():
        if kind == "CustomResourceDefinition":
            item["spec"]["versions"][0]["subresources"] = {"status": {}}
            item["spec"]["conversion"] = {"strategy": "Webhook"}
    plane.objects["Secret", "used-bmc"].update(data={"password": SECRET}, type="Opaque")
    plane.objects["Provider", "cluster-api"] = {
        "apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": "Provider", "metadata": {
            "name": "cluster-api", "namespace": "capi-system", "uid": "p", "resourceVersion": "5"}}
    return plane


@pytest.fixture
def servers(monkeypatch, tmp_path):
    """The API servers of a rehearsal, name → Empty."""
    found = {}

    class Servers:
        folder = str(tmp_path)

        def __init__(self, programs, names):
            assert programs == "/programs"
            self._names = names

        def __enter__(self):
            found.update((name, Empty()) for name in self._names)
            return self

        def __exit__(self, *_exception):
            found["ended"] = True

        def kubeconfig(self, name):
            return name

        def resident_bytes(self):
            return 5 * 1024 ** 2

    monkeypatch.setattr(rehearsal, "ThrowawayServers", Servers)
    monkeypatch.setattr(rehearsal, "KubeClient", lambda params: found[params["kubeconfig"]])
    monkeypatch.setattr(rehearsal.provider, "wait_established", lambda *_arguments: None)
    return found


def clusterctl_move(servers, keep=lambda _obj: True, change=lambda _obj: None):
    """Return what moves all but unrelated objects, as clusterctl does, without status."""
    def run(_program, source, target, namespace, _work, _tell, _lock):
        assert (source["kubeconfig"], target["kubeconfig"], namespace) == ("here", "there", NAMESPACE)
        for of, item in list(servers["here"].objects.items()):
            if item["metadata"].get("namespace") == NAMESPACE and keep(item):
                moved = copy.deepcopy(item)
                moved.pop("status", None)
                moved["metadata"]["uid"] += "-moved"
                change(moved)
                servers["there"].objects[of] = moved
    return run


def moves(item):
    return item["metadata"]["name"] != "unrelated"


def attempt(here, run, there=None, operate=None):
    side = Side(here, NAMESPACE)
    return rehearsal.move("/programs", "/clusterctl", NAMESPACE, side.objects, side.graph().moved, side.contents(),
                          there or side.contents(), Progress(None), run, operate=operate)


def test_all_that_moves_arrives_as_it_was(here, servers):
    outcome = attempt(here, clusterctl_move(servers, moves))
    assert outcome.problems == [] and outcome.warnings == []
    assert outcome.objects == len(Side(here, NAMESPACE).graph().moved) == 10
    assert outcome.result()["resident_mib"] == 5 and servers["ended"]
    stored = servers["here"].objects
    assert stored["Provider", "cluster-api"]["metadata"]["namespace"] == "capi-system"
    assert "conversion" not in stored["CustomResourceDefinition", "baremetalhosts.metal3.io"]["spec"]
    # Owners' uids are those of the copies, and status is there for clusterctl to look at.
    assert stored["Machine", "m"]["metadata"]["ownerReferences"][0]["uid"] == "new-Cluster-c"
    assert ("Cluster", "c") in servers["here"].statuses


def test_hosts_are_rehearsed_as_they_would_be_held(here, servers):
    here.objects["BareMetalHost", "free"]["metadata"]["annotations"] = {}
    attempt(here, clusterctl_move(servers, moves))
    for side in ("here", "there"):
        annotations = servers[side].objects["BareMetalHost", "free"]["metadata"]["annotations"]
        assert annotations[host_annotations.PAUSED] == checks.HELD
        assert json.loads(annotations[host_annotations.STATUS])["provisioning"]["ID"] == "node-free"


def test_values_of_secrets_reach_no_api_server(here, servers):
    here.objects["Secret", "used-bmc"]["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied-configuration": SECRET}
    assert attempt(here, clusterctl_move(servers, moves)).problems == []
    for side in ("here", "there"):
        assert SECRET not in repr(servers[side].objects) and "a password" not in repr(servers[side].objects)
        value = servers[side].objects["Secret", "used-bmc"]["data"]["password"]
        assert len(base64.b64decode(value)) == 64


@pytest.mark.parametrize("change, words", [
    (lambda item: item["spec"].pop("bmc") if item["kind"] == "BareMetalHost" else None,
     "BareMetalHost used: spec.bmc: found a field that would be lost over there"),
    (lambda item: item["data"].update(password="b3RoZXI=") if item["metadata"]["name"] == "used-bmc" else None,
     "Secret used-bmc: data.password: found a field that would be changed over there"),
    (lambda item: item["metadata"].pop("ownerReferences") if item["kind"] == "Machine" else None,
     "Machine m: metadata.ownerReferences.Cluster/c: found a field that would be lost over there"),
    (lambda item: item["metadata"]["annotations"].pop(host_annotations.STATUS) if item["kind"] == "BareMetalHost"
     else None, f"BareMetalHost used: metadata.annotations.{host_annotations.STATUS}: found a field that would be"),
    (lambda item: item["metadata"].pop("finalizers", None),
     "BareMetalHost used: metadata.finalizers.baremetalhost.metal3.io: found a field that would be lost")])
def test_what_would_be_lost_or_changed_is_named_with_its_field(here, servers, change, words):
    outcome = attempt(here, clusterctl_move(servers, moves, change))
    assert any(str(problem).startswith(words) for problem in outcome.problems), outcome.problems
    assert "password" not in " ".join(str(problem) for problem in outcome.problems).replace("data.password", "")


def test_what_does_not_arrive_and_what_comes_along_unasked_is_named(here, servers):
    outcome = attempt(here, clusterctl_move(servers, lambda item: item["metadata"]["name"] != "m"))
    assert [(problem.code, problem.subject) for problem in outcome.problems] == [
        ("rehearsal-lost", "Machine m"), ("rehearsal-besides", "ConfigMap unrelated"),
        ("rehearsal-besides", "Secret unrelated")]


def test_a_field_that_the_other_plane_adds_is_a_warning(here, servers):
    def change(item):
        if item["kind"] == "Cluster":
            item["spec"]["newer"] = {"field": 1}

    outcome = attempt(here, clusterctl_move(servers, moves, change))
    assert outcome.problems == [] and outcome.warnings == ["Cluster c: would get spec.newer over there"]


def test_the_operator_works_on_the_hosts_that_have_arrived_and_says_what_it_found(here, servers):
    calls, found = [], Problem("rehearsal-operator", "BareMetalHost used", "", "x", "y")

    def operate(_servers, name, client, namespace, hosts, _progress):
        calls.append((name, client, namespace, sorted(hosts)))
        assert hosts["used"]["status"]["provisioning"]["ID"] == "node-used" and not client.statuses
        return Operated([found], ["w"], 1, "v0.13.2")

    outcome = attempt(here, clusterctl_move(servers, moves), operate=operate)
    assert calls == [("there", servers["there"], NAMESPACE, ["free", "used"])]
    assert (outcome.problems, outcome.warnings, outcome.hosts, outcome.operator) == ([found], ["w"], 1, "v0.13.2")
    assert {"hosts": 1, "operator": "v0.13.2"}.items() <= outcome.result().items()
    # A host that does not arrive has its problem already; what else is wrong does not keep the operator away.
    outcome = attempt(here, clusterctl_move(servers, lambda item: moves(item) and item["metadata"]["name"] != "free"),
                      operate=operate)
    assert calls[1][-1] == ["used"] and [problem.code for problem in outcome.problems] == [
        "rehearsal-lost", "rehearsal-operator"]


def test_without_a_move_to_the_end_there_is_nothing_for_the_operator(here, servers):
    def run(*_arguments):
        raise clusterctl.MoveError("clusterctl move: ended with code 1")

    outcome = attempt(here, run, operate=lambda *_arguments: pytest.fail("the operator was started"))
    assert [problem.code for problem in outcome.problems] == ["rehearsal-refused"] and outcome.hosts is None


def test_what_clusterctl_refuses_is_named_and_nothing_else(here, servers):
    def run(*_arguments):
        raise clusterctl.MoveError("clusterctl move: ended with code 1: Error: no kind HardwareData")

    problem, = attempt(here, run).problems
    assert problem.code == "rehearsal-refused" and "no kind HardwareData" in str(problem)
    assert servers["ended"]


def test_what_an_api_server_refuses_is_named_and_not_moved(here, servers, monkeypatch):
    refused = {("HardwareData", "used"): "HardwareData used: spec.x: Invalid value"}
    monkeypatch.setattr(Empty, "__init__", lambda self: vars(self).update(objects={}, statuses=[], refused=refused))
    problem, = attempt(here, lambda *_arguments: pytest.fail("clusterctl was run")).problems
    assert problem.subject == "HardwareData used" and "Invalid value" in str(problem)


def test_all_that_the_other_api_server_refuses_is_named_before_clusterctl_tries_it(here, servers, monkeypatch):
    made, begin = [], Empty.__init__

    def refusing(self):
        begin(self)
        made.append(self)
        # The first API server is that of the plane that lets go.
        if len(made) == 2:
            self.refused = {("HardwareData", "used"): "HardwareData used: spec.x: Invalid value",
                            ("Secret", "used-bmc"): "Secret used-bmc: data: Too long"}

    monkeypatch.setattr(Empty, "__init__", refusing)
    problems = attempt(here, lambda *_arguments: pytest.fail("clusterctl was run")).problems
    assert [problem.subject for problem in problems] == ["Secret used-bmc", "HardwareData used"]


def test_a_kind_that_is_missing_over_there_is_named_before_clusterctl_tries_it(here, servers):
    there = Side(here, NAMESPACE).contents()
    there = there._replace(definitions=[item for item in there.definitions
                                        if item["metadata"]["name"] != "hardwaredata.metal3.io"])
    problems = attempt(here, lambda *_arguments: pytest.fail("clusterctl was run"), there).problems
    assert {(problem.code, problem.actual) for problem in problems} == {
        ("rehearsal-refused", "no kind HardwareData over there")}


def test_a_restore_is_rehearsed_from_files_without_values_of_secrets(here, servers):
    def run(_program, target, folder, _work, _tell):
        assert target["kubeconfig"] == "there" and os.stat(folder).st_mode & 0o777 == 0o700
        for path in Path(folder).iterdir():
            assert path.stat().st_mode & 0o777 == 0o600 and SECRET not in path.read_text()
            item = json.loads(path.read_text())
            item.pop("status", None)
            servers["there"].objects[item["kind"], item["metadata"]["name"]] = item

    side = Side(here, NAMESPACE)
    outcome = rehearsal.restore("/programs", "/clusterctl", NAMESPACE, side.graph().moved, side.contents(),
                                Progress(None), run)
    assert outcome.problems == [] and outcome.objects == 10


def test_tokens_of_accounts_and_docker_secrets_are_such_that_an_api_server_takes_them():
    token = dict(obj("v1", "Secret", "t"), type="kubernetes.io/service-account-token", data={"token": SECRET})
    docker = dict(obj("v1", "Secret", "d"), type="kubernetes.io/dockerconfigjson", data={".dockerconfigjson": SECRET})
    copied, = copies.objects([token, docker], b"salt")
    assert list(json.loads(base64.b64decode(copied["data"][".dockerconfigjson"]))) == ["auths"]


def test_equal_values_are_equal_in_one_rehearsal_and_tell_nothing_in_another():
    secret = dict(obj("v1", "Secret", "s"), data={"a": SECRET})
    one, same, other = (copies.objects([secret], salt)[0]["data"]["a"] for salt in (b"1", b"1", b"2"))
    assert one == same != other


def test_an_empty_value_stays_empty_for_the_operator_to_find():
    secret = dict(obj("v1", "Secret", "s"), data={"username": "", "password": SECRET})
    assert copies.objects([secret], b"1")[0]["data"]["username"] == ""


def test_owners_are_created_before_what_they_own():
    found = [obj("v1", "Secret", "c", ("Cluster", "a")), obj("x/v1", "Cluster", "a"),
             obj("x/v1", "Machine", "b", ("Cluster", "a"))]
    assert [[item["metadata"]["name"] for item in wave] for wave in copies.waves(found)] == [["a"], ["c", "b"]]
    found[1]["metadata"]["ownerReferences"] = [{"kind": "Machine", "name": "b", "uid": "uid-Machine-b"}]
    assert sum(len(wave) for wave in copies.waves(found)) == 3


@pytest.mark.parametrize("before, after, lost, added", [
    ({"spec": {"a": 1}}, {"spec": {"a": 2}}, ["spec.a (changed)"], []),
    ({"spec": {"a": {"b": 1}}}, {"spec": {"a": {}}}, ["spec.a.b (lost)"], []),
    ({"spec": {"a": [{"b": 1}]}}, {"spec": {"a": [{"b": 1, "c": 2}]}}, [], ["spec.a[0].c"]),
    ({"spec": {"a": [1, 2]}}, {"spec": {"a": [1]}}, ["spec.a (changed)"], []),
    ({"spec": {"a": ""}}, {"spec": {}}, [], []), ({"spec": {}}, {"spec": {"a": {}}}, [], []),
    ({"spec": {}, "status": {"x": 1}}, {"spec": {}}, [], []),
    ({"spec": {"a": None}}, {"spec": {"a": 0}}, ["spec.a (changed)"], [])])
def test_fields_are_compared(before, after, lost, added):
    base = obj("x/v1", "K", "n")
    assert copies.differences(dict(base, **before), dict(base, **after)) == (lost, added)


def test_only_definitions_of_the_move_are_copied(here):
    here.objects["CustomResourceDefinition", "other"] = copy.deepcopy(
        here.objects["CustomResourceDefinition", "baremetalhosts.metal3.io"])
    here.objects["CustomResourceDefinition", "other"]["metadata"]["labels"] = {}
    here.objects["CustomResourceDefinition", "other"]["spec"]["group"] = "example.org"
    assert len(copies.definitions(Side(here, NAMESPACE).definitions)) == len(DEFINITIONS)
    assert graph.kinds(copies.definitions(Side(here, NAMESPACE).definitions))
