# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Disks and partition tables, on files."""
from __future__ import annotations

import errno
import hashlib

import pytest
from fakes.machine_room import make_image
from machine_room import config_drive, partitions
from machine_room.disk import GIB, Disk
from machine_room.knobs import Knobs


@pytest.fixture
def disk(tmp_path):
    disk = Disk({"name": "/dev/sda", "size_gib": 1}, str(tmp_path / "disks" / "sda.raw"), Knobs())
    disk.ensure()
    return disk


@pytest.fixture
def image(tmp_path):
    return make_image(tmp_path / "image.raw")


def test_a_disk_is_sparse_and_has_its_size(disk, tmp_path):
    found = (tmp_path / "disks" / "sda.raw").stat()
    assert found.st_size == GIB
    assert found.st_blocks * 512 < 1024 * 1024


def test_writing_keeps_bytes_and_holes(disk, image, tmp_path):
    assert disk.write([image, bytes(1024 * 1024), b"end"]) == len(image) + 1024 * 1024 + 3
    assert disk.read(0, len(image)) == image
    assert disk.read(len(image) + 1024 * 1024, 3) == b"end"
    assert (tmp_path / "disks" / "sda.raw").stat().st_size == GIB


def test_writing_beyond_the_end_is_refused(disk):
    with pytest.raises(OSError, match="No space left") as caught:
        disk.write([b"x"], offset=GIB)
    assert caught.value.errno == errno.ENOSPC


def test_digest_of_a_stretch(disk, image):
    disk.write([image])
    assert disk.digest("sha256", len(image)) == hashlib.sha256(image).hexdigest()
    assert disk.digest("md5", 10, 5) == hashlib.md5(image[5:15]).hexdigest()


def test_the_identifier_is_that_of_the_master_boot_record(disk):
    assert disk.identifier() == "0x00000000"
    disk.write([bytes.fromhex("78563412")], offset=440)
    assert disk.identifier() == "0x12345678"


def test_erasing_metadata_leaves_data(disk, image):
    disk.write([image])
    assert disk.has_partitions()
    disk.erase_metadata()
    assert not disk.has_partitions()
    assert disk.read(1024 * 1024, 16) == b"operating system"


def test_erasing_leaves_nothing(disk, image):
    disk.write([image])
    disk.empty()
    assert disk.read(1024 * 1024, 16) == bytes(16)


def test_config_drive_is_put_at_the_end(disk, image):
    disk.write([image])
    partitions.fill_disk(disk.path)
    config_drive.write(disk, b"an ISO")
    label = partitions.table(disk.path)
    first, last = label["partitions"]
    assert first["start"] == 2048
    assert last["name"] == "config-2"
    assert last["start"] + last["size"] == label["lastlba"] + 1
    assert GIB - 66 * 1024 * 1024 < last["start"] * 512 < GIB - 64 * 1024 * 1024
    assert disk.read(last["start"] * 512, 6) == b"an ISO"
    assert disk.read(1024 * 1024, 16) == b"operating system"


def test_config_drive_needs_room(disk, image):
    disk.write([image])
    partitions.fill_disk(disk.path)
    partitions._run(["sfdisk", "--quiet", "--append", disk.path], "start=8192, type=linux\n")
    with pytest.raises(config_drive.ConfigDriveError, match="no room for the config drive"):
        config_drive.write(disk, b"an ISO")


def test_config_drive_that_is_too_large(disk, image):
    disk.write([image])
    partitions.fill_disk(disk.path)
    with pytest.raises(config_drive.ConfigDriveError, match="exceeds maximum limit"):
        config_drive.write(disk, b"x" * (65 * 1024 * 1024))


def test_a_disk_without_partition_table_has_no_partitions(disk):
    assert not disk.has_partitions()
    with pytest.raises(partitions.PartitionError, match="sfdisk"):
        partitions.table(disk.path)


@pytest.mark.parametrize("knob, expected", [("write_error", errno.EIO), ("disk_too_small", errno.ENOSPC)])
def test_knobs_make_writing_fail(tmp_path, knob, expected):
    knobs = Knobs()
    disk = Disk({"name": "/dev/sda", "size_gib": 1}, str(tmp_path / "sda.raw"), knobs)
    disk.ensure()
    knobs.set({knob: True})
    with pytest.raises(OSError) as caught:
        disk.write([b"x" * 1024 * 1024] * 65)
    assert caught.value.errno == expected
