# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module cluster_info, and refuses to print kubeconfigs."""
from __future__ import annotations

from ansible.errors import AnsibleActionFail
from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.metal3.baremetal.plugins.plugin_utils._progress import ProgressAction


class ActionModule(ProgressAction):
    """See the module of the same name."""

    def run(self, tmp=None, task_vars=None):
        """Run the module, unless its result would be printed with credentials in it."""
        if boolean(self._task.args.get("return_kubeconfig") or False, strict=False) and not self._task.no_log:
            raise AnsibleActionFail("return_kubeconfig: found without no_log, expected both: the result holds "
                                    "credentials; set no_log to true on this task")
        return super().run(tmp, task_vars)
