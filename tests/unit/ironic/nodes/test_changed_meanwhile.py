# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes and ports that somebody else changes between the check and the write: nothing is done with them."""
from __future__ import annotations

import pytest
from fakes.ironic import FakeIronic
from fakes.ironic_nodes import MAC, act, option, port, run
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes.port_service import PortService

IMAGE = {"source": "http://192.0.2.1/a.raw", "checksum": "http://192.0.2.1/a.sum", "disk_format": "raw"}


class Changing(FakeIronic):
    """Somebody else changes a node or port right after all have been listed."""

    def __init__(self, values=None, port_values=None, state="available", **node):
        super().__init__()
        self.add("a", state, **node)
        self.add("other", "available")
        self.ports["p"] = {"uuid": "p", "address": MAC, "node_uuid": "uuid-a", "extra": {}}
        self._values, self._port_values = values, port_values

    def list_nodes(self, fields=None, **options):
        found = super().list_nodes(fields, **options)
        self.nodes["uuid-a"].update(self._values or {})
        self._values = None
        return found

    def list_ports(self, fields=None):
        found = super().list_ports(fields)
        self.ports["p"].update(self._port_values or {})
        self._port_values = None
        return found


def ports(client, **given):
    params = {"ports": [dict(port(), **dict({"state": "present"}, **given))], "force_nodes": []}
    return PortService(client, params, False, Reports(), sleep=lambda seconds: None).run()["ports"]


# What is done, and the change in between after which it would hit something else than what was checked.
ACTIONS = {
    "power off": (lambda client: act(client, "power_off")["nodes"], {"power_state": "power on"},
                  {"provision_state": "active"}),
    "reboot": (lambda client: act(client, "reboot")["nodes"], {}, {"instance_uuid": "i", "provision_state": "active"}),
    "of the operator by now": (lambda client: act(client, "reboot")["nodes"], {}, {"name": "metal3~a"}),
    "boot device": (lambda client: act(client, "boot_mode", boot_mode="bios")["nodes"], {}, {"name": "metal3~a"}),
    "deploy": (lambda client: act(client, "deploy", image=IMAGE)["nodes"], {}, {"instance_uuid": "i"}),
    "undeploy": (lambda client: act(client, "undeploy", confirm="1")["nodes"], {"state": "deploy failed"},
                 {"protected": True}),
    "deletion": (lambda client: run(client, option(state="absent"))["nodes"], {}, {"name": "metal3~a"}),
    "forced deletion": (lambda client: run(client, option(state="absent"), force=["a"])["nodes"],
                        {"state": "active"}, {"name": "metal3~a"}),
    "change": (lambda client: run(client, option(description="x"))["nodes"], {}, {"name": "metal3~a"}),
    "traits": (lambda client: run(client, option(traits=["CUSTOM_A"]))["nodes"], {}, {"provision_state": "active"}),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_a_node_that_changed_meanwhile_gets_nothing(name):
    do, node, values = ACTIONS[name]
    client = Changing(values, **node)
    result, = do(client)
    assert client.requests() == []
    assert result["failed"] and "it has changed since it was looked at" in result["error"], result


@pytest.mark.parametrize("name", ACTIONS)
def test_without_the_change_something_is_done(name):
    do, node, _values = ACTIONS[name]
    client = Changing({}, **node)
    result, = do(client)
    assert client.requests() and not result["failed"], result


@pytest.mark.parametrize("given", [
    {"state": "absent"}, {"node": "other", "move": True}, {"node": "a", "extra": {"b": 1}}])
@pytest.mark.parametrize("is_changed", [True, False])
def test_a_port_that_has_another_node_by_now_gets_nothing(given, is_changed):
    client = Changing(port_values={"node_uuid": "uuid-third"} if is_changed else {})
    result, = ports(client, **given)
    assert bool(client.requests()) is not is_changed
    assert ("it has changed since it was looked at" in result["error"]) is is_changed, result
