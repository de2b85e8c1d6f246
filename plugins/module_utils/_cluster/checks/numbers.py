# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many machines a group has, at most and during a rollout; pure."""
from __future__ import annotations


def surge(group):
    """Return how many machines more than its replicas a group has during a rollout."""
    value, replicas = group.get("max_surge"), group.largest_replicas
    if replicas is None:
        replicas = group.initial_replicas
    if replicas == 0:
        return 0
    if value is None:
        return 1
    if str(value).endswith("%"):
        return -(-replicas * int(str(value)[:-1]) // 100)
    return int(value)


def machines_at_most(group):
    """Return how many machines a group has at most: its largest number, and those that a rollout adds."""
    largest = group.largest_replicas
    return (group.initial_replicas if largest is None else largest) + surge(group)
