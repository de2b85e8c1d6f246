# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Known secrets in what leaves a module: found as others quote them, and hidden; pure.

Webhooks, APIs and programs quote what they refuse, password and all. What a secret is, ``redaction.py`` decides.
"""
from __future__ import annotations

import base64
import bisect
import json
import re
from collections.abc import Iterable
from typing import Any

from ..matching.occurring_texts import occurring
from .redaction import HIDDEN, OBJECT_KEYS, leaves, with_texts

# Texts are cut at this many characters or later; of a secret that is cut, so many are no accident.
_CUT_AT, _BEGINNING = 100, 6


def without_secrets(value: Any, texts: Iterable[str], shortest: int = OBJECT_KEYS.shortest) -> Any:
    """Return a copy of a structure whose texts hold none of the given ones, as they are or as others quote them.

    :param texts: the secrets
    :param shortest: shorter ones are left
    """
    quoted = set(form for text in texts for form in forms(text) if len(form) >= shortest)
    text = _joined(value)
    there = occurring(quoted, text)
    if there:
        longest_first = sorted(there, key=len, reverse=True)
        value = with_texts(value, lambda leaf: _cleaned(leaf, longest_first))
    # Messages are cut at 2000 characters at most; a longer look back would take long for long texts.
    longest = min(max(map(len, quoted), default=0), 2500)
    beginnings: dict[str, list[str]] = {}
    for form in quoted:
        if len(form) > _BEGINNING:
            beginnings.setdefault(form[:_BEGINNING], []).append(form)
    if not beginnings or "..." not in text:
        return value
    return with_texts(value, lambda leaf: _without_beginnings(leaf, beginnings, longest))


def occurring_in(value: Any, texts: Iterable[str]) -> set[str]:
    """Return those of many texts that occur in a structure."""
    texts = set(f"{text}" for text in texts)
    return occurring(texts, _joined(value)) if texts else texts


def forms(text: str) -> tuple[str, ...]:
    """Return a secret as texts quote it: as it is, on one line, in JSON, as Python writes it, in base64."""
    plain = json.dumps(text, ensure_ascii=False)[1:-1]
    # As Go writes JSON, which is how webhooks quote.
    escaped = plain.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    # As Secrets have it.
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
    return text.strip(), " ".join(text.split()), plain, escaped, json.dumps(text)[1:-1], repr(text)[1:-1], encoded


def _joined(value: Any) -> str:
    """Return all values in a structure as one text, each that is there more than once only once."""
    return "\n".join(set(f"{leaf}" for leaf in leaves(value)))


def _without_beginnings(text: str, beginnings: dict[str, list[str]], longest: int) -> str:
    """Hide secrets of which only the beginning is left, because a long text was cut.

    :param beginnings: first characters of secrets to these secrets
    :param longest: how many characters before the dots are looked at
    """
    if len(text) < _CUT_AT or "..." not in text:
        return text
    # Found once for all: from each of a million dots, looking back would take days.
    starts = [start for start in range(len(text) - _BEGINNING) if text[start:start + _BEGINNING] in beginnings]
    ends = [start + max(_common(text[start:start + longest], form)
                        for form in beginnings[text[start:start + _BEGINNING]]) for start in starts]
    parts, rest = [], len(text)
    for match in reversed(list(re.finditer(r"\.\.\.", text)) if starts else []):
        end = match.start()
        last = bisect.bisect_right(starts, end - _BEGINNING) if end <= rest else 0
        for number in range(bisect.bisect_left(starts, end - longest), last):
            if ends[number] >= end:
                parts += [text[end:rest], HIDDEN]
                rest = starts[number]
                break
    return "".join(reversed([*parts, text[:rest]]))


def _common(text: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    return next((number for number, (one, two) in enumerate(zip(text, other)) if one != two),
                min(len(text), len(other)))


def _cleaned(text: str, forms: list[str]) -> str:
    for form in forms:
        text = text.replace(form, HIDDEN)
    return text
