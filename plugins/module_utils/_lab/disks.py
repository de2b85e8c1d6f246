# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disks of a lab's servers: by which bus, what each says of itself, and what is refused; pure."""
from __future__ import annotations

import string
from typing import Any

SCSI, SATA, NVME, VIRTIO = "scsi", "sata", "nvme", "virtio"
BUSES = (SCSI, SATA, NVME, VIRTIO)
FIELDS = ("name", "size_gib", "rotational", "vendor", "model", "serial", "wwn", "hctl", "bus")
LIMIT = 26
# A controller has six ports, one of which the virtual CD drive has.
SATA_LIMIT = 5
DEFAULTS = {"bus": SCSI, "size_gib": 40}
# QEMU's number as a maker of PCI devices.
QEMU_MAKER = "1b36"
# What the kernel finds of each; None: nothing. Of an NVMe disk QEMU has its own model and no vendor, of a virtio one it
# has neither model nor WWN, its vendor is that of the PCI device, and the kernel takes it for one that rotates.
BY_BUS: dict[str, dict[str, Any]] = {
    SCSI: {"rotational": False, "vendor": "LAB", "model": "Virtual SSD"},
    SATA: {"rotational": False, "vendor": "ATA", "model": "Virtual SSD"},
    NVME: {"rotational": False, "vendor": None, "model": "QEMU NVMe Ctrl", "hctl": None},
    VIRTIO: {"rotational": True, "vendor": "0x1af4", "model": None, "wwn": None, "hctl": None},
}
# Fields that cannot be chosen.
FIXED = {SCSI: (), SATA: ("vendor",), NVME: ("rotational", "vendor", "model", "wwn", "hctl"),
         VIRTIO: ("rotational", "vendor", "model", "wwn", "hctl")}


def errors(where: str, disks: list[Any]) -> list[str]:
    """Return what is wrong with the buses of a server's disks, as a list of texts.

    :param where: how to call the list in the texts
    :param disks: the list as it was described; what is no mapping is passed over
    """
    found, sata = [], 0
    for number, disk in enumerate(disks):
        bus = disk.get("bus", SCSI) if isinstance(disk, dict) else SCSI
        if bus not in BUSES:
            found.append(f"{where}[{number}].bus {bus!r}: expected one of {', '.join(BUSES)}")
            continue
        sata += bus == SATA
        found += [f"{where}[{number}].{field}: expected no such field with the bus {bus}, whose disks have one of "
                  "their own or none; remove it" for field in FIXED[bus] if field in disk]
    if sata > SATA_LIMIT:
        found.append(f"{where}: found {sata} disks with the bus {SATA}, expected at most {SATA_LIMIT}")
    return found


def described(disk: dict[str, Any]) -> dict[str, Any]:
    """Return a disk with what it has when nothing else is said."""
    return dict(DEFAULTS, **dict(BY_BUS[disk.get("bus", SCSI)], **disk))


def identify(disks: list[dict[str, Any]], identity: str) -> None:
    """Give disks the names by which kernels know them, serial numbers, WWNs and addresses, where they have none.

    :param disks: as described() returns them
    :param identity: the server's, in hexadecimal digits
    """
    counted = {"sd": 0, "vd": 0, "nvme": 0}
    for position, disk in enumerate(disks):
        kind = {NVME: "nvme", VIRTIO: "vd"}.get(disk["bus"], "sd")
        number = counted[kind]
        counted[kind] += 1
        disk.setdefault("name", f"/dev/nvme{number}n1" if kind == "nvme" else
                        f"/dev/{kind}{string.ascii_lowercase[number]}")
        disk.setdefault("serial", f"{identity[:10].upper()}D{position:02d}")
        disk.setdefault("wwn", _nvme_wwn(disk) if disk["bus"] == NVME else f"0x5000c5{identity[:8]}{position:02x}")
        disk.setdefault("hctl", f"0:0:{position}:0")


def _nvme_wwn(disk: dict[str, Any]) -> str:
    """Return the WWN that Linux makes of maker, serial number, model and namespace (``wwid_show`` in its NVMe driver).

    It ignores the identifiers of QEMU's namespaces (``NVME_QUIRK_BOGUS_NID``), for there are versions that have the
    same for all.
    """
    return f"nvme.{QEMU_MAKER}-{disk['serial'].encode().hex()}-{disk['model'].encode().hex()}-00000001"
