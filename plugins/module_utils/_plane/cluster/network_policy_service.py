# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is there of the NetworkPolicies of a part."""
from __future__ import annotations

from typing import Any

from ..._kube.errors import KubeError
from ..._kube.plan import Entry, deletion
from ..catalogue import Part
from . import monitor, network_policy

Object = dict[str, Any]


def written(client: Any, part: Part, settings: Object, shipped: list[Object]) -> list[Entry]:
    """Return the deletions of the NetworkPolicies that this collection has written for a part.

    :param client: a KubeClient
    :param part: a Part
    :param settings: its settings
    :param shipped: its objects as they are shipped
    :raises KubeError: when the API server can't be asked
    """
    namespace, found = settings.get("namespace") or part.namespace, []
    for item in shipped:
        if item["kind"] != "Deployment":
            continue
        try:
            obj = client.get(network_policy.POLICIES, namespace, network_policy.name_of(item["metadata"]["name"]))
        except KubeError as exc:
            # Who has never asked for them need not have rights to them.
            if exc.status != 403 or found:
                raise
            break
        if obj is not None and monitor.is_ours(obj):
            found.append(deletion(network_policy.POLICIES, obj))
    return found
