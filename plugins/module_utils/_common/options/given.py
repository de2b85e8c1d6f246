# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options with a dictionary or list where a text is expected, which Ansible would turn into a text; pure."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..problems.errors import RefusedError
from ..problems.problem import Problem

_TEXTS = ("str", "path")
_KINDS = ((dict, "a dictionary"), ((list, tuple), "a list"))


def refuse_structures(spec: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuse structures that were given where a text is expected, for example a server's facts instead of its name.

    :param spec: Ansible's argument spec
    :param given: the parameters as they were given
    :raises RefusedError: with all of them, without their values, which may hold secrets
    """
    found = list(_structures(spec, given, ""))
    if found:
        raise RefusedError(found)


def _structures(spec: Mapping[str, Any], given: Mapping[str, Any], place: str) -> Iterator[Problem]:
    for name, option in spec.items():
        kind, value, path = option.get("type", "str"), given.get(name), place + name
        values = [(path, value)]
        if kind == "list":
            kind = option.get("elements")
            values = [(f"{path}[{number}]", element) for number, element in enumerate(value)] if isinstance(
                value, list) else []
        for where, element in values:
            if kind in _TEXTS and isinstance(element, (dict, list, tuple)):
                yield _problem(where, element)
            elif isinstance(element, dict) and option.get("options"):
                yield from _structures(option["options"], element, where + ".")


def _problem(where: str, element: Any) -> Problem:
    found = next(text for types, text in _KINDS if isinstance(element, types))
    name = element.get("name") if isinstance(element, dict) else None
    if not isinstance(name, str):
        return Problem("text-required", "", where, found, "a text", "correct it")
    return Problem("text-required", "", where, f"{found} with the name {name}", "a text",
                   "give the name alone, for example by map(attribute='name')")
