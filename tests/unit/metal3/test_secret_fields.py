# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets inside of objects and descriptions are hidden, and nothing else is."""
from __future__ import annotations

import copy

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils.metal3.secret_fields import hidden, hidden_parameters


@pytest.mark.parametrize("value, shown", [
    ({"users": [{"name": "a", "passwd": "b"}]}, {"users": [{"name": "a", "passwd": "(hidden)"}]}),
    ({"bootstrapTokens": [{"token": "a", "ttl": "1h"}]}, {"bootstrapTokens": [{"token": "(hidden)", "ttl": "1h"}]}),
    ({"passwdFrom": {"secret": {"name": "a"}}}, {"passwdFrom": {"secret": {"name": "a"}}}),
    ({"kind": "Secret", "data": {"a": "b"}, "type": "c"}, {"kind": "Secret", "data": {"a": "(hidden)"}, "type": "c"}),
    ({"kind": "Secrt", "stringData": {"a": "b"}}, {"kind": "Secrt", "stringData": {"a": "(hidden)"}}),
    ({"kind": "Secret", "data": "a"}, {"kind": "Secret", "data": "(hidden)"}),
    ({"kind": "ConfigMap", "data": {"a": "b"}}, {"kind": "ConfigMap", "data": {"a": "b"}}),
    ({"files": [{"path": "a", "content": "b"}]}, {"files": [{"path": "a", "content": "b"}]}),
])
def test_hidden(value, shown):
    before = copy.deepcopy(value)
    assert hidden(value) == shown
    assert value == before


def test_parameters():
    assert hidden_parameters({
        "files": [{"path": "a", "content": "b"}], "name": "c",
        "manifests": ["path.yml", "kind: Secret\ndata: {}\n", {"kind": "Secret", "data": {"a": "b"}}]}) == {
            "files": [{"path": "a", "content": "(hidden)"}], "name": "c",
            "manifests": ["path.yml", "(hidden)", {"kind": "Secret", "data": {"a": "(hidden)"}}]}
