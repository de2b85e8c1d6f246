# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a machine that was away counts again, so that the next one may go; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.texts.plain_text import few, plain
from ..._kube.objects.conditions import is_true
from ..workflow.steps import machine_steps
from .drain import is_mirror

Object = Mapping[str, Any]

# Of kubeadm's pods; etcd's is Ready when the member reads with its quorum.
_TIER, _CONTROL_PLANE = "tier", "control-plane"
_LIMIT = 4


def waits_for(machine: Object, pods: Iterable[Object], snapshot: Any) -> str:
    """Return what a machine waits for, empty for nothing.

    The node of a control plane machine is Ready before its etcd is, and Cluster API takes a while to notice either.

    :param machine: the Machine as it was when its host was looked at
    :param pods: those of its node, as they are now
    :param snapshot: a workflow Snapshot of its cluster, as it is now
    """
    late = sorted(pod["metadata"]["name"] for pod in pods if is_mirror(pod) and not is_true(pod, "Ready") and (
        pod["metadata"].get("labels") or {}).get(_TIER) == _CONTROL_PLANE)
    if late:
        return plain(f"{few(late, _LIMIT)} to be Ready")
    if snapshot.cluster is None or (snapshot.cluster.get("spec") or {}).get("paused"):
        # Nobody looks at its machines.
        return ""
    name = machine["metadata"]["name"]
    step = next((step for step in machine_steps(snapshot) if step["machine"] == name), None)
    return "" if step is None or step["complete"] else plain(
        f"Cluster API to find Machine {name} healthy: {step['waits_for']}")
