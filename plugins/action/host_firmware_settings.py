# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs host_firmware_settings, and by meta/runtime.yml the modules of its kind, and shows what they wait for.

A table of the results follows, for those that have one.
"""
from __future__ import annotations

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.metal3.baremetal.plugins.plugin_utils._progress import ProgressAction


class ActionModule(ProgressAction):
    """See the modules."""

    def finished(self, result):
        """Print the table, when it was asked for and there is something in it."""
        wanted = boolean(self._task.args.get("show_table", False), strict=False)
        lines = result.get("table") or []
        if wanted and self.shows_progress() and len(lines) > 1:
            for line in lines:
                self.show(line)
