# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict on one item of a server's preflight, and the helpers that every item needs."""
from __future__ import annotations

from collections import namedtuple

OK, WARNING, PROBLEM, UNKNOWN = "ok", "warning", "problem", "unknown"
# From best to worst; unknown is no reproach: either the BMC does not tell, or an earlier item says why.
RANK = (OK, WARNING, PROBLEM)

# check: name of the item; field: option of the host's entry that it is about; seen, expected, next_step: phrases.
Verdict = namedtuple("Verdict", ["check", "status", "field", "seen", "expected", "next_step"])
# certificate_days, clock_drift_seconds: from which on there is a warning; now: seconds since 1970.
Limits = namedtuple("Limits", ["certificate_days", "clock_drift_seconds", "now"])


def worst(found):
    """Return the worst status of verdicts; unknown ones don't count."""
    ranks = [RANK.index(verdict.status) for verdict in found if verdict.status in RANK]
    return RANK[max(ranks)] if ranks else UNKNOWN


def ok(seen):
    """Return the verdict on an item that is as it should be."""
    return OK, "", seen, "", ""


def unknown(seen):
    """Return the verdict on an item that could not be found out."""
    return UNKNOWN, "", seen, "", ""


def unread(facts, *parts):
    """Return the verdict on an item that was not read: the reason, or what stopped the way there.

    :param facts: facts with ``unread`` and ``error``
    :param parts: names of the parts that the item needs
    """
    for part in parts:
        if facts["unread"].get(part):
            return unknown(f"not read: {facts['unread'][part]}")
    return unknown(f"not asked: {facts['error']['stage']} failed" if facts["error"] else "not reported by the BMC")


def stopped(facts, stage):
    """Return whether the survey ended at a stage."""
    return bool(facts["error"]) and facts["error"]["stage"] == stage
