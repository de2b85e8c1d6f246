# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dictionaries and lists in place of texts, in each option of each module of the action group."""
from __future__ import annotations

import json

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options import given
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic import module as ironic_module

SECRET = "canary-2d1f"


@pytest.mark.parametrize(("module", "params", "text"), [
    ("ironic_node_action", {"nodes": [{"name": "a"}], "action": "power_off"},
     "nodes[0]: found a dictionary with the name a, expected a text; give the name alone"),
    ("ironic_node_action", {"nodes": ["a", ["b"]], "action": "power_off"}, "nodes[1]: found a list, expected a text"),
    ("ironic_node_action", {"nodes": ["a"], "action": "power_off", "force_nodes": [{"name": "a"}]}, "force_nodes[0]"),
    ("ironic_node_action", {"nodes": ["a"], "action": "deploy", "image": {"source": {"url": SECRET}}},
     "image.source: found a dictionary"),
    ("ironic_node", {"nodes": [{"name": {"name": "a"}}]}, "nodes[0].name: found a dictionary with the name a"),
    ("ironic_node", {"nodes": [{"name": "a", "ports": [{"address": ["x"]}]}]},
     "nodes[0].ports[0].address: found a list"),
    ("ironic_port", {"ports": [{"address": "00:5c:52:00:00:01", "node": {"uuid": "a"}}]}, "ports[0].node"),
    ("ironic_node_info", {"names": [{"name": "a"}]}, "names[0]: found a dictionary with the name a"),
    ("ironic_audit", {"hosts": [], "namespaces": [{"x": SECRET}]}, "namespaces[0]: found a dictionary"),
    ("ironic_node_info", {"password": {"x": SECRET}}, "password: found a dictionary"),
])
def test_it_is_refused_before_ironic_is_asked(module, params, text, capsys):
    with patch_module_args(dict(params, endpoint="http://192.0.2.1:6385")), pytest.raises(SystemExit):
        getattr(ironic_module, "run_" + module)()
    output = capsys.readouterr().out
    assert text in json.loads(output)["msg"]
    assert SECRET not in json.loads(output)["msg"]


def test_texts_numbers_and_nothing_are_taken():
    spec = dict(ironic_module.action_argument_spec(), **ironic_module.node_argument_spec())
    given.refuse_structures(spec, {"nodes": [{"name": 7, "owner": None, "extra": {"any": [{"name": "x"}]}}],
                                   "action": "power_on", "steps": None, "traits": "CUSTOM_A"})
