# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets inside of objects and descriptions are hidden, and nothing else is."""
from __future__ import annotations

import copy
import json
import random

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction.redaction import (
    hidden,
    hidden_difference,
    hidden_parameters,
    leaves,
    with_texts,
)

MARK, NEW = "(hidden)", "(hidden, changed)"


@pytest.mark.parametrize("value, shown", [
    ({"users": [{"name": "a", "passwd": "b"}]}, {"users": [{"name": "a", "passwd": MARK}]}),
    ({"users": [{"name": "a", "hashed_passwd": "b", "lockPassword": True}]},
     {"users": [{"name": "a", "hashed_passwd": MARK, "lockPassword": True}]}),
    ({"users": [{"name": "a", "passwd": 123}]}, {"users": [{"name": "a", "passwd": MARK}]}),
    ({"users": [{"name": "a", "passwd": {"b": ["c"]}}, "name=d passwd=e"]},
     {"users": [{"name": "a", "passwd": {"b": [MARK]}}, MARK]}),
    ({"bootstrapTokens": ["a"]}, {"bootstrapTokens": [MARK]}),
    ({"bootstrapTokens": [{"token": "a", "ttl": "1h"}]}, {"bootstrapTokens": [{"token": MARK, "ttl": "1h"}]}),
    ({"passwdFrom": {"secret": {"name": "a"}}}, {"passwdFrom": {"secret": {"name": "a"}}}),
    ({"kind": "Secret", "data": {"a": "b"}, "type": "c"}, {"kind": "Secret", "data": {"a": MARK}, "type": "c"}),
    ({"kind": "Secrt", "stringData": {"a": "b"}}, {"kind": "Secrt", "stringData": {"a": MARK}}),
    ({"kind": "Secret", "data": "a"}, {"kind": "Secret", "data": MARK}),
    ({"kind": "ConfigMap", "data": {"a": "b"}}, {"kind": "ConfigMap", "data": {"a": "b"}}),
    ({"files": [{"path": "a", "content": "b"}]}, {"files": [{"path": "a", "content": MARK}]}),
    ({"files": [{"path": "a", "content": {"name": "b"}}]}, {"files": [{"path": "a", "content": MARK}]}),
    ({"files": [{"path": "a", "content": None, "content_secret": {"name": "b", "key": "c"}}]},
     {"files": [{"path": "a", "content": None, "content_secret": {"name": "b", "key": "c"}}]}),
    ({"pre_commands": ["a", "b"], "postKubeadmCommands": ["a"]},
     {"pre_commands": [MARK, MARK], "postKubeadmCommands": [MARK]}),
    ({"extraEnvs": [{"name": "a", "value": "b"}]}, {"extraEnvs": [{"name": "a", "value": MARK}]}),
    ({"extraArgs": [{"name": "v", "value": "2"}, {"name": "x-token", "value": "a"}]},
     {"extraArgs": [{"name": "v", "value": "2"}, {"name": "x-token", "value": MARK}]}),
    ({"extraArgs": {"v": "2", "oidc-client-secret": "a"}}, {"extraArgs": {"v": "2", "oidc-client-secret": MARK}}),
    ({"metaData": {"strings": [{"key": "a", "value": "b"}], "fromLabels": [{"key": "c", "label": "d"}]}},
     {"metaData": {"strings": [{"key": "a", "value": MARK}], "fromLabels": [{"key": "c", "label": "d"}]}}),
    ({"file": {"kubeConfig": {"user": {"authProvider": {"name": "a", "config": {"b": "c"}}}}}},
     {"file": {"kubeConfig": {"user": {"authProvider": {"name": MARK, "config": {"b": MARK}}}}}}),
    ({"image": {"url": "https://me:word@images.example.org/a.raw"}},
     {"image": {"url": "https://(hidden)@images.example.org/a.raw"}}),
    ({"image": {"url": "https://me:w/o@rd@images.example.org:8080/a.raw"}},
     {"image": {"url": "https://(hidden)@images.example.org:8080/a.raw"}}),
    ({"mounts": [["//srv/a", "/a", "cifs", "username=me,password=word,ro"]]},
     {"mounts": [["//srv/a", "/a", "cifs", "username=me,password=(hidden),ro"]]}),
])
def test_hidden(value, shown):
    before = copy.deepcopy(value)
    assert hidden(value) == shown
    assert value == before


def test_parameters():
    assert hidden_parameters({
        "files": [{"path": "a", "content": "b"}], "name": "c", "machine_name_template": "{{ .cluster.name }}",
        "options": "files:\n- content: b\n", "workers": {"pool": '{"files": [{"content": "b"}]}'},
        "manifests": ["path.yml", "kind: Secret\ndata: {}\n", {"kind": "Secret", "data": {"a": "b"}}]}) == {
            "files": [{"path": "a", "content": MARK}], "name": "c", "machine_name_template": "{{ .cluster.name }}",
            "options": MARK, "workers": {"pool": MARK},
            "manifests": ["path.yml", MARK, {"kind": "Secret", "data": {"a": MARK}}]}


def files(**contents):
    return {"files": [{"path": path, "content": content} for path, content in contents.items()]}


@pytest.mark.parametrize("before, after, shown", [
    (files(a="1", b="2"), files(a="1", b="3"), files(a=MARK, b=NEW)),
    (files(a="1", b="2"), files(c="3", a="1", b="2"), files(c=NEW, a=MARK, b=MARK)),
    (files(a="1", b="2"), files(b="1", a="2"), files(b=NEW, a=NEW)),
    (files(a="1"), {"files": [{"path": "a", "content": "1"}, {"path": "a", "content": "2", "append": True}]},
     {"files": [{"path": "a", "content": MARK}, {"path": "a", "content": NEW, "append": True}]}),
    ({}, files(a="1"), files(a=NEW)),
    ({"preKubeadmCommands": ["a", "b"]}, {"preKubeadmCommands": ["c", "a", "b"]},
     {"preKubeadmCommands": [NEW, MARK, MARK]}),
    ({"preKubeadmCommands": ["a", "b"]}, {"preKubeadmCommands": ["b", "a"]}, {"preKubeadmCommands": [NEW, MARK]}),
    ({"bootstrapTokens": [{"token": "a"}]}, {"bootstrapTokens": [{"token": "b"}]},
     {"bootstrapTokens": [{"token": NEW}]}),
    ({"url": "https://me:a@host/1"}, {"url": "https://me:a@host/2"}, {"url": "https://(hidden)@host/2"}),
    ({"url": "https://me:a@host/1"}, {"url": "https://me:b@host/1"}, {"url": "https://(hidden, changed)@host/1"}),
], ids=["content", "inserted", "swapped", "appended", "made", "command", "order", "token", "image", "credentials"])
def test_a_difference_names_what_changes_and_nothing_of_it(before, after, shown):
    assert hidden_difference(before, after) == (hidden(before), shown)


def test_the_contents_of_a_secret_whose_kind_is_known():
    assert hidden_difference({"data": {"a": "1", "b": "2"}}, {"data": {"a": "1", "b": "3"}}, "Secret") == (
        {"data": {"a": MARK, "b": MARK}}, {"data": {"a": MARK, "b": NEW}})


def test_what_is_new_is_marked_by_what_it_takes_the_place_of():
    assert hidden_difference({}, files(a="1", b="2"), reference=files(a="1", b="3")) == ({}, files(a=MARK, b=NEW))


def some_spec(choose):
    """Return a structure as kubeadm configurations have it, of few values so that two have much in common."""
    def word():
        return choose(["wordone", "wordtwo", "wordthree"])

    return {
        "files": [{"path": choose("ab"), "content": word(), "append": choose([True, False])}
                  for dummy in range(choose([0, 1, 2, 3]))],
        "preKubeadmCommands": [word() for dummy in range(choose([0, 1, 2, 3]))],
        "users": [{"name": choose("ab"), "passwd": word()} for dummy in range(choose([0, 1, 2]))],
        "bootstrapTokens": [{"token": word(), "usages": [choose("ab")]} for dummy in range(choose([0, 1, 2]))],
        "extraEnvs": [{"name": choose("ab"), "value": word()}],
        "mounts": [["a", f"password={word()},{choose('ab')}"] for dummy in range(choose([0, 1, 2]))]}


def test_two_structures_that_differ_are_shown_differently_and_equal_ones_alike():
    equal = 0
    for seed in range(2000):
        before, after = (some_spec(random.Random(number).choice) for number in (seed, seed + 1))
        for key in list(before)[seed % 6 + 1:]:
            after[key] = before[key]
        shown = hidden_difference(before, after)
        assert (shown[0] == shown[1]) == (before == after), (before, after)
        assert "word" not in json.dumps(shown).replace("password=", "")
        equal += before == after
    assert 0 < equal < 1000


def test_each_text_of_a_structure_is_changed():
    value = {"a": ["b", ("c", 1)], 2: {"d": None}, "e": {"f"}}
    before = copy.deepcopy(value)
    assert with_texts(value, str.upper) == {"a": ["B", ["C", 1]], 2: {"d": None}, "e": {"f"}}
    assert with_texts(value, str.upper, with_keys=True) == {"A": ["B", ["C", 1]], 2: {"D": None}, "E": {"f"}}
    assert value == before
    assert with_texts("a", str.upper) == "A"


def test_leaves_are_what_is_no_structure():
    found = list(leaves({"a": ["b", ("c", 1)], 2: {"d": None}, "e": {"f"}, "g": True, "h": {}}))
    assert sorted(found, key=repr) == ["b", "c", "f", 1, None, True]
