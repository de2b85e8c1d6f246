# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Ironic is with a server that it inspects, cleans, deploys or services; pure."""
from __future__ import annotations

from typing import Any

from .._common.plain_text import cut, plain
from .._ironic.states import FAILURES

FIELDS = ("uuid", "provision_state", "power_state", "clean_step", "deploy_step", "service_step", "driver_internal_info")
# Where the agent works, or is waited for, and the field with the present step.
_WAITS = {"inspect wait": None, "clean wait": "clean_step", "wait call-back": "deploy_step",
          "service wait": "service_step", "rescue wait": None}
# Where the conductor works.
_AT_WORK = {"verifying": "Ironic logs in at the BMC", "inspecting": "Ironic prepares the boot of the agent",
            "cleaning": "clean_step", "deploying": "deploy_step", "servicing": "service_step",
            "deleting": "Ironic removes the deployment", "adopting": "Ironic adopts the server"}
_STEP_CHARACTERS = 40


def has_agent(node: dict[str, Any]) -> bool:
    """Return whether the agent of a node has called since it was booted.

    :param node: the node with :data:`FIELDS`, as Ironic has it
    """
    info = node.get("driver_internal_info")
    return bool(isinstance(info, dict) and info.get("agent_url"))


def phase(node: dict[str, Any]) -> str:
    """Return where Ironic is with a node, empty when it does nothing with it.

    :param node: the node with :data:`FIELDS`, as Ironic has it
    """
    state = node.get("provision_state")
    if state in FAILURES:
        return f"Ironic: {state}"
    if state in _AT_WORK:
        text = _AT_WORK[state]
        return f"Ironic is at {_step(node, text) or 'the first step'}" if text.endswith("_step") else text
    if state not in _WAITS:
        return ""
    step = _step(node, _WAITS[state])
    if has_agent(node):
        return f"the agent is at {step}" if step else "the agent has called"
    power = node.get("power_state")
    if power == "power on":
        return "powered on, the agent has not called yet"
    return "powered off" if power == "power off" else "the agent has not called yet"


def _step(node: dict[str, Any], name: str | None) -> str:
    step = node.get(name) if name else None
    text = step.get("step") if isinstance(step, dict) else None
    return cut(plain(text), _STEP_CHARACTERS) if isinstance(text, str) else ""
