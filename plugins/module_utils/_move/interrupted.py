# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a move that was interrupted from going on by clusterctl; pure."""
from __future__ import annotations

from collections.abc import Iterable

from .._common.problem import Problem
from . import checks, record
from .graph import Graph, Kind, key


def problems(begun: record.Record, moving: Graph, known: Iterable[Kind], namespace: str) -> list[Problem]:
    """Return what keeps a move from going on, of which everything is still where it comes from.

    clusterctl moves what it finds, whatever the record names: what has come since nobody has checked or confirmed.

    :param begun: the record of the move
    :param moving: what clusterctl would move
    :param known: the Kinds of the plane that lets go
    :param namespace: name of the namespace
    """
    named = set(entry.key for entry in begun.entries)
    return checks.source(moving, known, namespace, taken_up=True) + [checks.obstacle(
        obj, "", "an object that the record of the move does not name", "what was there when the move began",
        "delete it, or take the move back (state undone, playbook: pivot_state=undone) and begin again with it")
        for obj in moving.moved if key(obj) not in named]
