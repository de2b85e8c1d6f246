# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HardwareData: what inspection found; BMO makes it, so it is only read; pure."""
from __future__ import annotations

from typing import Any

from .._host.state import table as host_table
from .base import Family, Object, ObjectIndex


class HardwareData(Family):
    """Inspected hardware."""

    kind = "HardwareData"
    option = "hardware_data"
    reads = watches = ()
    removable = False

    def facts(self, obj: Any, index: ObjectIndex) -> Object:
        """The hardware as plain data."""
        return {"hardware": host_table.hardware((obj.get("spec") or {}).get("hardware") or {})}
