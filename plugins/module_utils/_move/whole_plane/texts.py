# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a move says of its objects: names in messages and results, the confirmation, Ansible's diff; pure."""
from __future__ import annotations

from collections import Counter
from typing import Any

from ..._common.options import confirmation
from ..._common.problems.problem import Problem
from ..objects import graph, record

_NAMED = 5


def words(problems: list[Problem]) -> str:
    """Return problems as one line."""
    return "; ".join(str(problem) for problem in problems)


def hosts(what: record.Record) -> list[str]:
    """Return the names of the BareMetalHosts of a move."""
    return what.names(*graph.HOST)


def counted(what: record.Record | None) -> dict[str, Any]:
    """Return what the module ``plane_move`` says of a move's objects: ``hosts``, ``machines`` and ``objects``.

    :param what: the move, None for none
    """
    return {"hosts": hosts(what) if what else [], "machines": what.names("cluster.x-k8s.io", "Machine") if what else [],
            "objects": dict(sorted(Counter(entry.kind for entry in what.entries).items())) if what else {}}


def unconfirmed(given: str | None, names: list[str], effect: str) -> list[Problem]:
    """Return the problem of a confirmation that is missing or invalid, or nothing.

    :param given: what the user gave
    :param names: of the hosts that it is about
    :param effect: what happens to them, as a clause
    """
    if confirmation.confirmed(given, names):
        return []
    return [Problem("confirmation-missing", "plane_move", "confirm", given or None, confirmation.expected(names),
                    f"{effect}; repeat how many (playbook: set metal3_confirm={len(names)})")]


def unconfirmed_move(given: str | None, names: list[str], server: str) -> list[Problem]:
    """Return the problem of a confirmation that is missing or invalid, or nothing.

    :param given, names: as for :func:`unconfirmed`
    :param server: URL of the API server of the plane that takes over
    """
    return unconfirmed(given, names, f"so many hosts would be managed by {server} from then on")


def named(entries: list[record.Entry]) -> str:
    """Return the first of a move's objects by their titles."""
    texts = [graph.title(entry.key) for entry in entries]
    return ", ".join(texts[:_NAMED]) + (", …" if len(texts) > _NAMED else "")


def difference(moving: graph.Graph) -> list[dict[str, Any]]:
    """Return a move as Ansible's diff shows it: each object goes from here to there."""
    return [{"before_header": graph.title(graph.key(obj)), "before": {"plane": "here"},
             "after_header": graph.title(graph.key(obj)), "after": {"plane": "there"}} for obj in moving.moved]
