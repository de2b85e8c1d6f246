# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a machine that was away comes back, and counts again, so that the next one may go; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._common.texts.plain_text import few, plain
from ..._kube.objects.conditions import is_true
from ..._kube.objects.finalizers import deletion_of, is_going
from ..workflow.steps import machine_steps
from . import named_hosts
from .drain import is_mirror

Object = Mapping[str, Any]

# Of kubeadm's pods; etcd's is Ready when the member reads with its quorum.
_TIER, _CONTROL_PLANE = "tier", "control-plane"
_LIMIT = 4


class Coming(NamedTuple):
    """How far a host is on its way back.

    :param waits_for: what it waits for, empty for nothing
    :param lost: why it does not come any more, empty when it may
    """

    waits_for: str
    lost: str


def lost(host: dict[str, Any], machine: Object, host_now: dict[str, Any] | None) -> str:
    """Return why a host does not come back, empty when it may: it is gone, another one by now, or being deleted.

    :param host: the BareMetalHost as it was checked
    :param machine: its Machine then
    :param host_now: the BareMetalHost of the name by now, or None
    """
    text = named_hosts.lost(host, None, host_now, None)
    if not text and not is_going(host_now):
        return ""
    return plain(f"{text or 'it is ' + deletion_of(host_now)}; Machine {machine['metadata']['name']} loses its server: "
                 "replace it (playbook machine_action, machine_action=replace), so that its owner makes another one on "
                 "a free host")


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
