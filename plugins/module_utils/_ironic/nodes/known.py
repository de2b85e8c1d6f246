# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic's nodes and ports by what options call them; each is found at once, however many there are. Pure."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import bmc as node_bmc


class Known:
    """Nodes and ports as Ironic has them.

    :param nodes: nodes, each read once
    :param ports: ports, each read once
    """

    def __init__(self, nodes: Any, ports: Any) -> None:
        nodes = list(nodes)
        self._by_uuid = _first((node["uuid"], node) for node in nodes)
        self._by_name = _first((node["name"], node) for node in nodes if node.get("name"))
        self._by_address = _first((port["address"].lower(), port) for port in ports)
        self._by_bmc = {}
        for node in nodes:
            bmc = node_bmc.of(node.get("driver_info"))
            if bmc:
                self._by_bmc.setdefault(bmc.door, []).append((bmc, node))

    def node(self, option: dict[str, Any]) -> dict[str, Any] | None:
        """Return the node that an option names: by UUID when one is given, else by name; None when there is none.

        :param option: options of a node, with ``name`` and maybe ``uuid``
        """
        if option.get("uuid"):
            return self._by_uuid.get(option["uuid"].lower())
        return self._by_name.get(option["name"])

    def node_called(self, name: str | None) -> dict[str, Any] | None:
        """Return the node with a name or UUID, None when there is none."""
        return (self._by_name.get(name) or self._by_uuid.get(name)) if name else None

    def node_of(self, port: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return the node of a port, None when there is no port or no node."""
        return self._by_uuid.get(port["node_uuid"]) if port else None

    def nodes_with(self, bmc: node_bmc.Bmc) -> list[dict[str, Any]]:
        """Return the nodes that have a BMC, a ``node_bmc.Bmc``."""
        return [node for other, node in self._by_bmc.get(bmc.door, ()) if node_bmc.same(bmc, other)]

    def port(self, address: str) -> dict[str, Any] | None:
        """Return the port with a MAC address, None when there is none."""
        return self._by_address.get(address.lower())


def _first(pairs: Iterator[Any]) -> dict[str, dict[str, Any]]:
    found = {}
    for key, value in pairs:
        found.setdefault(key, value)
    return found
