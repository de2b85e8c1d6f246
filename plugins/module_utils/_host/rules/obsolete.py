# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields that the CRD still has and that do nothing any more; pure."""
from __future__ import annotations

from ..._common.problems.problem import Problem


def check(label, host):
    """Return the Problems of an entry that sets such fields."""
    problems = []
    firmware = host.get("firmware") or {}
    if any(value is not None for value in firmware.values()):
        problems.append(Problem(
            "obsolete", label, "firmware", "firmware settings", "nothing: no driver of BMO 0.13 takes them",
            "use HostFirmwareSettings"))
    return problems
