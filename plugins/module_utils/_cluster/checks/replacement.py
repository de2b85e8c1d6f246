# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for what an owner of machines takes away and replaces: order, limits, conditions of Machines; pure."""
from __future__ import annotations

import re
from typing import Any

from ..._common.options.field_checks import LABEL_KEY_RULE, is_label_key, shown
from ..._common.problems.problem import Problem
from ..description.model import ClusterDescription, Group
from ..description.spec import REMEDIATION_OF_CONTROL_PLANE, REMEDIATION_OF_WORKERS

CODE = "health-check"
_STATUSES = ("True", "False", "Unknown")
# Those that a health check follows from, or sets itself (MachineHealthCheck CRD).
_NOT_OF_MACHINES = ("Ready", "Available", "HealthCheckSucceeded", "OwnerRemediated", "ExternallyRemediated")
_OF_WORKERS = ("deletion_order", "min_ready_seconds")


def replacement_problems(subject: str, description: ClusterDescription, group: Group) -> list[Problem]:
    """Return what is wrong with how a group's machines are taken away and replaced.

    What is said for the whole cluster counts for the owners that have a field for it; what a group says itself must.

    :param subject: the cluster, for the problems
    """
    if group.is_standalone:
        return []
    own = description.control_plane if group.is_control_plane else description.workers[group.name]
    found = _of_others(subject, group, own)
    given = group.get("remediation") or {}
    path = description.option_path(group, "remediation")
    found += [_wrong(subject, f"{path}.{name}", given[name], "0 or more")
              for name in REMEDIATION_OF_CONTROL_PLANE if group.is_control_plane and (given.get(name) or 0) < 0]
    limit = given.get("max_in_flight")
    if limit is not None and not group.is_control_plane and not re.match(r"^\d+%?\Z", str(limit)):
        found.append(_wrong(subject, f"{path}.max_in_flight", limit, "a number or a percentage"))
    if (group.get("min_ready_seconds") or 0) < 0 and not group.is_control_plane:
        found.append(_wrong(subject, description.option_path(group, "min_ready_seconds"),
                            group.get("min_ready_seconds"), "0 or more"))
    return found


def _of_others(subject: str, group: Group, own: dict[str, Any]) -> list[Problem]:
    given = own.get("remediation") or {}
    if not group.is_control_plane:
        return [_wrong(subject, f"{group.field}.remediation.{name}", given[name],
                       "nothing, for a MachineDeployment counts no retries", "set it in control_plane")
                for name in REMEDIATION_OF_CONTROL_PLANE if given.get(name) is not None]
    found = [_wrong(subject, f"{group.field}.remediation.{name}", given[name],
                    "nothing, for a KubeadmControlPlane replaces one machine at a time", "set it in a pool of workers")
             for name in REMEDIATION_OF_WORKERS if given.get(name) is not None]
    return found + [_wrong(subject, f"{group.field}.{option}", own[option],
                           "nothing, for a KubeadmControlPlane has no such field", "set it in a pool of workers")
                    for option in _OF_WORKERS if own.get(option) is not None]


def machine_condition_problems(subject: str, field: str, conditions: list[dict[str, Any]] | None) -> list[Problem]:
    """Return what is wrong with the conditions of Machines that make them unhealthy.

    :param field: path of the option
    :param conditions: dicts with ``type``, ``status`` and ``timeout_seconds``; None without
    """
    found = []
    for number, entry in enumerate(conditions or []):
        path = f"{field}[{number}]"
        if entry["type"] in _NOT_OF_MACHINES:
            found.append(_wrong(subject, f"{path}.type", entry["type"],
                                f"a condition of Machines, none of {', '.join(_NOT_OF_MACHINES)}",
                                "name the condition that it follows from, such as NodeHealthy"))
        elif not is_label_key(entry["type"]):
            found.append(_wrong(subject, f"{path}.type", entry["type"], LABEL_KEY_RULE))
        if entry["status"] not in _STATUSES:
            found.append(_wrong(subject, f"{path}.status", entry["status"], f"one of {', '.join(_STATUSES)}"))
        if entry["timeout_seconds"] < 0:
            found.append(_wrong(subject, f"{path}.timeout_seconds", entry["timeout_seconds"], "0 or more"))
    return found


def _wrong(subject: str, field: str, value: Any, expected: str, hint: str | None = None) -> Problem:
    return Problem(CODE, subject, field, shown(value), expected, hint)
