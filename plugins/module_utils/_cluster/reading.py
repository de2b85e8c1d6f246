# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what belongs to a cluster: one LIST of each kind."""
from __future__ import annotations

from .._ipam.service import ADDRESS_RESOURCES, CLAIM_RESOURCES
from .._kube import bulk
from .._kube.errors import KubeError
from .._metal3.kinds import KNOWN
from .workflow.snapshot import KINDS, Snapshot

TEMPLATE_KINDS = ("Metal3DataTemplate", "Metal3MachineTemplate", "KubeadmConfigTemplate", "MachineHealthCheck",
                  "Metal3RemediationTemplate", "IPPool")
_MORE = ("HardwareData",)


def read_all(client, namespace):
    """Return ``(objects, addresses)``: dict of kind to list of objects, and the IPAddresses of both kinds.

    :raises KubeError: when the API server can't be asked, or lacks the management plane's kinds
    """
    resources = [KNOWN[kind] for kind in KINDS + TEMPLATE_KINDS + _MORE]
    resources += list(ADDRESS_RESOURCES) + [CLAIM_RESOURCES["IPAddressClaim"]]
    outcomes = bulk.run([lambda resource=resource: _listed(client, resource, namespace) for resource in resources])
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    values = [outcome.value for outcome in outcomes]
    objects = dict(zip(KINDS + TEMPLATE_KINDS + _MORE, values))
    objects["IPAddressClaim"] = values[-1]
    return objects, values[-3] + values[-2]


def _listed(client, resource, namespace):
    try:
        return client.list(resource, namespace)[0]
    except KubeError as exc:
        if exc.status == 404 and resource.group.startswith("ipam."):
            return []
        if exc.status == 404:
            raise KubeError(f"the API server {client.server} does not know {resource.kind}s; install the management "
                            "plane first (playbook metal3.baremetal.install)", 404) from exc
        raise


def snapshot_of(client, namespace, cluster):
    """Return the Snapshot of a cluster as it is now."""
    return Snapshot(objects_of(client, namespace), cluster)


def objects_of(client, namespace):
    """Return what a Snapshot of any cluster of a namespace takes: dict of kind to list of objects."""
    resources = [KNOWN[kind] for kind in KINDS]
    outcomes = bulk.run([lambda resource=resource: _listed(client, resource, namespace) for resource in resources])
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return dict(zip(KINDS, [outcome.value for outcome in outcomes]))
