# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module cluster, shows at which step its machines are meanwhile, and the cluster as a tree at the end."""
from __future__ import annotations

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    inventory as cluster_inventory,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts.text_table import shortened_at_the_end
from ansible_collections.metal3.baremetal.plugins.plugin_utils._progress import TERMINAL_COLUMNS, ProgressAction


class ActionModule(ProgressAction):
    """See the module of the same name."""

    def run(self, tmp=None, task_vars=None):
        """Run the module, unless a cluster of the inventory is described by variables that are no longer read."""
        if self._task.args.get("field_names") == "variables":
            problems = cluster_inventory.former_names(task_vars["inventory_hostname"], task_vars)
            if problems:
                refused = RefusedError(problems)
                return {"failed": True, "msg": str(refused), "problems": refused.results()}
        return super().run(tmp, task_vars)

    def finished(self, result):
        """Print the tree, when it was asked for and there is something to show."""
        wanted = boolean(self._task.args.get("show_tree", False), strict=False)
        if not wanted or not self.shows_progress() or result.get("failed"):
            return
        for line in result.get("tree") or []:
            self.show(shortened_at_the_end(line, TERMINAL_COLUMNS))
        if result.get("workload_kubeconfig"):
            self.show(f"kubeconfig: {result['workload_kubeconfig']}")
