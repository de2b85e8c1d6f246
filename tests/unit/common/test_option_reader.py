# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that are checked as Ansible checks them, of whichever module."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.option_reader import OptionReader

OPTIONS = {"size": {"type": "int", "default": 3}, "names": {"type": "list", "elements": "str"},
           "free": {"type": "dict"}, "labels": {"type": "dict"}, "sizes": {"type": "list", "elements": "int"},
           "kinds": {"type": "list", "elements": "str", "choices": ["a", "b"]},
           "inner": {"type": "list", "elements": "dict", "options": {
               "name": {"type": "str", "required": True}, "is": {"type": "bool"},
               "kind": {"type": "str", "choices": ["a", "b"]}}}}
SEE = "; see ansible-doc example.thing.module"
READER = OptionReader("example.thing.module", free_shapes={"free": {"etcd": {}, "*": [None]}}, as_written=("labels",))


def read(value, where="part"):
    return READER.read(where, OPTIONS, value)


def test_values_are_read_as_ansible_reads_them():
    values, mistakes = read({"size": "7", "inner": ["a", {"name": "b"}], "names": None})
    assert mistakes == []
    assert values == {"size": 7,
                      "inner": [{"name": name, "is": None, "kind": None} for name in "ab"],
                      "names": None, "free": None, "labels": None, "sizes": None, "kinds": None}


@pytest.mark.parametrize("value, lines", [
    ({"sise": 1}, ["part.sise: found an unknown option, expected an option of example.thing.module; remove it (perhaps "
                   "size is meant)"]),
    ({"inner": [{}]}, ["part.inner.name: not set, expected a value; set it" + SEE]),
    ({"size": "fifteen"}, ['part.size: found "fifteen", expected a whole number; correct it' + SEE]),
    ({"inner": [{"name": "a", "is": "may be"}]}, [
        'part.inner.is: found "may be", expected true or false; correct it' + SEE]),
    ({"inner": [{"name": "a", "kind": "c, d"}]}, [
        'part.inner.kind: found "c, d", expected one of a, b; correct it' + SEE]),
    ({"kinds": ["a", "c"]}, ['part.kinds: found "c", expected one or more of a, b; correct it' + SEE]),
    ({"sizes": [1, "x"]}, ['part.sizes: found "x", expected elements that are a whole number; correct it' + SEE]),
    ({"labels": "rack"}, ["part.labels: found str, expected a dictionary; write its options below it, as name: value"]),
    ({"names": {"a": 1}}, ["part.names: found dict, expected a list; write each element below it, after a dash"]),
    ([], ["part: found list, expected a dictionary; write its options below it, as name: value"]),
    ({"names": [{"name": "x"}]}, ["part.names[0]: found a dictionary with name x, expected a text; write x in its "
                                  "place"]),
    ({"free": {"etcd": []}}, ["part.free.etcd: found list, expected a dictionary; write its options below it, as name: "
                              "value"]),
    ({"free": {"other": {}}}, ["part.free.other: found dict, expected a list; write each element below it, after a "
                               "dash"]),
    ({"size": float("inf")}, ["part.size: found infinity, expected a whole number; write a number without a fraction"]),
    ({"size": " -Infinity"}, ["part.size: found infinity, expected a whole number; write a number without a fraction"]),
    ({"names": ["a", None]}, ["part.names[1]: not set, expected a text; set it, or remove the element"]),
    ({"free": "a=b"}, ["part.free: found str, expected a dictionary; write its options below it, as name: value"]),
])
def test_a_mistake_names_its_option_and_its_module(value, lines):
    assert [str(problem) for problem in read(value)[1]] == lines


def test_without_shapes_of_its_own_a_module_has_none_of_another_one():
    reader = OptionReader("example.thing.other")
    values, mistakes = reader.read("", OPTIONS, {"free": {"etcd": []}, "labels": {"a": None}})
    assert (values["free"], values["labels"], mistakes) == ({"etcd": []}, {}, [])


def test_what_was_left_out_is_left_out_but_not_the_key_of_a_label():
    assert READER.given({"size": None, 5: [None, {"a": None}], "labels": {True: None}}) == {
        "5": [None, {}], "labels": {"True": None}}
