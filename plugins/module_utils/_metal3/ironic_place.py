# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Ironic is in a cluster: the names of upstream's manifests, and the options that say another place; pure."""
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
