# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a user has repeated how many objects, or which ones, an operation concerns; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..problems.errors import RefusedError, ReportedError
from ..problems.problem import Problem, text
from .field_checks import show

# The variable of all playbooks by which a user confirms.
VARIABLE = "metal3_confirm"


def confirmed(value: str | None, names: list[str], among: Sequence[str] = ()) -> bool:
    """Return whether a confirmation fits.

    Where an operation is one of several that the same value is given to, a number would count for each of them, so that
    only names do.

    :param value: what the user gave: a number, or names with commas between, in any order; None or empty for nothing
    :param names: names of the objects that the operation concerns
    :param among: names of the objects that all operations with this value may concern; empty when this is the only one
    """
    answer = str("" if value is None else value).strip()
    given = [part.strip() for part in answer.split(",")]
    if among:
        return bool(answer) and set(names) <= set(given) <= set(among)
    if answer.isascii() and answer.isdigit():
        return int(answer) == len(names)
    return bool(answer) and sorted(given) == sorted(names)


def way(names: Sequence[str], among: Sequence[str] = (), playbook: str = "") -> str:
    """Return what a user does to confirm, as a phrase in the imperative.

    :param names: names of the objects that the operation concerns
    :param among: as for :func:`confirmed`
    :param playbook: name of the playbook that takes the confirmation, empty for the one that runs
    """
    run = f"run the playbook metal3.baremetal.{playbook} on its own, with" if playbook else "set"
    if among:
        return (f"{run} {VARIABLE}={','.join(sorted(among))}: the play has several batches, and a number would count "
                "for each of them")
    return f"{run} {VARIABLE}={len(names)}"


def request(effect: Any, names: Any, given: Any = None, noun: str = "server", among: Sequence[str] = (),
            playbook: str = "") -> Any:
    """Return the message that asks a user of a playbook for the confirmation.

    :param effect: what is lost, as a verb phrase with ``%s`` for the objects: ``wipes the disks of %s``
    :param names: names of the objects that the operation concerns
    :param given: what the user gave; None or empty when the variable is not set
    :param noun: what the objects are called, in the singular
    :param among: as for :func:`way`
    :param playbook: as for :func:`way`
    :returns: text for a failure
    """
    names = sorted(names)
    objects = f"{len(names)} {noun}{'' if len(names) == 1 else 's'} ({', '.join(names)})"
    wrong = "" if given in (None, "") else f'{VARIABLE}: found "{given}", expected {"names" if among else len(names)}. '
    return f"{wrong}This {effect.replace('%s', objects)}. To continue, {way(names, among, playbook)}."


def problem(subject: str, given: Any, names: Sequence[str], what: str, among: Sequence[str] = ()) -> Problem:
    """Return the record that asks a user of a module for the confirmation.

    :param subject: the object as the user names it
    :param given, names: as for :func:`request`
    :param what: what they are and what happens to them, as a phrase in the plural: ``hosts whose pods are evicted: h1``
    :param among: as for :func:`way`
    """
    return Problem("confirmation-missing", subject, "confirm", given or None,
                   f"the names of the {what}" if among else f"{len(names)}, the number of {what}",
                   f"to continue {way(names, among)} (module option confirm)")


def with_lines(asked: Problem, figures: Sequence[str], notes: Sequence[str]) -> Problem:
    """Return a record that asks for a confirmation with what who confirms should know, a line each.

    :param asked: the record, see :func:`problem`
    :param figures: lines about what goes, and what it takes and costs
    :param notes: lines about what stands against it
    """
    lines = [f"    {line}" for line in figures] + [f"    attention: {line}" for line in notes]
    return asked._replace(hint="\n".join([f"{asked.hint}:", *lines])) if lines else asked


def among(names: Sequence[str], batch: Sequence[str], left: Sequence[str], play: Sequence[str]) -> list[str]:
    """Return the servers that a confirmation may name in a play of several batches, none in a play of one.

    :param names: all servers that there are
    :param batch: hosts of this batch
    :param left: hosts of all batches that have not failed: a batch lacks those, too, and is no smaller for it
    :param play: all hosts of the play
    """
    return [str(name) for name in names if name in play] if len(batch) < len(left) else []


def several(names: Sequence[str], noun: str, reason: str = "") -> str:
    """Return the message that refuses several planes, machines or clusters in one play.

    What a user gives is the same for all hosts of a play: a number, and a name that others have, would count for each.

    :param names: names of the play's hosts
    :param noun: what they are called, in the singular
    :param reason: why only one may be in the play where that is not the confirmation
    """
    field, reason = ("hosts", reason) if reason else (VARIABLE, "it would count for each of them")
    return (f"{field}: found {len(names)} {noun}s ({', '.join(names)}) in this play, expected one, because {reason}; "
            f"repeat the run with --limit <{noun}>")


def missing(effect: str, names: list[str], given: Any, noun: str, planes: Sequence[str] = ()) -> str:
    """Return the message that asks for a confirmation, empty when it is confirmed.

    :param effect, names, given, noun: as for :func:`request`
    :param planes: names of all planes that get what the user gave; parts have the same names in each
    """
    if len(planes) > 1:
        return several(planes, "plane")
    return "" if confirmed(given, names) else request(effect, names, given, noun)


def by_name(subject: str, name: str, given: str | None, effect: str, otherwise: str,
            planes: Sequence[str] = ()) -> list[Problem]:
    """Return the problem of a confirmation by the object's name that is missing, nothing when it is there.

    Where a number may be that of what a later stage of the same run deletes.

    :param subject: the object as the user names it
    :param name: what is to be repeated
    :param given: what the user gave
    :param effect: what happens, as a sentence without its end
    :param otherwise: what to do to have it stay, as a clause in the imperative
    :param planes: as for :func:`missing`
    """
    if given == name and len(planes) < 2:
        return []
    hint = several(planes, "plane") if len(planes) > 1 else f"to continue set {VARIABLE}={name}, or {otherwise}"
    return [Problem("confirmation-missing", subject, "confirm", show(given) if given else None, show(name),
                    f"{effect}; {hint}")]


def required(message: str, check_mode: bool) -> list[str]:
    """Return the warnings of a run in check mode, and stop any other run whose confirmation is missing.

    :param message: what :func:`missing` returns
    :raises ReportedError: with that message
    """
    if message and not check_mode:
        raise ReportedError(message)
    return asked_later([message] if message else [])


def required_by(problems: Sequence[Problem], check_mode: bool, names: Mapping[str, str] | None = None,
                beside: Sequence[Problem] = ()) -> list[str]:
    """Return the warnings of a run in check mode, and refuse any other run whose confirmation is missing.

    :param problems: the records that ask for it, none when it is confirmed
    :param names: as for :class:`RefusedError`
    :param beside: what refuses the run in check mode, too
    :raises RefusedError: with all that refuses it
    """
    refused = [*beside, *([] if check_mode else problems)]
    if refused:
        raise RefusedError(refused, names)
    return asked_later(text(item, names) for item in problems)


def asked_later(problems: Iterable[Any]) -> list[str]:
    """Return the warnings of a run in check mode, which asks for no confirmation.

    :param problems: Problems, or texts, that a run without check mode is refused with
    """
    return [f"without check mode this would be refused: {problem}" for problem in problems]


def expected(names: list[str], among: Sequence[str] = ()) -> str:
    """Return what :func:`confirmed` takes, as a phrase.

    :param names: names of the objects that the operation concerns
    :param among: as for :func:`confirmed`
    """
    if among:
        return f"names with {','.join(sorted(names))} among them"
    return f"{len(names)} (how many they are) or {','.join(sorted(names))}"
