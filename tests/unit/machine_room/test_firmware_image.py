# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Firmware images: what the BMC takes for one, and what it says of what is none."""
from __future__ import annotations

import pytest
from machine_room.firmware_image import FirmwareImage, FirmwareImageError, parts_of, read_image
from machine_room.web import Web


@pytest.fixture
def web():
    return Web(None)


def test_an_image_says_what_it_is(web, ironic):
    ironic.files["/bios"] = b'{"component": "bios", "version": "2.0.0"}'
    assert read_image(web, ironic.url + "/bios") == FirmwareImage("bios", "2.0.0")
    ironic.files["/nic"] = b'{"component": "nic", "product": "0x1572", "version": "9.20"}'
    assert read_image(web, ironic.url + "/nic") == FirmwareImage("nic", "9.20", "0x1572")


def test_the_image_decides_which_cards_it_is_flashed_to():
    spec = {"nics": [{"product": "0x1572"}, {"product": "0x158b"}, {"product": "0x1572"}]}
    assert parts_of(spec, FirmwareImage("nic", "9.20", "0x1572"), "u") == ["NIC.1", "NIC.3"]
    assert parts_of(spec, FirmwareImage("bios", "2.0.0"), "u") == ["bios"]
    with pytest.raises(FirmwareImageError, match="u is firmware for network cards 0x1017, this server has 0x1572, 0x1"):
        parts_of(spec, FirmwareImage("nic", "9.20", "0x1017"), "u")


@pytest.mark.parametrize("content, text", [
    (b"MZ", "is no firmware image"), (b"[]", "is no firmware image"),
    (b'{"component": "bios"}', "is no firmware image"),
    (b'{"component": "nic", "version": "1"}', "is no firmware image"),
    (b'{"component": "psu", "version": "1"}', "not for one of bios, bmc, nic"),
    (b'{"component": "bmc", "version": 2}', "not for one of bios, bmc, nic"),
])
def test_what_is_no_image(web, ironic, content, text):
    ironic.files["/image"] = content
    with pytest.raises(FirmwareImageError, match=text):
        read_image(web, ironic.url + "/image")


def test_what_can_not_be_downloaded(web, ironic):
    with pytest.raises(FirmwareImageError, match="answered 404"):
        read_image(web, ironic.url + "/none")
    with pytest.raises(FirmwareImageError, match="can't be downloaded"):
        read_image(web, "http://127.0.0.1:1/image")
