# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether objects are over there what they were here, before anybody works with them; pure.

What is here when a run begins is compared field by field. What an earlier run has moved is known by its digest in the
record alone, which is of its content (spec, data), for labels and annotations may come to it over there.
"""
from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from ..._kube.objects.finalizers import is_going
from ..objects import copies, record
from ..objects.graph import title
from . import interrupted

Object = dict[str, Any]
Keys = tuple[str, str, str]

_SHOWN = 5


class Compared(NamedTuple):
    """What the comparison has shown.

    :ivar problems: one for each object that is another one
    :ivar unknown: titles of objects that nothing is left to be compared with
    """

    problems: list[Problem]
    unknown: list[str]


def compared(begun: record.Record, before: Mapping[Keys, Object], after: Mapping[Keys, Object], secret: bytes | None,
             accepted: Collection[str]) -> Compared:
    """Compare what was moved.

    :param begun: the record of the move
    :param before: objects as they were here when this run began
    :param after: objects as they are over there; all of the record are among them
    :param secret: by which the digests of the record were made, or None when it is not known
    :param accepted: titles of objects that may be other ones
    """
    problems, unknown = [], []
    for entry in begun.entries:
        name, now = title(entry.key), after[entry.key]
        if name in accepted:
            continue
        if is_going(now):
            problems.append(interrupted.going(now))
        elif entry.key in before:
            fields = copies.differences(before[entry.key], now)[0]
            if fields:
                problems.append(_problem(name, few(fields, _SHOWN)))
        elif secret is None or not entry.digests:
            unknown.append(name)
        elif copies.digest(now, secret) not in entry.digests.split():
            # What was lost is named by the run that has moved it; by now controllers may have worked over there.
            problems.append(_problem(name, "another content than it had here"))
    return Compared(problems, unknown)


def _problem(name: str, found: str) -> Problem:
    return Problem("move-changed", name, "", f"{found}, over there", "what it was here",
                   "compare it with the backup of before the move; correct it over there, or accept it as it is by "
                   f"its name (accept; playbook: pivot_accept=['{name}'])")
