# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a node and of a port, and what Ironic calls them; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

INTERFACES = ("bios", "boot", "console", "deploy", "firmware", "inspect", "management", "network", "power", "raid",
              "rescue", "storage", "vendor")
# Options with the name that Ironic's field has, whose value is written as a whole.
WHOLE = {
    "driver": "str", "resource_class": "str", "description": "str", "owner": "str", "lessee": "str",
    "conductor_group": "str", "shard": "str", "chassis_uuid": "str", "parent_node": "str", "instance_uuid": "str",
    "automated_clean": "bool", "protected": "bool", "protected_reason": "str", "retired": "bool",
    "retired_reason": "str", "disable_power_off": "bool", "network_data": "dict",
}
# Options whose keys are written one by one, so that what inspection or others put beside them stays.
MERGED = ("driver_info", "properties", "extra", "instance_info")
# Ironic refuses these while it makes a node.
NOT_AT_CREATION = ("protected", "protected_reason", "retired_reason")
# Fields with the minor API version that brought them, where that is newer than what the client expects anyway.
MINORS = {"disable_power_off": 95}
PORT_MINORS = {"name": 88, "description": 97, "vendor": 100, "category": 101}
PORT_WHOLE = {
    "pxe_enabled": "bool", "local_link_connection": "dict", "physical_network": "str", "is_smartnic": "bool",
    "portgroup_uuid": "str", "name": "str", "description": "str", "vendor": "str", "category": "str",
}
# What a driver can't do without, so that its absence is reported before the node is created.
REQUIRED_DRIVER_INFO: Mapping[str, tuple[str, ...]] = {
    "redfish": ("redfish_address",), "idrac": ("redfish_address",), "ipmi": ("ipmi_address",)}


def port_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of one port."""
    spec = dict((name, {"type": kind}) for name, kind in PORT_WHOLE.items())
    return dict(spec, address={"type": "str", "required": True}, extra={"type": "dict"})


def node_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of one node."""
    spec = dict((name, {"type": kind}) for name, kind in WHOLE.items())
    spec.update((name, {"type": "dict"}) for name in MERGED)
    return dict(
        spec, name={"type": "str", "required": True}, uuid={"type": "str"},
        must_exist={"type": "bool", "default": False},
        state={"type": "str", "choices": ["present", "absent"], "default": "present"},
        interfaces={"type": "dict", "options": dict((name, {"type": "str"}) for name in INTERFACES)},
        traits={"type": "list", "elements": "str"},
        ports={"type": "list", "elements": "dict", "options": port_argument_spec()})


def whole_values(option: dict[str, Any]) -> dict[str, Any]:
    """Return ``{field: value}`` of the options of a node that are given and written as a whole."""
    values = dict((name, option[name]) for name in WHOLE if option.get(name) is not None)
    interfaces = option.get("interfaces") or {}
    values.update((name + "_interface", interfaces[name]) for name in INTERFACES if interfaces.get(name) is not None)
    return values


def port_values(option: dict[str, Any]) -> dict[str, Any]:
    """Return ``{field: value}`` of the options of a port that are given and written as a whole."""
    return dict((name, option[name]) for name in PORT_WHOLE if option.get(name) is not None)
