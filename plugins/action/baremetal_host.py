# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module baremetal_host and shows what its hosts are doing meanwhile, and a table of them at the end."""
from __future__ import annotations

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import table as host_table
from ansible_collections.metal3.baremetal.plugins.plugin_utils._progress import TERMINAL_COLUMNS, ProgressAction


class ActionModule(ProgressAction):
    """See the module of the same name."""

    def finished(self, result):
        """Print the table, when it was asked for and there is something to show."""
        wanted = boolean(self._task.args.get("show_table", False), strict=False)
        if wanted and self.shows_progress() and result.get("hosts") and not result.get("failed"):
            for line in host_table.table(result["hosts"], TERMINAL_COLUMNS):
                self.show(line)
