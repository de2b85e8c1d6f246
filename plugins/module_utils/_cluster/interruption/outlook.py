# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said before machines stop or go, and how it is said: with the question, or without one; pure."""
from __future__ import annotations

from typing import Any, NamedTuple

from ..._common.options import confirmation
from ..._common.problems.problem import Problem


class Outlook(NamedTuple):
    """What who confirms should know.

    :ivar figures: lines about what goes, and what it takes and costs
    :ivar notes: lines about what stands against it
    """

    figures: list[str]
    notes: list[str]


def say(outlook: Outlook, asked: Problem | None, check_mode: bool, progress: Any) -> list[str]:
    """Say it in the question that is asked, or as progress when nothing is to be asked, and return the warnings.

    :param asked: the record that asks for the confirmation, None when it is confirmed or nothing needs it
    :param progress: a Progress
    :raises RefusedError: when a confirmation is missing, unless in check mode
    """
    if asked is not None:
        return confirmation.required_by([confirmation.with_lines(asked, *outlook)], check_mode)
    for line in outlook.figures:
        progress.event(line)
    return list(outlook.notes)
