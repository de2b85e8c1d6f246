# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a module that others hold, an inventory or a lint, checked as Ansible checks them; pure."""
from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.validation import check_type_dict
from ansible.module_utils.errors import UnsupportedError

from ..problems.problem import Problem
from .field_checks import show, type_name
from .plain_names import with_dictionaries

# The shape of an element of a list of texts, and that of a whole number.
_TEXT = "a text"
_WHOLE = "a whole number"
# What Ansible calls the types of options.
_TYPES = {"bool": "true or false", "dict": "a dictionary", "float": "a number", "int": _WHOLE, "list": "a list",
          "path": "a path", "str": _TEXT}


class OptionReader:
    """Checks options of one module.

    :param module: its full name, which messages name
    :param free_shapes: what is read of a dictionary without options of its own, by the option's name: a dict of shapes
        (``*`` for all other keys), a list of one, or None
    :param as_written: options that are dictionaries in which a key without a value is kept
    """

    def __init__(self, module: str, free_shapes: Mapping[str, Any] | None = None,
                 as_written: Collection[str] = ()) -> None:
        self._module = module
        self._page = f"ansible-doc {module}"
        self._hint = f"correct it; see {self._page}"
        self._free_shapes = free_shapes or {}
        self._as_written = as_written

    def read(self, where: str, options: Mapping[str, Any], value: Any) -> tuple[dict[str, Any], list[Problem]]:
        """Check options and return ``(values, mistakes)``; values have their defaults.

        :param where: path of the option that they are in, empty for the module's own
        :param options: argument spec of them
        :param value: what the user wrote, of any type
        """
        params = self.given(value)
        mistakes: list[Problem] = []
        if not isinstance(params, dict):
            mistakes.append(Problem("value", "", where, type_name(params), "a dictionary",
                                    "write its options below it, as name: value"))
            params = {}
        params = self._with_right_shapes(where, options, with_dictionaries(options, params), mistakes)
        result = ArgumentSpecValidator(options).validate(params)
        for error in result.errors:
            mistakes += self._unknown(where, error, options) if isinstance(error, UnsupportedError) \
                else self._invalid(where, error)
        return result.validated_parameters, mistakes

    def given(self, value: Any) -> Any:
        """Return a copy without the options that were left out, which a module's parameters hold as None."""
        if isinstance(value, dict):
            # YAML has keys that are numbers or true; JSON, and with it every module, has texts only.
            return dict((str(key), _with_text_keys(item) if key in self._as_written else self.given(item))
                        for key, item in value.items() if item is not None)
        if isinstance(value, list):
            return [self.given(item) for item in value]
        return value

    def _with_right_shapes(self, where: str, options: Mapping[str, Any], params: Mapping[str, Any],
                           mistakes: list[Problem]) -> dict[str, Any]:
        """Return options without those whose value is no dictionary or list where one is needed; note each of them.

        Ansible's own check does not end well with such values, and it knows nothing of what is in a dictionary without
        options of its own.
        """
        found: list[Problem] = []
        right = {}
        for name, value in params.items():
            before = len(found)
            if name in options:
                self._check_shape(name, value, self._shape_of(name, options[name]), found)
            if len(found) == before:
                right[name] = value
        mistakes.extend(problem._replace(field=_joined(where, problem.field)) for problem in found)
        return right

    def _shape_of(self, name: str, option: Mapping[str, Any]) -> Any:
        """Return the shape of an option's value, see the class."""
        kind = option["elements"] if option["type"] == "list" else option["type"]
        text = _TEXT if option["type"] == "list" else None
        shapes: dict[str, Any] = {"dict": self._free_shapes.get(name, {}), "list": [None], "str": text, "int": _WHOLE}
        shape = shapes.get(kind)
        if "options" in option:
            shape = dict((key, self._shape_of(key, inner)) for key, inner in option["options"].items())
        return [shape] if option["type"] == "list" else shape

    def _check_shape(self, path: str, value: Any, shape: Any, found: list[Problem]) -> None:
        if shape is _TEXT:
            if isinstance(value, (dict, list)):
                found.append(_no_text(path, value))
            return
        if shape is _WHOLE:
            # Ansible's own check raises an OverflowError for these.
            if str(value).strip().lower().lstrip("+-") in ("inf", "infinity"):
                found.append(Problem("value", "", path, "infinity", _WHOLE, "write a number without a fraction"))
            return
        wanted = "a dictionary" if isinstance(shape, dict) else "a list" if isinstance(shape, list) else None
        # Ansible makes dictionaries and lists of texts.
        if value is None or wanted is None or (isinstance(value, str) and path.isidentifier()
                                               and path not in self._free_shapes and _becomes(value, shape)):
            return
        if not isinstance(value, type(shape)):
            found.append(Problem("value", "", path, type_name(value), wanted,
                                 "write its options below it, as name: value" if isinstance(shape, dict)
                                 else "write each element below it, after a dash"))
        elif isinstance(value, dict):
            for key, item in value.items():
                self._check_shape(f"{path}.{key}", item, shape.get(key, shape.get("*")), found)
        else:
            for number, item in enumerate(value):
                if item is None and shape[0] is not None:
                    found.append(Problem("value", "", f"{path}[{number}]", None, _in_words(shape[0]),
                                         "set it, or remove the element"))
                self._check_shape(f"{path}[{number}]", item, shape[0], found)

    def _unknown(self, where: str, error: Any, options: Mapping[str, Any]) -> list[Problem]:
        """Return a Problem for each unknown option, with the one that may have been meant."""
        # The error's only list of them is its text; an Ansible of another wording gives one Problem with all of it.
        known = _all_names(options)
        found = []
        for path in error.msg.partition(". Supported parameters include: ")[0].split(", "):
            # A name that an inner or outer part knows is not mistyped, but the nearest of the others may be meant here.
            name = path.rpartition(".")[2]
            near = difflib.get_close_matches(name, sorted(known - {name}), 1)
            found.append(Problem("unknown-variable", "", _joined(where, path), "an unknown option",
                                 f"an option of {self._module}",
                                 "remove it" + (f" (perhaps {near[0]} is meant)" if near else "")))
        return found

    def _invalid(self, where: str, error: Any) -> list[Problem]:
        """Return the Problems of values that do not fit their options, which Ansible's error names in its text only."""
        parent = re.search(r"found in '?([\w.> -]+?)'?(?:\.|$| is of type )", error.msg)
        inner = parent.group(1).replace(" -> ", ".") if parent else ""
        missing = re.match(r"missing required arguments: (.+?)(?: found in |$)", error.msg)
        if missing:
            return [Problem("value", "", _joined(where, inner, name), None, "a value", f"set it; see {self._page}")
                    for name in missing.group(1).split(", ")]
        choice = re.match(r"value of (\w+) must be (one(?: or more)? of): (.*?)(?:, got: |\. Got no match for: )(.*?)"
                          r"(?: found in [\w.> -]+)?$", error.msg, re.DOTALL)
        if choice:
            name, count, choices, given = choice.groups()
            return [Problem("value", "", _joined(where, inner, name), show(given), f"{count} {choices}", self._hint)]
        kind = re.match(r"(argument|Elements value for option) '(\w+)'.*? is of type (\w+).*? convert to (\w+): (.*)",
                        error.msg, re.DOTALL)
        if kind:
            subject, name, found, wanted, why = kind.groups()
            # Ansible quotes the value in the reason for numbers and truth values only.
            quoted = re.match(r""""?'(.*)'"? cannot be converted|The value '(.*)' is not a valid boolean""", why,
                              re.DOTALL)
            given = next(filter(None, quoted.groups()), "") if quoted else ""
            return [Problem("value", "", _joined(where, inner, name), show(given) if given else found, "%s%s" % (
                "" if subject == "argument" else "elements that are ", _TYPES.get(wanted, wanted)), self._hint)]
        option = re.search(r"argument '(\w+)'|value of (\w+) must", error.msg)
        return [Problem("value", "", _joined(where, inner, next(filter(None, option.groups())) if option else ""),
                        error.msg, "a value of the option's type", f"see {self._page}")]


def _becomes(value: str, shape: Any) -> bool:
    """Return whether Ansible makes of a text what an option needs; several errors would say that it cannot."""
    if isinstance(shape, dict):
        try:
            check_type_dict(value)
        except TypeError:
            return False
    return True


def _in_words(shape: Any) -> str:
    return shape if isinstance(shape, str) else "a dictionary" if isinstance(shape, dict) else "a list"


def _with_text_keys(value: Any) -> Any:
    return dict((str(key), item) for key, item in value.items()) if isinstance(value, dict) else value


def _no_text(path: str, value: Any) -> Problem:
    """Return the Problem of an element of a list of texts, of which Ansible would make a text that nobody meant."""
    name = value.get("name") if isinstance(value, dict) else None
    if isinstance(name, str):
        return Problem("value", "", path, f"a dictionary with name {name}", "a text", f"write {name} in its place")
    return Problem("value", "", path, type_name(value), "a text", "put one that has a colon or a dash in quotes")


def _joined(*parts: str) -> str:
    return ".".join(part for part in parts if part)


def _all_names(options: Mapping[str, Any]) -> set[str]:
    names = set(options)
    for option in options.values():
        names |= _all_names(option.get("options") or {})
    return names
