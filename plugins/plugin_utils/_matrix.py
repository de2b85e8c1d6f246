# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action of modules that return a table about a plane."""
from __future__ import annotations

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.metal3.baremetal.plugins.plugin_utils._progress import ProgressAction


class MatrixAction(ProgressAction):
    """Prints the table, whether the module failed or not, when the option ``show_table`` is true."""

    def finished(self, result):
        """Print the table."""
        if boolean(self._task.args.get("show_table", False), strict=False) and self.shows_progress():
            for line in result.get("table") or []:
                self.show(line)
