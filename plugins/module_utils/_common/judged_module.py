# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module whose options are judged as a whole, so that all mistakes are told at once."""
from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule


class JudgedModule(AnsibleModule):
    """Base of modules that tell all mistakes in their options.

    Ansible reports the first value that does not fit the argument spec, without the object that it belongs to.
    """

    def __init__(self, **arguments):
        self._checking_arguments = True
        self._given = {}
        super().__init__(**arguments)
        self._checking_arguments = False

    def _load_params(self):
        """Keep what was given: where an element of a list has the wrong type, Ansible empties the list."""
        super()._load_params()
        self._given = dict(self.params)

    def fail_json(self, msg, **result):
        """Fail with ``msg``, or while arguments are checked with what :meth:`judge` makes of it."""
        msg, result = self.judged(msg, result)
        super().fail_json(msg, **result)

    def judged(self, msg, result):
        """Return message and result of a failure, by :meth:`judge` when it is the first while arguments are checked."""
        if not self._checking_arguments:
            return msg, result
        self._checking_arguments = False
        return self.judge(self._given, msg, result)

    def judge(self, given, msg, result):
        """Return message and result of a failure while arguments are checked.

        :param given: the parameters as they were given
        :param msg: what Ansible says
        :param result: dict
        """
        return msg, result
