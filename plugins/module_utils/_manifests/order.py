# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order objects are written, so that what an object needs is there before it; pure."""
from __future__ import annotations

from typing import Any

from .._kube.kinds.resources import group_of

# What everything else may be in or of.
FOUNDATIONS = ("Namespace", "CustomResourceDefinition")
# What pods refer to comes before them, or they start with an error and a delay.
WORKLOADS = ("Pod", "ReplicaSet", "Deployment", "DaemonSet", "StatefulSet", "Job", "CronJob")
# Before what answers them runs, they refuse everything.
WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "APIService")


def waves(objects: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return objects in lists that are to be written one after the other; none of the lists is empty.

    Objects whose kind is defined by one of the others come last: webhooks of the workloads may check them.

    :param objects: list of objects
    """
    groups = set(obj["spec"]["group"] for obj in objects if obj["kind"] == "CustomResourceDefinition")
    result = [[], [], [], [], []]
    for obj in objects:
        result[_wave(obj, groups)].append(obj)
    return [wave for wave in result if wave]


def _wave(obj: dict[str, Any], groups: Any) -> int:
    if obj["kind"] in FOUNDATIONS:
        return 0
    if group_of(obj) in groups:
        return 4
    if obj["kind"] in WEBHOOKS:
        return 3
    return 2 if obj["kind"] in WORKLOADS else 1
