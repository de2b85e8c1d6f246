# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict on one item of a server's preflight, and the helpers that every item needs."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..._common.problems.problem import text as problem_text

OK, WARNING, PROBLEM, UNKNOWN = "ok", "warning", "problem", "unknown"
# From best to worst; unknown is no reproach: either the BMC does not report it, or an earlier item says why.
RANK = (OK, WARNING, PROBLEM)
# What to do about a BMC that takes connections and does not answer now.
LATER = "check whether the BMC is overloaded or restarting, then run again"


class Limits(NamedTuple):
    """From how many days of a certificate and seconds of drift on there is a warning; now in seconds since 1970."""

    certificate_days: int
    clock_drift_seconds: int
    now: float


class Finding(NamedTuple):
    """What a function found out about its item: a status, and what a Problem says of it.

    ``field``, ``expected`` and ``hint`` are empty where there is nothing to do.
    """

    status: str
    field: str
    actual: str | None
    expected: str
    hint: str


class Verdict(NamedTuple):
    """A Finding with the name of its item and of the server."""

    check: str
    subject: str
    status: str
    field: str
    actual: str | None
    expected: str
    hint: str

    @property
    def problem(self) -> Problem:
        """The record of what is wrong, which holds for the statuses warning and problem."""
        return Problem(f"bmc-{self.check.replace('_', '-')}", self.subject, self.field, self.actual, self.expected,
                       self.hint or None)

    def result(self, names: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the verdict as the module returns it: item, status, and the fields of a problem record with ``text``.

        :param names: ``{option: name}`` by which the reader knows an option
        """
        found = self.problem
        wrong = self.status in (WARNING, PROBLEM)
        return {"check": self.check, "status": self.status, **found._asdict(),
                "text": problem_text(found, names) if wrong else f"{self.subject}: {found.actual}"}


def worst(found: Iterable[Verdict]) -> str:
    """Return the worst status of verdicts; unknown ones don't count."""
    ranks = [RANK.index(verdict.status) for verdict in found if verdict.status in RANK]
    return RANK[max(ranks)] if ranks else UNKNOWN


def ok(actual: str) -> Finding:
    """Return the verdict on an item that is as it should be."""
    return Finding(OK, "", actual, "", "")


def unknown(actual: str) -> Finding:
    """Return the verdict on an item that could not be found out."""
    return Finding(UNKNOWN, "", actual, "", "")


def unread(facts: Mapping[str, Any], *parts: str) -> Finding:
    """Return the verdict on an item that was not read: the reason, or what stopped the way there.

    :param facts: facts with ``unread`` and ``error``
    :param parts: names of the parts that the item needs
    """
    for part in parts:
        if facts["unread"].get(part):
            return unknown(f"not read: {facts['unread'][part]}")
    return unknown(f"not asked: {facts['error']['stage']} failed" if facts["error"] else "not reported by the BMC")


def stopped(facts: Mapping[str, Any], stage: str) -> bool:
    """Return whether the survey ended at a stage."""
    return bool(facts["error"]) and facts["error"]["stage"] == stage
