# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cleaning that keeps to one disk: all others are skipped meanwhile, and what the node skipped before is put back."""
from __future__ import annotations

import pytest
from fakes.ironic import FakeIronic
from fakes.ironic_nodes import act

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions import one_disk
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError

STEPS = [{"interface": "deploy", "step": "erase_devices"}]
GIB = 1024 ** 3
DISKS = [{"name": "/dev/sda", "serial": "S1", "wwn": "0x5000c501", "model": "Virtual HDD", "size": 20 * GIB},
         {"name": "/dev/sdb", "serial": "S2", "wwn": None, "model": "Other", "size": 10 * GIB + 1},
         {"name": "/dev/sdc", "serial": "", "size": 4 * GIB}]
OTHERS = [{"serial": "s!= S1"}, {"wwn": "s!= 0x5000c501"}, {"model": "s!= Virtual HDD"}, {"size": "!= 20"}]


@pytest.fixture
def client():
    made = FakeIronic()
    made.add("a", "manageable")
    made.answers["GET", "/nodes/uuid-a/inventory"] = {"inventory": {"disks": DISKS}}
    return made


def erase(client, serial="S1", confirm="1", **options):
    return act(client, "clean", only_disks={"a": serial}, confirm=confirm, **dict({"steps": STEPS}, **options))


def skipped(client):
    """Return what the node's list was set to, in order; None where it was removed."""
    return [body[0].get("value") for method, path, body in client.requests() if method == "PATCH"]


def test_all_other_disks_are_skipped_for_the_time_of_the_cleaning(client):
    result = erase(client)
    assert result["nodes"][0]["error"] == "" and skipped(client) == [OTHERS, None]
    assert [method for method, _path, _body in client.requests()] == ["PATCH", "PUT", "PATCH"]
    assert client.nodes["uuid-a"]["properties"] == {}


def test_what_a_node_skips_anyway_stays_and_what_a_killed_run_left_goes(client):
    own = [{"volume_name": "kept"}]
    client.nodes["uuid-a"]["properties"]["skip_block_devices"] = own + OTHERS
    erase(client)
    assert skipped(client) == [own + OTHERS, own]


def test_it_is_put_back_when_the_cleaning_fails_and_when_ironic_does_not_begin_it(client):
    client.ways["clean"] = ["cleaning", ("clean failed", "a disk that cannot be written")]
    node, = erase(client)["nodes"]
    assert "a disk that cannot be written" in node["error"] and "skip_block_devices" not in node["error"]
    assert client.nodes["uuid-a"]["properties"] == {}

    client.nodes["uuid-a"].update(provision_state="manageable")
    client.refusals["PUT", "/nodes/uuid-a/states/provision"] = [IronicError("no such step", 400)]
    node, = erase(client)["nodes"]
    assert node["error"] == "no such step" and client.nodes["uuid-a"]["properties"] == {}


def test_a_cleaning_that_is_not_over_in_time_says_what_is_left_behind(client):
    client.ways["clean"] = ["cleaning"] + ["clean wait"] * 1000
    node, = erase(client, wait_timeout_seconds=60)["nodes"]
    assert "properties.skip_block_devices still has the agent skip its other disks" in node["error"]
    assert skipped(client) == [OTHERS]


def test_check_mode_sends_nothing_and_names_the_disk(client):
    result = erase(client, check=True)
    assert client.requests() == [] and result["diff"][0]["after"]["erased_disk"] == "S1"


@pytest.mark.parametrize(("serial", "options", "text"), [
    ("S1", {"confirm": None}, "erases what is on disks of a (its disk S1 is erased)"),
    ("S1", {"confirm": "2"}, "erases what is on disks of a"),
    ("S9", {}, "no disks of its last inspection have the serial number"),
    ("S1", {"steps": [*STEPS, {"interface": "raid", "step": "delete_configuration"}]}, "no other step"),
    ("S1", {"steps": None, "runbook": "r"}, "action clean with erase_devices"),
    ("S1", {"wait": False}, "is put back when the disk is erased"),
    ("", {}, "the serial number of a disk, a text"),
])
def test_what_could_erase_more_than_the_disk_is_refused(client, serial, options, text):
    with pytest.raises(RefusedError) as refusal:
        erase(client, serial, **options)
    assert text in str(refusal.value) and client.requests() == []


def test_each_node_of_the_list_needs_a_disk(client):
    client.add("b", "manageable")
    with pytest.raises(RefusedError) as refusal:
        act(client, "clean", "a", "b", steps=STEPS, only_disks={"a": "S1"}, confirm="2")
    assert "node b: only_disks" in str(refusal.value)


def test_a_node_without_an_inventory_and_one_that_is_being_cleaned_are_refused(client):
    client.add("b", "manageable")
    client.add("c", "clean wait", target_provision_state="manageable")
    client.refusals["GET", "/nodes/uuid-b/inventory"] = [IronicError("not found", 404)]
    client.answers["GET", "/nodes/uuid-c/inventory"] = {"inventory": {"disks": DISKS}}
    with pytest.raises(RefusedError) as refusal:
        act(client, "clean", "b", "c", steps=STEPS, only_disks={"b": "S1", "c": "S1"}, confirm="2")
    assert "inspect it first" in str(refusal.value) and "it is clean wait" in str(refusal.value)


@pytest.mark.parametrize("serial", ["S1 <or> S2", "<or> S", "s!= x", "S\n1"])
def test_a_serial_number_that_the_agent_would_read_as_an_operator_is_refused(serial):
    entries, why = one_disk.hints(serial, {"inventory": {"disks": [{"serial": serial}]}})
    assert entries == [] and "characters that the agent's hints cannot tell" in why


def test_two_disks_with_one_serial_number_and_no_inventory_are_refused():
    assert "2 disks" in one_disk.hints("S", {"inventory": {"disks": [{"serial": "S"}, {"serial": "S"}]}})[1]
    for nothing in ({}, None, {"inventory": None}, {"inventory": {"disks": "none"}}):
        assert "inspect it first" in one_disk.hints("S", nothing)[1]
