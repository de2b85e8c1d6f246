# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which volumes a RAID controller makes."""
from __future__ import annotations

import pytest
from machine_room import raid
from machine_room.raid import GIB, RaidError, planned

DRIVES = dict((f"/d/{number}", {"serial": f"D{number}", "size_gib": 20 if number == 8 else 10}) for number in range(9))


def wanted(raid_type, *numbers, **values):
    """Return the request for a volume of drives."""
    return dict({"RAIDType": raid_type, "Links": {"Drives": [{"@odata.id": f"/d/{number}"} for number in numbers]}},
                **values)


@pytest.mark.parametrize(("raid_type", "numbers", "size_gib"), [
    ("RAID0", [0], 10), ("RAID0", [0, 8], 20), ("RAID1", [0, 1], 10), ("RAID5", [0, 1, 8], 20),
    ("RAID6", [0, 1, 2, 3], 20), ("RAID10", [0, 1, 2, 3], 20), ("RAID10", [0, 1, 2, 3, 4, 5], 30),
    ("RAID50", range(6), 40), ("RAID60", range(8), 40),
])
def test_all_there_is_by_level(raid_type, numbers, size_gib):
    plan = planned(wanted(raid_type, *numbers), DRIVES, set())
    assert plan == {"raid_type": raid_type, "drives": [f"D{number}" for number in numbers], "size_gib": size_gib,
                    "name": ""}


def test_a_size_and_a_name():
    plan = planned(wanted("RAID1", 0, 1, CapacityBytes=5 * GIB + 1, Name="root"), DRIVES, set())
    assert (plan["size_gib"], plan["name"]) == (5, "root")


@pytest.mark.parametrize(("request_body", "fault"), [
    (wanted("RAID2", 0, 1), r"RAIDType 'RAID2': expected one of RAID0, RAID1"),
    (wanted(["RAID1"], 0, 1), "expected one of RAID0"),
    ({}, "RAIDType None"),
    (wanted("RAID1", 0, 1, 2), "RAID1 of 3 drives is not supported, expected exactly 2"),
    (wanted("RAID1", 0), "RAID1 of 1 drives"),
    (wanted("RAID5", 0, 1), "expected at least 3"),
    (wanted("RAID10", 0, 1, 2, 3, 4), "expected at least 4 and an even number"),
    (wanted("RAID1", 0, 0), "expected each drive once"),
    (wanted("RAID1", 0, 99), "'/d/99': expected drives of this controller"),
    (wanted("RAID1", 0, 7), "/d/7: it is part of another volume"),
    (wanted("RAID1"), "at least one drive"),
    ({"RAIDType": "RAID1", "Links": "x"}, "at least one drive"),
    ({"RAIDType": "RAID1", "Links": {"Drives": ["/d/0", "/d/1"]}}, "at least one drive"),
    ({"RAIDType": "RAID1", "Links": {"Drives": [{"@odata.id": ["/d/0"]}]}}, "drives of this controller"),
    (wanted("RAID1", 0, 1, CapacityBytes=0), "CapacityBytes 0: expected 1073741824 to 10737418240"),
    (wanted("RAID1", 0, 1, CapacityBytes=10 * GIB + 1), "CapacityBytes"),
    (wanted("RAID1", 0, 1, CapacityBytes="5"), "CapacityBytes '5'"),
    (wanted("RAID1", 0, 1, CapacityBytes=True), "CapacityBytes True"),
    (wanted("RAID1", 0, 1, Name="x" * 65), "at most 64"),
    (wanted("RAID1", 0, 1, Name=1), "at most 64"),
])
def test_what_can_not_be_made_is_named(request_body, fault):
    with pytest.raises(RaidError, match=fault):
        planned(request_body, DRIVES, {"D7"})


def test_only_what_has_redundant_drives_survives_one():
    assert [raid_type for raid_type in raid.LEVELS if not raid.survives_one(raid_type)] == ["RAID0"]
