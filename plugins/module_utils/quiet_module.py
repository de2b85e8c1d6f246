# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module whose parameters hold secrets inside of objects, which Ansible's ``no_log`` of an option does not reach."""
from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule

from .metal3.secret_fields import hidden_parameters


class QuietModule(AnsibleModule):
    """Base of modules that show their parameters without secrets, and leave no line with them in the system's log."""

    def __init__(self, **arguments):
        super().__init__(no_log=True, **arguments)

    def exit_json(self, **result):
        """Return the result."""
        super().exit_json(**self._with_parameters(result))

    def fail_json(self, msg, **result):
        """Fail with ``msg``."""
        super().fail_json(msg, **self._with_parameters(result))

    def _with_parameters(self, result):
        return dict({"invocation": {"module_args": hidden_parameters(self.params)}}, **result)
