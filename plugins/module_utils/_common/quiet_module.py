# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module whose parameters hold secrets inside of objects, which Ansible's ``no_log`` of an option does not reach."""
from __future__ import annotations

import sys
import traceback

from ansible.module_utils.basic import AnsibleModule

from .secret_fields import hidden_parameters, secret_texts, without_secrets


class QuietModule(AnsibleModule):
    """Base of modules that show their parameters without secrets, and leave no line with them in the system's log."""

    def __init__(self, **arguments):
        super().__init__(no_log=True, **arguments)

    def exit_json(self, **result):
        """Return the result."""
        super().exit_json(**self._with_parameters(result))

    def fail_json(self, msg, **result):
        """Fail with ``msg``, without the secrets in it: webhooks quote what they refuse, password and all."""
        if sys.exc_info()[0] is not None:
            # Else Ansible takes the traceback itself, with the message as it is.
            result.setdefault("exception", traceback.format_exc())
        result = without_secrets(dict(result, msg=msg), secret_texts(self.params))
        super().fail_json(**self._with_parameters(result))

    def _with_parameters(self, result):
        return dict({"invocation": {"module_args": hidden_parameters(self.params)}}, **result)
