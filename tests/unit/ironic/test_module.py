# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules show of their parameters, and which combinations of options they take."""
from __future__ import annotations

import json

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic import module as ironic_module

SECRET = "canary-93af"


def left(spec, params, capsys, **result):
    """Return what leaves a module with these parameters and this result."""
    with patch_module_args(params), pytest.raises(SystemExit):
        ironic_module.IronicModule(spec).exit_json(**result)
    return capsys.readouterr().out


def test_no_secret_is_in_the_parameters_that_a_module_shows(capsys):
    shown = left(ironic_module.node_argument_spec(), {
        "password": "canary-login", "update_secrets": "always", "nodes": [
            {"name": "a", "driver_info": {"redfish_password": SECRET, "deep": {"auth_token": "x1"}, "x": "kept"}}]},
        capsys, echo=[SECRET, "x1", "always", "kept"])
    assert SECRET not in shown and "canary-login" not in shown and "x1" not in shown
    assert shown.count("kept") == 2 and shown.count("always") == 2


def test_a_config_drive_is_hidden_as_a_whole_and_hides_nothing_else(capsys):
    shown = left(ironic_module.action_argument_spec(), {
        "nodes": ["a"], "action": "deploy", "config_drive": {"user_data": SECRET, "meta_data": {"name": "a"}},
        "config_drives": {"a": {"iso": SECRET}}}, capsys, echo=["a"])
    assert SECRET not in shown
    # The name of a node is in its meta data, and must stay readable in results.
    assert json.loads(shown)["echo"] == ["a"]


@pytest.mark.parametrize(("params", "text"), [
    ({"action": "clean"}, "steps, runbook"),
    ({"action": "clean", "runbook": "x", "steps": []}, "mutually exclusive"),
    ({"action": "rescue"}, "rescue_password"), ({"action": "boot_device"}, "boot_device"),
    ({"action": "boot_mode"}, "boot_mode"), ({"action": "secure_boot"}, "secure_boot"),
    ({"action": "traits"}, "traits"), ({"action": "raid"}, "raid"), ({"action": "deploi"}, "value of action must be"),
    ({"action": "boot_device", "boot_device": "tape"}, "value of boot_device must be"),
    ({"action": "clean", "steps": [{"step": "x"}]}, "interface"),
])
def test_options_that_an_action_needs(params, text, capsys):
    with patch_module_args(dict(params, nodes=["a"])), pytest.raises(SystemExit):
        ironic_module.run_ironic_node_action()
    assert text in json.loads(capsys.readouterr().out)["msg"]
