# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests: what is read from them, what is refused, where it goes and in which order."""
from __future__ import annotations

import base64

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils.kube.resources import KNOWN, Resource
from ansible_collections.metal3.baremetal.plugins.module_utils.manifests import documents, order

WIDGET = Resource("example.org", "v1", "widgets", "Widget", True)
RESOURCES = {("v1", "ConfigMap"): KNOWN["ConfigMap"], ("v1", "Namespace"): KNOWN["Namespace"],
             ("v1", "Secret"): KNOWN["Secret"], ("example.org/v1", "Widget"): WIDGET,
             ("example.org/v2", "Widget"): None}


def thing(kind, name="a", api_version="v1", **more):
    return dict({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}, **more)


def test_paths_texts_objects_and_lists_become_objects(tmp_path):
    path = tmp_path / "a.yml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n---\n# nothing\n")
    text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n"
    objects, problems = documents.read([str(path), text, thing("ConfigMap", "c")])
    assert [obj["metadata"]["name"] for obj in objects] == ["a", "b", "c"]
    assert problems == []


@pytest.mark.parametrize("source, words", [
    ("/nowhere/a.yml", "manifests[0] (/nowhere/a.yml): seen No such file or directory, expected a file"),
    ("a: [\n", "expected YAML documents"),
    ("- a\n- b\n", "seen list, expected an object"),
    (5, "seen int, expected a path"),
    ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}, "metadata.name: seen nothing"),
    ({"kind": "ConfigMap", "metadata": {"name": "a"}}, "ConfigMap a: apiVersion: seen nothing"),
    ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": ["a"]}, "metadata.name: seen nothing"),
    ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": 1}}, "metadata.name: seen 1, expected a text"),
    (thing("CustomResourceDefinition", spec={"group": "example.org"}), "seen an incomplete definition"),
])
def test_what_is_no_manifest_is_told(source, words):
    objects, problems = documents.read([source])
    assert objects == []
    assert len(problems) == 1 and words in problems[0]


def test_all_mistakes_are_told_at_once():
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
    assert "the same object twice" in problems[0]
    assert "Widget a: apiVersion: seen example.org/v2, expected a kind that the API server serves" in problems[1]


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
