# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are deleted and still there, because finalizers hold them; pure."""
from __future__ import annotations

from typing import Any


def deletion_of(obj: dict[str, Any] | None) -> str:
    """Return since when an object is being deleted and what holds it, empty when it stays or there is none.

    Until its finalizers are gone it looks like any other: spec and status are complete.

    :param obj: the object as it was read, or None
    :returns: a phrase that follows "is"
    """
    metadata = (obj or {}).get("metadata") or {}
    if not metadata.get("deletionTimestamp"):
        return ""
    held_by = ", ".join(metadata.get("finalizers") or []) or "nothing"
    return f"being deleted since {metadata['deletionTimestamp']}, held by {held_by}"
