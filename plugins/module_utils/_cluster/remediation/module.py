# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module host_remediation."""
from __future__ import annotations

from typing import Any

from ..._kube.connection.connection import kube_argument_spec
from ..._kube.module import KubeModule
from .diagnosis import REBOOT, STEPS
from .service import RemediationService


def host_remediation_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``host_remediation``."""
    return dict(
        kube_argument_spec(),
        namespace={"type": "str", "default": "metal3"},
        hosts={"type": "list", "elements": "str", "required": True},
        up_to={"type": "str", "choices": list(STEPS), "default": REBOOT},
        mode={"type": "str", "choices": ["soft", "hard"], "default": "hard"},
        confirm={"type": "str"},
        confirm_among={"type": "list", "elements": "str", "default": []},
        step_timeout_seconds={"type": "int", "default": 600},
        wait={"type": "bool", "default": True},
        wait_timeout_seconds={"type": "int", "default": 3600},
        node_startup_timeout_seconds={"type": "int", "default": 900},
    )


def run_host_remediation() -> None:
    """Run the module ``host_remediation``."""
    KubeModule(host_remediation_argument_spec()).run_noting(RemediationService)
