# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of what a test is given, with one value changed."""
from __future__ import annotations

import copy


def with_change(options, path, value):
    """Return a copy of options in which one is another value.

    :param options: nested dictionaries
    :param path: keys of the one that changes, separated by slashes; dictionaries on the way are made
    :param value: of it
    """
    changed = copy.deepcopy(options)
    *parents, last = path.split("/")
    place = changed
    for key in parents:
        place = place.setdefault(key, {})
    place[last] = value
    return changed


def with_value(original, path, value):
    """Return a copy of dictionaries and lists in which one place has another value.

    :param path: keys and positions on the way to it, which are there
    """
    changed = place = copy.deepcopy(original)
    *parents, last = path
    for key in parents:
        place = place[key]
    place[last] = value
    return changed
