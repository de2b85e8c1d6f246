# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server sees of its drives once its RAID controller has made volumes of them."""
from __future__ import annotations

import os

import pytest
from fakes.machine_room import make_image
from machine_room import hardware
from machine_room.raid import RaidError
from machine_room.raid_controller import CREATE, DELETE

# The drives of the server: 5 GiB, solid, and 8 GiB, rotating.
PAIR = {"raid_type": "RAID1", "drives": ["B1", "A1"], "size_gib": 5, "name": "root"}
STRIPE = {"raid_type": "RAID0", "drives": ["B1"], "size_gib": 8, "name": ""}


def names(disks):
    return [(disk.name, disk.spec["serial"]) for disk in disks]


def written(disk, tmp_path):
    """Write an image with a partition to a disk."""
    disk.ensure()
    disk.write([make_image(tmp_path / "image.raw")])


def test_a_volume_stands_in_the_place_of_its_drives(server):
    volume = server.raid.create(PAIR)
    assert (volume["id"], volume["name"], volume["drives"]) == ("1", "root", ["A1", "B1"])
    found, = hardware.inventory(server)["disks"]
    assert (found["name"], found["size"], found["serial"], found["model"], found["rotational"]) == (
        "/dev/sda", 5 * 1024 ** 3, "S1V01", "RAID1 volume", True)
    assert found["wwn"] not in [drive.spec["wwn"] for drive in server.drives]
    server.raid.delete("1")
    assert server.disks == server.drives
    # A number is not given twice.
    assert server.raid.create(STRIPE)["id"] == "2"
    assert names(server.disks) == [("/dev/sda", "A1"), ("/dev/sdb", "S1V02")]


def test_nothing_is_left_of_what_was_on_drives_and_volumes(server, tmp_path):
    for drive in server.drives:
        written(drive, tmp_path)
    server.raid.create(PAIR)
    assert server.boot_disk() is None
    volume, = server.disks
    written(volume, tmp_path)
    assert server.boot_disk() is volume
    server.raid.delete("1")
    assert server.boot_disk() is None and not os.path.exists(volume.path)


def test_volumes_outlive_a_restart(make_server, tmp_path):
    server = make_server()
    server.raid.create(PAIR)
    server.raid.postpone(DELETE, "1", server.new_task("deletion"))
    written(server.disks[0], tmp_path)
    server.save()
    again = make_server()
    assert names(again.disks) == [("/dev/sda", "S1V01")] and again.boot_disk() is again.disks[0]
    assert again.describe()["volumes"] == server.raid.volumes and again.raid.pending == 1


@pytest.mark.parametrize(("plan", "left"), [(PAIR, [("/dev/sda", "S1V01")]), (dict(STRIPE, drives=["A1", "B1"]), [])])
def test_a_volume_with_redundant_drives_outlives_one_of_them(server, plan, left):
    server.raid.create(plan)
    server.set_knobs({"first_disk_failed": True})
    assert names(server.present_disks()) == left


def test_a_system_on_a_pair_goes_on_without_the_first_drive(server, disk_boot, tmp_path):
    server.raid.create(PAIR)
    written(server.disks[0], tmp_path)
    server.reset("On")
    server.set_knobs({"first_disk_failed": True})
    assert disk_boot.asked == ["power_on"] and server.boot_disk() is server.disks[0]


def test_changes_wait_for_the_next_boot(server):
    server.set_knobs({"raid_at_boot": True})
    assert server.raid_waits
    task = server.new_task("new volume")
    server.raid.postpone(CREATE, PAIR, task)
    assert server.disks == server.drives
    server.reset("On")
    assert names(server.disks) == [("/dev/sda", "S1V01")] and server.tasks[task]["state"] == "Completed"
    first, second = (server.new_task("deletion") for _count in range(2))
    server.raid.postpone(DELETE, "1", first)
    server.raid.postpone(DELETE, "1", second)
    server.reset("ForceRestart")
    assert server.disks == server.drives and server.tasks[first]["state"] == "Completed"
    assert (server.tasks[second]["state"], server.tasks[second]["message"]) == ("Exception", "there is no volume 1")


def test_a_controller_that_refuses(server):
    server.set_knobs({"raid_refused": True})
    with pytest.raises(RaidError, match="could not initialize"):
        server.raid.create(PAIR)
    server.set_knobs({"raid_refused": False})
    server.raid.create(PAIR)
    with pytest.raises(RaidError, match="part of another volume by now"):
        server.raid.create(STRIPE)
    with pytest.raises(KeyError):
        server.raid.delete("9")
