# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Firmware that the Bare Metal Operator changes at a server in use as soon as that is off and to be on; pure.

BMO 0.13 looks for it before it looks at reboot annotations (``manageHostPower``, ``doServiceIfNeeded``): a server that
is held off by one is switched on for it, and off again when it is done.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._kube.objects.conditions import condition, is_observed, is_true
from .goals import RUNNING, state_of

Object = Mapping[str, Any]

POLICY = "HostUpdatePolicy"
SETTINGS, COMPONENTS = "HostFirmwareSettings", "HostFirmwareComponents"
# Kind to the field of the policy that counts for it.
POLICY_FIELDS = {SETTINGS: "firmwareSettings", COMPONENTS: "firmwareUpdates"}
CHANGED, VALID = "ChangeDetected", "Valid"


def is_allowed(policy: Object | None, field: str) -> bool:
    """Say whether a HostUpdatePolicy lets BMO change firmware of a server in use when that is switched on.

    :param policy: the policy, or None
    :param field: one of the values of :data:`POLICY_FIELDS`
    """
    return ((policy or {}).get("spec") or {}).get(field) == "onReboot"


def text_of(value: Any) -> str:
    """Return a setting's value as BMO compares it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def pending_settings(obj: Object) -> list[dict[str, str | None]]:
    """Return the changes that are wanted and don't count yet: a list of name, current and wanted (texts)."""
    settings = (obj.get("status") or {}).get("settings") or {}
    return [{"name": name, "current": settings.get(name), "wanted": text_of(value)}
            for name, value in sorted(((obj.get("spec") or {}).get("settings") or {}).items())
            if settings.get(name) != text_of(value)]


def pending_components(obj: Object) -> list[dict[str, Any]]:
    """Return the updates that BMO has not begun, as BMO compares them (``getUpdatesDifference``)."""
    done = dict((item["component"], item["url"]) for item in (obj.get("status") or {}).get("updates") or [])
    return [update for update in (obj.get("spec") or {}).get("updates") or []
            if done.get(update["component"]) != update["url"]]


def comes_first(host: Object) -> bool:
    """Say whether BMO looks for firmware at a host before it holds it off: one in use that is to be on."""
    return state_of(host) in RUNNING and bool((host.get("spec") or {}).get("online"))


def due(kind: str, obj: Object | None) -> str:
    """Return in words what BMO changes before it holds a server off, empty for nothing.

    :param kind: :data:`SETTINGS` or :data:`COMPONENTS`
    :param obj: the object of that kind, or None; its policy lets BMO change it
    """
    if obj is None or not (pending_settings if kind == SETTINGS else pending_components)(obj):
        return ""
    if not condition(obj, CHANGED):
        return ""
    if is_observed(obj, CHANGED) and not (is_true(obj, CHANGED) and is_true(obj, VALID)):
        return ""
    return f"BMO has yet to change what its {kind} asks for, and switches the server on for that"
