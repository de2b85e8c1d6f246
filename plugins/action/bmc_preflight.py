# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module bmc_preflight and shows how far it is meanwhile, and a table of the servers at the end."""
from __future__ import annotations

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.metal3.baremetal.plugins.plugin_utils._progress import ProgressAction


class ActionModule(ProgressAction):
    """See the module of the same name."""

    def finished(self, result):
        """Print the table and what is to be looked at, whether the module failed or not."""
        wanted = boolean(self._task.args.get("show_table", False), strict=False)
        if wanted and self.shows_progress():
            for line in result.get("table") or []:
                self.show(line)
            for host in result.get("hosts") or []:
                for check in host["checks"]:
                    if check["status"] == "warning":
                        self.show(f"- {check['text']}")
