# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that hold a value for each of some nodes, by the node's name or UUID; pure."""
from __future__ import annotations

from typing import Any

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem


def value_of(values: dict[str, Any] | None, node: dict[str, Any]) -> Any:
    """Return a node's value, None when it has none.

    :param values: ``{name or UUID: value}``, without :func:`problems`, or None
    :param node: the node, with ``name`` and ``uuid``
    """
    return next((values[key] for key in values if key in _keys(node)), None) if values else None


def problems(code: str, option: str, noun: str, options: dict[str, Any], nodes: list[dict[str, Any]]) -> list[Problem]:
    """Return the Problems of the keys: those of no node of the list, and two of one node.

    :param code: the problems' code
    :param option: name of the option
    :param noun: what a value is, in the singular
    :param options: the module's options, with ``nodes`` and the option
    :param nodes: the nodes of the list that Ironic has, with ``name`` and ``uuid``
    """
    given = options.get(option) or {}
    known = set(options["nodes"]).union(*(_keys(node) for node in nodes))
    found = [Problem(code, option, "", show(key), "names or UUIDs of nodes of the list", "correct it, or add the node")
             for key in given if key not in known]
    for node in nodes:
        keys = [key for key in given if key in _keys(node)]
        if len(keys) > 1:
            found.append(Problem(code, option, "", ", ".join(keys), f"one {noun} for node %s" % (
                node["name"] or node["uuid"]), "remove the others"))
    return found


def _keys(node: dict[str, Any]) -> list[str]:
    return [key for key in (node.get("name"), node["uuid"]) if key]
