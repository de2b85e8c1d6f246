# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which servers the playbook ``ironic_nodes`` takes on the way to available, and which it leaves as they are; pure."""
from __future__ import annotations

import re
from typing import Any

# Neither available nor deployed, nor on the way to it.
_UNFINISHED = re.compile(r"enroll|manageable|verifying|.*failed|error|inspect|clean|.* hold")


def due(registered: list[dict[str, Any]], managed: list[dict[str, Any]], named: list[str]) -> dict[str, list[str]]:
    """Return which nodes are inspected, and which are made available.

    Erased is only what this run has registered and has found switched off, and what the user names.

    :param registered: entries of the result of ``ironic_node``
    :param managed: entries of the result of ``ironic_node_action`` with ``manage``
    :param named: names of nodes that are made available in any case
    :returns: dict of lists of names: ``inspect``, ``provide``
    """
    created = set(node["name"] for node in registered if node["action"] == "created")
    fresh = [node["name"] for node in managed if not node["failed"] and node["power_state"] == "power off"
             and node["name"] in created.union(named)]
    there = [node for node in registered if node["uuid"] and node["name"] in named]
    again = [node["name"] for node in there if node["provision_state"] in ("manageable", "inspect failed")]
    return {"inspect": _once(fresh + again), "provide": _once(fresh + [node["name"] for node in there])}


def unfinished(nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the nodes that are neither available nor deployed, as a result with a failure for each.

    :param nodes: entries of the result of ``ironic_node_info``
    :returns: dict with ``msg`` and ``nodes``, as bulk modules return them
    """
    left = [node for node in nodes if _UNFINISHED.match(node["provision_state"] or "")]
    return {"msg": f"{len(left)} of {len(nodes)} servers are neither available nor deployed, and were left as they "
                   "were, because cleaning erases their disks:",
            "nodes": [{"name": node["name"], "provision_state": node["provision_state"], "changed": False,
                       "failed": True, "error": _error(node)} for node in left]}


def _error(node: dict[str, Any]) -> str:
    return (
        f"{node['power_state'] or 'power unknown'}, {node['last_error'] or 'no error'}; to correct a login run again; "
        "for adopt failed correct the cause and use ironic_node_action with adopt; to have a server that this run has "
        "not registered or has found switched on erased and made available name it in ironic_nodes_provide, with "
        f"-e '{{\"ironic_nodes_provide\": [\"{node['name']}\"]}}'")


def _once(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))
