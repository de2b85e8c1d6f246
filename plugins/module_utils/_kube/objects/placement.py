# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes take a pod, as the scheduler decides it; pure."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._common.documents.tolerant import dict_in, dicts_in
from .conditions import is_true
from .finalizers import is_going
from .label_selector import matches

Object = dict[str, Any]

_KEEPS_OFF = ("NoSchedule", "NoExecute")
# Kubernetes sets these by itself, for what passes: a node that is not ready, cordoned, short of memory, or new.
_PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
_EXPRESSIONS = ("In", "NotIn", "Exists", "DoesNotExist")
_ALL_ADDRESSES = (None, "", "0.0.0.0", "::")


def takes(node: Object, spec: Object) -> bool:
    """Say whether a node takes a pod now, as far as its labels, its state and its taints go.

    :param node: as stored
    :param spec: of the pod
    """
    return is_true(node, "Ready") and not dict_in(node, "spec").get("unschedulable") \
        and not _missing_labels(node, spec) and not _untolerated(node, spec)


def obstacle(node: Object, spec: Object) -> str:
    """Return in words why a node will not take a pod whatever passes, empty when it may.

    What is not known here, such as a comparison of numbers in an affinity, is none.

    :param node: as for :func:`takes`
    :param spec: of the pod
    """
    labels = _missing_labels(node, spec)
    if labels:
        return f"the label {labels[0]} is not there"
    rules = dict_in(dict_in(dict_in(spec, "affinity"), "nodeAffinity"),
                    "requiredDuringSchedulingIgnoredDuringExecution")
    terms = dicts_in(rules, "nodeSelectorTerms")
    if terms and not any(_may_select(term, node) for term in terms):
        return "its labels are not those of the node affinity"
    taints = [f"{taint.get('key')}={taint.get('value') or ''}:{taint.get('effect')}"
              for taint in _untolerated(node, spec) if not str(taint.get("key")).startswith(_PASSING)]
    return f"the taint {taints[0]} is not tolerated" if taints else ""


def host_ports(spec: Object) -> set[tuple[str, int]]:
    """Return protocol and number of the ports that a pod has on all addresses of its node.

    :param spec: of the pod
    """
    found = set()
    for container in dicts_in(spec, "containers"):
        for port in dicts_in(container, "ports"):
            number = port.get("hostPort") or (port.get("containerPort") if spec.get("hostNetwork") else None)
            if isinstance(number, int) and port.get("hostIP") in _ALL_ADDRESSES:
                found.add((str(port.get("protocol") or "TCP"), number))
    return found


def holders(ports: set[tuple[str, int]], node: Object, pods: Iterable[Object]) -> list[tuple[int, Object]]:
    """Return ``(number of the port, Pod)`` of pods that stay and have one of some ports on a node.

    :param ports: as of :func:`host_ports`
    :param node: as for :func:`takes`
    :param pods: of all namespaces
    """
    return [(min(common)[1], pod) for pod in pods
            if pod["spec"].get("nodeName") == node["metadata"]["name"] and not is_going(pod)
            and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
            for common in [ports & host_ports(pod["spec"])] if common]


def _missing_labels(node: Object, spec: Object) -> list[str]:
    labels = node["metadata"].get("labels") or {}
    return [f"{key}={value}" for key, value in sorted((spec.get("nodeSelector") or {}).items())
            if labels.get(key) != value]


def _may_select(term: Object, node: Object) -> bool:
    """Say whether a term of a node affinity may select a node; its fields are not looked at."""
    known = [rule for rule in dicts_in(term, "matchExpressions") if rule.get("operator") in _EXPRESSIONS]
    return matches({"matchExpressions": known}, node["metadata"].get("labels") or {})


def _untolerated(node: Object, spec: Object) -> list[Object]:
    """Return the taints of a node that keep a pod off."""
    return [taint for taint in dicts_in(dict_in(node, "spec"), "taints") if taint.get("effect") in _KEEPS_OFF
            and not any(_tolerates(toleration, taint) for toleration in dicts_in(spec, "tolerations"))]


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if not toleration.get("key"):
        return toleration.get("operator") == "Exists"
    return toleration["key"] == taint.get("key") and (
        toleration.get("operator") == "Exists" or (toleration.get("value") or "") == (taint.get("value") or ""))
