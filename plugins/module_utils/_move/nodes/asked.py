# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks out of short-lived pods on the nodes that servers are whether they reach the Ironic that takes over."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..._bmc.preflight import reach
from ..._common.texts.plain_text import few
from ..._elsewhere import answered, asking
from ..._kube.api import bulk, cluster_identity
from ..._kube.api.workload_client import secret_title, workload_client
from ..._kube.objects.deployments import has_available_pod
from ..._kube.pods import short_pods
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..handover import provisioning_reading
from . import hosts as host_nodes
from . import now as nodes_now
from . import question as node_question
from .question import Asked, Place

Object = dict[str, Any]

_SHOWN = 8
_NO_NODE = "no node of a cluster, so that nobody can be asked there"


class _Unknown(NamedTuple):
    """Why nothing can be asked; see :class:`Asked`."""

    reason: str
    is_expected: bool = True


class NodesAsked:
    """One run of the module ``node_reach_check``.

    :param here: a KubeClient of the plane that lets go
    :param there: a KubeClient of the plane that takes over
    :param params: the module's parameters
    :param check_mode: whether no pod is made
    :param progress: a Progress
    :param client_of: callable that takes a client of the plane, a namespace and a cluster, and returns a client of that
        cluster, or None when it has no kubeconfig
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, here: Any, there: Any, params: Mapping[str, Any], check_mode: bool, progress: Any,
                 client_of: Callable[[Any, str, str], Any] = workload_client,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep) -> None:
        self._here, self._there, self._params, self._check_mode = here, there, params, check_mode
        self._progress, self._client_of, self._clock, self._sleep = progress, client_of, clock, sleep

    def result(self) -> dict[str, Any]:
        """Return the module's result.

        :raises KubeError: when one of the planes can't be asked
        """
        hosts = self._listed("BareMetalHost")
        nodes = host_nodes.nodes_of([*hosts, *self._listed("Machine"), *self._listed("Metal3Machine")])
        deployment, targets, unknown = self._ironic()
        names = sorted(host["metadata"]["name"] for host in hosts)
        asked = [Asked(name, "", (), _NO_NODE, True) for name in names if name not in nodes]
        if unknown is not None:
            asked = [Asked(name, "", (), unknown.reason, unknown.is_expected) for name in names]
        elif self._check_mode:
            places = " and ".join(str(place) for place in targets)
            asked += [Asked(name, "", (), f"a run without check mode asks from {_place(node)} for {places}", True)
                      for name, node in nodes.items()]
        else:
            asked += self._from_nodes(nodes, targets, self._params["image"] or node_question.image(deployment))
        found = node_question.checks(sorted(asked), targets)
        return {"changed": False, "checks": found, "targets": [str(place) for place in targets],
                "from_uid": self._uid_of(self._here), "to_uid": self._uid_of(self._there)}

    def _uid_of(self, client: Any) -> str:
        """Return which cluster was asked; empty when nobody may look, which the check of both planes reports."""
        try:
            return cluster_identity.uid_of(client)
        except KubeError as exc:
            if exc.status not in (403, 404) and not self._may_be_silent(exc):
                raise
            return ""

    def _may_be_silent(self, error: KubeError) -> bool:
        """Say whether the plane that takes over is one that a run without check mode starts."""
        return self._check_mode and bool(self._params.get("to_may_be_stopped")) and error.reason == "Unreachable"

    def _listed(self, kind: str) -> list[Object]:
        try:
            items: list[Object] = self._here.list(KNOWN[kind], self._params["namespace"])[0]
            return items
        except KubeError as exc:
            # A plane without Cluster API, or a missing right, which the check of both planes reports with all else.
            if exc.status not in (403, 404):
                raise
            return []

    def _ironic(self) -> tuple[Object, list[Place], _Unknown | None]:
        """Return the Deployment of the Ironic that takes over, where servers reach it, and why nothing can be asked."""
        namespace, name = self._params["ironic_namespace"], self._params["ironic_deployment"]
        where = f"Deployment {namespace}/{name}"
        try:
            return self._read_ironic(namespace, name, where)
        except KubeError as exc:
            if exc.status != 403 and not self._may_be_silent(exc):
                raise
            return {}, [], _Unknown(f"{where} can't be read: {exc.message}")
        except ValueError as exc:
            return {}, [], _Unknown(f"{where}: {exc}", False)

    def _read_ironic(self, namespace: str, name: str, where: str) -> tuple[Object, list[Place], _Unknown | None]:
        deployment = self._there.get(KNOWN["Deployment"], namespace, name)
        if deployment is None or not has_available_pod(deployment):
            return {}, [], _Unknown(f"over there is no {where} with an available pod, which says where Ironic is")
        targets = node_question.places(deployment, provisioning_reading.config_maps(self._there, deployment))
        return deployment, targets, None if targets else _Unknown(f"{where} does not say which address Ironic has")

    def _from_nodes(self, nodes: Mapping[str, host_nodes.HostNode], targets: list[Place], image: str) -> list[Asked]:
        clusters = sorted(set(node.cluster for node in nodes.values()))
        if nodes:
            self._progress.event(f"asking from {len(nodes)} nodes of {few(clusters, _SHOWN)} whether they reach Ironic")
        outcomes = bulk.run([lambda cluster=cluster: self._of_cluster(
            cluster, dict((host, node.node) for host, node in nodes.items() if node.cluster == cluster), targets, image)
            for cluster in clusters])
        found: list[Asked] = []
        for cluster, outcome in zip(clusters, outcomes):
            if outcome.error is None:
                found += outcome.value
            else:
                found += [Asked(host, _place(node), (), f"not asked from {_place(node)}: {outcome.error}")
                          for host, node in nodes.items() if node.cluster == cluster]
        return found

    def _of_cluster(self, cluster: str, nodes: Mapping[str, str], targets: list[Place], image: str) -> list[Asked]:
        """Ask from the nodes of one cluster.

        :param nodes: name of the Node by that of its host
        """
        client = self._client_of(self._here, self._params["namespace"], cluster)
        if client is None:
            raise KubeError(f"{secret_title(self._params['namespace'], cluster)}: found none, expected the cluster's "
                            "kubeconfig")
        nodes_now.must_answer(client)
        command = asking.command(reach.questions((place.host, place.port, "tcp") for place in targets))
        seconds = self._params["timeout_seconds"]
        pods = [node_question.pod(node, self._params["pod_namespace"], image, command, seconds)
                for node in nodes.values()]
        found = []
        for (host, node), ended in zip(nodes.items(), short_pods.run(client, pods, seconds, self._clock, self._sleep)):
            place = _place(host_nodes.HostNode(cluster, node))
            said = None
            if isinstance(ended, KubeError):
                reason = str(ended)
            elif ended.words:
                reason = ended.words
            else:
                said = answered.read(ended.log, len(targets))
                reason = "" if said is not None else "no answer of its pod"
            words = tuple(answered.unreached(answer) for answer in said or ())
            found.append(Asked(host, place, words, f"not asked from {place}: {reason}" if reason else ""))
        return found


def _place(node: host_nodes.HostNode) -> str:
    return f"Node {node.node} of cluster {node.cluster}"
