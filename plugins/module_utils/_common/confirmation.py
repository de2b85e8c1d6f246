# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a user has repeated how many things, or which ones, an operation concerns; pure."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# The variable of all playbooks by which a user confirms.
VARIABLE = "metal3_confirm"


def confirmed(value: str | None, names: list[str]) -> bool:
    """Return whether a confirmation fits.

    :param value: what the user gave: a number, or names with commas between, in any order; None or empty for nothing
    :param names: names of the things that the operation concerns
    """
    text = str("" if value is None else value).strip()
    if text.isascii() and text.isdigit():
        return int(text) == len(names)
    return bool(text) and sorted(part.strip() for part in text.split(",")) == sorted(names)


def request(effect: Any, names: Any, given: Any = None, thing: str = "server") -> Any:
    """Return the message that asks a user of a playbook for the confirmation.

    :param effect: what is lost, as a verb phrase with ``%s`` for the things: ``wipes the disks of %s``
    :param names: names of the things that the operation concerns
    :param given: what the user gave; None or empty when the variable is not set
    :param thing: what they are, in the singular
    :returns: text for a failure
    """
    names = sorted(names)
    things = f"{len(names)} {thing}{'' if len(names) == 1 else 's'} ({', '.join(names)})"
    wrong = "" if given in (None, "") else f'{VARIABLE}: found "{given}", expected {len(names)}. '
    return f"{wrong}This {effect.replace('%s', things)}. To continue, set {VARIABLE}={len(names)}."


def asked_later(problems: Iterable[Any]) -> list[str]:
    """Return the warnings of a run in check mode, which asks for no confirmation.

    :param problems: Problems, or texts, that a run without check mode is refused with
    """
    return [f"without check mode this would be refused: {problem}" for problem in problems]


def expected(names: list[str]) -> str:
    """Return what :func:`confirmed` takes, as a phrase.

    :param names: names of the things that the operation concerns
    """
    return f"{len(names)} (how many they are) or {','.join(sorted(names))}"
