# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a cluster in v1beta1, for management clusters that do not serve v1beta2 yet; pure.

The rules are those of the conversion functions of Cluster API 1.13 (``api/*/v1beta1/conversion.go``) and CAPM3 1.13
(``api/v1beta1/conversion.go``). Names of templates stay, so that a change of API version rolls no machine.
"""
from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

Object = dict[str, Any]

_VERSION = "v1beta1"
_EXTRA_ARGS_OWNERS = ("apiServer", "controllerManager", "scheduler")
# v1beta2 timeouts of init and join that v1beta1 has under another name.
_HEALTH_CHECK = "controlPlaneComponentHealthCheckSeconds"
_TLS_BOOTSTRAP = "tlsBootstrapSeconds"


def downgrade(obj: Object) -> Object:
    """Return a v1beta2 object of Cluster API or CAPM3 in v1beta1; other objects are returned as they are.

    :raises ValueError: when a field has no counterpart in v1beta1
    """
    group, _slash, version = obj["apiVersion"].rpartition("/")
    if version != "v1beta2" or obj["kind"] not in CONVERSIONS:
        return obj
    result = copy.deepcopy(obj)
    result["apiVersion"] = f"{group}/{_VERSION}"
    CONVERSIONS[obj["kind"]](result["spec"], obj["metadata"].get("namespace"))
    return result


def _reference(reference: Object, namespace: str | None) -> Object:
    result = {"apiVersion": f"{reference['apiGroup']}/{_VERSION}", "kind": reference["kind"],
              "name": reference["name"]}
    if namespace:
        result["namespace"] = namespace
    return result


def _seconds(value: int) -> str:
    """Return a metav1.Duration as Go prints it, which is what the API server stores."""
    hours, rest = divmod(value, 3600)
    minutes, seconds = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes}m{seconds}s"
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"


def _move(source: Object, old: str, target: Object, new: str,
          convert: Callable[[Any], Any] = lambda value: value) -> None:
    if old in source:
        target[new] = convert(source.pop(old))


def _cluster(spec: Object, namespace: str | None) -> None:
    for key in ("controlPlaneRef", "infrastructureRef"):
        spec[key] = _reference(spec[key], namespace)


def _metal3_cluster(spec: Object, _namespace: str | None) -> None:
    if "failureDomains" in spec:
        # There, false and nothing are the same.
        spec["failureDomains"] = dict(
            (domain["name"], dict((key, value) for key, value in domain.items() if key != "name" and value))
            for domain in spec["failureDomains"])


def _deletion(source: Object) -> None:
    deletion = source.pop("deletion", {})
    for old, new in (("nodeDrainTimeoutSeconds", "nodeDrainTimeout"),
                     ("nodeDeletionTimeoutSeconds", "nodeDeletionTimeout"),
                     ("nodeVolumeDetachTimeoutSeconds", "nodeVolumeDetachTimeout")):
        _move(deletion, old, source, new, _seconds)


def _control_plane(spec: Object, namespace: str | None) -> None:
    template = spec["machineTemplate"]
    inner = template.pop("spec")
    inner["infrastructureRef"] = _reference(inner["infrastructureRef"], namespace)
    _deletion(inner)
    template.update(inner)
    rollout = spec.pop("rollout", {})
    _move(rollout, "strategy", spec, "rolloutStrategy")
    _move(rollout, "before", spec, "rolloutBefore")
    _move(rollout, "after", spec, "rolloutAfter")
    _move(spec, "machineNaming", spec, "machineNamingStrategy")
    remediation = spec.get("remediation") or {}
    _move(remediation, "retryPeriodSeconds", remediation, "retryPeriod", _seconds)
    _move(remediation, "minHealthyPeriodSeconds", remediation, "minHealthyPeriod", _seconds)
    _move(spec, "remediation", spec, "remediationStrategy")
    _config(spec["kubeadmConfigSpec"])


def _machine_deployment(spec: Object, namespace: str | None) -> None:
    machine = spec["template"]["spec"]
    _move(machine, "minReadySeconds", spec, "minReadySeconds")
    _machine(machine, namespace)
    rollout = spec.pop("rollout", {})
    _move(rollout, "strategy", spec, "strategy")
    order, remediation = spec.pop("deletion", {}).get("order"), spec.pop("remediation", None)
    if order or remediation:
        strategy = spec.setdefault("strategy", {})
        if order:
            strategy.setdefault("rollingUpdate", {})["deletePolicy"] = order
        if remediation:
            strategy["remediation"] = remediation
    _move(rollout, "after", spec, "rolloutAfter")
    _move(spec, "machineNaming", spec, "machineNamingStrategy")


def _machine(spec: Object, namespace: str | None) -> None:
    spec["infrastructureRef"] = _reference(spec["infrastructureRef"], namespace)
    spec["bootstrap"]["configRef"] = _reference(spec["bootstrap"]["configRef"], namespace)
    _deletion(spec)


def _bootstrap_config(spec: Object, _namespace: str | None) -> None:
    _config(spec)


def _metal3_machine(spec: Object, _namespace: str | None) -> None:
    image = spec.get("image") or {}
    _move(image, "diskFormat", image, "format")


def _config_template(spec: Object, _namespace: str | None) -> None:
    _config(spec["template"]["spec"])


def _config(spec: Object) -> None:
    configuration = spec.get("clusterConfiguration") or {}
    for owner in _EXTRA_ARGS_OWNERS:
        _extra_args(configuration.get(owner) or {}, "extraArgs")
    _extra_args((configuration.get("etcd") or {}).get("local") or {}, "extraArgs")
    for key in ("initConfiguration", "joinConfiguration"):
        part = spec.get(key) or {}
        _extra_args(part.get("nodeRegistration") or {}, "kubeletExtraArgs")
        _timeouts(spec, key, part)
        for token in part.get("bootstrapTokens") or []:
            _move(token, "ttlSeconds", token, "ttl", _seconds)


def _extra_args(owner: Object, key: str) -> None:
    if key in owner:
        owner[key] = dict((argument["name"], argument["value"]) for argument in owner[key])


def _timeouts(spec: Object, key: str, part: Object) -> None:
    timeouts = part.pop("timeouts", {})
    # Init and join agree (KubeadmControlPlane webhook).
    if _HEALTH_CHECK in timeouts:
        server = spec.setdefault("clusterConfiguration", {}).setdefault("apiServer", {})
        server["timeoutForControlPlane"] = _seconds(timeouts.pop(_HEALTH_CHECK))
    if _TLS_BOOTSTRAP in timeouts and key == "joinConfiguration":
        part.setdefault("discovery", {})["timeout"] = _seconds(timeouts.pop(_TLS_BOOTSTRAP))
    if timeouts:
        raise ValueError(f"{key}.timeouts: {', '.join(sorted(timeouts))}: no such field in v1beta1")


def _machine_template(spec: Object, _namespace: str | None) -> None:
    _metal3_machine(spec["template"]["spec"], None)


def _data_template(spec: Object, _namespace: str | None) -> None:
    meta_data = spec.get("metaData") or {}
    for form in ("ipAddresses", "prefixes", "gateways", "dnsServers"):
        _move(meta_data, form + "FromPool", meta_data, form + "FromIPPool")
    links = (spec.get("networkData") or {}).get("links") or {}
    for bond in links.get("bonds") or []:
        parameters = dict((entry["name"], entry.get("value")) for entry in bond.pop("parameters", None) or [])
        if parameters:
            bond["parameters"] = parameters
    networks = (spec.get("networkData") or {}).get("networks") or {}
    for form in networks.values():
        for route in [route for network in form for route in network.get("routes") or []]:
            # There, 0 and nothing are the same.
            if route.get("prefix") == 0:
                del route["prefix"]
    # Required there; CAPM3 prefers fromPoolRef when both are set.
    for network in networks.get("ipv6") or []:
        network.setdefault("ipAddressFromIPPool", (network.get("fromPoolRef") or {}).get("name", ""))


def _health_check(spec: Object, _namespace: str | None) -> None:
    checks = spec.pop("checks", {})
    _move(checks, "nodeStartupTimeoutSeconds", spec, "nodeStartupTimeout", _seconds)
    for old, new in (("unhealthyNodeConditions", "unhealthyConditions"),
                     ("unhealthyMachineConditions", "unhealthyMachineConditions")):
        for entry in checks.get(old) or []:
            _move(entry, "timeoutSeconds", entry, "timeout", _seconds)
        _move(checks, old, spec, new)
    remediation = spec.pop("remediation", {})
    trigger = remediation.get("triggerIf") or {}
    _move(trigger, "unhealthyLessThanOrEqualTo", spec, "maxUnhealthy")
    _move(trigger, "unhealthyInRange", spec, "unhealthyRange")
    if "templateRef" in remediation:
        reference = dict(remediation["templateRef"])
        reference["apiVersion"] = reference["apiVersion"].replace("v1beta2", _VERSION)
        spec["remediationTemplate"] = reference


def _remediation_template(spec: Object, _namespace: str | None) -> None:
    strategy = spec["template"]["spec"]["strategy"]
    _move(strategy, "timeoutSeconds", strategy, "timeout", _seconds)


CONVERSIONS: dict[str, Callable[[Object, str | None], None]] = {
    "Cluster": _cluster,
    "Metal3Cluster": _metal3_cluster,
    "KubeadmControlPlane": _control_plane,
    "MachineDeployment": _machine_deployment,
    "Machine": _machine,
    "KubeadmConfig": _bootstrap_config,
    "Metal3Machine": _metal3_machine,
    "KubeadmConfigTemplate": _config_template,
    "Metal3MachineTemplate": _machine_template,
    "Metal3DataTemplate": _data_template,
    "MachineHealthCheck": _health_check,
    "Metal3RemediationTemplate": _remediation_template,
}
