# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names, labels and values as users give them: what is allowed, and how messages show them; pure."""
from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..problems.problem import Problem
from ..redaction.redaction import HIDDEN, redacted
from ..texts.plain_text import cut, plain

DNS_NAME = re.compile(r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\Z")
NAME_RULE = ("lower case letters, digits, '-' and '.', at most 253 characters, beginning and ending with a letter or "
             "digit")
LABEL_KEY_RULE = "[prefix/]name of at most 63 letters, digits, '-', '_' and '.'"
LABEL_VALUE_RULE = "at most 63 letters, digits, '-', '_' and '.'"
_LABEL_VALUE = re.compile(r"^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?\Z")
# How much of a value a message quotes.
_SHOWN_CHARACTERS = 120
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
# Of what is downloaded or pulled, as image servers and registries write it.
DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
DIGEST_RULE = "sha256: and 64 hexadecimal digits"
# As somebody gives one by hand.
_DIGEST_GIVEN = re.compile(r"(?:sha256:)?([0-9a-f]{64})")
_HOST_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST_NAME = re.compile(rf"(?=.{{1,253}}\Z){_HOST_LABEL}(\.{_HOST_LABEL})*")
_LABEL_NAME = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?\Z")
# As Ansible reads them.
_TRUE = ("yes", "on", "true", "1", "t", "y")
_FALSE = ("no", "off", "false", "0", "f", "n")


def digest_digits(text: str) -> str:
    """Return the digits of a SHA-256 that somebody has given, with ``sha256:`` before them or not; empty for others."""
    # Other programs write the digits in capitals, and a copied line ends with a space.
    match = _DIGEST_GIVEN.fullmatch(text.strip().lower())
    return match[1] if match else ""


def is_name(text: str) -> bool:
    """True when a text may be the name of a Kubernetes object (RFC 1123 subdomain)."""
    return bool(DNS_NAME.match(text)) and not any(pair in text for pair in ("..", ".-", "-."))


def is_host_name(text: str) -> bool:
    """True when a text may be the name of a host in DNS (RFC 1123)."""
    return bool(_HOST_NAME.fullmatch(text))


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


def type_name(value: Any) -> str:
    """Return the name of a value's type in messages that do not show the value.

    On the controller values are of Ansible's own classes, which know where they were written.
    """
    return next((kind.__name__ for kind in (dict, list, str, bool, int, float) if isinstance(value, kind)),
                type(value).__name__)


def type_error(kind: str, value: Any) -> str | None:
    """Return what was expected when a value can't be taken for ``kind`` (by Ansible's rules), else None."""
    if kind == "str":
        return "text" if isinstance(value, (dict, list)) else None
    if kind == "int":
        whole = isinstance(value, int) and not isinstance(value, bool)
        return None if whole or (isinstance(value, str) and re.match(r"^\s*-?\d+\s*$", value)) else "a whole number"
    if kind == "bool":
        accepted = isinstance(value, bool) or value in (0, 1) or (
            isinstance(value, str) and value.strip().lower() in (*_TRUE, *_FALSE))
        return None if accepted else "true or false"
    if kind == "dict":
        return None if isinstance(value, dict) else "a dictionary"
    return None if isinstance(value, list) else "a list"


def truth(value: Any) -> bool:
    """Return what a value means that :func:`type_error` takes for true or false."""
    return value.strip().lower() in _TRUE if isinstance(value, str) else bool(value)


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
