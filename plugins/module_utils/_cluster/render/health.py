# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The health check of a group of machines; pure."""
from __future__ import annotations

from ..workflow.snapshot import CLUSTER_LABEL, CONTROL_PLANE_LABEL, DEPLOYMENT_LABEL
from .parts import CAPI, INFRASTRUCTURE, VERSION, count, made, present

# Node conditions whose absence, by Cluster API's documentation, means an unhealthy machine.
_UNHEALTHY_CONDITIONS = (("Ready", "Unknown", 300), ("Ready", "False", 300))


def health_check(description, group):
    """Return a group's MachineHealthCheck, after the Metal3RemediationTemplate that it refers to; none without."""
    check = group.get("health_check")
    if not check or not check["enabled"]:
        return []
    name = group.owner
    if group.is_control_plane:
        selector = {CLUSTER_LABEL: description.name, CONTROL_PLANE_LABEL: ""}
    else:
        selector = {CLUSTER_LABEL: description.name, DEPLOYMENT_LABEL: name}
    conditions = check.get("unhealthy_conditions") or [
        {"type": kind, "status": status, "timeout_seconds": seconds} for kind, status, seconds in _UNHEALTHY_CONDITIONS]
    of_machines = check.get("unhealthy_machine_conditions") or []
    objects, remediation = [], {}
    if check.get("reboot_retry_limit"):
        objects.append(made(description, INFRASTRUCTURE, "Metal3RemediationTemplate", name, {
            "template": {"spec": {"strategy": {
                "type": "Reboot", "retryLimit": check["reboot_retry_limit"],
                "timeoutSeconds": check.get("reboot_timeout_seconds") or 600}}}}))
        # Unlike other references, this one has an apiVersion (MachineHealthCheckRemediationTemplateReference).
        remediation["templateRef"] = {"apiVersion": f"{INFRASTRUCTURE}/{VERSION}",
                                      "kind": "Metal3RemediationTemplate", "name": name}
    if check.get("max_unhealthy") is not None:
        remediation["triggerIf"] = {"unhealthyLessThanOrEqualTo": count(check["max_unhealthy"])}
    spec = {
        "clusterName": description.name, "selector": {"matchLabels": selector},
        "checks": present({
            "nodeStartupTimeoutSeconds": check["node_startup_timeout_seconds"],
            "unhealthyNodeConditions": [_condition(entry) for entry in conditions],
            "unhealthyMachineConditions": [_condition(entry) for entry in of_machines]})}
    if remediation:
        spec["remediation"] = remediation
    objects.append(made(description, CAPI, "MachineHealthCheck", name, spec))
    return objects


def _condition(entry):
    return {"type": entry["type"], "status": entry["status"], "timeoutSeconds": entry["timeout_seconds"]}


def with_template_version(objects, version):
    """Return objects whose MachineHealthChecks refer to a template of a version: that in which it is served.

    Who reads such a reference takes the version out of it, unlike that of others.

    :param objects: list of rendered objects
    :param version: for example ``v1beta1``
    """
    return [_referring(item, version) if item["kind"] == "MachineHealthCheck" else item for item in objects]


def _referring(check, version):
    remediation = check["spec"].get("remediation") or {}
    if "templateRef" not in remediation:
        return check
    reference = dict(remediation["templateRef"], apiVersion=f"{INFRASTRUCTURE}/{version}")
    return dict(check, spec=dict(check["spec"], remediation=dict(remediation, templateRef=reference)))
