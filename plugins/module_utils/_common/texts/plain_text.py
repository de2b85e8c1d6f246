# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text from outside (BMC, Ironic, API server, image server) without what would steer a terminal; pure."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

# Control characters (C0, DEL, C1), what turns the direction of writing, line separators, and halves of characters,
# which no file can hold.
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_STEERING_BUT_LINES = re.compile(_STEERING.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))


def plain(text: str, keep_lines: bool = False) -> str:
    r"""Return a text in which each character that steers a terminal is shown as an escape, such as ``\x1b``.

    :param text: text of any origin
    :param keep_lines: whether tabs and line ends stay
    """
    pattern = _STEERING_BUT_LINES if keep_lines else _STEERING
    return pattern.sub(lambda match: ascii(match.group())[1:-1], text)


def shortened(text: str, limit: int = 200) -> str:
    """Return a text as one plain line of at most ``limit`` characters and three dots.

    :param text: text of any origin
    :param limit: how many characters are kept
    """
    return cut(plain(" ".join(text[:limit * 4].split())), limit)


def cut(text: str, limit: int) -> str:
    """Return the beginning of a text, with three dots when it is longer; ``redaction.py`` finds cut secrets by them.

    :param text: the text
    :param limit: how many characters are kept
    """
    return text if len(text) <= limit else text[:limit] + "..."


def end_of(text: str, limit: int) -> str:
    """Return the end of a text, such as a program's output, after three dots when it is longer.

    :param text: the text
    :param limit: how many characters are kept
    """
    return text if len(text) <= limit else "..." + text[-limit:]


def few(texts: Sequence[str], limit: int, separator: str = ", ") -> str:
    """Return the first texts of many in one line, with the number of those that are left out.

    :param texts: the texts
    :param limit: how many are kept
    :param separator: what stands between them
    """
    more = [f"and {len(texts) - limit} more"] if len(texts) > limit else []
    return separator.join([*texts[:limit], *more])


def gist(text: Any, limit: int = 120) -> Any:
    """Return what a message of many lines says first, as one plain line, with the number of points that it leaves out.

    Conditions of Cluster API nest points by indentation (``util/conditions/merge_strategies.go``); the first point
    is kept with those that it stands under.

    :param text: text of any origin
    :param limit: how many characters are kept
    """
    rows = [(len(line) - len(line.lstrip()), line.strip().lstrip("*-").strip())
            for line in text.expandtabs().split("\n") if line.strip()]
    leaves = [number for number, (indent, dummy) in enumerate(rows)
              if number + 1 == len(rows) or rows[number + 1][0] <= indent]
    if not leaves:
        return ""
    first = " ".join(part for dummy, part in rows[:leaves[0] + 1])
    more = f" (and {len(leaves) - 1} more)" if len(leaves) > 1 else ""
    return shortened(first, limit) + more
