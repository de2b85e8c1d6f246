# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pauses of Clusters while their objects come into a plane.

clusterctl resumes all Clusters of its run when it has ended, and leaves them as they are when it is killed. A Cluster
that is not paused before its machines are there gets other machines: Cluster API finds none.
"""
from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ..._cluster.workflow.snapshot import CLUSTER_LABEL, is_paused
from ..._host.description import annotations as host_annotations
from ..._kube.reconcile.plan import UNCHANGED, UPDATE, Entry
from ..._kube.reconcile.reconcile import Reconcile, raise_refused
from ..._metal3.kinds import KNOWN
from ..objects import graph
from ..objects.reading import Side

Object = dict[str, Any]
Key = tuple[str, str, str]

# At a Cluster that is paused for a restore: what it is to be afterwards.
RESTORING = "metal3.baremetal/restoring"
PAUSED, RESUMED = "paused", "resumed"


def resume(side: Side, keys: Collection[Key], progress: Any, sleep: Callable[[float], Any]) -> None:
    """Resume Clusters that are paused.

    :param side: the Side they are on, as it was read
    :param keys: of the objects of the move, whose Clusters were not paused when it began
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :raises KubeError: when the API server refuses, or one is another one by now
    """
    _write(side, keys, lambda cluster: {"spec": {"paused": None}} if is_paused(cluster) else None, progress, sleep)


def for_restore(obj: Object, stays_paused: bool) -> Object:
    """Return a Cluster as it is restored: paused, with a note of what it was; other objects as they are.

    :param stays_paused: whether it is to stay paused whatever it was
    """
    if graph.key(obj)[:2] != graph.CLUSTER:
        return obj
    # A backup of a plane whose restore had not ended has such a note.
    state = _noted(obj) if _noted(obj) in (PAUSED, RESUMED) else PAUSED if is_paused(obj) else RESUMED
    annotations = dict(host_annotations.of(obj), **{RESTORING: PAUSED if stays_paused else state})
    return dict(obj, metadata=dict(obj["metadata"], annotations=annotations),
                spec=dict(obj.get("spec") or {}, paused=True))


def keep(side: Side, keys: Collection[Key], progress: Any, sleep: Callable[[float], Any]) -> None:
    """Note at Clusters that are there, and paused, that they are to stay so after a restore; see :func:`resume`."""
    _write(side, keys, lambda cluster: _note(PAUSED) if is_paused(cluster) and not _noted(cluster) else None,
           progress, sleep)


def unsettled(side: Side, keys: Collection[Key]) -> list[str]:
    """Return the names of Clusters that a restore has left paused."""
    return [cluster["metadata"]["name"] for cluster in side.clusters() if graph.key(cluster) in keys
            and _noted(cluster)]


def settle(side: Side, keys: Collection[Key], progress: Any, sleep: Callable[[float], Any]) -> None:
    """Make Clusters after a restore what is noted at them; see :func:`resume`."""
    _write(side, keys, _settled, progress, sleep)


def paused_clusters(client: Any, namespace: str, hosts: Collection[Object]) -> dict[str, str]:
    """Return by name the hosts that CAPM3 pauses, each with its Cluster, which is paused.

    :param client: a KubeClient
    :param namespace: name of the namespace
    :param hosts: BareMetalHosts
    :raises KubeError: when the API server can't be asked
    """
    machines = dict((host["metadata"]["name"], reference.get("name")) for host in hosts
                    for reference in [host["spec"].get("consumerRef") or {}]
                    if reference.get("kind") == "Metal3Machine")
    if not machines:
        return {}
    paused = set(cluster["metadata"]["name"] for cluster in client.list(KNOWN["Cluster"], namespace)[0]
                 if is_paused(cluster))
    clusters = dict((machine["metadata"]["name"], (machine["metadata"].get("labels") or {}).get(CLUSTER_LABEL))
                    for machine in client.list(KNOWN["Metal3Machine"], namespace)[0])
    return dict((host, clusters[machine]) for host, machine in machines.items() if clusters.get(machine) in paused)


def _settled(cluster: Object) -> Object | None:
    after = _noted(cluster)
    return dict(_note(None), spec={"paused": True if after == PAUSED else None}) if after else None


def _note(after: str | None) -> Object:
    return {"metadata": {"annotations": {RESTORING: after}}}


def _noted(cluster: Object) -> str | None:
    return host_annotations.of(cluster).get(RESTORING)


def _write(side: Side, keys: Collection[Key], change: Callable[[Object], Object | None], progress: Any,
           sleep: Callable[[float], Any]) -> None:
    writes = _Pauses(side.client, progress, sleep, change)
    raise_refused(side.client, writes.write([
        writes.entry(side.resources[graph.CLUSTER], side.namespace, cluster)
        for cluster in side.clusters() if graph.key(cluster) in keys]))


class _Pauses(Reconcile):
    """Patches of Clusters; ``change`` takes a Cluster and returns its patch, None for none."""

    def __init__(self, client: Any, progress: Any, sleep: Callable[[float], Any],
                 change: Callable[[Object], Object | None]) -> None:
        super().__init__(client, False, progress, sleep)
        self._change = change

    def entry(self, resource: Any, namespace: str, cluster: Object) -> Entry:
        """Return the entry for a Cluster as it was read."""
        patch = self._change(cluster)
        before, after = {"paused": is_paused(cluster)}, dict((patch or {}).get("spec") or {})
        return Entry(resource, namespace, cluster["metadata"]["name"], UPDATE if patch else UNCHANGED, None, cluster,
                     before, after, patch)

    def plan_again(self, entry: Entry, stored: Object | None) -> Entry:
        """Return the entry for the Cluster as it is by now."""
        return entry._replace(action=UNCHANGED) if stored is None else self.entry(
            entry.resource, entry.namespace or "", stored)
