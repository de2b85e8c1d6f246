# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Bare Metal Operator still does to a server that is to be on, before it stays on; pure.

Source: BMO ``controllers/metal3.io/baremetalhost_controller.go`` (manageHostPower).
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..description import annotations as host_annotations
from .goals import RUNNING, state_of

Object = Mapping[str, Any]


def held_by(host: Object) -> list[str]:
    """Return the keys of the annotations by which a server that is to be on is kept off, sorted."""
    return host_annotations.held_by(host, forced_only=state_of(host) not in RUNNING)


def waits_for(host: Object) -> str:
    """Return in words what comes before a server is on and stays on, empty when it is, or is to be off or held.

    :param host: the BareMetalHost
    """
    status = host.get("status") or {}
    if not (host.get("spec") or {}).get("online") or held_by(host):
        return ""
    if host_annotations.REBOOT in host_annotations.of(host):
        return f"the reboot that its annotation {host_annotations.REBOOT} asks for"
    if status.get("operationalStatus") == "servicing":
        return "the end of its service by Ironic"
    return "" if status.get("poweredOn") else "the operator to switch it on"
