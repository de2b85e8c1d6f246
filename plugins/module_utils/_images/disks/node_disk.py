# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a root file system to a disk image that boots by UEFI, with secure boot, and by BIOS."""
from __future__ import annotations

import os
import shutil

from ..debian.debian_root import MIB, ImageBuildError, run
from . import bios_boot, efi_partition

# Partitions start at 1 MiB; the last MiB is for the backup of the partition table.
FIRST_MIB, LAST_MIB = 1, 1
EFI_MIB = 32
EFI_PARTITION_TYPE = "C12A7328-F81F-11D2-BA4B-00A0C93EC93B"
# Container layers have few and large files.
BYTES_FOR_AN_INODE = 32768
JOURNAL_MIB = 64
# https://uapi-group.org/specifications/specs/discoverable_partitions_specification/
ROOT_PARTITION_TYPES = {
    "x86_64": "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709",
    "aarch64": "B921B045-1DF0-41C3-AF44-4C6F280D3FAE",
}
# What mkfs.ext4 says of blocks and of inodes.
_NO_ROOM = "Could not allocate"
CONSOLES = "console=tty0 console=ttyS0"
NEEDED_COMMANDS = (
    ("mmdebstrap", "mmdebstrap"), ("mkfs.ext4", "e2fsprogs"), ("sfdisk", "fdisk"), ("qemu-img", "qemu-utils"),
    ("unshare", "util-linux"), ("setpriv", "util-linux"), ("chroot", "coreutils"), *efi_partition.NEEDED_COMMANDS)


def grub_config(file_system_id: str, parameters: str = CONSOLES) -> str:
    """Return GRUB's configuration: Debian keeps links to the newest kernel in the root folder.

    :param file_system_id: UUID of the root file system
    :param parameters: the kernel's, without what GRUB's language has a meaning for
    """
    return (f"search --no-floppy --fs-uuid --set=root {file_system_id}\n"
            f"linux /vmlinuz root=UUID={file_system_id} rw {parameters}\n"
            "initrd /initrd.img\n"
            "boot\n")


def write(root: str, raw: str, size_gib: int, file_system_id: str, parameters: str = CONSOLES) -> None:
    """Write the disk.

    :param root: folder with the system
    :param raw: path of the disk image
    :param size_gib: its size
    :param file_system_id: UUID of the root file system
    :param parameters: the kernel's
    :raises ImageBuildError: when a step fails
    """
    with open(raw, "wb") as stream:
        stream.truncate(size_gib * 1024 * MIB)
    efi_mib = FIRST_MIB + bios_boot.PARTITION_MIB
    root_mib = efi_mib + EFI_MIB
    size_kib = (size_gib * 1024 - root_mib - LAST_MIB) * 1024
    table = (f"label: gpt\n"
             f"start={FIRST_MIB}MiB, size={bios_boot.PARTITION_MIB}MiB, type={bios_boot.PARTITION_TYPE}, "
             f"name=bios\n"
             f"start={efi_mib}MiB, size={EFI_MIB}MiB, type={EFI_PARTITION_TYPE}, name=efi\n"
             f"start={root_mib}MiB, size={size_kib}KiB, name=root, "
             f"type={ROOT_PARTITION_TYPES[os.uname().machine]}\n")
    run(["sfdisk", "--quiet", raw], "partitioning", input=table)
    try:
        run(["mkfs.ext4", "-q", "-F", "-L", "root", "-m", "0", "-i", str(BYTES_FOR_AN_INODE),
             "-J", f"size={JOURNAL_MIB}", "-U", file_system_id,
             "-E", f"offset={root_mib * MIB},nodiscard,assume_storage_prezeroed=1",
             "-d", root, raw, f"{size_kib}k"], "making the root file system")
    except ImageBuildError as error:
        if _NO_ROOM not in error.output:
            raise
        raise ImageBuildError(f"disk_size_gib: found {size_gib}, in which packages, files and container images find no "
                              "room; raise it") from error
    config = grub_config(file_system_id, parameters)
    _write_efi_partition(root, raw, efi_mib, config)
    bios_boot.install(root, raw, FIRST_MIB, config)


def compress(raw: str, qcow2: str) -> None:
    """Write a disk image as qcow2.

    :param raw: path of the disk image
    :param qcow2: where it is written
    :raises ImageBuildError: when qemu-img fails
    """
    run(["qemu-img", "convert", "-m", "8", "-W", "-f", "raw", "-O", "qcow2", "-c", "-o", "compression_type=zstd",
         raw, qcow2], "converting to qcow2", getting_on=True)


def _write_efi_partition(root: str, raw: str, first_mib: int, text: str) -> None:
    config, partition = raw + ".grub.cfg", raw + ".efi"
    with open(config, "w", encoding="utf-8") as stream:
        stream.write(text)
    efi_partition.write(partition, EFI_MIB, 16, {
        efi_partition.SHIM_TARGET: os.path.join(root, efi_partition.SHIM),
        efi_partition.GRUB_TARGET: os.path.join(root, efi_partition.GRUB_FOR_DISK),
        efi_partition.GRUB_FOR_DISK_CONFIG: config})
    with open(partition, "rb") as reader, open(raw, "r+b") as writer:
        writer.seek(first_mib * MIB)
        shutil.copyfileobj(reader, writer)
    os.unlink(config)
    os.unlink(partition)
