# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of nodes and ports, and runs over them against an Ironic in memory."""
from __future__ import annotations

from fakes.clock import Clock
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions.service import ActionService
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes import fields as node_fields
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes.service import NodeService

PASSWORD = "canary-7f3a"
MAC = "00:5c:52:00:00:01"


def option(name="a", **values):
    spec = dict((key, value.get("default")) for key, value in node_fields.node_argument_spec().items())
    return dict(spec, name=name, **values)


def redfish(name="a", **values):
    return option(name, **dict({"driver": "redfish", "driver_info": {
        "redfish_address": "https://192.0.2.1", "redfish_username": "admin", "redfish_password": PASSWORD}}, **values))


def port(address=MAC, **values):
    spec = dict((key, None) for key in node_fields.port_argument_spec())
    return dict(spec, address=address, **values)


def run(client, *options, check=False, update_secrets="when_needed", force=()):
    params = {"nodes": list(options), "update_secrets": update_secrets, "force_nodes": list(force)}
    clock = Clock()
    return NodeService(client, params, check, Reports(), clock, clock.sleep).run()


def act(client, action, *names, check=False, reports=None, **options):
    params = dict({"action": action, "nodes": list(names) or ["a"], "wait": True, "wait_timeout_seconds": 600,
                   "poll_interval_seconds": 2, "force_nodes": [], "traits_mode": "set", "confirm": None,
                   "confirm_among": []}, **options)
    clock = Clock()
    return ActionService(client, params, check, reports or Reports(), clock, clock.sleep).run()
