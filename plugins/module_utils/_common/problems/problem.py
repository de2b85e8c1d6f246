# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one record of a problem, and the only place that turns it into text; pure.

Rules return records. Whoever decides by a problem reads its fields, above all its code, and never its text.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..redaction.redaction import redacted
from ..texts.plain_text import plain

# Fields that no variable of their own stands for.
_NO_VARIABLES = ("hosts", "name", "state", "bmc")
# What host variables begin with that have no name of their own in the inventory.
_VARIABLE_PREFIX = "bmh_"


class _Record(NamedTuple):
    code: str
    subject: str
    field: str
    actual: str | None
    expected: str
    hint: str | None


class Problem(_Record):
    """What is wrong with one field of one object.

    :param code: kebab-case name of the rule that was broken, for example ``boot-mac-invalid``
    :param subject: the object as the user names it, for example ``rack1-03`` or ``cluster metal3/c1``; may be empty
    :param field: path of the option as the user writes it; empty when the whole object is meant
    :param actual: what was found: a value as ``field_checks.show`` returns it, or a phrase; None when it is not set;
        passwords in URLs and what steers a terminal are taken out
    :param expected: what is allowed, a phrase
    :param hint: what to do, a phrase in the imperative, or None
    """

    __slots__ = ()

    def __new__(cls, code: str, subject: str, field: str | None, actual: Any, expected: str,
                hint: str | None = None) -> Problem:
        # A value has been through ``field_checks.show``; a phrase, too, may quote what somebody else wrote.
        found = None if actual is None else plain(redacted(f"{actual}"))
        return super().__new__(cls, code, subject, field or "", found, expected, hint)

    def __str__(self) -> str:
        return text(self)


def text(problem: Problem, names: Mapping[str, str] | None = None, unset: str = "not set") -> str:
    """Return a problem as one line.

    :param names: ``{option: name}`` by which the reader knows an option, see :func:`renamed`
    :param unset: what is said where nothing was found, of what no user sets for example ``not known``
    """
    where = ": ".join(part for part in (problem.subject, renamed_field(problem.field, names)) if part)
    actual = unset if problem.actual is None else f"found {problem.actual}"
    line = f"{where + ': ' if where else ''}{actual}, expected {renamed(problem.expected, names)}"
    # Names of objects, too: playbooks print it in assertions, which Ansible shows as they are.
    return plain(f"{line}; {renamed(problem.hint, names)}" if problem.hint else line, keep_lines=True)


def message(problems: Iterable[Problem], names: Mapping[str, str] | None = None) -> str:
    """Return all problems as one text: their number, then a line for each.

    :param names: as for :func:`text`
    """
    lines = [f"- {text(problem, names)}" for problem in problems]
    return "\n".join([f"{len(lines)} problem{'' if len(lines) == 1 else 's'}, nothing was changed:"] + lines)


def as_results(problems: Iterable[Problem], names: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """Return problems as modules return them in ``problems``: the record's fields and ``text``.

    :param names: as for :func:`text`; ``field`` keeps the option's own name
    """
    return [dict(problem._asdict(), text=text(problem, names)) for problem in problems]


# Of modules whose messages name their options, or the variables that these come from; see :func:`renamed`.
FIELD_NAMES = {"type": "str", "choices": ["options", "variables"], "default": "options"}


def renamed(phrase: str, names: Mapping[str, str] | None) -> str:
    """Return a phrase in which options bear the names by which the reader knows them.

    :param names: ``{option: name}``, for example ``{"bmc.address": "bmc_address"}``, or None
    """
    # Plain words such as "image" may be meant as words, except where something is to be done with the option.
    names = names or {}
    options = [option for option in names if "." in option or "_" in option]
    if not options:
        return phrase
    plain = [option for option in names if option not in options]
    phrase = re.sub(r"(?<=\b(?:set|put)\s)(%s)(?![\w/.])|(?<=\(perhaps )(%s)(?= is meant\))" % (
        (_longest_first(plain),) * 2), lambda match: names[match.group()], phrase) if plain else phrase
    return re.sub(rf"(?<![\w./])({_longest_first(options)})(?![\w/])", lambda match: names[match.group(1)], phrase)


def _longest_first(options: Iterable[str]) -> str:
    return "|".join(re.escape(option) for option in sorted(options, key=len, reverse=True))


def renamed_field(path: str, names: Mapping[str, str] | None) -> str:
    """Return the path of an option by the name under which the reader knows it; see :func:`renamed`."""
    head = re.match(r"^[a-z_]+", path)
    if names and head and path not in names and head.group() in names:
        return names[head.group()] + path[head.end():]
    if names and "bmc.address" in names and path and path not in names and path not in _NO_VARIABLES:
        return _VARIABLE_PREFIX + path
    return (names or {}).get(path, path)
