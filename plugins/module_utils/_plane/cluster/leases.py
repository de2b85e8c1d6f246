# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The right to hold a leader's lease, in the Role that a part has for elections and that does not give it; pure.

IPAM's does not (``config/rbac/leader_election_role.yaml`` of 1.13), so that none of several replicas would ever act.
"""
from __future__ import annotations

from typing import Any

from ..parts.catalogue import Part

Object = dict[str, Any]

# As upstream's kustomizations end its name.
_ROLE = "leader-election-role"
_GROUP, _LEASES = "coordination.k8s.io", "leases"
# client-go's tools/leaderelection reads, creates and updates it.
_VERBS = ("get", "create", "update")


def granted(part: Part, objects: list[Object]) -> list[Object]:
    """Return a part's objects with the right in its Role for elections, unless one of its roles gives it.

    :param objects: are changed
    """
    roles = [obj for obj in objects if obj["kind"] in ("Role", "ClusterRole")]
    if "leader_election" in part.flags and not any(_gives(rule) for obj in roles for rule in obj.get("rules") or []):
        for obj in roles:
            if obj["kind"] == "Role" and obj["metadata"]["name"].endswith(_ROLE):
                obj["rules"] = [*(obj.get("rules") or []),
                                {"apiGroups": [_GROUP], "resources": [_LEASES], "verbs": list(_VERBS)}]
    return objects


def _gives(rule: Object) -> bool:
    return bool({_GROUP, "*"} & set(rule.get("apiGroups") or []) and {_LEASES, "*"} & set(rule.get("resources") or [])
                and {"update", "*"} & set(rule.get("verbs") or []))
