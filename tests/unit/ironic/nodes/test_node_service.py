# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run over nodes and ports, against an Ironic in memory: what is written, what is not, and what is shown of it."""
from __future__ import annotations

import json

import pytest
from fakes.ironic import FakeIronic
from fakes.ironic_nodes import MAC, PASSWORD, option, port, redfish, run
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes.port_service import PortService


def run_ports(client, *options, check=False, force=()):
    return PortService(client, {"ports": list(options), "force_nodes": list(force)}, check, Reports()).run()


def test_a_node_is_made_with_ports_and_traits_and_then_left_alone():
    client = FakeIronic()
    wanted = redfish(traits=["CUSTOM_A"], ports=[port(pxe_enabled=True)], properties={"cpu_arch": "x86_64"},
                     protected=True, interfaces={"boot": "ipxe"})
    result = run(client, wanted)
    assert (result["nodes"][0]["action"], result["counts"]["created"]) == ("created", 1)
    node = client.nodes["uuid-a"]
    assert node["driver_info"]["redfish_password"] == PASSWORD
    assert (node["traits"], node["protected"], node["boot_interface"]) == (["CUSTOM_A"], True, "ipxe")
    assert [found["address"] for found in client.ports.values()] == [MAC]
    client.sent.clear()
    again = run(client, wanted)
    assert (again["changed"], again["diff"], client.sent) == (False, [], [])


def test_check_mode_reports_the_same_and_sends_nothing():
    client = FakeIronic()
    wanted = redfish(traits=["CUSTOM_A"], ports=[port()])
    trial = run(client, wanted, check=True)
    assert client.sent == []
    real = run(client, wanted)
    assert trial["diff"] == real["diff"]
    assert trial["changed"] is real["changed"] is True


def test_no_secret_is_in_a_result():
    client = FakeIronic()
    texts = [json.dumps(run(client, redfish())),
             json.dumps(run(client, redfish(driver_info={"redfish_password": PASSWORD}), update_secrets="always"))]
    assert "(hidden)" in texts[0]
    assert "(hidden, changed)" in texts[1]
    assert not [text for text in texts if PASSWORD in text]


@pytest.mark.parametrize(("values", "given", "update_secrets", "written"), [
    ({}, {}, "when_needed", False),
    ({}, {}, "on_create", False),
    ({}, {}, "always", True),
    ({}, {"redfish_username": "other"}, "when_needed", True),
    ({}, {"redfish_username": "other"}, "on_create", False),
    ({"last_error": "401"}, {}, "when_needed", True),
    ({"provision_state": "manageable", "last_error": "old"}, {}, "when_needed", False),
    ({"provision_state": "active", "fault": "power failure"}, {}, "when_needed", True),
])
def test_when_a_masked_secret_is_written(values, given, update_secrets, written):
    client = FakeIronic()
    run(client, redfish())
    client.nodes["uuid-a"].update(values)
    client.nodes["uuid-a"]["driver_info"]["redfish_password"] = "another"
    run(client, redfish(driver_info=dict(redfish()["driver_info"], **given)), update_secrets=update_secrets)
    assert (client.nodes["uuid-a"]["driver_info"]["redfish_password"] == PASSWORD) is written


def test_keys_that_are_not_given_stay_and_null_removes():
    client = FakeIronic()
    client.add("a", properties={"local_gb": 40, "cpu_arch": "x86_64", "old/key~": 1}, description="x")
    run(client, option(properties={"cpu_arch": "aarch64", "old/key~": None}, description=""))
    (dummy, dummy, patch), = client.requests()
    assert {"op": "remove", "path": "/properties/old~1key~0"} in patch
    assert {"op": "remove", "path": "/description"} in patch
    assert len(patch) == 3


def test_a_node_found_by_uuid_is_renamed():
    client = FakeIronic()
    uuid = client.add("old")
    client.nodes[uuid]["uuid"] = "1be26c0b-03f2-4d2e-ae87-c02d7f33c123"
    client.nodes["1be26c0b-03f2-4d2e-ae87-c02d7f33c123"] = client.nodes.pop(uuid)
    result = run(client, option("new", uuid="1be26c0b-03f2-4d2e-ae87-c02d7f33c123"))
    assert result["nodes"][0]["action"] == "updated"
    assert client.nodes["1be26c0b-03f2-4d2e-ae87-c02d7f33c123"]["name"] == "new"


def test_one_refusal_does_not_hide_the_other_nodes():
    client = FakeIronic()
    client.add("a")
    client.add("b")
    client.refusals["PATCH", "/nodes/uuid-a"] = [IronicError("node a: no", 400)]
    result = run(client, option("a", description="x"), option("b", description="x"))
    assert [(node["failed"], node["action"]) for node in result["nodes"]] == [(True, "unchanged"), (False, "updated")]


def test_a_locked_node_is_tried_again():
    client = FakeIronic()
    client.add("a")
    client.refusals["PATCH", "/nodes/uuid-a"] = [IronicError("locked", 409, "Locked"), IronicError("busy", 503)]
    assert run(client, option("a", description="x"))["nodes"][0]["action"] == "updated"


@pytest.mark.parametrize(("state", "values", "deleted"), [
    ("enroll", {}, True), ("manageable", {}, True), ("available", {}, True), ("active", {}, False),
    ("active", {"maintenance": True}, True), ("available", {"instance_uuid": "1"}, False),
    ("clean wait", {}, False), ("enroll", {"protected": True}, False),
])
def test_what_is_deleted(state, values, deleted):
    client = FakeIronic()
    client.add("a", state, **values)
    if deleted:
        assert run(client, option(state="absent"))["nodes"][0]["provision_state"] == "absent"
        assert client.nodes == {}
        assert run(client, option(state="absent"))["changed"] is False
    else:
        with pytest.raises(RefusedError):
            run(client, option(state="absent"))
        assert client.sent == []


def test_a_node_is_deleted_by_its_uuid_whatever_its_name():
    """One that is called otherwise has power over the server, too."""
    client, uuid = FakeIronic(), "7d0f6f0e-3b0c-4a43-8a5d-2c1e0f1b9d11"
    client.nodes[uuid] = dict(client.nodes.pop(client.add("older-name", "active")), uuid=uuid)
    assert run(client, option("metal3~a", uuid=uuid, state="absent"), force=["metal3~a"])["changed"]
    assert client.nodes == {}


@pytest.mark.parametrize("is_there", [True, False])
def test_a_node_of_the_name_with_another_uuid_is_another_ironics(is_there):
    client, uuid = FakeIronic(), "7d0f6f0e-3b0c-4a43-8a5d-2c1e0f1b9d11"
    if is_there:
        client.add("metal3~a", "active")
    wanted = option("metal3~a", uuid=uuid, must_exist=not is_there, state="absent")
    with pytest.raises(RefusedError, match="find out whether this is the Ironic that is meant"):
        run(client, wanted, force=["metal3~a"])
    assert client.sent == []


def test_a_node_that_a_killed_run_has_deleted_is_no_other_ironics():
    uuid = "7d0f6f0e-3b0c-4a43-8a5d-2c1e0f1b9d11"
    assert not run(FakeIronic(), option("metal3~a", uuid=uuid, state="absent"), force=["metal3~a"])["changed"]


def test_a_forced_deletion_sets_maintenance_first():
    client = FakeIronic()
    client.add("a", "active")
    run(client, option(state="absent"), force=["a"])
    assert [request[:2] for request in client.requests()] == [
        ("PUT", "/nodes/uuid-a/maintenance"), ("DELETE", "/nodes/uuid-a")]


@pytest.mark.parametrize(("wanted", "texts"), [
    (option(driver="redfsh"), ["driver: found \"redfsh\"", "redfish may be meant"]),
    (option(), ["driver: not set"]),
    (option(driver="redfish"), ["driver_info.redfish_address: not set"]),
    (option(driver="ipmi", driver_info={}), ["driver_info.ipmi_address: not set"]),
    (redfish("a b"), ["name: found \"a b\""]),
    (redfish("states"), ["name: found \"states\""]),
    (redfish(uuid="1"), ["uuid: found \"1\""]),
    (redfish(traits=["lower"]), ["traits: found \"lower\"", "CUSTOM_"]),
    (redfish(ports=[port("00:5c:52:00:00")]), ["port 00:5c:52:00:00: address"]),
    (redfish(ports=[port("ff:ff:ff:ff:ff:ff")]), ["not a group or broadcast address"]),
    (redfish(ports=[port(), port()]), [MAC + " 2 times"]),
    (redfish(ports=[port("00:5c:52:00:00:99")]), ["a port of node other", "set move with ironic_port"]),
    (redfish("metal3~server-01"), ["BareMetalHost metal3/server-01", "force_nodes"]),
    (redfish(network_data={"links": []}), [
        "node a: network_data: found no list networks, services, expected the lists links, networks, services"]),
    (redfish(network_data={"services": [], "networks": [], "links": [
        {"id": "v", "type": "vlan", "vlan_link": "eno1", "vlan_id": 5}, 17]}), [
        "node a: network_data.links[0]: found no vlan_mac_address, expected id, type, vlan_mac_address",
        "node a: network_data.links[1]: found (hidden), expected a mapping",
        'node a: network_data.links[0].vlan_link: found "eno1", expected one of no other link; correct it']),
])
def test_bad_input_is_refused_before_anything_is_written(wanted, texts):
    client = FakeIronic()
    client.add("other")
    client.ports["p"] = {"uuid": "p", "address": "00:5C:52:00:00:99", "node_uuid": "uuid-other"}
    with pytest.raises(RefusedError) as refusal:
        run(client, wanted, redfish("good"))
    for text in texts:
        assert text in str(refusal.value)
    assert client.sent == []


def test_an_option_that_this_ironic_is_too_old_for():
    with pytest.raises(RefusedError, match=r"API version 1\.90.*1\.95"):
        run(FakeIronic(minor=90), redfish(disable_power_off=True))


def test_ports_are_made_changed_moved_and_deleted():
    client = FakeIronic()
    client.add("a")
    client.add("b")

    def wanted(**values):
        return dict(port(MAC.upper()), **dict({"node": "a", "state": "present", "move": False}, **values))
    assert run_ports(client, wanted(pxe_enabled=True))["counts"]["created"] == 1
    assert run_ports(client, wanted(pxe_enabled=True))["changed"] is False
    assert run_ports(client, wanted(pxe_enabled=False), check=True)["counts"]["updated"] == 1
    assert run_ports(client, wanted(pxe_enabled=False))["counts"]["updated"] == 1
    with pytest.raises(RefusedError, match="a port of node a"):
        run_ports(client, wanted(node="b"))
    assert run_ports(client, wanted(node="b", move=True))["counts"]["updated"] == 1
    assert client.ports["port-" + MAC]["node_uuid"] == "uuid-b"
    assert run_ports(client, wanted(state="absent"))["counts"]["deleted"] == 1
    assert run_ports(client, wanted(state="absent"))["changed"] is False
    with pytest.raises(RefusedError, match='node: found "c"'):
        run_ports(client, wanted(node="c"))


def moving(**values):
    client = FakeIronic()
    client.add("a")
    client.add("b")
    client.ports["port-" + MAC] = dict({
        "uuid": "port-" + MAC, "address": MAC.upper(), "node_uuid": "uuid-a", "pxe_enabled": False, "name": "eno1",
        "physical_network": "x", "portgroup_uuid": "group-of-a", "extra": {"kept": 1, "gone": 2},
        "internal_info": {"x": 1}, "links": []}, **values)
    return client, dict(port(), node="b", state="present", move=True)


def test_a_port_that_moves_keeps_what_it_has():
    client, wanted = moving()
    wanted.update(pxe_enabled=True, physical_network="", extra={"gone": None, "new": 3})
    trial = run_ports(client, wanted, check=True)
    assert (trial["changed"], client.requests()) == (True, [])
    result = run_ports(client, wanted)
    assert (result["counts"]["updated"], result["diff"]) == (1, trial["diff"])
    assert client.ports == {"port-" + MAC: {
        "uuid": "port-" + MAC, "address": MAC, "node_uuid": "uuid-b", "pxe_enabled": True, "name": "eno1",
        "extra": {"kept": 1, "new": 3}}}
    assert run_ports(client, wanted)["changed"] is False


def test_a_port_that_is_gone_when_it_moves_is_made():
    client, wanted = moving()
    client.refusals["DELETE", "/ports/port-" + MAC] = [IronicError("port: not found", 404)]
    assert run_ports(client, wanted)["counts"]["failed"] == 0
    assert client.ports["port-" + MAC]["node_uuid"] == "uuid-b"


def test_a_port_that_is_lost_while_it_moves_is_reported():
    client, wanted = moving()
    client.refusals["POST", "/ports"] = [IronicError("port: refused", 400)]
    result = run_ports(client, wanted)
    assert "it is deleted at its node, and not made here" in result["ports"][0]["error"]
    assert run_ports(client, wanted)["counts"]["created"] == 1


def test_a_port_of_the_operators_node_is_refused():
    client = FakeIronic()
    client.add("metal3~x")
    client.ports["p"] = {"uuid": "p", "address": MAC, "node_uuid": "uuid-metal3~x"}
    gone = dict(port(), node=None, state="absent", move=False)
    with pytest.raises(RefusedError, match="BareMetalHost metal3/x"):
        run_ports(client, gone)
    assert run_ports(client, gone, force=["metal3~x"])["changed"] is True
