# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs over manifests: what is asked, judged and written, in which order; and what a Service is asked."""
from __future__ import annotations

import json

import pytest
from fakes import kubernetes
from fakes.clock import Clock

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._manifests.service import ManifestsService
from ansible_collections.metal3.baremetal.plugins.module_utils._manifests.service_probe import ProbeError, ServiceProbe

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.org"},
    "spec": {"group": "example.org", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
             "versions": [{"name": "v1"}]}}
WIDGET = {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "shop"}}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
LIMIT = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"cpu": "0.1"}}


class Server:
    """Stores what is applied, spelling quantities its own way, and records writes."""

    server = "https://server"

    def __init__(self, refuse=()):
        self.objects, self.writes, self.trials, self.refuse, self.outages = {}, [], [], refuse, 0

    def list(self, resource, namespace, label_selector=None):
        if self.outages:
            self.outages -= 1
            raise KubeError("connection refused", reason="Unreachable")
        return [obj for key, obj in self.objects.items() if key[:2] == (resource.kind, namespace)], "1"

    def apply(self, resource, namespace, body, dry_run=False, checked=None):
        name = body["metadata"]["name"]
        if name in self.refuse:
            raise KubeError(f"{resource.kind} {name}: refused", 422)
        (self.trials if dry_run else self.writes).append(name)
        stored = dict(body, metadata=dict(body["metadata"]))
        if stored.get("spec", {}).get("cpu"):
            stored["spec"] = {"cpu": "100m"}
        if resource.kind == "CustomResourceDefinition":
            stored["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
        if not dry_run:
            self.objects[(resource.kind, namespace, name)] = stored
        return stored

    def request(self, _method, path, **_options):
        assert path == "/api/v1"
        return {"resources": [{"name": "limitranges", "kind": "LimitRange", "namespaced": True},
                              {"name": "limitranges/status", "kind": "LimitRange", "namespaced": True}]}


def service(server, *sources, check_mode=False):
    return ManifestsService(server, list(sources), "default", check_mode, Progress(None), sleep=lambda _seconds: None)


def actions(result):
    return dict((item["object"], item["action"]) for item in result["objects"])


def test_a_kind_is_written_after_its_definition_and_only_checked_when_it_can_be():
    server = Server()
    result = service(server, WIDGET, DEFINITION, NAMESPACE, LIMIT).run(60)
    assert result["changed"]
    assert sorted(server.writes[:2]) == ["shop", "widgets.example.org"]
    assert server.writes[2:] == ["l", "w"]
    assert sorted(server.trials) == ["l", "shop", "widgets.example.org"]


def test_a_second_run_changes_nothing_although_the_server_spells_values_its_own_way():
    server = Server()
    service(server, LIMIT).run(0)
    again = service(server, LIMIT).run(0)
    assert not again["changed"] and again["diff"] == []
    assert server.writes == ["l"]


def test_an_api_server_that_does_not_answer_at_once_is_asked_again():
    server = Server()
    server.outages = 1
    assert service(server, LIMIT).run(0)["changed"]
    assert server.writes == ["l"]


def test_check_mode_writes_nothing():
    server = Server()
    result = service(server, NAMESPACE, LIMIT, check_mode=True).run(60)
    assert actions(result) == {"Namespace shop": "created", "LimitRange default/l": "created"}
    assert server.writes == []


def test_check_mode_does_without_a_cluster():
    assert service(None, WIDGET, check_mode=True).run(60)["changed"]


def test_nothing_is_written_when_the_server_refuses_one():
    server = Server(refuse=("l",))
    with pytest.raises(KubeError, match=r"refused 1 of 2 objects, nothing was written:\n- LimitRange l: refused"):
        service(server, NAMESPACE, LIMIT).run(60)
    assert server.writes == []


def test_mistakes_are_reported_before_the_server_is_asked():
    with pytest.raises(RefusedError, match="expected a file that can be read"):
        service(None, "/nowhere").run(60)


SINCE = "2026-11-25T20:00:00Z"


class EventClock(Clock):
    """A clock during whose pauses something happens; `at` says what when how many seconds are over."""

    def __init__(self, at=None):
        super().__init__()
        self.at = at or {}

    def sleep(self, seconds):
        super().sleep(seconds)
        for due in [due for due in self.at if due <= self.now]:
            self.at.pop(due)()


def going(held_by=(), check_mode=False, at=None):
    """Return a server whose Namespace and LimitRange are being deleted, a run over them, and its clock."""
    server, clock = Server(), EventClock(at)
    service(server, NAMESPACE, LIMIT).run(0)
    for obj in server.objects.values():
        obj["metadata"] = dict(obj["metadata"], deletionTimestamp=SINCE, finalizers=list(held_by))
    server.writes.clear()
    server.trials.clear()
    return server, ManifestsService(server, [NAMESPACE, LIMIT], "default", check_mode, Progress(None), clock.sleep,
                                    clock), clock


@pytest.mark.parametrize(("held_by", "check_mode", "timeout_seconds"), [
    (["example.org/own"], False, 60), (["example.org/own"], True, 60), ([], True, 60), ([], False, 0)])
def test_what_is_being_deleted_is_refused_all_at_once(held_by, check_mode, timeout_seconds):
    server, run, clock = going(held_by, check_mode)
    with pytest.raises(RefusedError) as caught:
        run.run(timeout_seconds)
    text = str(caught.value)
    assert f"Namespace shop: found an object that is being deleted since {SINCE}" in text
    assert f"LimitRange default/l: found an object that is being deleted since {SINCE}" in text
    assert clock.now == 0 and server.writes + server.trials == []


def test_what_goes_by_itself_is_waited_for_and_created_again():
    server, run, clock = going(["foregroundDeletion"])
    clock.at = {3: server.objects.clear}
    result = run.run(60)
    assert actions(result) == {"Namespace shop": "created", "LimitRange default/l": "created"} and clock.now == 3
    assert server.writes == ["shop", "l"]


def test_what_does_not_go_in_time_is_refused():
    server, run, clock = going()
    with pytest.raises(RefusedError, match="2 problems, nothing was changed"):
        run.run(5)
    assert clock.now == 5 and server.writes + server.trials == []


def test_a_finalizer_that_shows_up_during_the_wait_ends_it():
    server, run, clock = going()
    metadata = server.objects["LimitRange", "default", "l"]["metadata"]
    clock.at = {2: lambda: metadata.update(finalizers=["example.org/a"])}
    with pytest.raises(RefusedError, match=r"held by example\.org/a"):
        run.run(60)
    assert clock.now == 2


def test_values_of_secrets_do_not_show_in_diffs():
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "hunter2"}}
    (diff,) = service(Server(), secret).run(0)["diff"]
    assert diff["after"]["data"] == {"a": "(hidden, changed)"}
    (diff,) = service(None, secret, check_mode=True).run(0)["diff"]
    assert diff["after"]["stringData"] == {"a": "(hidden, changed)"}


CONFIG = {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "c"},
          "spec": {"files": [{"path": "/etc/a", "content": "hunter2"}]}}


def test_contents_of_files_do_not_show_in_diffs():
    (diff,) = service(None, CONFIG, check_mode=True).run(0)["diff"]
    assert diff["after"]["spec"]["files"] == [{"path": "/etc/a", "content": "(hidden, changed)"}]


def test_contents_that_a_webhook_quotes_do_not_show():
    class Webhook(Server):
        def apply(self, resource, namespace, body, dry_run=False, checked=None):
            raise KubeError(f"LimitRange l: Invalid value: {json.dumps(body['spec'])}", 422)

    with pytest.raises(KubeError) as caught:
        service(Webhook(), json.dumps(dict(LIMIT, spec=CONFIG["spec"])) + "\n").run(0)
    assert "/etc/a" in caught.value.message and "hunter2" not in caught.value.message


SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s", "namespace": "default"},
            "data": {"a": "1"}}


def test_an_object_whose_answer_is_lost_is_stored_once():
    server = Memory()
    server.lost = [("APPLY", "ConfigMap", "s")]
    result = service(server, SETTINGS).run(0)
    assert (actions(result), result["changed"]) == ({"ConfigMap default/s": "created"}, True)
    assert server.stored == [("APPLY", "ConfigMap", "s")]


def test_an_object_that_somebody_else_creates_meanwhile_is_compared_and_not_written_over():
    server = Memory()

    def create():
        server.objects["ConfigMap", "s"] = dict(SETTINGS, metadata=dict(
            SETTINGS["metadata"], uid="u", resourceVersion="9"))

    server.after_trial = create
    result = service(server, SETTINGS).run(0)
    assert (actions(result), result["changed"]) == ({"ConfigMap default/s": "unchanged"}, False)
    assert server.stored == []
    assert result["counts"] == {"total": 1, "created": 0, "updated": 0, "deleted": 0, "unchanged": 1, "failed": 0}


class Memory(kubernetes.Server):
    """The shared API server; somebody else may act between the dry run and the write."""

    after_trial = staticmethod(lambda: None)

    def apply(self, resource, namespace, body, dry_run=False, force=True, checked=None):
        result = super().apply(resource, namespace, body, dry_run, force, checked)
        if dry_run:
            self.after_trial()
        return result


class Pods:
    """Answers like the pods of a Service, one after the other."""

    def __init__(self, *answers):
        self.answers, self.now, self.paths = list(answers), 0.0, []

    def request(self, _method, path, **_options):
        self.paths.append(path)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, KubeError):
            raise answer
        return answer

    def sleep(self, seconds):
        self.now += seconds


def probe(pods, answers):
    params = {"name": "echo", "namespace": "n", "port": "http", "scheme": "http", "path": "/hostname",
              "answers": answers, "wait_timeout_seconds": 2}
    return ServiceProbe(pods, params, Progress(None), lambda: pods.now, pods.sleep).run()


def test_a_service_is_asked_until_enough_different_answers_have_come():
    pods = Pods(KubeError("no endpoints", 503), "a", "a", {"b": 1})
    assert probe(pods, 2)["answers"] == ["a", '{"b": 1}']
    assert set(pods.paths) == {"/api/v1/namespaces/n/services/echo:http/proxy/hostname"}


@pytest.mark.parametrize("error", [
    KubeError("a balancer's page", reason="InvalidAnswer"), KubeError("unauthorized", 401), KubeError("none", 404)])
def test_a_probe_goes_on_after_what_any_wait_goes_on_after(error):
    assert probe(Pods(error, "a"), 1)["answers"] == ["a"]


def test_a_probe_goes_on_when_what_was_allowed_is_forbidden_for_a_moment():
    assert probe(Pods("a", KubeError("forbidden", 403), "b"), 2)["answers"] == ["a", "b"]


def test_a_probe_tells_what_it_saw():
    with pytest.raises(ProbeError, match=r"Service n/echo: found 1 different answers within 2 s \(a\), expected 2"):
        probe(Pods("a"), 2)


def test_a_probe_does_not_hide_a_refusal():
    with pytest.raises(KubeError, match="forbidden"):
        probe(Pods(KubeError("forbidden", 403)), 1)
