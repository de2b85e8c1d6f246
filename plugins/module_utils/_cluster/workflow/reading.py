# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what belongs to a cluster: one LIST of each kind that its provider has."""
from __future__ import annotations

from ..._common.waiting import parallel
from ..._ipam.reading import ADDRESS_RESOURCES, CLAIM_RESOURCES, readable
from ..._kube.api import bulk
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..description.providers import CLASS_KINDS, RESOURCE_SET, provider_of, provider_of_cluster
from ..description.spec import METAL3
from .snapshot import Snapshot


def read_all(client, namespace, provider):
    """Return ``(objects, addresses)``: dict of kind to list of objects, and the IPAddresses of both kinds.

    :param provider: the Provider whose kinds are read
    :raises KubeError: when the API server can't be asked, or lacks the management plane's kinds
    """
    kinds = provider.workflow_kinds + provider.template_kinds + provider.beside_kinds
    more = [*ADDRESS_RESOURCES, CLAIM_RESOURCES["IPAddressClaim"]] if provider.name == METAL3 else []
    values = _lists(client, namespace, [KNOWN[kind] for kind in kinds] + more, provider)
    objects = dict(zip(kinds, values))
    if not more:
        return objects, []
    objects["IPAddressClaim"] = values[-1]
    return objects, readable(values[-3] + values[-2])


def _lists(client, namespace, resources, provider):
    return parallel.values(bulk.run([lambda resource=resource: _listed(client, resource, namespace, provider)
                                     for resource in resources]))


def _listed(client, resource, namespace, provider):
    try:
        return client.list(resource, namespace)[0]
    except KubeError as exc:
        if exc.status == 404 and resource.group.startswith("ipam."):
            return []
        # Who has no right to read classes has made none.
        if exc.status == 403 and resource.kind in CLASS_KINDS:
            return []
        # Likewise, and a plane may be without them.
        if exc.status in (403, 404) and resource.kind == RESOURCE_SET:
            return []
        if exc.status == 404:
            raise KubeError(f"the API server {client.server} does not know {resource.kind}s; {provider.install}",
                            404) from exc
        raise


def snapshot_of(client, namespace, cluster, provider=None):
    """Return the Snapshot of a cluster as it is now.

    :param provider: the Provider whose kinds are read; by default that which the stored Cluster names
    """
    if provider is None:
        provider = provider_of_cluster(client.get(KNOWN["Cluster"], namespace, cluster))
    return Snapshot(objects_of(client, namespace, provider), cluster)


def objects_of(client, namespace, provider=None):
    """Return what a Snapshot of any cluster of a namespace takes: dict of kind to list of objects.

    :param provider: the Provider whose kinds are read, by default that of Metal³
    """
    provider = provider or provider_of(METAL3)
    values = _lists(client, namespace, [KNOWN[kind] for kind in provider.workflow_kinds], provider)
    return dict(zip(provider.workflow_kinds, values))
