# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""BIOS settings and firmware that wait for a boot."""
from __future__ import annotations

import pytest
from machine_room import bios
from machine_room.server import NOT_BEGUN, STAGED, WRITTEN

REGISTRY = [
    {"AttributeName": "Mode", "Type": "Enumeration", "Value": [{"ValueName": "A"}, {"ValueName": "B"}]},
    {"AttributeName": "Number", "Type": "Integer", "LowerBound": 1, "UpperBound": 3},
    {"AttributeName": "Text", "Type": "String", "MinLength": 1, "MaxLength": 3},
    {"AttributeName": "Flag", "Type": "Boolean"},
    {"AttributeName": "Fixed", "Type": "Integer", "ReadOnly": True},
]


@pytest.mark.parametrize("name, value, fault", [
    ("Mode", "A", None), ("Mode", "C", "expected one of A, B"), ("Number", 3, None), ("Number", 4, "expected 1 to 3"),
    ("Number", "2", "expected 1 to 3"), ("Number", True, "expected 1 to 3"), ("Text", "abc", None),
    ("Text", "abcd", "at most 3"), ("Text", "", "at most 3"), ("Flag", True, None), ("Flag", "true", "true or false"),
    ("Fixed", 1, "read-only"), ("Other", 1, "no such attribute"),
])
def test_settings_are_checked(name, value, fault):
    if fault is None:
        bios.check(REGISTRY, {name: value})
        return
    with pytest.raises(bios.BiosError, match=fault):
        bios.check(REGISTRY, {name: value})


def test_all_faults_are_reported():
    with pytest.raises(bios.BiosError, match=r"Fixed: read-only; Mode: expected one of A, B"):
        bios.check(REGISTRY, {"Mode": "x", "Fixed": 1, "Flag": True})


def test_the_registry_has_this_servers_attributes():
    known = {"Id": "R", "RegistryEntries": {"Attributes": [
        {"AttributeName": "NumCores", "LowerBound": 10, "UpperBound": 20}]}}
    entries = bios.registry(known)["RegistryEntries"]["Attributes"]
    assert [entry["AttributeName"] for entry in entries] == ["NumCores", "PatrolScrubHours"]
    assert entries[0]["LowerBound"] == 1 and known["RegistryEntries"]["Attributes"][0]["LowerBound"] == 10


def test_settings_count_after_the_next_boot(server):
    server.configure(bios_pending={"PatrolScrubHours": 6})
    assert bios.attributes(server)["PatrolScrubHours"] == 24
    assert bios.attributes(server, pending=True)["PatrolScrubHours"] == 6
    server.power_on()
    assert bios.attributes(server)["PatrolScrubHours"] == 6 and server.bios_pending == {}
    assert bios.attributes(server)["SerialNumber"] == server.spec["serial"]


def test_bios_firmware_is_flashed_by_the_next_boot(server):
    task = server.new_task("update")
    assert server.tasks[task]["state"] == "Starting"
    server.stage_firmware(["bios"], "2.0.0", task, STAGED)
    assert server.firmware["bios"] == "1.0.0" and server.tasks[task]["state"] == "Pending"
    server.power_on()
    assert server.firmware["bios"] == "2.0.0" and server.tasks[task]["state"] == "Completed"


def test_bmc_firmware_is_flashed_at_once(server):
    task = server.new_task("update")
    server.flash_firmware("bmc", "2.00", task)
    assert server.firmware["bmc"] == "2.00" and server.tasks[task]["state"] == "Completed"


@pytest.mark.parametrize("state", [WRITTEN, NOT_BEGUN])
def test_firmware_of_cards_counts_after_the_next_boot_whatever_its_task_says(server, state):
    task = server.new_task("update")
    server.stage_firmware(["NIC.1"], "9.20", task, state)
    assert server.firmware["NIC.1"] == "9.00" and server.tasks[task]["state"] == state
    server.power_on()
    assert server.firmware["NIC.1"] == "9.20" and server.tasks[task]["state"] == "Completed"


def test_cards_that_an_older_machine_room_did_not_know_have_the_factorys_firmware(server, make_server):
    server.firmware = {"bios": "2.0.0", "bmc": "1.00"}
    server.save()
    assert make_server(1).firmware == {"bios": "2.0.0", "bmc": "1.00", "NIC.1": "9.00"}


def test_power_changes_are_reported(server):
    states = []
    server.on_power_change = lambda changed: states.append(changed.power)
    server.power_on()
    server.power_on()
    server.power_off()
    assert states == ["On", "Off"]


def test_a_restart_of_the_machine_room_loses_none_of_it(server, make_server):
    server.configure(bios_pending={"Mode": "A"}, subscriptions={"1": {"destination": "https://x/"}})
    task = server.new_task("update")
    server.stage_firmware(["bios"], "2.0.0", task, STAGED)
    again = make_server(1)
    assert again.bios_pending == {"Mode": "A"} and again.subscriptions == {"1": {"destination": "https://x/"}}
    assert again.firmware_staged["bios"]["version"] == "2.0.0" and again.tasks[task]["state"] == "Pending"
