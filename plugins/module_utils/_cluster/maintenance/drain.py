# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods of a node are evicted, and which would be lost with what they hold; pure.

The rules are those of ``kubectl drain``.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few, plain
from ..._kube.objects.finalizers import is_going

Object = Mapping[str, Any]

_MIRROR = "kubernetes.io/config.mirror"
_LIMIT = 8


def evictable(pods: Iterable[Object]) -> list[Object]:
    """Return the pods of a node that are to go: not those of DaemonSets, of the node's own files, and ended ones."""
    return [pod for pod in pods if not is_mirror(pod)
            and (_controller(pod) or {}).get("kind") != "DaemonSet"
            and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")]


def is_mirror(pod: Object) -> bool:
    """Say whether kubelet runs a pod from a file of its node."""
    return _MIRROR in (pod["metadata"].get("annotations") or {})


def loss_problems(subject: str, pods: Iterable[Object], allow_bare_pods: bool,
                  allow_local_data: bool) -> list[Problem]:
    """Return what is lost when pods are evicted, unless it is allowed.

    :param subject: what messages call the host
    :param pods: what :func:`evictable` returned
    """
    pods, found = list(pods), []
    bare = [_title(pod) for pod in pods if _controller(pod) is None]
    local = [_title(pod) for pod in pods if any("emptyDir" in volume
                                                for volume in (pod.get("spec") or {}).get("volumes") or [])]
    if bare and not allow_bare_pods:
        found.append(Problem(
            "drain-loss", subject, "allow_bare_pods", f"pods without a controller: {few(bare, _LIMIT)}",
            "pods that are made again elsewhere", "set allow_bare_pods to lose them, or delete them"))
    if local and not allow_local_data:
        found.append(Problem("drain-loss", subject, "allow_local_data", f"pods with emptyDir volumes: "
                             f"{few(local, _LIMIT)}", "pods without data of their own on the node",
                             "set allow_local_data to lose what is in these volumes"))
    return found


def left(pods: Iterable[Object], evicted: Mapping[str, str]) -> list[Object]:
    """Return the pods that were to go and are still there.

    :param pods: the node's pods by now
    :param evicted: uid to title of those that were to go
    """
    return [pod for pod in pods if pod["metadata"].get("uid") in evicted]


def waits_for(pods: Iterable[Object], refusals: Mapping[str, str]) -> str:
    """Return what a drain waits for, in words; empty when it waits for nothing.

    :param pods: as :func:`left` returns them
    :param refusals: why the eviction of a pod was refused, by its uid
    """
    going = [_title(pod) for pod in pods if is_going(pod)]
    kept = [f"{_title(pod)} ({refusals.get(pod['metadata'].get('uid', ''), 'not evicted yet')})" for pod in pods
            if not is_going(pod)]
    parts = [f"the end of {few(going, _LIMIT)}"] if going else []
    return "; ".join(parts + ([f"the eviction of {few(kept, _LIMIT)}"] if kept else []))


def _title(pod):
    return plain(f"{pod['metadata'].get('namespace', '')}/{pod['metadata']['name']}")


def _controller(pod):
    return next((owner for owner in pod["metadata"].get("ownerReferences") or [] if owner.get("controller")), None)
