# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the clusters of a backup which Nodes they have by now."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..._kube.api import bulk
from ..._kube.api.client import KubeClient
from ..._kube.connection import kubeconfig
from ..._kube.kinds.resources import KNOWN
from ..._kube.objects import secret_data
from ..._kube.responses.errors import KubeError
from ..objects.graph import by_key
from .since import NodeNow, clusters_of, node_now

Object = dict[str, Any]

_ANSWER_SECONDS = 10


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


def of_clusters(objects: Iterable[Object],
                client_of: Callable[[dict[str, Any]], Any] = KubeClient) -> dict[str, dict[str, NodeNow] | None]:
    """Return the Nodes of each cluster of a backup, by their names; None for a cluster that could not be asked.

    A cluster is asked by the kubeconfig in the backup, of which only inline data is used.

    :param objects: of the backup
    :param client_of: callable that takes the options of a KubeClient
    """
    objects = list(objects)
    found = by_key(objects)
    clusters = clusters_of(objects)
    outcomes = bulk.run([_asker(found, cluster, client_of) for cluster in clusters])
    return dict((cluster, outcome.value if outcome.error is None else None)
                for cluster, outcome in zip(clusters, outcomes))


def _asker(found: Any, cluster: str, client_of: Callable[[dict[str, Any]], Any]) -> Callable[[], dict[str, NodeNow]]:
    def ask() -> dict[str, NodeNow]:
        name = f"{cluster}-kubeconfig"
        source = f"Secret {name} of the backup"
        content = secret_data.value(found.get(("", "Secret", name)), "value")
        if content is None:
            raise kubeconfig.invalid(source, "found no kubeconfig, expected the cluster's")
        client = client_of({"kubeconfig_content": kubeconfig.inline(content, source), "kubeconfig_name": source})
        must_answer(client)
        return dict((str(item["metadata"]["name"]), node_now(item)) for item in client.list(KNOWN["Node"])[0])
    return ask
