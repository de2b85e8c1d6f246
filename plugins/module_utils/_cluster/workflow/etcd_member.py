# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with the etcd member of a control plane machine, as Cluster API notes it in its Machine; pure.

Source: Cluster API 1.13, ``controlplane/kubeadm/internal/workload_cluster_conditions.go``. It asks etcd for its list of
members and alarms, and not each member whether it runs: a member that does not start is known by its pod alone.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._common.documents.tolerant import dict_in, dicts_in
from ..._common.texts.plain_text import gist
from ..._kube.objects.conditions import condition
from ..._kube.objects.finalizers import is_going
from .snapshot import is_control_plane, node_name

POD_CONDITION = "EtcdPodHealthy"
# The pod's container ends again and again, or its manifest is gone. While a pod starts, and when its kubelet is silent,
# Cluster API gives other reasons.
_POD_REASONS = ("PodFailed", "PodDoesNotExist")
# A database that has reached its quota is the same in each member, and a new one gets a copy of it. Errors of the
# endpoint that was asked are noted in all Machines.
_OF_ALL = ("NOSPACE", "Etcd endpoint ")

# How often a container must have failed when it happens to be between two starts; a reboot of the machine counts too.
_FAILURES = 3
_CRASHING = "CrashLoopBackOff"


class LostMember(NamedTuple):
    """An etcd member that does not do its part.

    :ivar text: what is wrong, in words
    :ivar replaceable: whether another machine helps
    """

    text: str
    replaceable: bool


def lost_member(machine: Mapping[str, Any]) -> LostMember | None:
    """Return what is wrong with the etcd member of a Machine, or None.

    :param machine: a Machine; those without a Node, of workers, and with an etcd elsewhere have no member
    :returns: None too when Cluster API does not know it, for example while the kubelet is silent
    """
    if not is_control_plane(machine) or is_going(machine) \
            or not node_name(machine):
        return None
    member, pod = condition(machine, "EtcdMemberHealthy"), condition(machine, POD_CONDITION)
    if member.get("status") == "False":
        message = gist(member.get("message") or "") or member.get("reason") or "not healthy"
        return LostMember(f"etcd member not healthy: {message}", not any(text in message for text in _OF_ALL))
    if pod.get("status") == "False" and pod.get("reason") in _POD_REASONS:
        message = gist(pod.get("message") or "") or pod["reason"]
        return LostMember(f"etcd member lost: its pod does not run ({message}); its data may be gone or damaged", True)
    return None


def crashing_etcd(pods: Any) -> str:
    """Return why the etcd of a node does not stay up, by its kubelet's own list of pods; empty when it does.

    :param pods: what the kubelet has answered, a PodList; anything else says nothing
    :returns: for example ``CrashLoopBackOff, 7 restarts``
    """
    for pod in dicts_in(pods, "items"):
        metadata = dict_in(pod, "metadata")
        if metadata.get("namespace") != "kube-system" or dict_in(metadata, "labels").get("component") != "etcd":
            continue
        for status in dicts_in(dict_in(pod, "status"), "containerStatuses"):
            restarts = status.get("restartCount")
            if not isinstance(restarts, int) or status.get("ready") is True:
                continue
            waits = dict_in(dict_in(status, "state"), "waiting").get("reason") == _CRASHING
            exit_code = dict_in(dict_in(status, "lastState"), "terminated").get("exitCode")
            if waits or (restarts >= _FAILURES and exit_code not in (None, 0)):
                return f"{_CRASHING}, {restarts} restarts"
    return ""
