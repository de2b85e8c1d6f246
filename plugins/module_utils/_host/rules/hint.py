# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Root device hints: what identifies a disk; pure."""
from __future__ import annotations

import re

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem

_HCTL = re.compile(r"^\d+:\d+:\d+:\d+$")


def check(label, path, hints):
    """Return the Problems of root device hints.

    :param path: path of the option, for messages
    :param hints: dict as in ``root_device_hints``, or None
    """
    problems = []
    if not hints:
        return problems
    device = hints.get("device_name")
    if device:
        below = device[len("/dev/"):] if device.startswith("/dev/") else None
        if not below:
            problems.append(Problem(
                "root-device-hints", label, path + ".device_name", show(device), "a path below /dev/",
                "write for example /dev/sda"))
        else:
            if below.startswith("disk/by-path/"):
                below = below[len("disk/by-path/"):]
            if "/" in below or not below:
                problems.append(Problem("root-device-hints", label, path + ".device_name", show(device),
                                        "a path directly in /dev/ or /dev/disk/by-path/ (BMO webhook)",
                                        "use one of these, or another hint such as serial_number or wwn"))
    hctl = hints.get("hctl")
    if hctl and not _HCTL.match(hctl):
        problems.append(
            Problem("root-device-hints", label, path + ".hctl", show(hctl), "four numbers like 0:0:0:0",
                    "take it from the disks that an inspection has found (hardware_data_info)")
        )
    if hints.get("min_size_gigabytes") is not None and hints["min_size_gigabytes"] < 0:
        problems.append(Problem(
            "root-device-hints", label, path + ".min_size_gigabytes", show(hints["min_size_gigabytes"]), "at least 0",
            "correct it"))
    return problems
