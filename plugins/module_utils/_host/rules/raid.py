# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The RAID volumes of a host; pure."""
from __future__ import annotations

from ..._common.options.field_checks import show, shown
from ..._common.problems.problem import Problem
from . import hint as host_hint_rules

# Level → least and most disks, and what their number is a multiple of: RAID_LEVELS, _calculate_spans and
# _calculate_volume_props of Ironic 39's redfish/raid.py, on which the interface for iDRACs rests as well. It does not
# make level 2.
_DISKS = {"0": (1, None, 1), "1": (2, 2, 1), "5": (3, None, 1), "6": (4, None, 1), "1+0": (4, None, 2),
          "5+0": (6, None, 2), "6+0": (8, None, 2)}


def check(label, host, address):
    """Return the Problems of an entry's ``raid``.

    :param address: the host's BmcAddress, None when it has none that can be read
    """
    problems = []
    raid = host.get("raid")
    if not raid:
        return problems
    hardware, software = raid.get("hardware_raid_volumes") or [], raid.get("software_raid_volumes") or []
    if hardware and software:
        problems.append(Problem("raid", label, "raid", "hardware and software volumes", "one of the two (BMO webhook)",
                                "remove hardware_raid_volumes or software_raid_volumes"))
    if hardware and address and not address.driver.raid:
        problems.append(Problem("raid", label, "raid.hardware_raid_volumes", f"{len(hardware)} volumes",
                                f"none ({address.scheme.name} does not support hardware RAID)",
                                "choose a Redfish scheme or software_raid_volumes"))
    return problems + _hardware(label, hardware) + _software(label, software)


def _hardware(label, volumes):
    problems = []
    names = set()
    for position, volume in enumerate(volumes):
        path = f"raid.hardware_raid_volumes[{position}]"
        disks, number = volume.get("physical_disks") or [], volume.get("number_of_physical_disks")
        if disks and not volume.get("controller"):
            problems.append(Problem(
                "raid", label, path + ".controller", None, "a controller, since physical_disks is given",
                "set controller or remove physical_disks"))
        if disks and number is not None and number != len(disks):
            problems.append(Problem("raid", label, path + ".number_of_physical_disks", show(number),
                                    f"{len(disks)}, the number of physical_disks", "correct one of them"))
        if volume.get("name") and volume["name"] in names:
            problems.append(
                Problem("raid", label, path + ".name", show(volume["name"]), "a name of its own", "rename it")
            )
        names.add(volume.get("name"))
        problems += _size(label, path, volume, disks) + _count(label, path, volume.get("level"), len(disks) or number)
    return problems


def _size(label, path, volume, disks):
    """Return the Problems of a size: none and 0 do not mean the same to Ironic 39 (convert_drive_units)."""
    size = volume.get("size_gibibytes")
    if size or (disks and size is None):
        return []
    expected, hint = ("none, for all there is, or at least 1", "remove it") if disks else (
        "a size, since all there is can only be had of physical_disks", "set it, or controller and physical_disks")
    return [Problem("raid", label, path + ".size_gibibytes", shown(size), expected, hint)]


def _count(label, path, level, count):
    if level is not None and level not in _DISKS:
        return [Problem("raid", label, path + ".level", show(level), f"one of {', '.join(_DISKS)} (Ironic)",
                        "choose another level")]
    if not count or level is None:
        return []
    least, most, step = _DISKS[level]
    if least <= count and count % step == 0 and (most is None or count <= most):
        return []
    number = f"{least}" if least == most else f"at least {least}" + (" and an even number" if step > 1 else "")
    disks = f"{count} disk" + ("" if count == 1 else "s")
    return [Problem("raid", label, path, disks, f"{number} for RAID {level}",
                    "give that many disks or choose another level")]


def _software(label, volumes):
    problems = []
    if volumes and volumes[0].get("level") != "1":
        problems.append(Problem("raid", label, "raid.software_raid_volumes[0].level", show(volumes[0].get("level")),
                                "1 for the first volume, from which the server boots",
                                "set its level to 1, or put the volume with level 1 before it"))
    for position, volume in enumerate(volumes):
        path = f"raid.software_raid_volumes[{position}]"
        disks = volume.get("physical_disks") or []
        for at, hints in enumerate(disks):
            problems += host_hint_rules.check(label, f"{path}.physical_disks[{at}]", hints)
        if len(disks) == 1:
            problems.append(Problem(
                "raid", label, path + ".physical_disks", "1 disk", "at least 2 disks, or none for all",
                "add disks or remove physical_disks"))
        if volume.get("size_gibibytes") in (None, 0) and position + 1 < len(volumes):
            problems.append(Problem("raid", label, path + ".size_gibibytes", "none or 0",
                                    "a size, since only the last volume can take the rest", "set size_gibibytes"))
    return problems
