# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Cluster API's cluster autoscaler reads at a pool of workers: its range, and what a machine of it has; pure.

Source: kubernetes/autoscaler, ``cluster-autoscaler/cloudprovider/clusterapi/clusterapi_utils.go``.
"""
from __future__ import annotations

from typing import Any

from ..._common.options.field_checks import text_of

# Cluster API, api/core/v1beta2/common_types.go: with both, its webhook leaves replicas to the autoscaler.
SIZES = (("min_size", "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"),
         ("max_size", "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"))
_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
# Without these of a pool at 0 machines the autoscaler does not know what a machine has, and makes none.
CAPACITIES = (("cpu", _CAPACITY + "cpu"), ("memory", _CAPACITY + "memory"),
              ("ephemeral_disk", _CAPACITY + "ephemeral-disk"), ("max_pods", _CAPACITY + "maxPods"),
              ("gpu_type", _CAPACITY + "gpu-type"), ("gpu_count", _CAPACITY + "gpu-count"))


def pool_annotations(group: Any) -> dict[str, str]:
    """Return the annotations of a pool that an autoscaler sizes, none of another one.

    Labels and taints are those that the pool's nodes have.

    :param group: a Group
    """
    sizes = group.get("autoscaler")
    if not sizes:
        return {}
    found = dict((annotation, str(sizes[option])) for option, annotation in SIZES)
    capacity = sizes.get("capacity")
    if not capacity:
        return found
    found.update((annotation, str(capacity[option])) for option, annotation in CAPACITIES
                 if capacity.get(option) is not None)
    labels = [f"{name}={text_of(value)}" for name, value in sorted((group.get("node_labels") or {}).items())]
    taints = [_taint(taint) for taint in group.get("node_taints") or []]
    found.update((_CAPACITY + name, ",".join(texts))
                 for name, texts in (("labels", labels), ("taints", taints)) if texts)
    return found


def _taint(taint: dict[str, Any]) -> str:
    return f"{taint['key']}={text_of(taint.get('value') or '')}:{taint['effect']}"
