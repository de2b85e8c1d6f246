# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module plane_upgrade_plan."""
from __future__ import annotations

from .._common.module import Module
from .._common.problems.errors import os_errors_reported
from .._kube.connection.library import HAS_KUBERNETES
from .parts import manifests
from .process import base_parts, upgrade_plan


def run_plane_upgrade_plan() -> None:
    """Run the module ``plane_upgrade_plan``."""
    module = Module({
        "management_plane": {"type": "dict", "required": True},
        "parts": {"type": "list", "elements": "str", "choices": list(base_parts.NAMES),
                  "default": list(base_parts.NAMES)},
        "confirm": {"type": "str"},
        "confirm_among": {"type": "list", "elements": "str", "default": []},
        "show_table": {"type": "bool", "default": False},
    })
    module.require(kubernetes=HAS_KUBERNETES, PyYAML=manifests.HAS_YAML)
    with module.reporting(), os_errors_reported("plane"):
        module.finish(upgrade_plan.plan(module.params, module.check_mode))
