# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A table of an object's options; argument spec, checks with all errors at once, and the object come from it; pure."""
from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..problems.problem import Problem
from .field_checks import show, truth, type_error


class Field(NamedTuple):
    """An option and its place in an object.

    :ivar name: the option
    :ivar crd: key in the object's definition (CRD); None for what is no field there
    :ivar kind: ``str``, ``int``, ``bool``, ``list`` or ``dict``
    :ivar required: whether it must be set
    :ivar choices: the texts that are allowed
    :ivar minimum: the least number
    :ivar maximum_length: the most characters or elements
    :ivar fields: the options of a dictionary, or of each dictionary of a list
    :ivar element: the kind of a list's elements
    :ivar secret: whether no message may show its value
    :ivar removable: whether an empty text, which is none of the choices, removes the stored value, as it does for texts
    :ivar unset_at_zero: whether false or 0 is what it is without a value
    """

    name: str
    crd: str | None
    kind: str = "str"
    required: bool = False
    choices: Sequence[str] | None = None
    minimum: int | None = None
    maximum_length: int | None = None
    fields: Sequence[Field] | None = None
    element: str = ""
    secret: bool = False
    removable: bool = False
    unset_at_zero: bool = False


# What each object of a list has beside its fields.
METADATA = (
    Field("name", None, required=True),
    Field("state", None, choices=("present", "absent")),
    Field("labels", None, "dict"),
    Field("annotations", None, "dict"),
)


def argument_spec(fields: Iterable[Field]) -> dict[str, dict[str, Any]]:
    """Return the argument spec of a tuple of Fields."""
    return dict((field.name, _option(field)) for field in fields)


def _option(field: Field) -> dict[str, Any]:
    option: dict[str, Any] = {"type": field.kind}
    if field.required:
        option["required"] = True
    if field.choices:
        option["choices"] = list(field.choices) + ([""] if field.removable else [])
    if field.kind == "list":
        option["elements"] = field.element
    if field.fields:
        option["options"] = argument_spec(field.fields)
    if field.secret:
        option["no_log"] = True
    elif "secret" in field.name or "key" in field.name or "credentials" in field.name:
        # Names of Secrets and taint keys are no secrets.
        option["no_log"] = False
    return option


def to_crd(fields: Iterable[Field], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return given values under their CRD names; options that are not set are left out.

    :param values: dict by option name
    """
    result: dict[str, Any] = {}
    for field in fields:
        value = values.get(field.name)
        if value is None or field.crd is None:
            continue
        if field.fields and field.kind == "dict":
            value = to_crd(field.fields, value)
        elif field.fields:
            value = [to_crd(field.fields, item) for item in value]
        result[field.crd] = value
    return result


def check_fields(label: str, prefix: str, fields: Sequence[Field], values: Mapping[str, Any]) -> list[Problem]:
    """Check a dictionary against Fields: unknown options, types, choices and limits.

    :param label: who is meant, for the problems
    :param prefix: path of the dictionary, empty or with a dot at the end
    :param values: the dictionary
    :returns: list of Problem
    """
    problems = []
    known = dict((field.name, field) for field in fields)
    for name in values:
        if name not in known:
            near = nearest(str(name), fields)
            problems.append(Problem(
                "unknown-variable", label, prefix + str(name), "an unknown option", "a known option",
                "remove it" + (f" (perhaps {near} is meant)" if near else "")))
    for field in fields:
        value = values.get(field.name)
        path = prefix + field.name
        if value is None:
            if field.required:
                problems.append(Problem("value", label, path, None, "a value", "set it"))
            continue
        problems += _check_value(label, path, field, value)
    return problems


def nearest(name: str, fields: Sequence[Field]) -> str | None:
    """Return the option that an unknown one is most like, by its whole path; None when none is like it.

    :param name: the unknown option
    """
    known = sorted(field.name for field in fields)
    known += [f"{field.name}.{part.name}" for field in fields if field.kind == "dict"
              for part in field.fields or ()]
    begun = [option for option in known if len(name) > 3 and option.startswith(name)]
    near = begun or difflib.get_close_matches(name, known, 1)
    return near[0] if near else None


def as_read(fields: Sequence[Field], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dictionary with values as Ansible reads them: a number is a text where text is expected, and a text a
    number or a truth value where that is.

    :param values: the dictionary, not checked yet: what has the wrong type stays as it is
    """
    kinds = dict((field.name, field) for field in fields)
    return dict((name, _value_as_read(kinds[name], kinds[name].kind, value) if name in kinds else value)
                for name, value in values.items())


def _value_as_read(field: Field, kind: str, value: Any) -> Any:
    if kind == "str" and isinstance(value, (bool, int, float)):
        return str(value)
    if kind == "int" and isinstance(value, str) and type_error(kind, value) is None:
        # Python reads no number of thousands of digits.
        with contextlib.suppress(ValueError):
            return int(value)
    if kind == "bool" and type_error(kind, value) is None:
        return truth(value)
    if kind == "list" and isinstance(value, list):
        return [_value_as_read(field, field.element, item) for item in value]
    if kind == "dict" and field.fields and isinstance(value, dict):
        return as_read(field.fields, value)
    return value


def _check_value(label: str, path: str, field: Field, value: Any) -> list[Problem]:
    wrong = type_error(field.kind, value)
    if wrong:
        return [Problem("value", label, path, show(value, field.secret), wrong, "correct it")]
    problems = []
    if field.kind == "dict" and field.fields:
        return check_fields(label, path + ".", field.fields, value)
    if field.kind == "list":
        if field.maximum_length is not None and len(value) > field.maximum_length:
            problems.append(Problem("value", label, path, f"{len(value)} elements", f"at most {field.maximum_length}",
                                    "remove some"))
        for position, item in enumerate(value):
            place = f"{path}[{position}]"
            wrong = type_error(field.element, item)
            if wrong:
                problems.append(Problem("value", label, place, show(item, field.secret), wrong, "correct it"))
            elif field.fields:
                problems += check_fields(label, place + ".", field.fields, item)
        return problems
    if field.choices and str(value) not in field.choices and not (value == "" and field.removable):
        problems.append(Problem("value", label, path, show(value), f"one of {', '.join(field.choices)}", "correct it"))
    if field.minimum is not None and int(value) < field.minimum:
        problems.append(Problem("value", label, path, show(value), f"at least {field.minimum}", "correct it"))
    if field.kind == "str" and field.maximum_length is not None and len(value) > field.maximum_length:
        problems.append(Problem("value", label, path, f"{len(value)} characters", f"at most {field.maximum_length}",
                                "shorten it"))
    return problems
