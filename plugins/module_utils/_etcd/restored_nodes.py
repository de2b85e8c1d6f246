# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrects what a restored cluster has of before: Nodes of machines that are gone, the address of etcd's member."""
from __future__ import annotations

from typing import Any

from .._cluster.workflow.snapshot import node_name
from .._common.documents.tolerant import dict_in, dicts_in, list_in
from .._kube.kinds.resources import KNOWN
from .._kube.objects.conditions import condition
from .._kube.responses.errors import KubeError
from . import site as sites
from .errors import EtcdError

Object = dict[str, Any]

_CONTROL_PLANE_NODES = "node-role.kubernetes.io/control-plane"


def delete_stale(workload: Any, made: Object, machines: list[Object], is_linked: bool, progress: Any) -> list[str]:
    """Delete the Nodes of control plane machines that are not there any more, as the snapshot still has them.

    :param workload: a KubeClient of the restored cluster
    :param made: the Machine that was made
    :param machines: all of the cluster
    :param is_linked: whether it is known which Node is that of ``made``; until then it is one that is younger, or
        has its name, or has a kubelet that answers
    :param progress: a Progress
    :returns: names of those that were deleted
    :raises KubeError: when the cluster's API server can't be asked or refuses
    """
    known = set(node_name(machine) for machine in machines) | {made["metadata"]["name"]}
    removed = []
    for node in workload.list(KNOWN["Node"], None, _CONTROL_PLANE_NODES)[0]:
        name = node["metadata"]["name"]
        is_younger = (node["metadata"].get("creationTimestamp") or "") >= made["metadata"]["creationTimestamp"]
        # Unknown is what a silent one becomes; one that answers is not Ready before its network is.
        answers = condition(node, "Ready").get("status") in ("True", "False")
        if name in known or (not is_linked and (is_younger or answers)):
            continue
        try:
            # Whether a kubelet answers may have changed since.
            workload.delete(KNOWN["Node"], None, name, uid=node["metadata"]["uid"],
                            checked=None if is_linked else node)
        except KubeError as exc:
            if not exc.is_conflict or is_linked:
                raise
            # Looked at once more with all others.
            continue
        progress.wrote(f"Node {name}", "deleted")
        removed.append(name)
    return removed


def has_own_address(client: Any, workload: Any, site: Any, node: str, progress: Any) -> bool:
    """Give etcd's only member the address by which others will reach it, as its pod has it.

    :param client: a KubeClient of the management cluster
    :param workload: a KubeClient of the restored cluster
    :param site: the cluster as the management cluster has it, a Site
    :param node: name of the member's Node
    :param progress: a Progress
    :returns: whether it has the address
    :raises KubeError: when the cluster's API server can't be asked
    """
    urls = _peer_urls(workload.get(KNOWN["Pod"], "kube-system", f"etcd-{node}"))
    if not urls:
        return False
    member = _member(client, workload, site, node)
    try:
        members = member.members()
        if len(members) != 1:
            # Others have joined, which they could not without it.
            return bool(members)
        if members[0].get("peerURLs") != urls:
            member.set_peer_urls(str(members[0].get("ID")), urls)
        return True
    except EtcdError as exc:
        progress.status(f"etcd on Node {node}: {exc}", "")
        return False


def _member(client: Any, workload: Any, site: Any, node: str) -> Any:
    return sites.Member(workload, node, sites.context_of(client, site))


def _peer_urls(pod: Object | None) -> list[str]:
    """Return what a static pod of etcd says of where others reach it."""
    option = "--initial-advertise-peer-urls="
    for container in dicts_in(dict_in(pod, "spec"), "containers"):
        for argument in list_in(container, "command"):
            if isinstance(argument, str) and argument.startswith(option):
                return [url for url in argument[len(option):].split(",") if url]
    return []
