# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading nodes: one request for all, and side by side what Ironic only reports for one node at a time."""
from __future__ import annotations

from collections import Counter
from typing import Any

from ..._common.redaction import redaction
from . import answers, bulk
from .client import path_of
from .errors import IronicError

# Ironic's query parameters, by the name of the option.
TEXT_FILTERS = ("driver", "provision_state", "resource_class", "conductor_group", "owner", "lessee", "fault", "shard",
                "instance_uuid", "parent_node", "description_contains")
BOOLEAN_FILTERS = ("maintenance", "associated", "retired")
_IDENTITY = ("uuid", "name")


def read(client: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return nodes as plain data.

    :param client: an IronicClient
    :param params: the module's parameters
    :returns: ``{"nodes": …, "missing": names that were not found, "counts": {provision state: number}}``
    :raises IronicError: when Ironic can't be asked, or does not know a field
    """
    fields = params["fields"]
    asked = list(fields or []) + [name for name in _IDENTITY + ("provision_state",) if fields and name not in fields]
    filters = dict((name, value) for name, value in (params["filters"] or {}).items() if value is not None)
    nodes = client.list_nodes(asked or None, **filters)
    names = params["names"]
    if names is not None:
        nodes = [node for node in nodes if node["uuid"] in names or node.get("name") in names]
    nodes.sort(key=lambda node: (node.get("name") or "", node["uuid"]))
    found = set(value for node in nodes for value in (node["uuid"], node.get("name")))
    counts = Counter(node["provision_state"] for node in nodes)
    shown = [_shown(node, fields) for node in nodes]
    if params["ports"]:
        _add_ports(client, shown)
    for option, path in (("inventory", "/inventory"), ("validate", "/validate")):
        if params[option]:
            add(client, shown, option, path)
    return {"nodes": shown, "missing": sorted(set(names or ()) - found), "counts": dict(counts)}


def _shown(node: dict[str, Any], fields: list[str] | None) -> dict[str, Any]:
    kept = dict((key, value) for key, value in node.items()
                if key != "links" and (not fields or key in fields or key in _IDENTITY))
    # Links to what else there is of the node.
    for key in ("ports", "portgroups", "states", "volume"):
        if key not in (fields or ()):
            kept.pop(key, None)
    return redaction.hidden(kept, redaction.NODE_KEYS)


def _add_ports(client: Any, nodes: list[dict[str, Any]]) -> None:
    by_node = {}
    for port in client.list_ports():
        port.pop("links", None)
        by_node.setdefault(port["node_uuid"], []).append(port)
    for node in nodes:
        node["ports"] = sorted(by_node.get(node["uuid"], []), key=lambda port: port["address"])


def add(client: Any, nodes: list[dict[str, Any]], name: str, path: str) -> None:
    """Add to each node what Ironic has of it below a path, one request for each, side by side; empty for nothing.

    :param client: an IronicClient
    :param nodes: dicts with ``uuid``, which are changed
    :param name: the key that it gets
    :param path: path below the node
    :raises IronicError: when Ironic can't be asked
    """
    outcomes = bulk.run([lambda node=node: part(client, node["uuid"], path, f"node {node.get('name') or node['uuid']}")
                         for node in nodes])
    for node, outcome in zip(nodes, outcomes):
        if outcome.error is not None:
            raise outcome.error
        node[name] = outcome.value


def part(client: Any, uuid: str, path: str, subject: str) -> dict[str, Any]:
    """Return what Ironic has of a node below a path; empty for nothing, as for the inventory before an inspection.

    :param client: an IronicClient
    :param uuid: the node's
    :param path: path below the node
    :param subject: what errors name
    :raises IronicError: when Ironic can't be asked
    """
    try:
        return answers.dictionary(client.request("GET", path_of("nodes", uuid, path), subject=subject), subject)
    except IronicError as exc:
        if exc.status == 404:
            return {}
        raise
