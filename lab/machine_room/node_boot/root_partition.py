"""Which partition is the root file system."""
from __future__ import annotations

from ..partitions import CONFIG_DRIVE_LABEL

# https://uapi-group.org/specifications/specs/discoverable_partitions_specification/
ROOT_TYPES = ("4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709", "B921B045-1DF0-41C3-AF44-4C6F280D3FAE")
LINUX_TYPES = ("0FC63DAF-8483-4772-8E79-3D69D8477DE4", "83")


def root_partition(partitions):
    """Return the partition to boot from, or None: the one of a root type, else the largest of Linux's type.

    :param partitions: list of mappings as sfdisk prints them: start, size, type, name
    """
    others = [one for one in partitions if one.get("name") != CONFIG_DRIVE_LABEL]
    typed = [one for one in others if one["type"].upper() in ROOT_TYPES]
    if typed:
        return typed[0]
    linux = [one for one in others if one["type"].upper() in LINUX_TYPES]
    return max(linux, key=lambda one: one["size"]) if linux else None
