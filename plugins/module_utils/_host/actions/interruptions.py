# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which actions cost what runs on a server, or what is on its disks; pure."""
from __future__ import annotations

from typing import Any

from ..state import power_due, redeploy
from ..state.goals import RUNNING, state_of
from ..state.taken_up import has_status
from .actions import ACTIONS, NOTHING, STEADY, Request

_SWITCHING = ("power_off", "reboot", "reboot_hold")
# With these BMO works on a host again, and does what it was kept from.
TAKING_UP = ("attach", "resume")
TAKING_UP_ANEW = "restore_status"


def due_power(request: Request, bmh: dict[str, Any]) -> str:
    """Return why BMO would switch a server off as soon as the action lets it work on the host, empty when not.

    :param request: the Request
    :param bmh: the stored BareMetalHost
    """
    if request.action == TAKING_UP_ANEW:
        return "" if has_status(bmh) else power_due.interruption(dict(bmh, status=request.status))
    return power_due.interruption(bmh) if request.action in TAKING_UP else ""


def due_loss(request: Request, bmh: dict[str, Any]) -> str:
    """Return what BMO would take off a server's disks once the action lets it work on the host, empty for nothing.

    :param request, bmh: as for :func:`due_power`
    """
    return redeploy.lost_when_taken_up(bmh) if request.action in TAKING_UP else ""


def cost(request: Request, bmh: dict[str, Any]) -> str:
    """Return what an action costs on a host, as a phrase that a confirmation shows; empty for nothing.

    :param request: the Request
    :param bmh: the stored BareMetalHost
    """
    if ACTIONS[request.action].plan(bmh, request) == NOTHING:
        return ""
    state = state_of(bmh)
    if request.action in _SWITCHING:
        # A server of which BMO has not said that it is off may run.
        is_off = (bmh.get("status") or {}).get("poweredOn") is False
        return f"what runs on it is interrupted, it is {state}" if state in RUNNING and not is_off else ""
    if request.action == "detach":
        if state in RUNNING:
            return f"it runs on without being managed, it is {state}"
        return "" if state in STEADY else f"what is going on is aborted, it is {state or 'without a state'}"
    if due_loss(request, bmh):
        return "what is on its disks is lost"
    return "what runs on it is interrupted" if due_power(request, bmh) else ""
