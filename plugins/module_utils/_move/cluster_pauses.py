# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resumes the Clusters of a move, which clusterctl pauses and leaves so when it is killed; no others."""
from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from .._kube.plan import UNCHANGED, UPDATE, Entry
from .._kube.reconcile import Reconcile, raise_refused
from . import graph
from .reading import Side

Object = dict[str, Any]


def resume(side: Side, keys: Collection[tuple[str, str, str]], progress: Any, sleep: Callable[[float], Any]) -> None:
    """Resume Clusters that are paused.

    :param side: the Side they are on, as it was read
    :param keys: of the objects of the move, whose Clusters were not paused when it began
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :raises KubeError: when the API server refuses, or one is another one by now
    """
    writes = _Resumptions(side.client, False, progress, sleep)
    raise_refused(side.client, writes.write([_entry(side.resources[graph.key(cluster)[:2]], side.namespace, cluster)
                                             for cluster in side.clusters() if graph.key(cluster) in keys]))


class _Resumptions(Reconcile):
    def plan_again(self, entry: Entry, stored: Object | None) -> Entry:
        """Return the entry for the Cluster as it is by now."""
        return entry._replace(action=UNCHANGED) if stored is None else _entry(
            entry.resource, entry.namespace or "", stored)


def _entry(resource: Any, namespace: str, cluster: Object) -> Entry:
    paused = (cluster.get("spec") or {}).get("paused")
    return Entry(resource, namespace, cluster["metadata"]["name"], UPDATE if paused else UNCHANGED, None, cluster,
                 {"paused": paused}, {}, {"spec": {"paused": None}})
