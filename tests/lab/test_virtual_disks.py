# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A virtual server with a disk on each bus, NVMe, SATA, virtio and SCSI; it boots from the one by NVMe."""
from __future__ import annotations

import json

import pytest
from disk_marks import mark, marked
from support import only
from virtual_site import BOOT_SECONDS, HTTP, disk_type, in_system, inventory_arguments

pytestmark = pytest.mark.metal

GIB = 1024 ** 3
# What lsblk says of the way to a disk (util-linux 2.38, which knows no virtio).
TRANSPORTS = {"nvme": "nvme", "sata": "sata", "virtio": None, "scsi": None}


@pytest.fixture(scope="module")
def server(lab):
    """The server as the lab describes it, with a disk on each bus."""
    found = lab.servers[HTTP]
    assert set(disk["bus"] for disk in found["disks"]) == set(TRANSPORTS)
    return found


@pytest.fixture(scope="module")
def by_nvme(server):
    """The disk that gets the image, by the hint in the inventory."""
    found, = [disk for disk in server["disks"] if disk["bus"] == "nvme"]
    return found


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    return inventory_arguments(tmp_path_factory.mktemp("inventory"), {HTTP: {}})


@pytest.fixture(scope="module")
def inspected(lab, server, arguments):
    """The host, inspected and available."""
    lab.remove_hosts(HTTP)
    lab.playbook("enroll", *arguments, *only(HTTP), seconds=BOOT_SECONDS).ok()
    return lab.host(HTTP)


@pytest.fixture(scope="module")
def other_paths(lab, room, inspected, by_nvme):
    """Paths of the disks that get no image, with a mark on each."""
    paths = [disk["path"] for disk in room.server(HTTP)["disks"] if disk["name"] != by_nvme["name"]]
    for path in paths:
        mark(path)
    return paths


@pytest.fixture(scope="module")
def provisioned(lab, other_paths, arguments):
    """The host with the node image, logged in to; it is available again afterwards."""
    lab.playbook("provision", *arguments, *only(HTTP), seconds=BOOT_SECONDS).ok()
    lab.playbook("metal", *arguments, *only(HTTP), "--tags", "metal", seconds=BOOT_SECONDS).ok()
    yield lab.host(HTTP)
    lab.playbook("deprovision_hosts", *arguments, *only(HTTP), "-e", "metal3_confirm=1", seconds=BOOT_SECONDS).ok()
    assert lab.state(HTTP) == "available"


def test_inspection_finds_the_disk_of_each_bus(inspected, server):
    found = [(disk["serialNumber"], disk["sizeBytes"], disk["type"], disk.get("wwn", ""), disk.get("model", ""))
             for disk in inspected["status"]["hardware"]["storage"] if not disk["name"].startswith("/dev/pmem")]
    assert sorted(found) == sorted(
        (disk["serial"], disk["size_gib"] * GIB, disk_type(disk), disk["wwn"] or "", disk["model"] or "")
        for disk in server["disks"])


def test_kernels_name_them_by_their_bus(inspected, server):
    # The operator's name of a disk is its path by the controller.
    names = dict((disk["serialNumber"], disk["alternateNames"][0])
                 for disk in inspected["status"]["hardware"]["storage"] if "serialNumber" in disk)
    for disk in server["disks"]:
        # Those by SCSI and SATA are named in the order in which their drivers come.
        assert names[disk["serial"]][:7] == disk["name"][:7]


def test_the_agent_finds_the_way_to_each_disk(lab, inspected, server):
    report = lab.ironic().get_node_inventory(lab.nodes()[HTTP])["inventory"]
    found = dict((disk["serial"], disk["tran"]) for disk in report["disks"])
    assert {disk["serial"]: TRANSPORTS[disk["bus"]] for disk in server["disks"]}.items() <= found.items()


def test_the_image_boots_from_the_nvme_disk(lab, provisioned, by_nvme):
    assert provisioned["spec"]["rootDeviceHints"] == {"wwn": by_nvme["wwn"]}
    assert in_system(lab, HTTP, "findmnt -n -o SOURCE /").startswith("/dev/nvme0n1p")
    assert in_system(lab, HTTP, "lsblk -nso SERIAL $(findmnt -n -o SOURCE /)").split() == [by_nvme["serial"]]
    assert in_system(lab, HTTP, "test -d /sys/firmware/efi && echo UEFI").strip() == "UEFI"


def test_the_disks_by_nvme_virtio_and_scsi_are_there_in_the_running_system(lab, provisioned, server):
    disks = json.loads(in_system(lab, HTTP, "lsblk -dJo SERIAL,TRAN,TYPE"))["blockdevices"]
    found = dict((disk["serial"], disk["tran"]) for disk in disks if disk["type"] == "disk")
    # The kernel of the lab's image is the one for virtual machines, which has no driver of SATA controllers.
    expected = {disk["serial"]: TRANSPORTS[disk["bus"]] for disk in server["disks"] if disk["bus"] != "sata"}
    assert expected.items() <= found.items()


def test_the_other_disks_keep_what_is_on_them(provisioned, other_paths, server):
    assert len(other_paths) == len(server["disks"]) - 1 and all(map(marked, other_paths))
