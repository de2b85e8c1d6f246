# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator's part of a rehearsal, with an operator in memory: what is written to hosts, what a wait ends with.

With the real operator: ``tests/lab/test_rehearsal.py``.
"""
from __future__ import annotations

import copy

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import ReportedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks import rules as checks
from ansible_collections.metal3.baremetal.plugins.module_utils._move.rehearsal import operator as operator_rehearsal

NAMESPACE = "metal3"


def host(name, state="available"):
    return {"metadata": {"name": name, "annotations": {}}, "spec": {"online": True}, "status": {
        "lastUpdated": "2026-11-26T00:00:00Z", "operationalStatus": "OK", "conditions": [{"type": "Ready"}],
        "provisioning": {"state": state}}}


class Operator:
    """An API server with hosts that have arrived, and an operator that works on what is written to them.

    :param hosts: name → state that the operator brings a host to; None for one that it is silent about
    """

    def __init__(self, hosts, refused=()):
        self.hosts, self.refused, self.version, self.has_ended = hosts, refused, 1, False
        self.objects, self.events, self.patches, self.started = {}, [], [], []
        for name in hosts:
            found = host(name)
            del found["status"]
            found["metadata"]["annotations"] = {host_annotations.PAUSED: checks.HELD, host_annotations.STATUS: "{}"}
            self.write(name, found)
        self.events.clear()

    def write(self, name, found):
        self.version += 1
        found["metadata"]["resourceVersion"] = f"{self.version}"
        self.objects[name] = found
        self.events.append({"type": "MODIFIED", "object": copy.deepcopy(found)})
        return copy.deepcopy(found)

    # What the rehearsal uses of a KubeClient.

    def list(self, resource, namespace):
        assert (resource.kind, namespace) == ("BareMetalHost", NAMESPACE)
        return list(self.objects.values()), f"{self.version}"

    def patch(self, _resource, _namespace, name, body, subresource=None):
        self.patches.append((name, body))
        if name in self.refused:
            raise KubeError("admission webhook \"x\" denied the request: unknown BMC type", 403)
        found = copy.deepcopy(self.objects[name])
        if subresource:
            assert body == {"status": {"conditions": None}}
            found["status"].pop("conditions")
            return self.write(name, found)
        for key, value in body["metadata"]["annotations"].items():
            found["metadata"]["annotations"].pop(key, None)
            if value is not None:
                found["metadata"]["annotations"][key] = value
        stored = self.write(name, found)
        self.work(name)
        return stored

    def watch(self, _resource, _namespace, version, _timeout_seconds):
        if not self.events:
            yield {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": version}}}
        while self.events:
            yield self.events.pop(0)

    # What the operator does.

    def work(self, name):
        if self.hosts[name] is None:
            return
        if self.hosts[name] == "gone":
            del self.objects[name]
            self.events.append({"type": "DELETED", "object": host(name) | {"metadata": {
                "name": name, "resourceVersion": "9"}}})
            return
        found = host(name, self.hosts[name])
        found["metadata"]["annotations"] = dict(self.objects[name]["metadata"]["annotations"])
        found["metadata"]["annotations"].pop(host_annotations.STATUS, None)
        self.write(name, found)

    # What the rehearsal uses of its API servers.

    def start(self, servers, name, client, namespace):
        assert servers is self and client is self
        self.started.append((name, namespace))
        return "v0.13.2"

    def require(self, name):
        assert name == "bmo"
        if self.has_ended:
            raise ReportedError("rehearsal: bmo has ended")

    def log(self, _name):
        return '{"level": "error", "error": "no such thing", "baremetalhost": {"name": "silent"}}'


class Clock:
    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 10
        return self.now


def operated(operator):
    before = dict((name, host(name)) for name in operator.hosts)
    return operator_rehearsal.operated(operator, "there", operator, NAMESPACE, before, Progress(None), Clock(),
                                       operator.start)


def test_hosts_are_released_as_a_move_releases_them_and_then_only_asked():
    operator = Operator({"a": "available", "b": "available"})
    assert operated(operator) == ([], [], 2, "v0.13.2")
    assert operator.started == [("there", NAMESPACE)]
    released = [body for _name, body in operator.patches[:2]]
    assert released == [{"metadata": {"annotations": {host_annotations.PAUSED: None}}}] * 2
    assert [list(body["metadata"]["annotations"]) for _name, body in operator.patches[2:] if "metadata" in body] == [
        [host_annotations.RETRY]] * 2


def test_each_host_has_its_problem_and_the_others_count():
    operator = Operator({"a": "available", "b": "inspecting", "gone": "gone", "refused": "available", "silent": None},
                        refused=["refused"])
    problems, warnings, hosts, _version = operated(operator)
    assert (hosts, warnings) == (1, [])
    found = dict((problem.subject.partition(" ")[2], str(problem)) for problem in problems)
    assert sorted(found) == ["b", "gone", "refused", "silent"]
    assert "available → inspecting over there" in found["b"] and "deleted over there" in found["gone"]
    assert "unknown BMC type" in found["refused"] and "correct it here" in found["refused"]
    assert "after 2 min 5 s; its last error: no such thing" in found["silent"]


def test_an_operator_that_has_ended_ends_the_rehearsal():
    operator = Operator({"silent": None})
    operator.has_ended = True
    with pytest.raises(ReportedError, match="bmo has ended"):
        operated(operator)


def test_without_hosts_no_operator_is_started():
    operator = Operator({})
    assert operated(operator) == ([], [], 0, None) and operator.started == []


def test_a_host_that_is_gone_when_it_is_asked_is_found_by_the_watch(monkeypatch):
    operator = Operator({"a": "available"})
    patch = operator.patch

    def vanishing(resource, namespace, name, body, subresource=None):
        if subresource:
            operator.hosts["a"] = "gone"
            operator.work("a")
            raise KubeError("not found", 404)
        return patch(resource, namespace, name, body, subresource)

    monkeypatch.setattr(operator, "patch", vanishing)
    assert "deleted over there" in str(operated(operator).problems[0])


def test_an_api_server_that_does_not_answer_is_no_verdict_of_the_webhook(monkeypatch):
    def failing(*_arguments):
        raise KubeError("failed calling webhook", 500)

    operator = Operator({"a": "available"})
    monkeypatch.setattr(operator, "patch", failing)
    with pytest.raises(KubeError, match="failed calling webhook"):
        operated(operator)


def test_another_failure_of_a_question_is_no_verdict(monkeypatch):
    operator = Operator({"a": "available"})
    patch = operator.patch

    def failing(resource, namespace, name, body, subresource=None):
        if subresource:
            raise KubeError("etcd is gone", 500)
        return patch(resource, namespace, name, body, subresource)

    monkeypatch.setattr(operator, "patch", failing)
    with pytest.raises(KubeError, match="etcd is gone"):
        operated(operator)
