# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether there are hosts in the failure domains that machines are to be in; pure.

Source: CAPM3 ``baremetal/metal3machine_manager.go`` (pickHost). It prefers hosts of the domain, and when none of them
is free it takes any other one that matches, which nothing but its log says.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..description.model import ClusterDescription, Group
from .hosts import matches

# On a BareMetalHost: the domain that it is in.
LABEL = "infrastructure.cluster.x-k8s.io/failure-domain"


def domain_warnings(description: ClusterDescription, hosts: Iterable[Mapping[str, Any]], snapshot: Any) -> list[str]:
    """Return a line for each failure domain that has fewer hosts than machines that are to be in it.

    Hosts count that the group selects and that are free of others, in whatever state they are.

    :param description: a cluster of bare metal hosts, with no class of the user's
    :param hosts: BareMetalHosts of its namespace
    :param snapshot: a workflow Snapshot of the cluster
    """
    own, hosts, found = set(item["metadata"]["name"] for item in snapshot.mine("Metal3Machine")), list(hosts), []
    for group in description.groups:
        for domain, needed in _wanted(description, group):
            count = sum(_domain_of(host) == domain and matches(host, group) and not _is_others(host, own)
                        for host in hosts)
            if count < needed:
                found.append(
                    f"{description.subject}: {group.field}: failure domain {domain}: found {count} "
                    f"host{'' if count == 1 else 's'} for it with the label {LABEL}={domain}, expected {needed}: CAPM3 "
                    "puts machines of that domain on any other host that matches; label hosts (bmh_labels), or enrol "
                    "more there")
    return found


def _wanted(description: ClusterDescription, group: Group) -> list[tuple[str, int]]:
    """Return the failure domains of a group's machines, and how many of these each is to have at least.

    Those of a control plane Cluster API spreads over its domains; with fewer machines than domains it may take any.
    """
    replicas = group.initial_replicas
    if not replicas:
        return []
    if not group.is_control_plane:
        return [(group.get("failure_domain"), replicas)] if group.get("failure_domain") else []
    names = [domain["name"] for domain in description.failure_domains or [] if domain["control_plane"]]
    return [(name, max(1, replicas // len(names))) for name in names]


def _domain_of(host: Mapping[str, Any]) -> str | None:
    return (host["metadata"].get("labels") or {}).get(LABEL)


def _is_others(host: Mapping[str, Any], own: set[str]) -> bool:
    """Say whether something else than the cluster uses a host."""
    consumer = (host.get("spec") or {}).get("consumerRef") or {}
    return bool(consumer) and (consumer.get("kind") != "Metal3Machine" or consumer.get("name") not in own)
