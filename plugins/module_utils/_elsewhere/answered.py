# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program has printed that asked elsewhere: its answers, which others may have written; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._common.documents.document_text import from_json
from .._common.texts.plain_text import cut, plain

_WORDS_LIMIT = 300


def read(printed: bytes, count: int) -> list[dict[str, Any]] | None:
    """Return one answer for each question, None for what is no answer.

    :param printed: all that the program has printed
    :param count: of questions
    """
    try:
        # Behind whatever others have printed.
        found = from_json(printed.decode(errors="replace").strip().rpartition("\n")[2])
    except ValueError:
        return None
    if not isinstance(found, list) or len(found) != count or not all(isinstance(answer, dict) for answer in found):
        return None
    return found


def words(answer: Mapping[str, Any]) -> str:
    """Return the words of an answer as one text of bounded length that can be printed."""
    return cut(plain(str(answer.get("words", ""))), _WORDS_LIMIT)


def unreached(answer: Mapping[str, Any]) -> str:
    """Return why something was not reached, empty when it was."""
    return "" if answer.get("reached") else words(answer) or "no reason was given"
