# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module host_maintenance."""
from __future__ import annotations

from typing import Any

from ..._host.actions.action_rules import checked_option
from ..._kube.connection.connection import kube_argument_spec
from ..._kube.module import KubeModule
from .service import MaintenanceService


def host_maintenance_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``host_maintenance``."""
    return dict(
        kube_argument_spec(),
        namespace={"type": "str", "default": "metal3"},
        hosts={"type": "list", "elements": "str", "required": True},
        state={"type": "str", "required": True, "choices": ["planned", "drained", "returned"]},
        reason={"type": "str"},
        checked=checked_option(),
        allow_bare_pods={"type": "bool", "default": False},
        allow_local_data={"type": "bool", "default": False},
        confirm={"type": "str"},
        confirm_among={"type": "list", "elements": "str", "default": []},
        max_unavailable_per_pool={"type": "str"},
        later={"type": "list", "elements": "str", "default": []},
        stays_out={"type": "bool", "default": False},
        wait_timeout_seconds={"type": "int", "default": 900},
    )


def run_host_maintenance() -> None:
    """Run the module ``host_maintenance``."""
    KubeModule(host_maintenance_argument_spec()).run_noting(MaintenanceService)
