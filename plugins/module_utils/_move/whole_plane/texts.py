# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a move says of its objects: names in messages, and Ansible's diff; pure."""
from __future__ import annotations

from typing import Any

from ..._common.problems.problem import Problem
from ..objects import graph, record

_NAMED = 5


def words(problems: list[Problem]) -> str:
    """Return problems as one line."""
    return "; ".join(str(problem) for problem in problems)


def hosts(what: record.Record) -> list[str]:
    """Return the names of the BareMetalHosts of a move."""
    return what.names("metal3.io", "BareMetalHost")


def named(entries: list[record.Entry]) -> str:
    """Return the first of a move's objects by their titles."""
    texts = [graph.title(entry.key) for entry in entries]
    return ", ".join(texts[:_NAMED]) + (", …" if len(texts) > _NAMED else "")


def difference(moving: graph.Graph) -> list[dict[str, Any]]:
    """Return a move as Ansible's diff shows it: each object goes from here to there."""
    return [{"before_header": graph.title(graph.key(obj)), "before": {"plane": "here"},
             "after_header": graph.title(graph.key(obj)), "after": {"plane": "there"}} for obj in moving.moved]
