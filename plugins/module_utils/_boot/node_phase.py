# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Ironic is with a server that it inspects, cleans, deploys or services; pure."""
from __future__ import annotations

from typing import Any

from .._common.texts.formats import duration
from .._common.texts.plain_text import cut, plain
from .._ironic.api.states import FAILURES

FIELDS = ("uuid", "provision_state", "power_state", "clean_step", "deploy_step", "service_step", "driver_internal_info",
          "last_error")
# Where the agent works, or is waited for, and the field with the present step.
_WAITS = {"inspect wait": None, "clean wait": "clean_step", "wait call-back": "deploy_step",
          "service wait": "service_step", "rescue wait": None}
# Where the conductor works.
_AT_WORK = {"verifying": "Ironic logs in at the BMC", "inspecting": "Ironic prepares the boot of the agent",
            "cleaning": "clean_step", "deploying": "deploy_step", "servicing": "service_step",
            "deleting": "Ironic removes the deployment", "adopting": "Ironic adopts the server"}
_STEP_CHARACTERS = 40
# An agent calls after 30 to 60 percent of Ironic's option heartbeat_timeout (ironic_python_agent/agent.py), which is
# 300 s unless it is set.
SILENT_SECONDS = 180
_SILENT = "silent for"


def has_agent(node: dict[str, Any]) -> bool:
    """Return whether the agent of a node has called since it was booted.

    :param node: the node with :data:`FIELDS`, as Ironic has it
    """
    info = node.get("driver_internal_info")
    return bool(isinstance(info, dict) and info.get("agent_url"))


def is_booting(node: dict[str, Any]) -> bool:
    """Return whether a node's server is powered on and its agent has not called yet.

    :param node: the node with :data:`FIELDS`, as Ironic has it
    """
    return node.get("provision_state") in _WAITS and node.get("power_state") == "power on" and not has_agent(node)


def has_failed(node: dict[str, Any]) -> bool:
    """Return whether Ironic has given up what it did with a node.

    :param node: the node with :data:`FIELDS`, as Ironic has it
    """
    return node.get("provision_state") in FAILURES


def last_call(node: dict[str, Any]) -> str | None:
    """Return what Ironic says of when the agent that works on a node has called last, None when it waits for none.

    While a conductor works on a node, Ironic refuses calls.

    :param node: the node with :data:`FIELDS`, as Ironic has it
    """
    if node.get("provision_state") not in _WAITS or not has_agent(node):
        return None
    call = node["driver_internal_info"].get("agent_last_heartbeat")
    return call if isinstance(call, str) else None


def phase(node: dict[str, Any], silent_seconds: float = 0, image: str = "") -> str:
    """Return where Ironic is with a node, empty when it does nothing with it.

    :param node: the node with :data:`FIELDS`, as Ironic has it
    :param silent_seconds: for how long its agent has not called
    :param image: how much of its image it has been sent, empty when that is not known
    """
    state = node.get("provision_state")
    if has_failed(node):
        # With virtual media Ironic 39 forgets the message while it switches the server off (node_power_action), and the
        # Bare Metal Operator asks for it ever more seldom.
        return f"Ironic: {state}" + ("" if node.get("last_error") else ", its message is lost but for Ironic's log")
    if state in _AT_WORK:
        text = _AT_WORK[state]
        return f"Ironic is at {_step(node, text) or 'the first step'}" if text.endswith("_step") else text
    if state not in _WAITS:
        return ""
    step = _step(node, _WAITS[state])
    if has_agent(node):
        at = f"the agent is at {step}" if step else "the agent has called"
        text = f"{at}, {image}" if image else at
        return text if silent_seconds < SILENT_SECONDS else f"{text}, {_SILENT} {duration(silent_seconds)}"
    power = node.get("power_state")
    if power == "power on":
        return "powered on, the agent has not called yet"
    return "powered off" if power == "power off" else "the agent has not called yet"


def _step(node: dict[str, Any], name: str | None) -> str:
    step = node.get(name) if name else None
    text = step.get("step") if isinstance(step, dict) else None
    return cut(plain(text), _STEP_CHARACTERS) if isinstance(text, str) else ""
