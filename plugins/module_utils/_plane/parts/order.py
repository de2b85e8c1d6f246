# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order the objects of a plane's parts are written; pure."""
from __future__ import annotations

from typing import Any

from ..._manifests.order import WEBHOOKS
from .catalogue import CORE_LABEL

Object = dict[str, Any]

DEFINITION = "CustomResourceDefinition"


def waves(objects: list[Object]) -> list[list[Object]]:
    """Return objects in the order of their writing; none of the lists is empty.

    Namespaces and definitions; issuers, certificates, roles, services; Deployments; webhooks; clusterctl's inventory,
    which says that a part is there and so comes last.

    :param objects: list of objects
    """
    result: list[list[Object]] = [[], [], [], [], []]
    for obj in objects:
        result[_wave(obj)].append(obj)
    return [wave for wave in result if wave]


def _wave(obj: Object) -> int:
    if obj["kind"] in ("Namespace", DEFINITION):
        return 0
    if obj["kind"] == "Provider" and CORE_LABEL in (obj["metadata"].get("labels") or {}):
        return 4
    if obj["kind"] in WEBHOOKS:
        return 3
    return 2 if obj["kind"] == "Deployment" else 1
