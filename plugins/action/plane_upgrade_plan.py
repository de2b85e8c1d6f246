# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module plane_upgrade_plan, shows its progress and, when asked for, the version matrix."""
from __future__ import annotations

from ansible_collections.metal3.baremetal.plugins.plugin_utils._matrix import MatrixAction


class ActionModule(MatrixAction):
    """See the module of the same name."""
