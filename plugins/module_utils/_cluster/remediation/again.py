# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts a step is still for: they recover, or others work on them, while steps before it are waited for; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..._common.problems.problem import text as problem_text
from ..maintenance import named_hosts
from .diagnosis import Patient, patients

Object = dict[str, Any]


class Again(NamedTuple):
    """The hosts of a step as they are by now.

    :ivar due: a Patient for each host on which it is to be tried
    :ivar well: names of hosts of which nothing is wrong any more
    :ivar obstacles: name of a host → why it is not tried on it
    """

    due: list[Patient]
    well: list[str]
    obstacles: dict[str, str]


def look(step: str, before: Iterable[Patient], objects: Mapping[str, list[Object]], namespace: str,
         now: float) -> Again:
    """Return what has become of the hosts that a step was found, and confirmed, to be for.

    :param step: of ``diagnosis.STEPS``
    :param before: the hosts as they were confirmed
    :param objects: dict of kind to list of objects of the namespace, as they are by now
    :param now: seconds since 1970
    """
    again, before = Again([], [], {}), list(before)
    # Each cluster by itself: what one refuses keeps nothing from the hosts of another.
    for cluster in sorted(set(item.cluster or "" for item in before)):
        mine = dict((item.name, item) for item in before if (item.cluster or "") == cluster)
        found, problems = patients(mine, objects, namespace, step, now)
        again.obstacles.update(_of_hosts(problems, mine, namespace))
        due = []
        for item in found:
            obstacle = again.obstacles.get(item.name) or _obstacle(step, mine[item.name], item)
            if not item.reason and not lost(mine[item.name], item):
                again.well.append(item.name)
            elif obstacle:
                again.obstacles[item.name] = obstacle
            else:
                due.append(item)
        # What hosts have is found first, what their cluster has only where they have nothing.
        _found, problems = patients([item.name for item in due], objects, namespace, step, now)
        if problems:
            again.obstacles.update((item.name, _said(problems)) for item in due)
        else:
            again.due.extend(due)
    return again


def lost(before: Patient, now: Patient | None) -> str:
    """Return what of a host that was confirmed is gone or another one by now; see :func:`named_hosts.lost`."""
    return named_hosts.lost(before.host, before.machine, now.host if now else None, now.machine if now else None)


def _of_hosts(problems: Iterable[Problem], names: Iterable[str], namespace: str) -> dict[str, str]:
    """Return name → text, of those problems that are of single hosts."""
    found = {}
    for name in names:
        own = [problem for problem in problems if problem.subject == named_hosts.subject_of(namespace, name)]
        if own:
            found[name] = _said(own)
    return found


def _said(problems: Iterable[Problem]) -> str:
    return "; ".join(problem_text(problem._replace(subject="", field="")) for problem in problems)


def _obstacle(step: str, before: Patient, item: Patient) -> str:
    """Return why a step that was confirmed for a host is not for what has its name by now, empty for nothing."""
    gone = lost(before, item)
    if gone:
        return gone
    if item.machine and before.machine is None:
        return f"found Machine {item.machine['metadata']['name']} on it by now, expected none; run again"
    return "" if step in item.steps else f"found by now {item.reason}, for which it is not; run again"
