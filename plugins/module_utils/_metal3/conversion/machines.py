# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of Cluster API that own and check machines, from v1beta1 to v1beta2; pure.

The rules are those of ``api/core/v1beta1/conversion.go`` and ``api/controlplane/kubeadm/v1beta1/conversion.go`` of
Cluster API 1.13.
"""
from __future__ import annotations

from typing import Any

from ..._common.options.field_checks import type_name
from . import kubeadm
from .place import Place, seconds

_DELETION = ("nodeDrainTimeout", "nodeVolumeDetachTimeout", "nodeDeletionTimeout")


def cluster(spec: Place) -> None:
    """Convert the spec of a Cluster without a topology."""
    for key in ("controlPlaneRef", "infrastructureRef"):
        spec.move(key, key, _reference)


def machine(spec: Place) -> None:
    """Convert the spec of a Machine, and that in a template of Machines."""
    spec.move("infrastructureRef", "infrastructureRef", _reference)
    bootstrap = spec.inner("bootstrap")
    bootstrap.move("configRef", "configRef", _reference)
    deletion(spec, "deletion")


def machine_deployment(spec: Place) -> None:
    """Convert the spec of a MachineDeployment."""
    spec.move("minReadySeconds", "template.spec.minReadySeconds")
    machine(spec.inner("template.spec"))
    spec.lose("progressDeadlineSeconds", "revisionHistoryLimit")
    strategy = spec.inner("strategy")
    order = strategy.inner("rollingUpdate").value.pop("deletePolicy", None)
    remediation = strategy.value.pop("remediation", None)
    if order:
        spec.put("deletion.order", order)
    if remediation:
        spec.put("remediation", remediation)
    spec.move("strategy", "rollout.strategy")
    spec.move("rolloutAfter", "rollout.after")
    spec.move("machineNamingStrategy", "machineNaming")


def machine_set(spec: Place) -> None:
    """Convert the spec of a MachineSet."""
    spec.move("minReadySeconds", "template.spec.minReadySeconds")
    machine(spec.inner("template.spec"))
    spec.move("deletePolicy", "deletion.order")
    spec.move("machineNamingStrategy", "machineNaming")


def control_plane(spec: Place) -> None:
    """Convert the spec of a KubeadmControlPlane, and that in a KubeadmControlPlaneTemplate."""
    template = spec.inner("machineTemplate")
    template.move("infrastructureRef", "spec.infrastructureRef", _reference)
    template.move("readinessGates", "spec.readinessGates")
    template.move("taints", "spec.taints")
    deletion(template, "spec.deletion")
    spec.move("rolloutStrategy", "rollout.strategy")
    spec.move("rolloutBefore", "rollout.before")
    spec.move("rolloutAfter", "rollout.after")
    spec.move("machineNamingStrategy", "machineNaming")
    remediation = spec.inner("remediationStrategy")
    remediation.move("retryPeriod", "retryPeriodSeconds", seconds)
    remediation.move("minHealthyPeriod", "minHealthyPeriodSeconds", seconds)
    spec.move("remediationStrategy", "remediation")
    kubeadm.config(spec.inner("kubeadmConfigSpec"))


def health_check(spec: Place) -> None:
    """Convert the spec of a MachineHealthCheck."""
    for old, new in (("unhealthyConditions", "unhealthyNodeConditions"),
                     ("unhealthyMachineConditions", "unhealthyMachineConditions")):
        for entry in spec.entries(old):
            entry.move("timeout", "timeoutSeconds", seconds)
        spec.move(old, f"checks.{new}")
    spec.move("nodeStartupTimeout", "checks.nodeStartupTimeoutSeconds", seconds)
    spec.move("maxUnhealthy", "remediation.triggerIf.unhealthyLessThanOrEqualTo")
    spec.move("unhealthyRange", "remediation.triggerIf.unhealthyInRange")
    spec.move("remediationTemplate", "remediation.templateRef", _template_reference)


def deletion(place: Place, target: str) -> None:
    """Move the timeouts of a deletion below a path."""
    for key in _DELETION:
        place.move(key, f"{target}.{key}Seconds", seconds)


def _reference(place: Place, key: str, value: Any) -> dict[str, Any] | None:
    """Return a reference by group, kind and name; v1beta2 has no version, and no other namespace, in it."""
    if not isinstance(value, dict):
        place.refuse(key, type_name(value), "a dictionary")
        return None
    group, slash, _version = str(value.get("apiVersion") or "").rpartition("/")
    if slash:
        return {"apiGroup": group, "kind": value.get("kind"), "name": value.get("name")}
    # As a patch of some of its fields has it.
    return dict((field, value[field]) for field in ("apiGroup", "kind", "name") if field in value)


def _template_reference(_place: Place, _key: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    kept = dict((field, value[field]) for field in ("apiVersion", "kind", "name") if field in value)
    group, _slash, version = str(kept.get("apiVersion") or "").rpartition("/")
    if version == "v1beta1" and group == "infrastructure.cluster.x-k8s.io":
        kept["apiVersion"] = f"{group}/v1beta2"
    return kept
