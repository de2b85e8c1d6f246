# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``cluster_info`` says of a cluster."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._kube.api.cluster_clock import clock_of
from . import certificates as cluster_certificates
from . import tree as workflow_tree
from .reading import snapshot_of
from .steps import machine_steps


def read_cluster(client: Any, namespace: str, name: str,
                 now: Callable[[], float] | None = None) -> dict[str, Any] | None:
    """Return the result of ``cluster_info`` for one cluster, None when it is not there.

    :param now: callable that returns the time in seconds since 1970, by default by the clock of the API server
    """
    snapshot = snapshot_of(client, namespace, name)
    if snapshot.cluster is None:
        return None
    tree = workflow_tree.tree(snapshot)
    return {"name": name, "namespace": namespace, "phase": (snapshot.cluster.get("status") or {}).get("phase"),
            "machines": machine_steps(snapshot), "certificates": cluster_certificates.of_control_plane(
                snapshot, (now or clock_of(client))()),
            "tree": tree, "lines": workflow_tree.lines(tree)}
