# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes EFI system partitions with Debian's signed boot loaders, without mounting them."""
from __future__ import annotations

import os

from ..debian.debian_root import EPOCH_SECONDS, MIB, run

# Where firmware looks on a disk or CD that it has no entry for, and what shim starts.
SHIM_TARGET, GRUB_TARGET = "EFI/BOOT/BOOTX64.EFI", "EFI/BOOT/grubx64.efi"
# Packages shim-signed and grub-efi-amd64-signed.
SHIM = "usr/lib/shim/shimx64.efi.signed"
# GRUB for CDs looks for /boot/grub/grub.cfg, GRUB for disks for EFI/debian/grub.cfg.
GRUB_FOR_CD = "usr/lib/grub/x86_64-efi-signed/gcdx64.efi.signed"
GRUB_FOR_DISK = "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed"
GRUB_FOR_DISK_CONFIG = "EFI/debian/grub.cfg"
NEEDED_COMMANDS = (("mkfs.msdos", "dosfstools"), ("mcopy", "mtools"))
STEP = "making the EFI system partition"


def write(path: str, size_mib: int, fat: int, files: dict[str, str]) -> None:
    """Write a file with an EFI system partition; the same files give the same bytes.

    :param path: the file
    :param size_mib: its size in MiB
    :param fat: bits of an entry of the file allocation table: 12, 16 or 32
    :param files: path in the partition → path of the file to copy
    :raises ImageBuildError: when a step fails
    """
    with open(path, "wb") as stream:
        stream.truncate(size_mib * MIB)
    run(["mkfs.msdos", "-F", str(fat), "-n", "ESP", "-i", "4d334c42", "--invariant", path], STEP)
    # So that mtools writes no time of its own.
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(EPOCH_SECONDS))
    folders: list[str] = []
    for target in files:
        parts = target.split("/")
        folders += ["/".join(parts[:depth]) for depth in range(1, len(parts))]
    run(["mmd", "-i", path, *("::" + folder for folder in dict.fromkeys(folders))], STEP, env=environment)
    for target, source in files.items():
        run(["mcopy", "-i", path, source, "::" + target], STEP, env=environment)
