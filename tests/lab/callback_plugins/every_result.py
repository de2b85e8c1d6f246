# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes every result of every task to a file as JSON, as callbacks for pipelines do, for the test of secrets."""
from __future__ import annotations

DOCUMENTATION = r"""
name: every_result
type: aggregate
short_description: Every result as JSON
description: Appends each result, as callbacks get it, to a file.
options:
  path:
    description: The file.
    type: path
    required: true
    env:
      - name: EVERY_RESULT_PATH
"""

import json

from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    """See DOCUMENTATION."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "every_result"
    CALLBACK_NEEDS_ENABLED = True

    def v2_runner_on_ok(self, result):
        """Write a result."""
        with open(self.get_option("path"), "a", encoding="utf-8") as stream:
            json.dump({"task": result.task.get_name(), "host": result.host.get_name(), "result": result.result},
                      stream, default=str)
            stream.write("\n")

    def v2_runner_on_failed(self, result, ignore_errors=False):
        """Write the result of a task that failed."""
        self.v2_runner_on_ok(result)

    v2_runner_on_skipped = v2_runner_on_unreachable = v2_runner_on_ok
