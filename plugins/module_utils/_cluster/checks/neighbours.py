# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What clusters of the same run are going to store, as rules take what is stored: endpoints and pools; pure."""
from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

from ..._ipam.pool import describe
from ..._ipam.range import Span, span_of
from ..description.model import ClusterDescription
from ..description.needs import ClusterNeeds
from ..workflow.snapshot import CLUSTER_LABEL

Object = dict[str, Any]


def with_endpoints(clusters: Iterable[Object], neighbours: Iterable[tuple[ClusterNeeds, Any]],
                   description: ClusterDescription) -> list[Object]:
    """Return the stored infrastructure of clusters with the endpoints of those that are not there yet.

    :param clusters: Metal3Clusters of all namespaces
    :param neighbours: (needs, Snapshot) of the clusters of the same run
    :param description: of the cluster itself, which is none of them
    """
    found = list(clusters)
    known = {(description.namespace, description.name)}
    for item in found:
        metadata = item["metadata"]
        known.add((metadata["namespace"], (metadata.get("labels") or {}).get(CLUSTER_LABEL) or metadata["name"]))
    return found + [
        {"metadata": {"name": needs.name, "namespace": needs.namespace},
         "spec": {"controlPlaneEndpoint": dict(needs.endpoint)}}
        for needs, _snapshot in neighbours if needs.endpoint and (needs.namespace, needs.name) not in known]


def pools_to_be(neighbours: Iterable[tuple[ClusterNeeds, Any]], description: ClusterDescription,
                stored: Mapping[str, Object]) -> list[Object]:
    """Return descriptions of the pools that other clusters of the namespace make, or give other ranges.

    :param neighbours: as of :func:`with_endpoints`
    :param stored: IPPools of the namespace by name
    """
    own = set(pool["name"] for pool in description.pools)
    return [dict(pool, owner=needs.subject) for needs, _snapshot in neighbours
            if needs.namespace == description.namespace and needs.name != description.name
            for pool in needs.own_pools
            if pool["name"] not in own and not _is_as_described(stored.get(pool["name"]), pool)]


def _is_as_described(stored: Object | None, pool: Mapping[str, Any]) -> bool:
    return stored is not None and _spans(describe(stored)) == _spans(pool)


def _spans(pool: Mapping[str, Any]) -> list[Span]:
    found = []
    for range_ in pool.get("ranges") or []:
        # Its own run refuses what can't be read.
        with contextlib.suppress(ValueError):
            found.append(span_of(range_))
    return found
