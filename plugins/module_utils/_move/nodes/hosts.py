# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts are nodes of clusters, by the objects of a plane or of a backup; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..objects.graph import by_key

Object = dict[str, Any]

_GROUPS = {"Machine": "cluster.x-k8s.io", "Metal3Machine": "infrastructure.cluster.x-k8s.io"}


class HostNode(NamedTuple):
    """What a host is in a cluster.

    :ivar cluster: name of the cluster
    :ivar node: name of its Node
    """

    cluster: str
    node: str


def nodes_of(objects: Iterable[Object]) -> dict[str, HostNode]:
    """Return what each host that is a node of a cluster is there, by the host's name.

    :param objects: BareMetalHosts, Machines and Metal3Machines; all else is left out
    """
    found, nodes = by_key(objects), {}
    for (_group, kind, name), host in found.items():
        if kind != "BareMetalHost":
            continue
        consumer = (host.get("spec") or {}).get("consumerRef") or {}
        machine = _owner(found, found.get((_GROUPS["Metal3Machine"], "Metal3Machine", str(consumer.get("name")))))
        node = ((machine or {}).get("status") or {}).get("nodeRef") or {}
        if machine is not None and node.get("name"):
            nodes[name] = HostNode(str((machine.get("spec") or {}).get("clusterName")), str(node["name"]))
    return nodes


def _owner(found: Mapping[tuple[str, str, str], Object], obj: Object | None) -> Object | None:
    for owner in ((obj or {}).get("metadata") or {}).get("ownerReferences") or []:
        if owner.get("kind") == "Machine":
            machine: Object | None = found.get((_GROUPS["Machine"], "Machine", str(owner.get("name"))))
            return machine
    return None
