# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The network add-on that a cluster's options bring: its objects, and what is wrong with the options; pure."""
from __future__ import annotations

import re
from typing import Any

from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..description.model import ClusterDescription
from . import flannel, images

FLANNEL = "flannel"
# flannel takes a name or an address.
_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,38}")


def addon_objects(description: ClusterDescription) -> list[dict[str, Any]]:
    """Return the objects for the new cluster, none when the option brings none.

    :param description: one without problems
    """
    if description.network_addon != FLANNEL:
        return []
    return flannel.objects(description.pod_cidrs, description.flannel, description.image_registry)


def option_problems(subject: str, description: ClusterDescription) -> list[Problem]:
    """Return what is wrong with the options of the add-on and of the registry that images come from."""
    found = images.registry_problems(subject, description.image_registry)
    given = description.flannel
    if given is None:
        return found
    if description.network_addon != FLANNEL:
        return found + [Problem("network-add-on", subject, "flannel", ", ".join(sorted(
            name for name in given if given[name] is not None)), f"nothing without network_addon: {FLANNEL}",
            "remove it, or choose that add-on")]
    for option in ("image", "cni_plugin_image"):
        found += images.reference_problems(subject, f"flannel.{option}", given.get(option))
    if given.get("interface") is not None and not _INTERFACE.fullmatch(given["interface"]):
        found.append(Problem("network-add-on", subject, "flannel.interface", shown(given["interface"]),
                             "the name or the address of a network device of the nodes"))
    return found
