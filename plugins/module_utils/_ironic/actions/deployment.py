# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes may carry a deployed system, and which requests erase or interrupt it; pure."""
from __future__ import annotations

from typing import Any

from ..._common.redaction.redaction import redacted
from ..api import states

# What must be asked of a node to decide.
FIELDS = ("provision_state", "instance_uuid", "instance_info")
# States in which a system was deployed or adopted and is not given up yet. "deploy failed" and the states on the
# way there are not among them: who has asked for that deployment has given up what was on the disks before.
_DEPLOYED = frozenset([
    states.ACTIVE, states.RESCUE, "rescue failed", "rescue wait", "rescuing", "unrescuing", "unrescue failed",
    "service failed", "service wait", "servicing", "service hold", "error", "adopting"])
# States that an adoption begins in, or that a node is left in by an operation that erases nothing by itself.
_UNDECIDED = frozenset([states.ENROLL, states.MANAGEABLE, "verifying", "inspecting", "inspect wait", "inspect failed",
                        "clean failed", "clean hold"])
_IMAGE = ("image_source", "boot_iso")
# Actions that erase what is on the disks, at once (rebuild) or by the cleaning that they begin.
_ERASING = ("provide", "clean", "undeploy", "rebuild")
# Actions that switch a server off, or boot something else than its system.
INTERRUPTING = ("inspect", "power_off", "reboot", "rescue", "service")


def carried(node: dict[str, Any]) -> str:
    """Return why a node may carry a deployed system, empty when nothing says so.

    :param node: the node, with :data:`FIELDS`
    """
    state = node["provision_state"]
    if state == states.ADOPT_FAILED:
        return "its adoption failed, so that the system that was to be adopted is still on its disks"
    if state in _DEPLOYED:
        return f"it is {state}"
    if state in _UNDECIDED and node.get("instance_uuid"):
        return f"it has the instance {node['instance_uuid']}"
    info = node.get("instance_info") or {}
    image = next((info[field] for field in _IMAGE if info.get(field)), None)
    if state in _UNDECIDED and image:
        return f"its instance_info names the image {redacted(str(image))}"
    return ""


def lost_by(action: str, node: dict[str, Any]) -> str:
    """Return why a node may lose a deployed system by an action, empty when nothing says so.

    :param action: an action of ``action_plan``
    :param node: the node, with :data:`FIELDS`
    """
    if action in _ERASING:
        return carried(node)
    if action == "manage" and node["provision_state"] == states.ADOPT_FAILED:
        # It erases nothing, and removes the only sign that there is something to lose.
        return carried(node)
    return ""


def interrupted_by(action: str, node: dict[str, Any]) -> str:
    """Return why an action may interrupt what runs on a node, empty when nothing says so.

    :param action: an action of ``action_plan``, or the verb that it sends
    :param node: the node, with :data:`FIELDS` and ``power_state``
    """
    return carried(node) if action in INTERRUPTING and node.get("power_state") != "power off" else ""
