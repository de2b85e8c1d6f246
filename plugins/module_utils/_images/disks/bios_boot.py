# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts GRUB where a BIOS starts it: into the first sector of a disk, and into a partition of its own.

``grub-install`` does the same to devices; this works on a file, without a loop device.
"""
from __future__ import annotations

import os
import struct

from ..debian.debian_root import CHROOT_ENVIRONMENT, ImageBuildError, run

PARTITION_TYPE = "21686148-6449-6E6F-744E-656564454649"
PARTITION_MIB = 1
SECTOR_BYTES = 512
# Package grub-pc-bin.
FOLDER = "usr/lib/grub/i386-pc"
MODULES = ("biosdisk", "boot", "part_gpt", "ext2", "linux", "search", "search_fs_uuid")
# What is behind it in the first sector belongs to the partition table.
CODE_BYTES = 440
# In boot.img: the sector of core.img. At the end of core.img's first sector: the sector where the rest begins, before
# the rest's length and address, which grub-mkimage fills in (GRUB: include/grub/i386/pc/boot.h, offsets.h).
CORE_SECTOR, REST_SECTOR = 0x5c, SECTOR_BYTES - 12


def linked(boot: bytes, core: bytes, sector: int) -> tuple[bytes, bytes]:
    """Return both parts of GRUB, knowing where they are.

    :param boot: contents of ``boot.img``
    :param core: contents of ``core.img``
    :param sector: number of the disk's sector at which ``core.img`` begins
    :returns: the first sector's code, and ``core.img``
    :raises ImageBuildError: for a ``core.img`` that does not fit
    """
    if not SECTOR_BYTES < len(core) <= PARTITION_MIB * 1024 * 1024:
        raise ImageBuildError(f"core.img: found {len(core)} bytes, expected more than a sector and at most "
                              f"{PARTITION_MIB} MiB")
    first, rest = bytearray(boot), bytearray(core)
    struct.pack_into("<Q", first, CORE_SECTOR, sector)
    struct.pack_into("<Q", rest, REST_SECTOR, sector + 1)
    return bytes(first[:CODE_BYTES]), bytes(rest)


def install(root: str, disk: str, first_mib: int, config: str) -> None:
    """Make a disk bootable by a BIOS.

    :param root: folder of a system with grub-pc-bin
    :param disk: path of the disk; its partition table is there already
    :param first_mib: where its partition of PARTITION_TYPE begins, in MiB
    :param config: GRUB's configuration, which becomes part of it
    :raises ImageBuildError: when a step fails
    """
    made = [os.path.join(root, "tmp", name) for name in ("grub.cfg", "core.img")]
    with open(made[0], "w", encoding="utf-8") as stream:
        stream.write(config)
    run(["chroot", root, "grub-mkimage", "--format=i386-pc", "--output=/tmp/core.img", "--prefix=/boot/grub",
         "--config=/tmp/grub.cfg", *MODULES], "making GRUB for BIOS", env=CHROOT_ENVIRONMENT)
    sector = first_mib * 1024 * 1024 // SECTOR_BYTES
    code, core = linked(_contents(os.path.join(root, FOLDER, "boot.img")), _contents(made[1]), sector)
    for path in made:
        os.unlink(path)
    with open(disk, "r+b") as stream:
        stream.write(code)
        stream.seek(sector * SECTOR_BYTES)
        stream.write(core)


def _contents(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()
