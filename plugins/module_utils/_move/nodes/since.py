# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts of a backup are nodes by now, by the Nodes that its clusters have; pure.

A Node says by ``spec.providerID`` which host it runs on: ``metal3://<namespace>/<host>/<Metal3Machine>``, of former
versions ``metal3://<uid of the host>`` (``baremetal/metal3machine_manager.go`` of CAPM3 1.13), or by the label
``metal3.io/uuid``, by which CAPM3 finds a Node that says nothing else.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._common.documents.object_shape import of_kind
from ..._common.texts.plain_text import few
from ..objects.graph import CLUSTER, HOST, key
from .hosts import HostNode, nodes_of

Object = dict[str, Any]

UUID_LABEL = "metal3.io/uuid"
_SCHEME = "metal3://"
_SHOWN = 5


class NodeNow(NamedTuple):
    """A Node as its cluster has it now.

    :ivar joined_at: when it joined, RFC 3339 in UTC
    :ivar provider_id: its providerID, empty for none
    :ivar host_uid: the uid of its host, by its label; empty for none
    :ivar addresses: its IP addresses
    """

    joined_at: str
    provider_id: str = ""
    host_uid: str = ""
    addresses: frozenset[str] = frozenset()


class Member(NamedTuple):
    """What a host of a backup was in a cluster, and whether it still is.

    :ivar cluster: name of the cluster
    :ivar node: name of its Node
    :ivar answers: whether the cluster's API server answers
    :ivar joined_at: when the Node of this name joined, RFC 3339; None when there is none
    :ivar is_linked: whether that Node has a providerID
    """

    cluster: str
    node: str
    answers: bool
    joined_at: str | None
    is_linked: bool = True


class Since(NamedTuple):
    """What has become of hosts since a backup was taken.

    :ivar members: host that was a node then → what it is by now
    :ivar joined: host → in words, of which Node, that it was not then, it is the server
    :ivar unknown: in words, why any host that was free then may be a node by now; empty when none can
    """

    members: dict[str, Member]
    joined: dict[str, str]
    unknown: str


NOBODY = Since({}, {}, "")


def node_now(node: Object) -> NodeNow:
    """Return what is asked of a Node."""
    node = of_kind(node, "Node")
    metadata = node["metadata"]
    return NodeNow(str(metadata.get("creationTimestamp") or ""), str(node["spec"].get("providerID") or ""),
                   str((metadata.get("labels") or {}).get(UUID_LABEL) or ""),
                   frozenset(str(item["address"]) for item in (node.get("status") or {}).get("addresses") or []
                             if item.get("type") in ("InternalIP", "ExternalIP") and item.get("address")))


def clusters_of(objects: Iterable[Object]) -> list[str]:
    """Return the names of the clusters of a backup."""
    objects = list(objects)
    names = set(obj["metadata"]["name"] for obj in objects if key(obj)[:2] == CLUSTER)
    return sorted(names | set(node.cluster for node in nodes_of(objects).values()))


def since(objects: Iterable[Object], nodes: Mapping[str, Mapping[str, NodeNow] | None], taken_at: str,
          present: Iterable[Object] = ()) -> Since:
    """Return what has become of the hosts of a backup.

    :param objects: of the backup
    :param nodes: cluster, of the backup or of the plane → its Nodes by their names, or None when it could not be asked
    :param taken_at: when the backup was taken, RFC 3339 in UTC
    :param present: objects of the plane that it is restored into, whose hosts are known by their Machines
    """
    objects = list(objects)
    known = set(nodes_of(present).values())
    then = nodes_of(objects)
    members = dict((name, _member(was, nodes.get(was.cluster))) for name, was in then.items())
    hosts = dict((obj["metadata"]["name"], obj) for obj in objects if key(obj)[:2] == HOST)
    by_uid = dict((str(host["metadata"].get("uid")), name) for name, host in hosts.items())
    addresses = _addresses(objects)
    joined: dict[str, str] = {}
    unknown: list[str] = []
    own = clusters_of(objects)
    for cluster in sorted({*own, *nodes}):
        found = nodes.get(cluster)
        if found is None and cluster in own:
            unknown.append(f"the API server of the cluster {cluster} does not answer")
        for node, now in sorted((found or {}).items()):
            name, machine = _host_of(now, hosts, by_uid)
            title = f"the Node {node} of the cluster {cluster}"
            if name is not None:
                if not _was_so(name, HostNode(cluster, node), machine, then, hosts[name]):
                    joined[name] = f"it is {title} by now, which it was not when the backup was taken"
            elif HostNode(cluster, node) not in known and _is_later(now.joined_at, taken_at):
                # What was there before was none of the hosts that were free then.
                says = f"has the providerID {now.provider_id}, of no host of the backup" if now.provider_id else \
                    "does not say on which host it runs"
                unknown.append(f"{title} has joined since ({now.joined_at}) and {says}")
                for other in sorted(set(addresses) - set(then)):
                    for address in sorted(now.addresses & addresses[other])[:1]:
                        joined.setdefault(other, f"{title} has joined since ({now.joined_at}), and has the address "
                                          f"{address}, which this host had when it was inspected")
    return Since(members, joined, few(unknown, _SHOWN))


def _member(was: HostNode, nodes: Mapping[str, NodeNow] | None) -> Member:
    node = (nodes or {}).get(was.node)
    if node is None:
        return Member(was.cluster, was.node, nodes is not None, None)
    return Member(was.cluster, was.node, True, node.joined_at, bool(node.provider_id))


def _host_of(node: NodeNow, hosts: Mapping[str, Object], by_uid: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return the host that a Node names, and its Metal3Machine; None for what it does not say or is not in the backup.

    A namespace is not compared: hosts are moved to others, and their Nodes stay as they are.
    """
    if node.provider_id.startswith(_SCHEME):
        parts = node.provider_id.removeprefix(_SCHEME).split("/")
        if len(parts) == 3 and parts[1] in hosts:
            return parts[1], parts[2]
        if len(parts) == 1 and parts[0] in by_uid:
            return by_uid[parts[0]], None
    return by_uid.get(node.host_uid), None


def _is_later(joined_at: str, taken_at: str) -> bool:
    return not joined_at or joined_at > taken_at


def _was_so(name: str, node: HostNode, machine: str | None, then: Mapping[str, HostNode], host: Object) -> bool:
    if name in then:
        return then[name] == node
    # A machine that had not said yet of which Node it is.
    consumer = (of_kind(host, "BareMetalHost")["spec"].get("consumerRef") or {}).get("name")
    return machine is not None and machine == consumer


def _addresses(objects: Iterable[Object]) -> dict[str, set[str]]:
    """Return the IP addresses that each host had when it was inspected. DHCP may lend them to others since."""
    found: dict[str, set[str]] = {}
    for obj in objects:
        if key(obj)[1] == "HardwareData":
            hardware = of_kind(obj, "HardwareData")["spec"].get("hardware") or {}
            found[obj["metadata"]["name"]] = set(str(nic["ip"]) for nic in hardware.get("nics") or [] if nic.get("ip"))
    return found
