# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports a server's part of a bulk result on the controller: no module is run, no connection is opened."""
from __future__ import annotations

from ansible.plugins.action import ActionBase

from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import outcome as host_outcome

ARGUMENT_SPEC = {"variables": {"type": "list", "elements": "str", "default": ["hosts_result"]}}


class ActionModule(ActionBase):
    """See the module of the same name."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp=None, task_vars=None):
        """Return the server's part."""
        result = super().run(tmp, task_vars)
        dummy, options = self.validate_argument_spec(ARGUMENT_SPEC)
        # By name, not as a templated argument: a thousand servers would each copy the results of all others.
        found = [task_vars.get(name) for name in options["variables"]]
        result.update(host_outcome.report(found, task_vars["inventory_hostname"]))
        return result
