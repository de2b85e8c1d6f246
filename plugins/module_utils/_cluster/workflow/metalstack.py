# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster and a machine on metal-stack wait for; pure.

Source: cluster-api-provider-metal-stack 0.8, the conditions of ``internal/controller``.
"""
from __future__ import annotations

from typing import Any

from ..._kube.objects.conditions import condition
from .snapshot import message, node_name

_CLUSTER_CONDITIONS = ("ClusterNodeNetworkEnsured", "ClusterFirewallDeploymentEnsured", "ClusterControlPlaneIPEnsured")


def cluster_waits_for(infrastructure: dict[str, Any]) -> str:
    """Return what keeps a MetalStackCluster from being provisioned, by its conditions; empty when they say nothing."""
    for kind in _CLUSTER_CONDITIONS:
        entry = condition(infrastructure, kind)
        if entry.get("status") == "False":
            return f"{kind}: {message(entry, entry.get('reason') or 'no reason given')}"
    return ""


def server_of(infrastructure: dict[str, Any] | None) -> str | None:
    """Return the id of the machine in metal-stack that a MetalStackMachine has, None while it has none."""
    if (infrastructure or {}).get("kind") != "MetalStackMachine":
        return None
    # metal://<partition>/<id>
    return str(((infrastructure or {}).get("spec") or {}).get("providerID") or "").rpartition("/")[2] or None


def step(machine: dict[str, Any], infrastructure: dict[str, Any]) -> tuple[int, str | None, str | None] | None:
    """Return ``(step, since, waits_for)`` from the allocation of a machine to its Node, None when it has one.

    :param machine: the Machine
    :param infrastructure: its MetalStackMachine
    """
    spec, status = infrastructure.get("spec") or {}, machine.get("status") or {}
    made = infrastructure["metadata"].get("creationTimestamp")
    created, ready = condition(infrastructure, "MachineCreated"), condition(infrastructure, "MachineReady")
    if not spec.get("providerID"):
        return 8, created.get("lastTransitionTime") or made, message(
            created, f"a free machine of size {spec.get('size')}")
    if not ((infrastructure.get("status") or {}).get("initialization") or {}).get("provisioned"):
        healthy = condition(infrastructure, "MachineHealthy")
        stated = healthy if healthy.get("status") == "False" else ready
        return 12, created.get("lastTransitionTime") or made, "machine %s: %s" % (
            server_of(infrastructure), message(stated, "it has not phoned home"))
    if not (status.get("initialization") or {}).get("infrastructureProvisioned"):
        return 13, ready.get("lastTransitionTime"), "Cluster API to note that the machine is provisioned"
    if not node_name(machine):
        stated = condition(machine, "NodeHealthy")
        return 14, stated.get("lastTransitionTime") or ready.get("lastTransitionTime"), message(
            stated, f"a Node with providerID {machine['spec'].get('providerID')}")
    return None
