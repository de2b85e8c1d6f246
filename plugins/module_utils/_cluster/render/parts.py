# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the renderings of a cluster have in common: names, labels, references and what owners of machines say; pure."""
from __future__ import annotations

import hashlib
import json

from ..._host.description.objects import MANAGED_BY_LABEL, MANAGER
from ..description.spec import DELETION_ORDERS
from ..workflow.snapshot import CLUSTER_LABEL

CAPI = "cluster.x-k8s.io"
BOOTSTRAP = "bootstrap.cluster.x-k8s.io"
CONTROLPLANE = "controlplane.cluster.x-k8s.io"
INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io"
VERSION = "v1beta2"
HASH_LENGTH = 8


def content_name(prefix, spec):
    """Return ``prefix-hash`` for the content of a template; the same content always has the same name."""
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"))
    return f"{prefix}-{hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]}"


def common_labels(description):
    """Return the labels of every object of a cluster, by which they are known as the collection's own."""
    return {CLUSTER_LABEL: description.name, MANAGED_BY_LABEL: MANAGER}


def made(description, group, kind, name, spec, labels=None, annotations=None):
    """Return an object of a cluster, with its labels.

    :param group: of its API
    """
    metadata = {"name": name, "namespace": description.namespace,
                "labels": dict(common_labels(description), **(labels or {}))}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": f"{group}/{VERSION}", "kind": kind, "metadata": metadata, "spec": spec}


def reference(group, kind, name):
    """Return a reference as Cluster API's v1beta2 has it."""
    return {"apiGroup": group, "kind": kind, "name": name}


def present(fields):
    """Return the fields that have a value."""
    return dict((key, value) for key, value in fields.items() if value not in (None, "", [], {}))


def deletion(group):
    """Return how long a group's machines may take to go."""
    return present({"nodeDrainTimeoutSeconds": group.get("node_drain_timeout_seconds"),
                    "nodeDeletionTimeoutSeconds": group.get("node_deletion_timeout_seconds"),
                    "nodeVolumeDetachTimeoutSeconds": group.get("node_volume_detach_timeout_seconds")})


def deletion_order(group):
    """Return which machines of a group go first; a KubeadmControlPlane has no such field."""
    order = None if group.is_control_plane else DELETION_ORDERS.get(group.get("deletion_order"))
    return present({"order": order})


def remediation(group):
    """Return how an owner goes about machines that a health check has found to be unhealthy."""
    given = group.get("remediation") or {}
    if group.is_control_plane:
        return present({"maxRetry": given.get("max_retry"), "retryPeriodSeconds": given.get("retry_period_seconds"),
                        "minHealthyPeriodSeconds": given.get("min_healthy_period_seconds")})
    return present({"maxInFlight": count(given.get("max_in_flight"))})


def rollout(group, max_surge, max_unavailable):
    """Return how a group's machines are replaced."""
    rolling = present({"maxSurge": count(max_surge), "maxUnavailable": count(max_unavailable)})
    return present({"strategy": {"type": "RollingUpdate", "rollingUpdate": rolling} if rolling else None,
                    "before": present({"certificatesExpiryDays": group.get("certificate_renewal_days")}),
                    "after": group.get("rollout_after")})


def count(value):
    """Return a number as a number and a percentage as text, whatever the templating made of it."""
    return int(value) if isinstance(value, str) and value.isdigit() else value
