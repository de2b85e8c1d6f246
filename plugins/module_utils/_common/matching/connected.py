# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Things that belong together because they share something, also by way of others; pure."""
from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def connected(items: Sequence[Item], keys_of: Callable[[Item], Iterable[Hashable]]) -> list[list[Item]]:
    """Return groups of items, each with all that share a key with another one of it; items and groups in their order.

    :param items: the items
    :param keys_of: callable that returns an item's keys
    """
    groups: list[list[int]] = []
    keys: list[set[Hashable]] = []
    for number, item in enumerate(items):
        mine, members = set(keys_of(item)), [number]
        for place in reversed(range(len(groups))):
            if keys[place] & mine:
                mine |= keys.pop(place)
                members += groups.pop(place)
        groups.append(sorted(members))
        keys.append(mine)
    return [[items[number] for number in group] for group in sorted(groups)]
