# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Expressions that only name a value, as ``metal3.labels['example.com/rack']``, without the template engine.

Ansible compiles an expression again each time, which for thousands of hosts takes longer than all the rest.
"""
from __future__ import annotations

import functools
import re

_NAME = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)")
_STEP = re.compile(r"""\.([A-Za-z_][A-Za-z0-9_]*)|\[\s*'([^'\\]*)'\s*\]|\[\s*"([^"\\]*)"\s*\]""")
# Constants in Jinja, and what begins or joins other expressions.
_WORDS = frozenset(("true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else"))


@functools.lru_cache(maxsize=256)
def path_of(expression):
    """Return the keys that an expression goes through, or None when it is more than a path.

    :param expression: text
    """
    match = _NAME.match(expression)
    if not match or match.group(1) in _WORDS:
        return None
    keys, position, end = [match.group(1)], match.end(), len(expression.rstrip())
    while position < end:
        match = _STEP.match(expression, position)
        if not match:
            return None
        key = next(group for group in match.groups() if group is not None)
        if hasattr(dict, key):
            # To Jinja this is a method.
            return None
        keys.append(key)
        position = match.end()
    return tuple(keys)


def value_at(path, variables):
    """Return the value at a path of keys.

    :param path: as returned by :func:`path_of`
    :param variables: dict of dicts
    :raises KeyError: when a key is missing
    :raises TypeError: when something on the way is not a dict
    """
    value = variables
    for key in path:
        if not isinstance(value, dict):
            raise TypeError(f"{key} of something that is not a dictionary")
        value = value[key]
    return value
