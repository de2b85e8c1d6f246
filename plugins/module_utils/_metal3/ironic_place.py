# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Ironic is: the names of upstream's manifests, the options that say another place, defaults of roles; pure."""
from __future__ import annotations

from typing import Any

# The Bare Metal Operator's, which can mount Secrets of its own namespace only.
IRONIC_NAMESPACE = "baremetal-operator-system"
IRONIC_DEPLOYMENT = IRONIC_CONTAINER = "ironic"

# Options of modules that look into Ironic's pod; documented in the fragments ``ironic_pod`` and ``boot``.
POD_OPTIONS: dict[str, dict[str, Any]] = {
    "kubeconfig": {"type": "path", "required": True},
    "context": {"type": "str"},
    "namespace": {"type": "str", "default": IRONIC_NAMESPACE},
    "deployment": {"type": "str", "default": IRONIC_DEPLOYMENT}}


def by_default(plane: Any, operator_options: Any = None) -> dict[str, str]:
    """Return how and in which namespace Ironic runs where neither ``ironic_mode`` nor ``ironic_namespace`` is set.

    :param plane: the variable ``management_plane``, empty for none
    :param operator_options: the variable ``bmo_options``
    """
    plane = plane if isinstance(plane, dict) else {}
    given = [item.get("namespace") for item in (operator_options, plane.get("options")) if isinstance(item, dict)]
    return {"mode": "process" if plane.get("mode", "process") == "process" else "external",
            "namespace": next(filter(None, given), IRONIC_NAMESPACE)}
