# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of networks, addresses, machines and firewalls of metal-stack; pure."""
from __future__ import annotations

from typing import Any

_TEXT = {"type": "str"}
_TEXTS = {"type": "list", "elements": "str"}
POWER = ("on", "off", "cycle", "reset")
# What stops a machine while it runs.
INTERRUPTING = ("off", "cycle", "reset")


def _common() -> dict[str, dict[str, Any]]:
    return {"project": dict(_TEXT, required=True), "description": dict(_TEXT),
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"}}


def network_options() -> dict[str, dict[str, Any]]:
    """Return the options of an entry of ``metalstack_network``."""
    return dict(
        _common(), name=dict(_TEXT, required=True), id=dict(_TEXT), partition=dict(_TEXT), labels={"type": "dict"},
        destination_prefixes=dict(_TEXTS), nat={"type": "bool"}, shared={"type": "bool"},
        address_family={"type": "str", "choices": ["IPv4", "IPv6"]}, prefix_length={"type": "int"})


def ip_options() -> dict[str, dict[str, Any]]:
    """Return the options of an entry of ``metalstack_ip``."""
    return dict(
        _common(), name=dict(_TEXT, required=True), network=dict(_TEXT), address=dict(_TEXT),
        type={"type": "str", "choices": ["ephemeral", "static"]}, tags=dict(_TEXTS),
        address_family={"type": "str", "choices": ["IPv4", "IPv6"]})


def _allocation_options() -> dict[str, dict[str, Any]]:
    network = {"name": dict(_TEXT, required=True), "autoacquire": {"type": "bool", "default": True}}
    return dict(
        _common(), name=dict(_TEXT, required=True), id=dict(_TEXT), partition=dict(_TEXT), size=dict(_TEXT),
        image=dict(_TEXT), hostname=dict(_TEXT), networks={"type": "list", "elements": "dict", "options": network},
        ips=dict(_TEXTS), ssh_keys=dict(_TEXTS, no_log=False), tags=dict(_TEXTS), user_data=dict(_TEXT, no_log=True),
        filesystem_layout=dict(_TEXT), placement_tags=dict(_TEXTS),
        power={"type": "str", "choices": list(POWER)})


def machine_options() -> dict[str, dict[str, Any]]:
    """Return the options of an entry of ``metalstack_machine``."""
    return dict(_allocation_options(), reinstall={"type": "bool", "default": False})


def firewall_options() -> dict[str, dict[str, Any]]:
    """Return the options of an entry of ``metalstack_firewall``."""
    rule = {"comment": dict(_TEXT), "protocol": {"type": "str", "choices": ["tcp", "udp"], "required": True},
            "ports": {"type": "list", "elements": "int", "required": True}, "to": dict(_TEXTS)}
    rules = {"egress": {"type": "list", "elements": "dict", "options": rule},
             "ingress": {"type": "list", "elements": "dict", "options": {**rule, "from": dict(_TEXTS)}}}
    return dict(_allocation_options(), rules={"type": "dict", "options": rules})
