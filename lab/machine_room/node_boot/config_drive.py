"""The config drive as a block device that cloud-init can mount with this machine's kernel.

Ironic's config drive is an ISO. Where the kernel can't mount one, its contents are copied to an ext4 file system with
the same label, which cloud-init takes just as well; the ISO on the disk stays as it is.
"""
from __future__ import annotations

import contextlib
import json
import os
import shutil
import struct
import subprocess

from .. import partitions
from .loop import LoopDevice

ISO_SECTOR_BYTES = 2048
PRIMARY_DESCRIPTOR_OFFSET = 16 * ISO_SECTOR_BYTES
SPACE_SIZE_OFFSET = 80
NETWORK_DATA_FILE = "openstack/latest/network_data.json"
TIMEOUT_SECONDS = 60
MIB = 1024 ** 2
# ext4's own needs, beside the contents.
SPARE_MIB = 4


class ConfigDriveError(Exception):
    """The config drive can't be read."""


def iso_bytes(descriptor):
    """Return an ISO's size from its primary volume descriptor (ECMA-119, 8.4.8).

    :raises ConfigDriveError: if this is none
    """
    if descriptor[1:6] != b"CD001":
        raise ConfigDriveError("the partition labelled config-2 holds no ISO")
    return struct.unpack_from("<I", descriptor, SPACE_SIZE_OFFSET)[0] * ISO_SECTOR_BYTES


def kernel_mounts_iso():
    """Return whether this machine's kernel knows iso9660, loading its module if there is one."""
    if shutil.which("modprobe"):
        # Built in, or missing: both fail, and the list below says which.
        subprocess.run(["modprobe", "--quiet", "iso9660"], check=False, capture_output=True, timeout=TIMEOUT_SECONDS)
    with open("/proc/filesystems", encoding="utf-8") as file:
        return "iso9660" in file.read().split()


def _run(*arguments):
    result = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS)
    if result.returncode:
        raise ConfigDriveError(f"{arguments[0]}: {result.stderr.strip()[-500:]}")


@contextlib.contextmanager
def _extracted(disk, offset, folder):
    """Give the size of an ISO in bytes and a folder with its contents, as long as they are needed.

    Bootstrap tokens and keys are in it: nothing stays.
    """
    with open(disk, "rb") as file:
        file.seek(offset + PRIMARY_DESCRIPTOR_OFFSET)
        size = iso_bytes(file.read(ISO_SECTOR_BYTES))
        file.seek(offset)
        iso = file.read(size)
    source, tree = (os.path.join(folder, name) for name in ("config-2.iso", "config-2"))
    shutil.rmtree(tree, ignore_errors=True)
    try:
        with open(os.open(source, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(iso)
        _run("xorriso", "-osirrox", "on", "-indev", source, "-extract", "/", tree)
        yield size, tree
    finally:
        shutil.rmtree(tree, ignore_errors=True)
        if os.path.exists(source):
            os.unlink(source)


def _copy_to_ext4(disk, offset, folder):
    image = os.path.join(folder, "config-2.ext4")
    with _extracted(disk, offset, folder) as (size, tree):
        with open(os.open(image, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.truncate((2 * size // MIB + SPARE_MIB) * MIB)
        _run("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-L", partitions.CONFIG_DRIVE_LABEL, "-d", tree, image)
    return image


def network_data(disk, folder):
    """Return the network data of a disk's config drive, empty where there is none that can be read.

    :param disk: path of the disk's file
    :param folder: where the drive's contents may be for a moment
    :raises ConfigDriveError: if the drive can't be read
    """
    partition = partitions.config_drive(disk)
    if partition is None:
        return {}
    with _extracted(disk, partition["start"] * partitions.SECTOR_BYTES, folder) as (dummy, tree):
        try:
            with open(os.path.join(tree, NETWORK_DATA_FILE), encoding="utf-8") as file:
                found = json.load(file)
        except (FileNotFoundError, ValueError):
            # What cloud-init makes of that is the node's own matter.
            return {}
    return found if isinstance(found, dict) else {}


def attach(disk, folder):
    """Return the config drive of a disk as a LoopDevice, or None if it has none.

    :param disk: path of the disk's file
    :param folder: where a copy can be kept while the node runs
    :raises ConfigDriveError: if it can't be read
    """
    partition = partitions.config_drive(disk)
    if partition is None:
        return None
    offset = partition["start"] * partitions.SECTOR_BYTES
    if kernel_mounts_iso():
        return LoopDevice(disk, offset, partition["size"] * partitions.SECTOR_BYTES, read_only=True)
    return LoopDevice(_copy_to_ext4(disk, offset, folder), read_only=True)
