# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From where a run works, as records on a plane name it: the machine, and the folder with the lock between its runs."""
from __future__ import annotations

from ..problems.problem import Problem
from ..texts.plain_text import plain


def holder_of(node: str, folder: str) -> str:
    """Return from where a run works: within it, a lock keeps runs apart.

    :param node: name of the machine
    :param folder: folder with the lock
    """
    return f"{node}:{folder}"


def parts(holder: str) -> tuple[str, str]:
    """Return machine and folder of a holder as a record has it, which others can have written: for messages.

    :param holder: from :func:`holder_of`, or anything else
    """
    node, _colon, folder = plain(holder).partition(":")
    return node, folder


def elsewhere(code: str, subject: str, what: tuple[str, str], begun_by: str, holder: str, take_over: str | None,
              programs: str, variable: str) -> list[Problem]:
    """Return the problem of what another machine has begun, and may be at still, unless its name is repeated.

    :param code: name of the rule
    :param subject: of the problem
    :param what: what was begun, and what two runs at a time would do, as messages say it
    :param begun_by: the holder that a record has, empty for none
    :param holder: this run
    :param take_over: name of the machine from which it is taken over, None for none
    :param programs: what may be at it there
    :param variable: of the playbook, for ``take_over``
    """
    node, folder = parts(begun_by)
    if begun_by in ("", holder) or take_over == node:
        return []
    return [Problem(
        code, subject, "take_over", take_over, node,
        f"{what[0]} was begun on machine {node} ({folder}), this is {holder}: two runs at a time would {what[1]}; "
        f"finish it there, or make sure that no {programs} runs there, then set take_over (playbook: "
        f"{variable}={node})")]
