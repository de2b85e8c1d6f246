"""Partition tables of disk files, by sfdisk, which needs neither a loop device nor root."""
from __future__ import annotations

import json
import os
import subprocess

SECTOR_BYTES = 512
ALIGNMENT_SECTORS = 2048
CONFIG_DRIVE_LABEL = "config-2"
# As the agent's create_config_drive_partition does.
CONFIG_DRIVE_MIB = 64
TIMEOUT_SECONDS = 60


class PartitionError(Exception):
    """A disk has no usable partition table, or one that can't be changed as asked."""


def _run(arguments, text=None):
    result = subprocess.run(arguments, input=text, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS)
    if result.returncode:
        raise PartitionError("%s: %s" % (arguments[0], result.stderr.strip() or f"exit code {result.returncode}"))
    return result.stdout


def table(path):
    """Return the partition table: ``label`` (gpt or dos), ``partitions`` with ``start`` and ``size`` in sectors.

    :raises PartitionError: if there is none
    """
    found = json.loads(_run(["sfdisk", "--json", path]))["partitiontable"]
    found.setdefault("partitions", [])
    return found


def fill_disk(path):
    """Move the GPT's backup to the end of a disk that is larger than the image written to it."""
    if table(path)["label"] == "gpt":
        _run(["sfdisk", "--quiet", "--relocate", "gpt-bak-std", path])


def _label(path, partition):
    result = subprocess.run(
        ["blkid", "--probe", "--match-tag", "LABEL", "--output", "value",
         "--offset", str(partition["start"] * SECTOR_BYTES), "--size", str(partition["size"] * SECTOR_BYTES), path],
        capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS)
    return result.stdout.strip()


def config_drive(path):
    """Return the partition whose file system is labelled config-2, or None."""
    for partition in table(path)["partitions"]:
        if _label(path, partition).lower() == CONFIG_DRIVE_LABEL:
            return partition
    return None


def add_config_drive(path):
    """Add a partition of CONFIG_DRIVE_MIB at the disk's end and return it.

    :raises PartitionError: if something is there already
    """
    found = table(path)
    end = (found.get("lastlba") or os.path.getsize(path) // SECTOR_BYTES - 1) + 1
    start = end - CONFIG_DRIVE_MIB * 1024 * 1024 // SECTOR_BYTES
    start -= start % ALIGNMENT_SECTORS
    taken = max([partition["start"] + partition["size"] for partition in found["partitions"]] or [0])
    if taken > start:
        raise PartitionError(f"no room for the config drive: partitions end at sector {taken}, it would start at "
                             f"{start}")
    _run(["sfdisk", "--quiet", "--append", "--no-reread", path], "start=%d, size=%d, type=%s%s\n" % (
        start, end - start, "linux", f", name={CONFIG_DRIVE_LABEL}" if found["label"] == "gpt" else ""))
    return next(partition for partition in table(path)["partitions"] if partition["start"] == start)
