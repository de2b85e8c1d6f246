# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A part of an object that is being converted: what is taken out of it, put into it, and noted about it; pure."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..._common.options.field_checks import show, type_name

_LARGEST_SECONDS = 2 ** 31 - 1
_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_DURATION = re.compile(rf"[+-]?(?:0|(?:{_PART.pattern})+)")


class Mistake(NamedTuple):
    """What keeps a part from being converted.

    :param path: of the field
    :param actual: what was found, for a reader
    :param expected: what is allowed
    """

    path: str
    actual: str
    expected: str


class Notes:
    """What the conversion of one object finds.

    :ivar lost: paths of what the new version has no place for
    :ivar mistakes: what keeps the object from being converted
    """

    def __init__(self) -> None:
        self.lost: list[str] = []
        self.mistakes: list[Mistake] = []


class Place:
    """A dictionary inside of an object; what has another type is noted, and treated as if it were not there.

    :param value: the dictionary, which is changed
    :param path: of it in the object, empty for the object itself
    :param notes: the object's Notes
    """

    def __init__(self, value: dict[str, Any], path: str, notes: Notes) -> None:
        self.value, self.path, self.notes = value, path, notes

    def field(self, key: str) -> str:
        """Return the path of one of its fields."""
        return f"{self.path}.{key}" if self.path else key

    def refuse(self, key: str, value: Any, expected: str) -> None:
        """Note that a field can't be converted."""
        self.notes.mistakes.append(Mistake(self.field(key), show(value), expected))

    def inner(self, path: str) -> Place:
        """Return the dictionary at a path such as ``template.spec``; one that is not there is empty and in nothing."""
        place = self
        for key in path.split("."):
            found = place.value.get(key)
            if found is not None and not isinstance(found, dict):
                place.notes.mistakes.append(Mistake(place.field(key), type_name(found), "a dictionary"))
            place = Place(found if isinstance(found, dict) else {}, place.field(key), place.notes)
        return place

    def entries(self, key: str) -> list[Place]:
        """Return the dictionaries of a list."""
        found = self.value.get(key)
        if found is None:
            return []
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            self.notes.mistakes.append(Mistake(self.field(key), type_name(found), "a list of dictionaries"))
            return []
        return [Place(entry, f"{self.field(key)}[{number}]", self.notes) for number, entry in enumerate(found)]

    def put(self, path: str, value: Any) -> None:
        """Set the field at a path, with the dictionaries on its way."""
        *way, last = path.split(".")
        node: dict[str, Any] = self.value
        for key in way:
            found = node.get(key)
            if not isinstance(found, dict):
                found = node[key] = {}
            node = found
        node[last] = value

    def move(self, old: str, new: str, convert: Callable[[Place, str, Any], Any] | None = None) -> None:
        """Move a field to another path; one without a value goes.

        :param convert: takes this Place, the old name and the value, and returns the new value, None for none
        """
        value = self.value.pop(old, None)
        if value is not None and convert is not None:
            value = convert(self, old, value)
        if value is not None:
            self.put(new, value)

    def lose(self, *keys: str) -> None:
        """Take fields away that the new version does not have; those with a value are noted."""
        for key in keys:
            if self.value.pop(key, None):
                self.notes.lost.append(self.field(key))


def seconds(place: Place, key: str, value: Any) -> int | None:
    """Return a duration, as Go writes it, in whole seconds, as upstream's ``ConvertToSeconds`` does."""
    text = str(value)
    if isinstance(value, bool) or not _DURATION.fullmatch(text):
        place.refuse(key, value, "a duration such as 10m or 1h30m")
        return None
    found = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(text))
    # Of hundreds of digits a float is infinite.
    whole = int(min(found, _LARGEST_SECONDS))
    return -whole if text.startswith("-") else whole


def named_list(place: Place, key: str, value: Any) -> list[dict[str, Any]] | None:
    """Return a dictionary as a list of ``name`` and ``value``, by name; None for an empty one."""
    if not isinstance(value, dict):
        place.refuse(key, type_name(value), "a dictionary")
        return None
    return [{"name": name, "value": value[name]} for name in sorted(value, key=str)] or None
