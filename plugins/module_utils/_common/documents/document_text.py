# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON and YAML that anybody may have written: what can't be read is one error, whatever Python makes of it; pure.

Its text has no word of the document, which may be a Secret.
"""
from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from . import yaml_bounds

try:
    import yaml
    HAS_YAML = True
except ImportError:
    # Callers that read YAML ask for it first; JSON is read without.
    HAS_YAML = False

# What PyYAML lets through of a value that is not what its tag says, of numbers, dates and depths that Python refuses.
_OF_VALUES = (ArithmeticError, AttributeError, LookupError, TypeError)
_OF_PYTHON = (ValueError, RecursionError, *_OF_VALUES)
# A message up to the first tag, anchor or value that it quotes. PyYAML quotes its own words and single signs, too.
_SIGN = r"[^'\\]|\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[^'])"
_UNQUOTED = re.compile(rf"""(?:[^"']|"<[a-z ]+>"|'(?:<[a-z ]+>|{_SIGN})')*""")


class DocumentError(ValueError):
    """A text is no JSON or YAML document, or one that Python or this collection does not read.

    :param message: what is wrong and where, as one line without a word of the text
    :param line: number of the line, from 1; None where it is not known
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def from_json(content: Any) -> Any:
    """Return the value of a JSON document.

    :param content: text or bytes; anything else is no document
    :raises DocumentError: for what can't be read, and nothing else
    """
    if not isinstance(content, (str, bytes, bytearray)):
        raise DocumentError("no text")
    try:
        return json.loads(content)
    except _OF_PYTHON as exc:
        raise _error(exc) from None


def from_yaml(content: Any, loader: Any = None) -> Any:
    """Return the value of a YAML document, None for an empty one.

    :param content: text, or bytes as UTF-8; anything else is no document
    :param loader: class of the loader, derived from ``yaml.SafeLoader``, for tags of its own
    :raises DocumentError: for what can't be read, several documents, and aliases that stand for too much; nothing else
    """
    return _loaded(content, yaml.load, loader or yaml_bounds.safe_loader())


def from_yaml_all(content: Any) -> list[Any]:
    """Return the values of YAML documents without those of empty ones.

    :param content: as of :func:`from_yaml`
    :raises DocumentError: as :func:`from_yaml`, but for several documents
    """
    found = _loaded(content, lambda text, loader: list(yaml.load_all(text, loader)), yaml_bounds.safe_loader())
    return [item for item in found if item is not None]


def _loaded(content: Any, load: Callable[[str, Any], Any], loader: Any) -> Any:
    if not isinstance(content, (str, bytes, bytearray)):
        raise DocumentError("no text")
    try:
        text = content if isinstance(content, str) else content.decode()
        yaml_bounds.check(text, loader)
        return load(text, loader)
    except (yaml.YAMLError, *_OF_PYTHON) as exc:
        raise _error(exc) from None


def _error(exc: Exception) -> DocumentError:
    if isinstance(exc, RecursionError):
        return DocumentError("a document nested too deeply")
    if isinstance(exc, UnicodeError):
        return DocumentError("bytes that are no UTF-8")
    if isinstance(exc, _OF_VALUES):
        return DocumentError("a value that is not what its tag says")
    if isinstance(exc, json.JSONDecodeError):
        return DocumentError(str(exc), exc.lineno)
    mark = getattr(exc, "problem_mark", None)
    if mark is None:
        return DocumentError(_unquoted(str(exc)))
    # Without libyaml the text of the exception has the line itself.
    problem = _unquoted(str(getattr(exc, "problem", None) or "no YAML"))
    return DocumentError(f"{problem}, line {mark.line + 1}, column {mark.column + 1}", mark.line + 1)


def _unquoted(text: str) -> str:
    found = _UNQUOTED.match(text)
    return " ".join(found.group().split()).rstrip(" :") if found else ""
