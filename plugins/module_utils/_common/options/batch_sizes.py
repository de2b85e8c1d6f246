# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many hosts the batches of a play have, as users give it for Ansible's ``serial``; pure.

Ansible takes all hosts as one batch for what is no number from 1 on (``executor/playbook_executor.py``).
"""
from __future__ import annotations

import re
from typing import Any

from .field_checks import show

_SIZE = re.compile(r"^([1-9][0-9]{0,5}|(?:[1-9]|[1-9][0-9]|100)%)$")


def batch_sizes(value: Any, variable: str) -> list[int | str]:
    """Return the sizes of the batches, the last of which counts for all that follow.

    :param value: a number, a percentage such as ``25%``, or a list of these, also as text with commas between
    :param variable: the user's variable, for messages
    :raises ValueError: with what is wrong
    """
    given = value if isinstance(value, (list, tuple)) else str(value).strip().strip("[]").split(",")
    sizes: list[int | str] = []
    for item in given:
        text = str(item).strip().strip("\"'")
        if isinstance(item, bool) or not _SIZE.match(text):
            raise ValueError(f"{variable}: found {show(str(value))}, expected a number from 1 on, a percentage from 1% "
                             f"to 100%, or a list of these such as [1, 25%]; correct {variable}")
        sizes.append(text if text.endswith("%") else int(text))
    if not sizes:
        raise ValueError(f"{variable}: found an empty list, expected the size of a batch; correct {variable}")
    return sizes
