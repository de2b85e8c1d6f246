# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order the objects of a plane's parts are written; pure."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._kube.kinds.resources import group_of
from ..._manifests.order import WEBHOOKS
from .catalogue import CORE_LABEL

Object = dict[str, Any]

DEFINITION = "CustomResourceDefinition"
# Upstream's probe asks it first after ten seconds, and again only ten later: the others are up by then.
FIRST = "bmo"


def quick_waves(objects: list[Object], part_of: Callable[[Object], str]) -> list[list[Object]]:
    """Return objects in the order of a quick installation; none of the lists is empty.

    Namespaces; what the pods of the operator refer to, and its definitions; its Deployment, of which the probe takes
    longest; what other pods refer to, so that certificates are issued while definitions are made; other definitions;
    other Deployments; objects of the kinds that are defined here; webhooks; clusterctl's inventory.

    :param objects: list of objects
    :param part_of: callable that takes an object and returns the name of its part, empty for one of none
    """
    groups = set(obj["spec"]["group"] for obj in objects if obj["kind"] == DEFINITION)
    result: list[list[Object]] = [[], [], [], [], [], [], [], [], []]
    for obj in objects:
        result[_quick_wave(obj, part_of(obj), groups)].append(obj)
    return [wave for wave in result if wave]


def _quick_wave(obj: Object, part: str, groups: set[str]) -> int:
    first = part == FIRST
    if obj["kind"] == DEFINITION:
        return 1 if first else 4
    if obj["kind"] == "Deployment":
        return 2 if first else 5
    wave = _wave(obj)
    if wave != 1:
        return wave if wave < 1 else 4 + wave
    if group_of(obj) in groups:
        return 6
    # What belongs to no part may be a Secret that its pods mount.
    return 1 if first or not part else 3


def waves(objects: list[Object]) -> list[list[Object]]:
    """Return objects in lists, what others need first, for a removal or the way back; none of the lists is empty.

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
