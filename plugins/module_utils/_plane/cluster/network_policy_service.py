# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is there of the NetworkPolicies of a part."""
from __future__ import annotations

from typing import Any

from ..._kube.reconcile.plan import Entry
from ..parts.catalogue import Part
from . import network_policy, own_objects

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
        name = network_policy.name_of(item["metadata"]["name"])
        entry = own_objects.deletion_of(client, network_policy.POLICIES, namespace, name, not found)
        found += [] if entry is None else [entry]
    return found
