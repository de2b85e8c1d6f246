# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the clusters of a backup which Nodes they have by now."""
from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..._kube import bulk, kubeconfig
from ..._kube.client import KubeClient
from ..._kube.errors import KubeError
from ..._kube.resources import KNOWN
from ..objects.graph import by_key
from .hosts import nodes_of

Object = dict[str, Any]

_ANSWER_SECONDS = 10


class Member(NamedTuple):
    """What a host of a backup was in a cluster, and whether it still is.

    :ivar cluster: name of the cluster
    :ivar node: name of its Node
    :ivar answers: whether the cluster's API server answers
    :ivar joined_at: when the Node of this name joined, RFC 3339; None when there is none
    """

    cluster: str
    node: str
    answers: bool
    joined_at: str | None


def must_answer(client: Any) -> None:
    """Ask an API server for what is quickly said: a LIST may take minutes; who does not answer to this does not answer.

    :raises KubeError: when it does not
    """
    try:
        client.request("GET", "/version", timeout_seconds=_ANSWER_SECONDS, any_content=True)
    except KubeError as exc:
        # Not every cluster lets everybody read its version; what counts is that it answers.
        if exc.status != 403:
            raise


def members(objects: Iterable[Object],
            client_of: Callable[[dict[str, Any]], Any] = KubeClient) -> dict[str, Member]:
    """Return what each host that is a machine of a cluster is by now, host's name → Member.

    A cluster is asked by the kubeconfig in the backup, of which only inline data is used.

    :param objects: of the backup
    :param client_of: callable that takes the options of a KubeClient
    """
    objects = list(objects)
    found, wanted = by_key(objects), nodes_of(objects)
    clusters = sorted(set(cluster for cluster, _node in wanted.values()))
    outcomes = bulk.run([_asker(found, cluster, client_of) for cluster in clusters])
    nodes = dict((cluster, outcome.value if outcome.error is None else None)
                 for cluster, outcome in zip(clusters, outcomes))
    return dict((name, Member(cluster, node, nodes[cluster] is not None, (nodes[cluster] or {}).get(node)))
                for name, (cluster, node) in wanted.items())


def _asker(found: Any, cluster: str, client_of: Callable[[dict[str, Any]], Any]) -> Callable[[], dict[str, str]]:
    def ask() -> dict[str, str]:
        name = f"{cluster}-kubeconfig"
        source = f"Secret {name} of the backup"
        secret = found.get(("", "Secret", name)) or {}
        try:
            content = base64.b64decode((secret.get("data") or {})["value"])
        except (KeyError, TypeError, ValueError, binascii.Error):
            raise kubeconfig.invalid(source, "found no kubeconfig, expected the cluster's") from None
        client = client_of({"kubeconfig_content": kubeconfig.inline(content, source), "kubeconfig_name": source})
        must_answer(client)
        return dict((str(item["metadata"]["name"]), str(item["metadata"].get("creationTimestamp") or ""))
                    for item in client.list(KNOWN["Node"])[0])
    return ask
