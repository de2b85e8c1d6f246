# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes of a simulated BMC, by sushy and by the functions of Ironic's RAID interface; no lab is needed."""
from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
DONE = {"state": "Completed", "health": "OK", "messages": []}


@pytest.fixture(scope="module")
def contract(tmp_path_factory):
    """What the services' Python reports."""
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=str(HERE.parents[1] / "lab"))
    finished = subprocess.run(
        [os.environ["METAL3_SERVICES_PYTHON"], str(HERE / "volume_contract.py"), str(tmp_path_factory.mktemp("bmc"))],
        env=environment, check=True, capture_output=True, text=True, timeout=120)
    return json.loads(finished.stdout)


def test_the_controller_and_its_drives_are_read(contract):
    assert contract["controller"]["id"] == "RAID.1" and "RAID10" in contract["controller"]["raid_types"]
    assert [(drive["id"], drive["gib"], drive["media"], drive["protocol"], drive["serial"], drive["volumes"])
            for drive in contract["drives"]] == [
                (f"D{number}", size, "SSD", "SATA", f"D{number}", []) for number, size in enumerate((10, 10, 10, 20))]
    assert contract["disks"] == {"/dev/sda": 10, "/dev/sdb": 10, "/dev/sdc": 10, "/dev/sdd": 20}


def test_a_volume_is_made_at_once_of_drives_that_ironic_chooses(contract):
    made = contract["at once"]
    assert made["volumes"] == [{"id": made["id"], "name": "root", "raid_type": "RAID1", "gib": 8}]
    assert made["disks"] == {"/dev/sda": 8, "/dev/sdc": 10, "/dev/sdd": 20}
    assert [drive["volumes"] for drive in made["drives"]] == [[made["id"]], [made["id"]], [], []]


@pytest.mark.parametrize(("what", "text"), [
    ("three for a pair", "returned code 400. Base.1.0.GeneralError: volume refused: Links.Drives: RAID1 of 3 drives"),
    ("in use", "is part of another volume"),
    ("zero", "returned code 400. Base.1.0.GeneralError: volume refused: CapacityBytes 0"),
    ("knob", "the controller could not initialize the volume"),
    # Ironic's own words, which _host/state/errors.py explains, and what _host/rules/raid.py refuses before.
    ("number", "failed to find matching physical disks for all logical disks"),
    ("unknown drive", "ValueError: min() arg is an empty sequence"),
    ("no size", "'physical_disks' is missing from logical_disk"),
    ("too large", "is not enough for the size of the logical disk"),
    ("odd", "must be a multiple of the spans count"),
    ("level 2", 'Cannot calculate spans for RAID level "2"'),
])
def test_what_can_not_be_made_is_reported_by_ironic(contract, what, text):
    assert text in contract["refused"][what]


def test_ironic_does_not_heed_the_name_of_the_controller(contract):
    """The options' documentation says so."""
    assert contract["unknown controller"]


def test_all_volumes_are_deleted(contract):
    assert contract["deleted"] == {"answers": [None], "volumes": [], "disks": contract["disks"]}


def test_volumes_are_made_and_deleted_at_the_next_boot(contract):
    told = contract["at boot"]
    assert told["before"] == ["processing", []]
    task, volumes, disks = told["after"]
    assert task == DONE and disks == {"/dev/sda": 20, "/dev/sdd": 20}
    assert [(volume["raid_type"], volume["gib"]) for volume in volumes] == [("RAID5", 20)]
    assert told["deletion before"] == ["processing", 1] and told["deletion after"] == [DONE, []]


def test_a_task_that_fails_says_why_and_ironic_takes_it_for_done(contract):
    """The documentation of real and simulated parts says so."""
    task, volumes, goes_on = contract["at boot"]["failed"]
    assert (task["state"], task["health"], volumes) == ("Exception", "Critical", [])
    assert task["messages"] == ["the controller could not initialize the volume"] and goes_on is False
