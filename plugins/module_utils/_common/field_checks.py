# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of given values against a table of Fields (``host_fields``), and of what all objects share; pure."""
from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .plain_text import cut, plain
from .problem import Problem
from .redaction import HIDDEN, redacted

DNS_NAME = re.compile(r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\Z")
NAME_RULE = ("lower case letters, digits, '-' and '.', at most 253 characters, beginning and ending with a letter or "
             "digit")
LABEL_KEY_RULE = "[prefix/]name of at most 63 letters, digits, '-', '_' and '.'"
LABEL_VALUE_RULE = "at most 63 letters, digits, '-', '_' and '.'"
_LABEL_VALUE = re.compile(r"^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?\Z")
# How much of a value a message quotes.
_SHOWN_CHARACTERS = 120
_LABEL_NAME = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?\Z")


class Field(Protocol):
    """An option of an entry, as far as it is checked here."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def kind(self) -> str:
        """``str``, ``int``, ``bool``, ``list`` or ``dict``."""

    @property
    def element(self) -> str:
        """The kind of a list's elements."""

    @property
    def fields(self) -> Sequence[Field] | None:
        """The options of a dictionary, or of each dictionary of a list."""

    @property
    def choices(self) -> Sequence[str] | None:
        """The texts that are allowed."""

    @property
    def required(self) -> bool:
        """Whether it must be set."""

    @property
    def removable(self) -> bool:
        """Whether an empty text removes the stored value."""

    @property
    def secret(self) -> bool:
        """Whether no message may show its value."""

    @property
    def minimum(self) -> int | None:
        """The least number."""

    @property
    def maximum_length(self) -> int | None:
        """The most characters or elements."""


def is_name(text: str) -> bool:
    """True when a text may be the name of a Kubernetes object (RFC 1123 subdomain)."""
    return bool(DNS_NAME.match(text)) and not any(pair in text for pair in ("..", ".-", "-."))


def is_label_key(text: str) -> bool:
    """True when a text may be the key of a label or annotation."""
    prefix, slash, name = text.rpartition("/")
    return bool(_LABEL_NAME.match(name)) and (not slash or bool(DNS_NAME.match(prefix)))


def is_label_value(text: str) -> bool:
    """True when a text may be the value of a label."""
    return bool(_LABEL_VALUE.match(text))


def text_of(value: Any) -> str:
    """Return a label's or annotation's value as text: booleans as YAML writes them, structures as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value)


def show(value: Any, secret: bool = False) -> str:
    """Return a value as messages show it: on one line, shortened, texts in quotes, URLs without passwords.

    What a problem record has as ``actual`` is either a value, which goes through here, or a phrase, which does not.

    :param value: of any type and origin
    :param secret: whether only a mark is shown
    """
    if secret:
        return HIDDEN
    text = value if isinstance(value, str) else _as_json(value)
    # Cut before control characters become escapes, so that none of these is cut.
    text = plain(cut(redacted(text), _SHOWN_CHARACTERS))
    return f'"{text}"' if isinstance(value, str) else text


def shown(value: Any) -> str | None:
    """Return a value that may be missing as messages show it, see :func:`show`; None when it is not set."""
    return None if value is None else show(value)


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, default=str, sort_keys=True)
    except TypeError:
        # YAML has keys that are no text, and that cannot be compared with each other.
        return str(value)


def check_fields(label: str, prefix: str, fields: Sequence[Field], values: Mapping[str, Any]) -> list[Problem]:
    """Check a dictionary against Fields: unknown options, types, choices and limits.

    :param label: who is meant, for the problems
    :param prefix: path of the dictionary, empty or with a dot at the end
    :param fields: tuple of Fields (``host_fields``)
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
    :param fields: tuple of Fields (``host_fields``)
    """
    known = sorted(field.name for field in fields)
    known += [f"{field.name}.{part.name}" for field in fields if field.kind == "dict"
              for part in field.fields or ()]
    begun = [option for option in known if len(name) > 3 and option.startswith(name)]
    near = begun or difflib.get_close_matches(name, known, 1)
    return near[0] if near else None


def with_texts(fields: Sequence[Field], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dictionary with numbers and truth values as the texts that Ansible makes of them where text is expected.

    :param fields: tuple of Fields (``host_fields``)
    :param values: the dictionary, not checked yet: what has the wrong type stays as it is
    """
    kinds = dict((field.name, field) for field in fields)
    return dict((name, _with_text(kinds[name], kinds[name].kind, value) if name in kinds else value)
                for name, value in values.items())


def _with_text(field: Field, kind: str, value: Any) -> Any:
    if kind == "str" and isinstance(value, (bool, int, float)):
        return str(value)
    if kind == "list" and isinstance(value, list):
        return [_with_text(field, field.element, item) for item in value]
    if kind == "dict" and field.fields and isinstance(value, dict):
        return with_texts(field.fields, value)
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


def type_error(kind: str, value: Any) -> str | None:
    """Return what was expected when a value can't be taken for ``kind`` (by Ansible's rules), else None."""
    if kind == "str":
        return "text" if isinstance(value, (dict, list)) else None
    if kind == "int":
        whole = isinstance(value, int) and not isinstance(value, bool)
        return None if whole or (isinstance(value, str) and re.match(r"^\s*-?\d+\s*$", value)) else "a whole number"
    if kind == "bool":
        words = ("yes", "no", "on", "off", "true", "false", "1", "0", "t", "f", "y", "n")
        accepted = isinstance(value, bool) or value in (0, 1) or (isinstance(value, str) and value.lower() in words)
        return None if accepted else "true or false"
    if kind == "dict":
        return None if isinstance(value, dict) else "a dictionary"
    return None if isinstance(value, list) else "a list"


def check_metadata(label: str, entry: Mapping[str, Any]) -> list[Problem]:
    """Check ``labels`` and ``annotations`` of an entry by the API server's rules.

    :returns: list of Problem
    """
    problems = []
    for kind in ("labels", "annotations"):
        for key, value in (entry.get(kind) or {}).items():
            if not is_label_key(str(key)):
                problems.append(Problem("metadata", label, f"{kind}.{key}", f"the key {show(key)}", LABEL_KEY_RULE,
                                        "rename it"))
            if isinstance(value, (dict, list)) and kind == "labels":
                problems.append(Problem("metadata", label, f"{kind}.{key}", show(value), "text", "correct it"))
            elif kind == "labels" and not is_label_value(text_of(value)):
                problems.append(
                    Problem("metadata", label, f"{kind}.{key}", show(value), LABEL_VALUE_RULE, "correct it")
                )
    return problems
