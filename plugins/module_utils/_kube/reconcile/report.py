# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a reconcile returns to its user, in one form for all kinds: Ansible's diff and counts; pure."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._common.redaction.redaction import hidden_difference
from .plan import CREATE, DELETE, DONE, Entry


def difference(entry: Entry, reference: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return an entry's part of Ansible's diff, with its secrets hidden.

    :param reference: the object that a new one takes the place of, or None
    """
    before, after = hidden_difference(entry.before, entry.after, entry.resource.kind, reference)
    return {"before_header": "" if entry.action == CREATE else entry.title,
            "after_header": "" if entry.action == DELETE else entry.title, "before": before, "after": after}


def counts(results: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Return how many objects there are and what became of them.

    :param results: one dict for each object, with ``action`` (a value of :data:`plan.DONE`) and ``error`` (a text,
        empty for none)
    """
    numbers = dict.fromkeys(("total",) + tuple(DONE.values()) + ("failed",), 0)
    for result in results:
        numbers["total"] += 1
        numbers["failed"] += bool(result["error"])
        if result["action"] in numbers:
            numbers[result["action"]] += 1
    return numbers
