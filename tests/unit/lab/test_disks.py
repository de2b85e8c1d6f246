# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._lab.layout import layout
from ansible_collections.metal3.baremetal.plugins.module_utils._lab.servers import describe, servers

LAB = layout("lab", 3, {"HOME": "/home/me"})


def made(*disks):
    one, = servers(LAB, describe(1, overrides={"server-01": {"disks": list(disks)}}))
    return one["disks"]


def refused(*disks):
    with pytest.raises(ValueError) as caught:
        made(*disks)
    return str(caught.value)


def test_kernels_name_disks_by_their_bus():
    disks = made({"bus": "nvme"}, {}, {"bus": "virtio"}, {"bus": "sata"}, {"bus": "nvme"})
    assert [disk["name"] for disk in disks] == ["/dev/nvme0n1", "/dev/sda", "/dev/vda", "/dev/sdb", "/dev/nvme1n1"]


def test_a_disk_is_by_scsi_unless_it_says_otherwise():
    disk, = made({"size_gib": 9})
    assert (disk["bus"], disk["vendor"], disk["hctl"], disk["rotational"]) == ("scsi", "LAB", "0:0:0:0", False)


def test_what_a_bus_has_no_place_for_is_not_there():
    nvme, virtio = made({"bus": "nvme"}, {"bus": "virtio"})
    assert (nvme["vendor"], nvme["hctl"], nvme["model"], nvme["rotational"]) == (None, None, "QEMU NVMe Ctrl", False)
    assert (virtio["model"], virtio["hctl"], virtio["wwn"], virtio["rotational"]) == (None, None, None, True)
    assert nvme["serial"] != virtio["serial"]


def test_what_a_bus_has_no_place_for_is_refused():
    text = refused({"bus": "nvme", "model": "Fast", "wwn": "eui.1"}, {"bus": "virtio", "wwn": "0x1"},
                   {"bus": "sata", "vendor": "A"})
    for part in ("disks[0].model: expected no such field with the bus nvme", "disks[0].wwn", "disks[1].wwn",
                 "disks[2].vendor"):
        assert part in text


def test_the_wwn_of_an_nvme_disk_is_the_one_that_linux_makes_of_its_serial_number():
    """As /sys/block/nvme0n1/wwid of Debian 12 in QEMU 7.2 has it."""
    disk, = made({"bus": "nvme", "serial": "5F4F6185A2D01"})
    assert disk["wwn"] == "nvme.1b36-35463446363138354132443031-51454d55204e564d65204374726c-00000001"


def test_an_unknown_bus_is_refused():
    assert "disks[1].bus 'ide': expected one of scsi, sata, nvme, virtio" in refused({}, {"bus": "ide"})


def test_a_controller_has_ports_for_five_sata_disks():
    assert len(made(*[{"bus": "sata"}] * 5, {})) == 6
    assert "found 6 disks with the bus sata, expected at most 5" in refused(*[{"bus": "sata"}] * 6)


def test_other_mistakes_in_a_list_are_reported_with_it():
    text = refused("sda", {"bus": "ide", "size": 3})
    for part in ("disks[0]: expected a mapping", "disks[1]: unknown field size", "disks[1].bus 'ide'"):
        assert part in text
