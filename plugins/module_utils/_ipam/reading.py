# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pools, addresses and claims of a namespace as an API server has them, and who has which address."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._common.documents import object_shape
from .._kube.api import bulk
from .._kube.kinds.resources import Resource
from .._kube.objects.finalizers import deletion_of
from .._kube.reconcile.plan import by_name
from .._kube.responses.errors import KubeError
from .._metal3.kinds import CAPI_VERSION, KNOWN, OLDER_IPAM
from . import goals
from .usage import usage

POOL = KNOWN["IPPool"]
CLAIM_RESOURCES = {"IPClaim": KNOWN["IPClaim"], "IPAddressClaim": KNOWN["IPAddressClaim"]}
CAPI_ADDRESS = Resource("ipam.cluster.x-k8s.io", CAPI_VERSION, "ipaddresses", "IPAddress", True, OLDER_IPAM)
ADDRESS_RESOURCES = (KNOWN["IPAddress"], CAPI_ADDRESS)


class Addresses:
    """The pools, addresses and claims of a namespace, as listed at one time.

    :param client: a KubeClient
    :param namespace: namespace name
    :raises KubeError: when they can't be listed
    """

    def __init__(self, client: Any, namespace: str):
        resources = (POOL,) + ADDRESS_RESOURCES + tuple(CLAIM_RESOURCES.values())
        outcomes = bulk.run([lambda resource=resource: _listed(client, resource, namespace) for resource in resources])
        for outcome in outcomes:
            if outcome.error is not None:
                raise outcome.error
        pools, own, capi, claims, capi_claims = [outcome.value for outcome in outcomes]
        pools = [object_shape.shaped(item, object_shape.POOL) for item in pools]
        self.pools = by_name(pools)
        self.addresses = readable(own + capi)
        self.claims = [object_shape.shaped(item, object_shape.CLAIM) for item in claims + capi_claims]

    def claim(self, kind: str, name: str | None) -> dict[str, Any] | None:
        """Return one claim, or None."""
        return next((claim for claim in self.claims
                     if (claim["kind"], claim["metadata"]["name"]) == (kind, name)), None)

    def usage(self, name: str) -> dict[str, Any]:
        """Return who has which address of a pool (see ``ipam_usage.usage``)."""
        return usage(self.pools[name], self.addresses, self.claims)

    def address_of(self, kind: str, name: str) -> str | None:
        """Return the address that a claim has, None without one.

        An address that is given back is none: IPAM gives it to another claim as soon as this one is gone.
        """
        claim = self.claim(kind, name)
        answer = "" if deletion_of(claim) else goals.answer(claim)
        for item in self.addresses:
            spec = item["spec"]
            reference = spec.get("claim") if kind == "IPClaim" else spec.get("claimRef")
            if (item["metadata"]["name"], (reference or {}).get("name")) == (answer, name):
                return spec["address"]
        return None


def readable(items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the IPAddresses, of both kinds, that have an address; all their other fields may be missing."""
    shaped = [object_shape.shaped(item, object_shape.ADDRESS) for item in items]
    return [item for item in shaped if item["spec"].get("address")]


def _listed(client: Any, resource: Resource, namespace: str) -> list[dict[str, Any]]:
    try:
        return client.list(resource, namespace)[0]
    except KubeError as exc:
        # Cluster API's part of IPAM may be missing; IPAM's own must be there.
        if exc.status == 404 and resource.group != POOL.group:
            return []
        if exc.status == 404:
            raise KubeError(f"the API server {client.server} does not know {resource.kind}s; install IPAM first "
                            "(playbook metal3.baremetal.install)", 404) from exc
        raise


def read_usage(client: Any, namespace: str, names: list[str] | None = None,
               cluster_name: str | None = None) -> dict[str, Any]:
    """Return the result of ``ip_address_info``.

    :param names: pools to report on, None for all
    :param cluster_name: report only on pools of this cluster
    """
    known = Addresses(client, namespace)
    pools = [known.usage(name) for name in sorted(known.pools) if names is None or name in names]
    if cluster_name:
        pools = [pool for pool in pools if pool["cluster_name"] == cluster_name]
    return {"pools": pools, "missing": [name for name in names or [] if name not in known.pools],
            "leaked": [dict(leak, pool=pool["name"]) for pool in pools for leak in pool["leaked"]]}
