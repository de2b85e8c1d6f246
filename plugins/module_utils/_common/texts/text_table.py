# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of an aligned table that fits the reader's terminal; pure."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from .plain_text import plain

_GAP = "  "
_ELLIPSIS = "..."
# A text shorter than this says too little of what it was; then columns are left out instead.
_LEAST_WIDTH = 18


def lines(titles: Iterable[str], rows: Iterable[Sequence[str]], width: int | None = None,
          long: Sequence[str] = (), optional: Sequence[str] = ()) -> list[str]:
    """Return the lines of a table.

    :param titles: titles of the columns
    :param rows: one sequence of texts of any origin for each row, one text for each title; what would steer a terminal
        is shown as an escape
    :param width: columns of the terminal; None for any number
    :param long: titles of the columns whose texts are shortened in the middle when the table is too wide
    :param optional: titles of the columns that are left out when that is not enough, the least important first
    :returns: the title line, then one line for each row; wider than ``width`` only when nothing is left to shorten
    """
    titles = list(titles)
    table = [titles] + [[plain(str(cell)) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(titles))]
    shown = list(range(len(titles)))
    if width:
        shown = _fit(titles, widths, width, long, optional)
    return [_GAP.join(shortened_in_the_middle(row[column], widths[column]).ljust(widths[column])
                      for column in shown).rstrip() for row in table]


def _fit(titles: list[str], widths: list[int], width: int, long: Sequence[str], optional: Sequence[str]) -> list[int]:
    """Reduce ``widths`` in place, and return the columns that are shown."""
    shown = list(range(len(titles)))
    natural = list(widths)
    candidates = [titles.index(title) for title in optional if title in titles]
    while True:
        widths[:] = natural
        excess = sum(widths[column] for column in shown) + len(_GAP) * (len(shown) - 1) - width
        # The widest column is shortened first, so that no text loses more than it must.
        while excess > 0:
            reducible = [column for column in shown if titles[column] in long
                         and widths[column] > max(_LEAST_WIDTH, len(titles[column]))]
            if not reducible:
                break
            widths[max(reducible, key=lambda column: widths[column])] -= 1
            excess -= 1
        left_out = next((column for column in candidates if column in shown), None)
        if excess <= 0 or left_out is None:
            return shown
        shown.remove(left_out)


def shortened_in_the_middle(text: str, width: int) -> str:
    """Return a text of at most a width: its beginning, three dots and its end.

    :param text: one line
    :param width: number of characters, more than the three dots take
    :returns: the text itself when it is short enough
    """
    if len(text) <= width:
        return text
    kept = max(2, width - len(_ELLIPSIS))
    end = kept // 2
    return text[:kept - end] + _ELLIPSIS + text[-end:]


def shortened_at_the_end(text: str, width: int | None) -> str:
    """Return a line of at most a width: its beginning and three dots.

    :param text: one line
    :param width: columns of the terminal; None for any number
    :returns: the line itself when it is short enough
    """
    if not width or len(text) <= width:
        return text
    return text[:max(1, width - len(_ELLIPSIS))] + _ELLIPSIS
