# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of an aligned table; pure."""
from __future__ import annotations


def lines(titles, rows):
    """Return the lines of a table.

    :param titles: titles of the columns
    :param rows: list of lists of texts, one text for each title
    """
    cells = [list(titles)] + [list(row) for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(titles))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
