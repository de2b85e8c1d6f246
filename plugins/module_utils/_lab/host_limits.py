# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A limit of the machine that several nodes reach: raised while there are labs, put back with the last one."""
from __future__ import annotations

import os
import re

SETTING = "/proc/sys/fs/inotify/max_user_instances"
# A node takes about 30 of them; with Debian's 128 the kubelet of the fourth or fifth ends again and again.
WANTED = 8192
# Gone after a reboot of the machine, as the raised limit is.
KEPT = "/run/metal3.baremetal.inotify_max_user_instances"
LINKS = "/sys/class/net"


def ensure(check_mode: bool = False, setting: str = SETTING, kept: str = KEPT) -> list[str]:
    """Raise the limit unless it is high enough.

    :param check_mode: change nothing, only report
    :param setting: the kernel's file
    :param kept: file that keeps what the limit was
    :returns: what differed, as texts
    :raises OSError: where this process may not
    """
    with open(setting, encoding="ascii") as file:
        current = int(file.read())
    if current >= WANTED:
        return []
    if not check_mode:
        with open(kept, "w", encoding="ascii") as file:
            file.write(f"{current}\n")
        _write(setting, WANTED)
    return [f"{setting}: {current}, wanted {WANTED}"]


def restore(setting: str = SETTING, kept: str = KEPT, links: str = LINKS) -> list[str]:
    """Put back what the limit was, unless another lab has a bridge.

    :param links: folder with an entry for each network link
    :returns: what was put back, as texts
    """
    if not os.path.exists(kept) or any(re.match(r"m3lab\d+$", link) for link in os.listdir(links)):
        return []
    with open(kept, encoding="ascii") as file:
        before = int(file.read())
    _write(setting, before)
    os.unlink(kept)
    return [f"raised limit {setting}"]


def _write(setting: str, value: int) -> None:
    with open(setting, "w", encoding="ascii") as file:
        file.write(f"{value}\n")
