# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""IP pools on an API server: read once, check all, write what differs."""
from __future__ import annotations

import time
from typing import Any, Callable

from .._common.documents import object_shape
from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem
from .._common.texts.plain_text import few
from .._host.description.objects import MANAGED_BY_LABEL, MANAGER
from .._kube.reconcile.plan import UNCHANGED, Entry, absent, deletion
from .._kube.reconcile.reconcile import Reconcile, Written
from .._kube.reconcile.report import counts, difference
from .._kube.responses.advice import reading_failed
from .._kube.responses.errors import KubeError
from .._metal3.kinds import CLUSTER_LABEL, KNOWN, resource_for
from . import pool as ipam_pool
from . import validation as ipam_validation
from .address_fields import FIELDS, outdated
from .options import is_present
from .reading import POOL, Addresses
from .usage import usage

_CRD = KNOWN["CustomResourceDefinition"]
_POOL_CRD = "ippools.ipam.metal3.io"


class PoolWrites(Reconcile):
    """Writes of pools; what becomes of addresses in use is checked again by what is read again.

    :param service: the PoolService
    """

    def __init__(self, client: Any, check_mode: bool, progress: Any, sleep: Callable[[float], Any],
                 service: PoolService):
        super().__init__(client, check_mode, progress, sleep, resource_for)
        self._service = service
        self._known = {}

    def read_again(self, entry: Entry) -> dict[str, Any] | None:
        """Return the pool; its addresses are read again as well."""
        known = self._known[entry.name] = Addresses(self.client, entry.namespace or self._service.namespace)
        return known.pools.get(entry.name)

    def problems_again(self, entry: Entry, stored: dict[str, Any] | None) -> list[Any]:
        """Return which addresses in use stand in the way."""
        return self._service.problems_with(entry.name, self._known[entry.name])


class PoolService:
    """One run of ``ip_pool``.

    :param client: a KubeClient
    :param params: the module's parameters
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 sleep: Callable[[float], Any] = time.sleep):
        self.client = client
        self.namespace = params["namespace"]
        self.pools = params["pools"]
        self.present = [pool for pool in self.pools if is_present(pool)]
        self.warnings: list[str] = []
        self.writes = PoolWrites(client, check_mode, progress, sleep, self)

    def run(self) -> dict[str, Any]:
        """Do it all and return the module's result.

        :raises RefusedError: when the list has mistakes
        :raises KubeError: when the API server can't be asked
        """
        known = Addresses(self.client, self.namespace)
        written = self._written(self._entries(known))
        results = [_pool_result(item, known) for item in written]
        return {"changed": any(item.changed for item in written), "pools": results, "counts": counts(results),
                "diff": [difference(item.entry) for item in written if item.changed],
                "warnings": self.warnings + [
                    line for item in written if item.changed for line in _kept(item.entry, known)]}

    def _written(self, entries: list[Entry]) -> list[Written]:
        """Write all or nothing of what the API server refuses at once.

        Addresses may go from one pool to another. Were only the pool written that gets them, both would give them away.
        """
        if sum(entry.changes for entry in entries) < 2:
            return self.writes.write(entries)
        tried = self.writes.dry_run(entries)
        refused = sum(item.error is not None for item in tried)
        if refused:
            self.warnings.append(f"no pool of the list was written, because the API server refuses {refused} of "
                                 f"{sum(entry.changes for entry in entries)} changes")
            return [item if item.error is not None else
                    Written(item.entry._replace(action=UNCHANGED), item.entry.current, None) for item in tried]
        return tried if self.writes.check_mode else self.writes.write([item.entry for item in tried])

    def _entries(self, known: Addresses) -> list[Entry]:
        names = set(pool.get("name") for pool in self.pools)
        others = [ipam_pool.describe(pool) for name, pool in sorted(known.pools.items()) if name not in names]
        found = ipam_validation.pool_problems(self.pools, self.namespace, others) + self._strategy()
        found += self._of_clusters(known) + ipam_validation.reserved_problems(
            self.present, self.namespace, self._clusters(), known.addresses)
        if not found:
            found = [line for pool in self.pools for line in self.problems_with(pool["name"], known)]
        if found:
            raise RefusedError(found)
        planned = dict((entry.name, entry) for entry in self.writes.plan(
            [ipam_pool.render(pool, self.namespace) for pool in self.present], {(POOL, self.namespace): known.pools}))
        return [planned.get(pool["name"]) or self._deletion(pool["name"], known) for pool in self.pools]

    def _deletion(self, name: str, known: Addresses) -> Entry:
        return deletion(POOL, known.pools[name]) if name in known.pools else absent(POOL, self.namespace, name)

    def problems_with(self, name: str, known: Addresses) -> list[Any]:
        """Return why a pool must not be written, or deleted, for the addresses that are in use."""
        pool = next(pool for pool in self.pools if pool["name"] == name)
        return self._change_problems(pool, known) if is_present(pool) else self._use_problems(name, known)

    def _change_problems(self, pool: dict[str, Any], known: Addresses) -> list[Problem]:
        current = known.pools.get(pool["name"])
        if current is None:
            return []
        return ipam_validation.change_problems(pool, ipam_pool.describe(current), self.namespace,
                                               known.usage(pool["name"])["allocations"])

    def _strategy(self) -> list[Problem]:
        """IPAM 1.13 has no allocationStrategy and would drop the field without a word."""
        asking = [pool["name"] for pool in self.present if pool.get("allocation_strategy")]
        if not asking:
            return []
        crd = self.client.get(_CRD, None, _POOL_CRD)
        for version in ((crd or {}).get("spec") or {}).get("versions") or []:
            schema = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
            if version["name"] == POOL.version and "allocationStrategy" in schema:
                return []
        return [Problem("pool", f"IPPool {self.namespace}/{name}", "allocation_strategy", "a value",
                        "none, for the IPAM of this API server has no such field", "upgrade IPAM or leave it out")
                for name in asking]

    def _of_clusters(self, known: Addresses) -> list[Problem]:
        """Return the pools that the description of a cluster makes.

        The module cluster applies as the same manager: an apply without its labels and the cluster's name would take
        these away, and the next one of the cluster what is written here.
        """
        stored = [known.pools[pool["name"]]["metadata"] for pool in self.pools if pool["name"] in known.pools]
        labels = dict((metadata["name"], metadata.get("labels") or {}) for metadata in stored)
        clusters = dict((name, found[CLUSTER_LABEL]) for name, found in labels.items()
                        if found.get(MANAGED_BY_LABEL) == MANAGER and found.get(CLUSTER_LABEL))
        there = [cluster for cluster in sorted(set(clusters.values()))
                 if self.client.get(KNOWN["Cluster"], self.namespace, cluster) is not None]
        return [Problem("owned-by-others", ipam_validation.label(name, self.namespace), "name",
                        f"a pool that the description of cluster {cluster} makes", "a pool of no cluster",
                        f"change it in the networks of cluster {cluster}, or choose another name")
                for name, cluster in clusters.items() if cluster in there]

    def _clusters(self) -> list[dict[str, Any]]:
        """Return the Metal3Clusters of the namespace; IPAM may be without CAPM3."""
        kind = KNOWN["Metal3Cluster"]
        try:
            clusters: list[dict[str, Any]] = self.client.list(kind, self.namespace)[0] if self.present else []
        except KubeError as exc:
            if exc.status not in (403, 404):
                raise
            if exc.status == 403:
                self.warnings.append("the ranges of the pools are not compared with the endpoints of clusters: "
                                     f"{reading_failed(exc, kind, self.namespace, self.client.server, 'list')}")
            return []
        return clusters

    def _use_problems(self, name: str, known: Addresses) -> list[Problem]:
        used = known.usage(name)["allocations"] if name in known.pools else []
        return [Problem("ip-pool-in-use", f"IPPool {self.namespace}/{name}", "", "%d addresses in use (%s)" % (
            len(used), few([f"{entry['address']} by {entry['claim']}" for entry in used], 5)), "none",
            "delete the claims, or the cluster that has them, first")] if used else []


def _kept(entry: Entry, known: Addresses) -> list[str]:
    """Return the warning of addresses that keep what changes of their pool, in a list."""
    if entry.current is None or entry.desired is None or entry.name not in known.pools:
        return []
    found = outdated(ipam_pool.describe(entry.current), ipam_pool.describe(entry.desired),
                     known.usage(entry.name)["allocations"])
    fields = " and ".join(field for field in FIELDS if any(field in changed for _address, changed in found))
    used = few([f"{address['address']} of {address['claim']}" for address, _changed in found], 5)
    return [f"{entry.title}: another {fields} counts for addresses that are given from now on: {used} "
            f"keep{'s' if len(found) == 1 else ''} that of before"] if found else []


def _pool_result(item: Written, known: Addresses) -> dict[str, Any]:
    result = {"name": item.entry.name, "action": item.action, "error": item.message}
    stored = item.entry.desired and (item.value if item.error is None else item.entry.current or item.entry.desired)
    if stored:
        used = usage(object_shape.shaped(stored, object_shape.POOL), known.addresses, known.claims)
        result.update(total=used["total"], used=used["used"], free=used["free"])
    return result
