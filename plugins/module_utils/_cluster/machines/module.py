# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module machine_action."""
from __future__ import annotations

from typing import Any

from ..._kube.connection.connection import kube_argument_spec
from ..._kube.module import KubeModule
from .actions import ACTIONS
from .service import MachineActionService


def machine_action_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``machine_action``."""
    return dict(
        kube_argument_spec(),
        namespace={"type": "str", "default": "metal3"},
        cluster_name={"type": "str", "required": True},
        machines={"type": "list", "elements": "str", "required": True},
        action={"type": "str", "required": True, "choices": list(ACTIONS)},
        confirm={"type": "str"},
        wait={"type": "bool", "default": True},
        wait_timeout_seconds={"type": "int", "default": 3600},
        node_startup_timeout_seconds={"type": "int", "default": 900},
    )


def run_machine_action() -> None:
    """Run the module ``machine_action``."""
    KubeModule(machine_action_argument_spec()).run_noting(MachineActionService)
