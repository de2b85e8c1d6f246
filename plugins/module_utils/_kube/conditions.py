# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions of objects, which say in ``status`` what has become of them; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def condition(obj: Mapping[str, Any] | None, kind: str) -> dict[str, Any]:
    """Return a condition of an object, an empty dict when there is none.

    :param obj: the object, or None
    :param kind: the condition's type, for example ``Ready``
    """
    for entry in ((obj or {}).get("status") or {}).get("conditions") or []:
        if entry.get("type") == kind:
            found: dict[str, Any] = entry
            return found
    return {}


def is_true(obj: Mapping[str, Any] | None, kind: str) -> bool:
    """Say whether a condition of an object is True."""
    return condition(obj, kind).get("status") == "True"
