# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks where a machine may answer that is about to be made: before Cluster API knows any address of it."""
from __future__ import annotations

from typing import Any

from .._ipam.reading import ADDRESS_RESOURCES, CLAIM_RESOURCES
from .._kube.kinds import served
from .errors import EtcdError

Object = dict[str, Any]


def candidates(client: Any, snapshot: Any, name: str, port: int) -> list[tuple[str, int]]:
    """Return its addresses out of pools and as Cluster API knows them, and the endpoint, each with a port.

    :param client: a KubeClient of the management cluster
    :param snapshot: the cluster as it is, see :func:`snapshot_of`
    :param name: of the Machine
    :param port: at which the machine itself answers
    :raises EtcdError: when the Machine is gone
    :raises KubeError: when the API server can't be asked
    """
    machine = snapshot.get("Machine", name)
    if machine is None:
        raise EtcdError(f"Machine {name}: found none any more, expected the one that was made; look who has "
                        "deleted it, then run again")
    namespace = machine["metadata"]["namespace"]
    owners = {name, ((snapshot.infrastructure_machine(machine) or {}).get("metadata") or {}).get("name")}
    rendered = (snapshot.infrastructure_machine(machine) or {}).get("status") or {}
    owners.add((rendered.get("renderedData") or {}).get("name"))
    claims = set(claim["metadata"]["name"] for resource in CLAIM_RESOURCES.values()
                 for claim in served.listed(client, resource, namespace)
                 for owner in claim["metadata"].get("ownerReferences") or [] if owner.get("name") in owners)
    found = [item["spec"].get("address") for resource in ADDRESS_RESOURCES
             for item in served.listed(client, resource, namespace) if _claim_of(item) in claims]
    found += [entry.get("address") for entry in (machine.get("status") or {}).get("addresses") or []
              if str(entry.get("type")).endswith("IP")]
    endpoint = (snapshot.cluster.get("spec") or {}).get("controlPlaneEndpoint") or {}
    pairs = [(address, port) for address in found if address]
    if endpoint.get("host"):
        pairs.append((endpoint["host"], endpoint.get("port") or port))
    return list(dict.fromkeys(pairs))


def _claim_of(address: Object) -> str | None:
    spec = address.get("spec") or {}
    return ((spec.get("claim") or spec.get("claimRef")) or {}).get("name")
