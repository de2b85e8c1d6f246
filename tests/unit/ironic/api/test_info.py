# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading nodes: how many requests, and that no secret comes out."""
from __future__ import annotations

import json

import pytest
from fakes.ironic import FakeIronic

from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction import redaction
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api import info_service
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes import ownership


def read(client, **params):
    return info_service.read(client, dict({"names": None, "fields": None, "filters": None, "ports": False,
                                           "inventory": False, "validate": False}, **params))


@pytest.fixture
def client():
    ironic = FakeIronic()
    ironic.add("b", "active", driver_info={"redfish_password": "x", "redfish_address": "https://a"})
    ironic.add("a", "available")
    return ironic


def test_one_request_whatever_the_number_of_nodes(client):
    found = read(client, names=["b", "uuid-a", "c"])
    assert ([node["name"] for node in found["nodes"]], found["missing"]) == (["a", "b"], ["c"])
    assert found["counts"] == {"active": 1, "available": 1}
    assert (client.lists, client.sent) == (1, [])


def test_only_the_fields_that_were_asked_for(client):
    assert read(client, fields=["power_state"])["nodes"][0] == {"uuid": "uuid-a", "name": "a",
                                                                "power_state": "power off"}


def test_a_secret_that_ironic_does_not_mask_is_not_returned(client):
    shown = redaction.hidden(
        {"driver_info": {"ipmi_password": "canary", "snmp": [{"auth_token": "canary"}]}}, redaction.NODE_KEYS)
    assert "canary" not in json.dumps(shown)
    assert read(client)["nodes"][1]["driver_info"] == {"redfish_password": "(hidden)", "redfish_address": "https://a"}


def test_ports_and_inventory_are_added(client):
    client.ports["p"] = {"uuid": "p", "address": "1", "node_uuid": "uuid-a", "links": []}
    client.answers["GET", "/nodes/uuid-a/inventory"] = {"inventory": {"cpu": 1}}
    client.refusals["GET", "/nodes/uuid-b/inventory"] = [IronicError("none", 404)]
    nodes = read(client, ports=True, inventory=True)["nodes"]
    assert [node["ports"] for node in nodes] == [[{"uuid": "p", "address": "1", "node_uuid": "uuid-a"}], []]
    assert [node["inventory"] for node in nodes] == [{"inventory": {"cpu": 1}}, {}]


@pytest.mark.parametrize(("name", "owner"), [
    ("metal3~server-01", ("metal3", "server-01")), ("a~b.example.org", ("a", "b.example.org")), ("server-01", None),
    ("~a", None), ("A~b", None), ("a~", None), ("a~b~c", None), (None, None),
])
def test_whose_a_node_is(name, owner):
    assert ownership.host_of(name) == owner
