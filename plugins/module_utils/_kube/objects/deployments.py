# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Deployment says of its pods; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def wants_pods(deployment: Mapping[str, Any]) -> bool:
    """Say whether a Deployment is to have pods."""
    return bool(deployment["spec"].get("replicas", 1))


def has_available_pod(deployment: Mapping[str, Any] | None) -> bool:
    """Say whether a Deployment has an available pod; False when there is no Deployment."""
    return bool(((deployment or {}).get("status") or {}).get("availableReplicas"))
