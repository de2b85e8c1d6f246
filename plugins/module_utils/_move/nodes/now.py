# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the clusters of a backup which Nodes they have by now."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

from ..._kube.api import bulk
from ..._kube.api.client import KubeClient
from ..._kube.api.workload_client import elsewhere
from ..._kube.connection import kubeconfig
from ..._kube.kinds.resources import KNOWN
from ..._kube.objects import secret_data
from ..._kube.responses.errors import KubeError
from ..objects.graph import CLUSTER, by_key
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

    A cluster is asked by the kubeconfig in the backup, of which only inline data is used, at its own endpoint.

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
        content = _kubeconfig(found, cluster)
        words = elsewhere(content, found.get((*CLUSTER, cluster)), _source(cluster))
        if words:
            raise kubeconfig.invalid(_source(cluster), words)
        client = client_of({"kubeconfig_content": content, "kubeconfig_name": _source(cluster)})
        must_answer(client)
        return dict((str(item["metadata"]["name"]), node_now(item)) for item in client.list(KNOWN["Node"])[0])
    return ask


def warnings(objects: Iterable[Object]) -> list[str]:
    """Return a warning for each cluster that is not asked because its kubeconfig leads elsewhere than its Cluster says.

    Who may write Secrets must not decide whose Nodes say what has become of hosts.

    :param objects: as for :func:`of_clusters`
    """
    objects = list(objects)
    found = by_key(objects)
    result = []
    for cluster in clusters_of(objects):
        with contextlib.suppress(KubeError):
            words = elsewhere(_kubeconfig(found, cluster), found.get((*CLUSTER, cluster)), _source(cluster))
            if words:
                result.append(f"{_source(cluster)}: {words}; its Nodes were not asked: find out who has written it")
    return result


def _source(cluster: str) -> str:
    return f"Secret {cluster}-kubeconfig of the backup"


def _kubeconfig(found: Any, cluster: str) -> dict[str, Any]:
    content = secret_data.value(found.get(("", "Secret", f"{cluster}-kubeconfig")), "value")
    if content is None:
        raise kubeconfig.invalid(_source(cluster), "found no kubeconfig, expected the cluster's")
    return kubeconfig.inline(content, _source(cluster))
