# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Ironic is with a node."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._boot.node_phase import (
    SILENT_SECONDS,
    has_agent,
    last_call,
    phase,
)

AGENT = {"agent_url": "https://198.18.3.1:9999", "agent_last_heartbeat": "2026-11-25T06:23:26"}


@pytest.mark.parametrize("node, expected", [
    ({"provision_state": "available"}, ""),
    ({"provision_state": "active", "driver_internal_info": AGENT}, ""),
    ({}, ""),
    ({"provision_state": "service failed", "last_error": "text", "driver_internal_info": AGENT},
     "Ironic: service failed"),
    ({"provision_state": "deploy failed", "last_error": None},
     "Ironic: deploy failed, its message is lost but for Ironic's log"),
    ({"provision_state": "verifying"}, "Ironic logs in at the BMC"),
    ({"provision_state": "inspecting"}, "Ironic prepares the boot of the agent"),
    ({"provision_state": "inspect wait", "power_state": "power on"}, "powered on, the agent has not called yet"),
    ({"provision_state": "inspect wait", "power_state": "power off"}, "powered off"),
    ({"provision_state": "inspect wait", "power_state": None}, "the agent has not called yet"),
    ({"provision_state": "inspect wait", "driver_internal_info": AGENT}, "the agent has called"),
    ({"provision_state": "cleaning", "clean_step": {}}, "Ironic is at the first step"),
    ({"provision_state": "deploying", "deploy_step": {"step": "deploy"}}, "Ironic is at deploy"),
    ({"provision_state": "clean wait", "clean_step": {"step": "erase_devices"}, "driver_internal_info": AGENT},
     "the agent is at erase_devices"),
    ({"provision_state": "wait call-back", "deploy_step": {"step": "write_image"}, "driver_internal_info": AGENT},
     "the agent is at write_image"),
    ({"provision_state": "wait call-back", "deploy_step": {"step": "deploy"}, "power_state": "power on"},
     "powered on, the agent has not called yet"),
    ({"provision_state": "service wait", "service_step": {"step": "a" * 50}, "driver_internal_info": AGENT},
     "the agent is at " + "a" * 40 + "..."),
    # What a hardware manager calls its steps.
    ({"provision_state": "clean wait", "clean_step": {"step": "\x1b[2Jx"}, "driver_internal_info": AGENT},
     r"the agent is at \x1b[2Jx"),
    ({"provision_state": "clean wait", "clean_step": [], "driver_internal_info": []}, "the agent has not called yet"),
    ({"provision_state": "clean wait", "clean_step": {"step": 7}, "driver_internal_info": AGENT},
     "the agent has called"),
])
def test_the_phase(node, expected):
    assert phase(node) == expected


def test_an_agent_is_there_as_long_as_ironic_knows_its_address():
    assert has_agent({"driver_internal_info": AGENT})
    assert not has_agent({"driver_internal_info": {"agent_last_heartbeat": "2026-11-25T06:23:26"}})


def test_an_agent_that_does_not_call_is_silent():
    node = {"provision_state": "wait call-back", "deploy_step": {"step": "write_image"}, "driver_internal_info": AGENT}
    assert phase(node, SILENT_SECONDS - 1) == "the agent is at write_image"
    assert phase(node, 200) == "the agent is at write_image, silent for 3 min 20 s"
    # Nobody has called of whom silence could be said.
    assert phase(dict(node, driver_internal_info={}), 200) == "the agent has not called yet"


@pytest.mark.parametrize("node, expected", [
    ({"provision_state": "clean wait", "driver_internal_info": AGENT}, "2026-11-25T06:23:26"),
    ({"provision_state": "clean wait", "driver_internal_info": {"agent_url": "u"}}, None),
    ({"provision_state": "clean wait", "driver_internal_info": {"agent_last_heartbeat": "t"}}, None),
    ({"provision_state": "clean wait", "driver_internal_info": dict(AGENT, agent_last_heartbeat=7)}, None),
    # Ironic refuses calls while a conductor works on the node, and of a deployed system there are none.
    ({"provision_state": "cleaning", "driver_internal_info": AGENT}, None),
    ({"provision_state": "active", "driver_internal_info": AGENT}, None),
])
def test_the_last_call_is_that_of_an_agent_that_is_waited_for(node, expected):
    assert last_call(node) == expected
