# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers of an API server, and of what may be in its place: taken, or refused with a message."""
from __future__ import annotations

import copy
import json

import pytest
from fakes.time_limits import within_processor_time
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.discovery import namespaced, resolve
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.pages import pages
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses import answers
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.advice import next_step_of
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import (
    KubeError,
    error_from_answer,
    text_of,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

BMH = KNOWN["BareMetalHost"]
OBJECT = {
    "apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
    "metadata": {"name": "h1", "namespace": "n", "uid": "u", "resourceVersion": "7", "labels": {"a": "b"},
                 "annotations": {}, "finalizers": ["f"], "ownerReferences": [{"kind": "Cluster", "name": "c"}]},
    "spec": {"online": True}, "status": {"provisioning": {"state": "available"}}}
_JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=20), lambda inner: st.lists(
    inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=8)
_PATHS = [("metadata",), ("spec",), ("status",), ("kind",), ("apiVersion",)]
_PATHS += [("metadata", name) for name in OBJECT["metadata"]] + [("metadata", "labels", "a")]


class Answering(KubeClient):
    """Gives one answer to every request."""

    def __init__(self, answer):
        self.answer, self._server = answer, "https://192.0.2.1"

    def request(self, *_arguments, **_options):
        return copy.deepcopy(self.answer)


def tried(call):
    """Return a call's result, None when it ended in a KubeError with a message."""
    try:
        return call()
    except KubeError as exc:
        assert exc.message
        return None


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(_PATHS), _JSON | st.just("missing")), max_size=3), _JSON)
def test_any_object_is_taken_or_refused(changes, metadata):
    item = copy.deepcopy(OBJECT)
    for path, value in changes:
        target = item
        for step in path[:-1]:
            target = target.get(step) if isinstance(target, dict) else None
        if not isinstance(target, dict):
            continue
        if value == "missing":
            target.pop(path[-1], None)
        else:
            target[path[-1]] = value
    client = Answering({"items": [item], "metadata": metadata})
    tried(lambda: client.list(BMH, "n"))
    found = tried(lambda: Answering(item).get(BMH, "n", "h1"))
    if found is not None:
        assert found["metadata"]["name"] and isinstance(found["metadata"].get("labels") or {}, dict)
        assert isinstance(found.get("spec", {}), dict) and isinstance(found.get("status", {}), dict)
    tried(lambda: answers.read_event(json.dumps({"type": "MODIFIED", "object": item}).encode(), "watch"))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.dictionaries(st.sampled_from(["items", "metadata", "resources", "kind"]), _JSON, max_size=4))
def test_any_mapping_in_place_of_a_list_is_taken_or_refused(answer):
    client = Answering(answer)
    tried(lambda: client.list(BMH, "n"))
    tried(lambda: list(pages(client, BMH, "n")))
    tried(lambda: resolve(client, [{"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "a"}}]))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.binary(max_size=200) | _JSON.map(lambda value: json.dumps(value).encode())
       | st.tuples(st.sampled_from(["ADDED", "ERROR", "BOOKMARK", "?"]), _JSON).map(
           lambda pair: json.dumps({"type": pair[0], "object": pair[1]}).encode()))
def test_any_line_of_a_watch_is_taken_or_refused(line):
    tried(lambda: answers.read_event(line, "watch"))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(300, 599), _JSON | st.dictionaries(
    st.sampled_from(["message", "reason", "details", "code"]), _JSON | st.fixed_dictionaries({"causes": _JSON})))
def test_any_error_has_a_message(status, body):
    error = error_from_answer(status, body, "BareMetalHost n/h1")
    assert error.message.startswith("BareMetalHost n/h1: ") and len(error.message) < 150000
    next_step_of(error, "GET", BMH.path("n"), {}, "https://192.0.2.1", "u")


def test_a_deep_or_huge_answer_is_an_error_too():
    assert isinstance(answers.decode(b"[" * 100000), str)
    error = error_from_answer(500, {"message": "x" * 10 ** 7}, "a")
    assert len(error.message) < 3000
    assert len(error_from_answer(500, "y" * 10 ** 7, "a").message) < 3000


def test_a_null_spec_is_none():
    """As the API server stores it: code asks for ``spec`` by ``get`` with a default."""
    assert "spec" not in answers.read_object(dict(OBJECT, spec=None), "a")


def test_the_same_page_twice_is_not_read_for_ever():
    answer = {"items": [OBJECT], "metadata": {"continue": "token"}}
    with pytest.raises(KubeError, match="got the same page twice"):
        list(pages(Answering(answer), BMH, "n"))


@pytest.mark.parametrize("status, message, method, path, next_step", [
    (404, 'namespaces "typo" not found', "PATCH", BMH.path("typo", "h1"),
     "make the namespace (kubectl create namespace typo), or correct namespace"),
    (404, "the server could not find the requested resource", "GET", BMH.path("n"),
     "install what serves baremetalhosts on https://192.0.2.1 first"),
    (401, "Unauthorized", "GET", BMH.path("n"), "renew the token or client certificate of kubeconfig k"),
    (403, 'User "u" cannot patch resource', "PATCH", BMH.path("n", "h1", "status"),
     "Role and RoleBinding in namespace n with the verb patch on baremetalhosts/status in the API group metal3.io"),
    (403, 'User "u" cannot list resource', "GET", KNOWN["Namespace"].path(),
     'ClusterRole and ClusterRoleBinding with the verb list on namespaces in the API group "" (the core group)'),
    (403, 'User "u" cannot get resource', "GET", KNOWN["Namespace"].path(None, "n"),
     'the verb get on namespaces in the API group ""'),
    (403, "admission webhook denied the request: x", "PATCH", BMH.path("n", "h1"), ""),
    (409, "modified", "PATCH", BMH.path("n", "h1"), "run again"),
    (500, "etcd", "GET", BMH.path("n"), "look at the API server"),
    (None, "CERTIFICATE_VERIFY_FAILED: unable to get local issuer certificate", "GET", BMH.path("n"), "set ca_cert"),
    (None, "CERTIFICATE_VERIFY_FAILED: IP address mismatch", "GET", BMH.path("n"), "use a name in host that"),
    (None, "CERTIFICATE_VERIFY_FAILED: certificate has expired", "GET", BMH.path("n"), "renew the API server's"),
])
def test_what_to_do_about_it(status, message, method, path, next_step):
    error = KubeError(message, status, None if status else "Certificate")
    text = next_step_of(error, method, path, {}, "https://192.0.2.1", "kubeconfig k")
    assert (next_step in text) if next_step else text == ""


def test_a_page_of_begun_titles_does_not_take_seconds():
    assert within_processor_time(0.5, text_of, "<" + "<title" * 16000) == "HTML"
    assert text_of("<html><title class='a'>504 Gateway\nTime-out</title>") == "HTML (504 Gateway Time-out)"


class Discovered:
    """An API server that answers questions about its kinds."""

    def __init__(self, groups, **served):
        self.answers = {"/apis": groups, "/api/v1": {"resources": []}, **served}

    def request(self, _method, path, subject=None):
        if path not in self.answers:
            raise KubeError("not served", 404)
        return self.answers[path]


def served_kind(title, verbs=("list", "delete"), **more):
    return dict({"name": title.lower() + "s", "kind": title, "namespaced": True, "verbs": list(verbs)}, **more)


def test_all_kinds_that_go_with_a_namespace_are_found_once():
    groups = {"groups": [{"versions": [{"groupVersion": "a.example/v1"}, {"groupVersion": "a.example/v1beta1"}]},
                         {"versions": [{"groupVersion": "gone.example/v1"}]}]}
    server = Discovered(groups, **{
        "/api/v1": {"resources": [served_kind("Pod"), served_kind("Node", namespaced=False),
                                  served_kind("Status", name="pods/status")]},
        "/apis/a.example/v1": {"resources": [served_kind("Database"), served_kind("Usage", verbs=["list"])]},
        "/apis/a.example/v1beta1": {"resources": [served_kind("Database"), served_kind("Cache"),
                                                  served_kind("Odd", verbs=[])]}})
    assert [(item.api_version, item.plural) for item in namespaced(server)] == [
        ("v1", "pods"), ("a.example/v1", "databases"), ("a.example/v1beta1", "caches")]


@pytest.mark.parametrize("groups", [
    {}, {"groups": None}, {"groups": "a"}, {"groups": [None]}, {"groups": [{}]}, {"groups": [{"versions": [{}]}]},
    {"groups": [{"versions": [{"groupVersion": "../api/v1"}]}]},
    {"groups": [{"versions": [{"groupVersion": "a.example/v1/namespaces/x"}]}]}])
def test_groups_of_another_form_are_no_list_of_kinds(groups):
    with pytest.raises(KubeError, match="found no groups with versions"):
        namespaced(Discovered(groups))


@pytest.mark.parametrize("name", ["pods?a=b", "%2e%2e", "..", "a b", ""])
def test_what_is_no_name_of_a_kind_becomes_no_path(name):
    with pytest.raises(KubeError, match="found no resources"):
        namespaced(Discovered({"groups": []}, **{"/api/v1": {"resources": [served_kind("Pod", name=name)]}}))
