# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From where a run works, as records on a plane name it: the machine, and the folder with the lock between its runs."""
from __future__ import annotations

from ..texts.plain_text import plain


def holder_of(node: str, folder: str) -> str:
    """Return from where a run works: within it, a lock keeps runs apart.

    :param node: name of the machine
    :param folder: folder with the lock
    """
    return f"{node}:{folder}"


def parts(holder: str) -> tuple[str, str]:
    """Return machine and folder of a holder as a record has it, which others can have written: for messages.

    :param holder: from :func:`holder_of`, or anything else
    """
    node, _colon, folder = plain(holder).partition(":")
    return node, folder
