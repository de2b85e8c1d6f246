# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The topology of a Cluster, from v1beta1 to v1beta2; pure.

The rules are those of ``api/core/v1beta1/conversion.go`` of Cluster API 1.13. It is for objects that are read:
manifests with a topology stay in v1beta1.
"""
from __future__ import annotations

from . import machines
from .place import Place


def cluster(spec: Place) -> None:
    """Convert the spec of a Cluster, its topology included."""
    machines.cluster(spec)
    topology = spec.inner("topology")
    topology.move("class", "classRef.name")
    topology.move("classNamespace", "classRef.namespace")
    topology.value.pop("rolloutAfter", None)
    for variable in topology.entries("variables"):
        variable.value.pop("definitionFrom", None)
    _members(topology.inner("controlPlane"))
    workers = topology.inner("workers")
    for pool in workers.entries("machineDeployments"):
        _members(pool)
        strategy = pool.inner("strategy")
        order = strategy.inner("rollingUpdate").value.pop("deletePolicy", None)
        limit = strategy.inner("remediation").value.get("maxInFlight")
        strategy.value.pop("remediation", None)
        pool.move("strategy", "rollout.strategy")
        if order:
            pool.put("deletion.order", order)
        if limit is not None:
            pool.put("healthCheck.remediation.maxInFlight", limit)
    for pool in workers.entries("machinePools"):
        machines.deletion(pool, "deletion")


def _members(place: Place) -> None:
    """Convert what a control plane and a pool of workers have alike."""
    machines.deletion(place, "deletion")
    machines.health_check(place.inner("machineHealthCheck"))
    place.inner("machineHealthCheck").move("enable", "enabled")
    place.move("machineHealthCheck", "healthCheck")
