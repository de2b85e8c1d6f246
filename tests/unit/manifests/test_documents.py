# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests: what is read from them, what is refused, where it goes and in which order."""
from __future__ import annotations

import base64
import json
import os
import threading
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds.resources import KNOWN, Resource
from ansible_collections.metal3.baremetal.plugins.module_utils._manifests import documents, order

WIDGET = Resource("example.org", "v1", "widgets", "Widget", True)
RESOURCES = {("v1", "ConfigMap"): KNOWN["ConfigMap"], ("v1", "Namespace"): KNOWN["Namespace"],
             ("v1", "Secret"): KNOWN["Secret"], ("example.org/v1", "Widget"): WIDGET,
             ("example.org/v2", "Widget"): None}


def thing(kind, name="a", api_version="v1", **more):
    return dict({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}, **more)


def test_a_pipe_is_not_waited_for_and_no_half_of_a_file_is_applied(tmp_path, monkeypatch):
    """Whoever may put something in a file's place must not stop a run, or leave objects out of it."""
    os.mkfifo(tmp_path / "pipe.yml")
    found: list[Any] = []
    reading = threading.Thread(target=lambda: found.append(documents.read([str(tmp_path / "pipe.yml")])), daemon=True)
    reading.start()
    reading.join(20)
    assert found and found[0][0] == [] and "found no regular file" in str(found[0][1][0])
    monkeypatch.setattr(documents, "LONGEST_BYTES", 20)
    (tmp_path / "long.yml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    objects, problems = documents.read([str(tmp_path / "long.yml")])
    assert objects == [] and "more than 20 bytes" in str(problems[0])


def test_paths_texts_objects_and_lists_become_objects(tmp_path):
    path = tmp_path / "a.yml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n---\n# nothing\n")
    text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n"
    objects, problems = documents.read([str(path), text, thing("ConfigMap", "c")])
    assert [obj["metadata"]["name"] for obj in objects] == ["a", "b", "c"]
    assert problems == []


@pytest.mark.parametrize("source, words", [
    ("/nowhere/a.yml", "manifests[0] (/nowhere/a.yml): found No such file or directory, expected a file"),
    ("a: [\n", "expected YAML documents"),
    ("- a\n- b\n", "found list, expected an object"),
    (5, "found int, expected a path"),
    ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}, "metadata.name: not set"),
    ({"kind": "ConfigMap", "metadata": {"name": "a"}}, "ConfigMap a: apiVersion: not set"),
    ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": ["a"]}, "metadata.name: not set"),
    ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": 1}}, "metadata.name: found 1, expected a text"),
    (thing("CustomResourceDefinition", spec={"group": "example.org"}), "found an incomplete definition"),
])
def test_what_is_no_manifest_is_reported(source, words):
    objects, problems = documents.read([source])
    assert objects == []
    assert len(problems) == 1 and words in str(problems[0])


@pytest.mark.parametrize("line, words", [
    ("login: hidden-word: more", "mapping values are not allowed"), ("hidden-word\n  login: a", "line 6"),
    ("login: !!int hidden-word", "invalid literal for int"), ("login: 'hidden-word", "line"),
    ("login: !!float hidden-word", "could not convert string to float"), ("login: !hidden-word a", "for the tag, line"),
    ("login: *hidden-word", "undefined alias, line")])
@pytest.mark.parametrize("is_pure", [True, False])
def test_a_line_of_a_secret_is_in_no_message(monkeypatch, is_pure, line, words):
    """PyYAML without libyaml quotes the line at which it stumbles."""
    if is_pure:
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    text = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\nstringData:\n  {line}\n"
    problem, = documents.read([text])[1]
    assert words in str(problem) and "hidden" not in str(problem)


def test_all_mistakes_are_reported_at_once():
    assert len(documents.read(["/nowhere", {"kind": "A"}])[1]) == 3


def test_objects_are_placed_where_they_belong():
    objects = [thing("ConfigMap"), thing("Widget", api_version="example.org/v1"), thing("Namespace")]
    objects[1]["metadata"]["namespace"] = "shop"
    objects[2]["metadata"]["namespace"] = "ignored"
    placed, problems = documents.placed(objects, RESOURCES, "default")
    assert [obj["metadata"].get("namespace") for obj in placed] == ["default", "shop", None]
    assert problems == []
    assert [documents.title(obj) for obj in placed] == ["ConfigMap default/a", "Widget shop/a", "Namespace a"]


def test_twins_and_unknown_kinds_are_refused():
    problems = documents.placed(
        [thing("ConfigMap"), thing("ConfigMap"), thing("Widget", api_version="example.org/v2")], RESOURCES, "n")[1]
    assert "the same object twice" in str(problems[0])
    assert ("Widget a: apiVersion: found \"example.org/v2\", expected a kind that the API server serves"
            in str(problems[1]))


def test_string_data_is_encoded_because_the_server_does_not_give_it_back():
    (secret,), dummy = documents.placed([thing("Secret", data={"a": "MQ=="}, stringData={"b": "x"})], RESOURCES, "n")
    assert "stringData" not in secret
    assert secret["data"] == {"a": "MQ==", "b": base64.b64encode(b"x").decode()}


def test_what_is_needed_comes_before_what_needs_it():
    definition = thing("CustomResourceDefinition", spec={"group": "example.org"})
    objects = [thing("Widget", api_version="example.org/v1"), thing("ValidatingWebhookConfiguration"),
               thing("Deployment", api_version="apps/v1"), thing("ServiceAccount"), thing("Namespace"), definition]
    assert [[obj["kind"] for obj in wave] for wave in order.waves(objects)] == [
        ["Namespace", "CustomResourceDefinition"], ["ServiceAccount"], ["Deployment"],
        ["ValidatingWebhookConfiguration"], ["Widget"]]


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(
    ["v1", "Secret", "List", "ConfigMap", "CustomResourceDefinition"])
FIELDS = st.sampled_from(["apiVersion", "kind", "metadata", "name", "namespace", "items", "spec", "names", "stringData",
                          "data"])
OBJECTS = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=5),
                       max_leaves=12)
NAMED = st.fixed_dictionaries(
    {"apiVersion": st.just("v1"), "kind": st.sampled_from(["Secret", "ConfigMap", "List"]),
     "metadata": st.fixed_dictionaries({"name": st.text(min_size=1, max_size=4)}, optional={"namespace": SCALARS})},
    optional={"items": OBJECTS, "stringData": OBJECTS, "data": OBJECTS})


@settings(deadline=None, derandomize=True, max_examples=400)
@given(st.lists(st.text(max_size=60) | st.text(max_size=60).map(lambda text: text + "\n") | OBJECTS | NAMED
                | OBJECTS.map(lambda value: json.dumps(value) + "\n"), max_size=3))
def test_any_manifests_become_objects_or_problems(sources):
    objects, problems = documents.read(sources)
    assert all(isinstance(line, str) for line in map(str, problems))
    resources = dict(((obj["apiVersion"], obj["kind"]), RESOURCES.get((obj["apiVersion"], obj["kind"])))
                     for obj in objects)
    placed, found = documents.placed(objects, resources, "default")
    assert all(documents.title(obj) for obj in placed) and len(placed) <= len(objects)
    assert len(objects) - len(placed) <= len(found)


@pytest.mark.parametrize("text, message", [
    ("a: 2020-99-99\n", "month must be in 1..12"), (f"a: {'1' * 5000}\n", "digits"),
    (f"{'[' * 5000}\n", "YAML documents"), ("\0", "YAML documents"),
    ("kind: List\nitems: {a: b}\n", "a list of objects"),
    ("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: [a]\n", "a mapping"),
    ("apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: 1}\n", "a text"),
])
def test_texts_that_yaml_stumbles_over_are_reported(text, message):
    objects, problems = documents.read([text])
    assert objects == [] and message in "\n".join(map(str, problems))
