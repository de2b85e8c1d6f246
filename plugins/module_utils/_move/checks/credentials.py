# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the credentials of each host's BMC are moved with it; pure."""
from __future__ import annotations

from typing import Any

from ..._common.problem import Problem
from ..._plane.parts.catalogue import MOVE_LABEL
from ..objects.graph import Graph, key
from .rules import obstacle

Object = dict[str, Any]


def problems(moving: Graph, objects: list[Object]) -> list[Problem]:
    """Return a problem for each host without its credentials over there.

    :param moving: what is moved
    :param objects: all that the namespace has here
    """
    moved = set(key(obj)[2] for obj in moving.moved if obj["kind"] == "Secret")
    there = set(key(obj)[2] for obj in objects if obj["kind"] == "Secret")
    found = []
    for host in moving.of("BareMetalHost"):
        name = ((host.get("spec") or {}).get("bmc") or {}).get("credentialsName")
        if not name or name in moved:
            continue
        if name in there:
            actual, hint = f"Secret {name}, which would stay: the host does not own it", \
                f"wait until the operator has made the host its owner, or give it the label {MOVE_LABEL}"
        else:
            actual, hint = f"Secret {name}, which is not there", "make it, or correct the name"
        found.append(obstacle(host, "spec.bmc.credentialsName", actual, "a Secret that is moved with the host", hint))
    return found
