# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that were given a dictionary or list where a text is expected, which Ansible would turn into one; pure."""
from __future__ import annotations

from typing import Any

from .._common.problem import Problem

_TEXTS = ("str", "path")
_KINDS = ((dict, "a dictionary"), ((list, tuple), "a list"))


def problems(spec: dict[str, dict[str, Any]], given: dict[str, Any], place: str = "") -> list[Any]:
    """Return what is wrong, without the values: they may hold secrets.

    :param spec: Ansible's argument spec
    :param given: the parameters as they were given
    :param place: path of the options in the module's, empty for the module's own
    :returns: list of lines
    """
    found = []
    for name, option in spec.items():
        kind, value, path = option.get("type", "str"), given.get(name), place + name
        values = [(path, value)]
        if kind == "list":
            kind = option.get("elements")
            values = [("%s[%d]" % (path, number), element) for number, element in enumerate(value)] if isinstance(
                value, list) else []
        for where, element in values:
            if kind in _TEXTS:
                found += _text(where, element)
            elif isinstance(element, dict) and option.get("options"):
                found += problems(option["options"], element, where + ".")
    return found


def _text(where: str, element: Any) -> list[Any]:
    seen = next((text for types, text in _KINDS if isinstance(element, types)), None)
    if seen is None:
        return []
    name = element.get("name") if isinstance(element, dict) else None
    if not isinstance(name, str):
        return [Problem("value", where, "", seen, "a text", "correct it")]
    return [Problem("value", where, "", f"{seen} with the name {name}", "a text",
                    "give the name alone, for example by map(attribute='name')")]
