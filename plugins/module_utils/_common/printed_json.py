# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answer of a program that prints JSON as its last line, behind whatever others have printed; pure."""
from __future__ import annotations

import json
from typing import Any


def last_line(printed: bytes) -> Any:
    """Return what the last line says, None when it is no JSON.

    :param printed: all that the program has printed
    """
    try:
        return json.loads(printed.decode(errors="replace").strip().rpartition("\n")[2])
    except (ValueError, RecursionError):
        return None
