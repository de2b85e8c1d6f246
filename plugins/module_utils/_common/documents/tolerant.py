# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of what others have written, read without a failure when they have another type; pure.

For what has no shape in ``object_shape.py``: answers of BMCs and Ironic, single fields of objects.
"""
from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def dict_in(value: Any, name: str) -> Object:
    """Return the dictionary that another one has under a name, an empty one for anything else.

    :param value: the outer dictionary; of any type
    """
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def dicts_in(value: Any, name: str) -> list[Object]:
    """Return the dictionaries of the list that a dictionary has under a name, an empty list for anything else.

    :param value: the outer dictionary; of any type
    """
    return [item for item in list_in(value, name) if isinstance(item, dict)]


def list_in(value: Any, name: str) -> list[Any]:
    """Return the list that a dictionary has under a name, an empty one for anything else.

    :param value: the dictionary; of any type
    """
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []
