# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's side of live progress: run a module and print what it reports while it runs."""
from __future__ import annotations

import os
import sys
import tempfile
import threading
import time

from ansible import constants as C
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible.utils.vars import merge_hash

from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts import terminal
from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts.plain_text import plain
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import PROGRESS_FILE_VARIABLE
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress_pace import Pace
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _bulk_task as bulk_task
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _own_user as own_user

POLL_INTERVAL_SECONDS = 0.2
_INDENT = "  "
# Read here because Ansible imports action plugins in its main process; its workers have no terminal.
TERMINAL_COLUMNS = terminal.columns(sys.stderr)


class _Tail(threading.Thread):
    """Follows the progress file until it is stopped, then reads what is left."""

    def __init__(self, path, pace):
        super().__init__(name="metal3-progress", daemon=True)
        self._path = path
        self._pace = pace
        self._ended = threading.Event()

    def run(self):
        with open(self._path, encoding="utf-8", errors="replace") as stream:
            unfinished = ""
            while True:
                # Asked before reading, so that what was written up to the end is still read.
                ended = self._ended.wait(POLL_INTERVAL_SECONDS)
                *lines, unfinished = (unfinished + stream.read()).split("\n")
                for line in lines:
                    self._pace.feed(line)
                self._pace.tick(last=ended)
                if ended:
                    return

    def stop(self):
        self._ended.set()
        self.join(timeout=10)


class ProgressAction(ActionBase):
    """Base of the action plugins whose module reports progress: runs the module of the same name.

    Progress is shown when the module runs on the controller (local connection), not in the background (``async``)
    and without ``no_log``. It goes to standard error, so that callbacks which write a document to standard output
    stay readable.
    """

    _supports_check_mode = True
    _supports_async = True
    TRANSFERS_FILES = False

    def run(self, tmp=None, task_vars=None):
        """Run the module; the result is the module's own."""
        result = super().run(task_vars=task_vars)
        refused = (bulk_task.refusal(self._task, task_vars.get("ansible_play_batch", ()))
                   or own_user.refusal(self._task, self._get_remote_user(), self._become_user()))
        if refused:
            return dict(result, failed=True, msg=refused)
        wrap_async = bool(self._task.async_val) and not self._connection.has_native_async
        try:
            if not self.shows_progress():
                answer = self._execute_module(task_vars=task_vars, wrap_async=wrap_async)
            else:
                answer = self._execute_with_progress(task_vars)
        finally:
            if not wrap_async:
                self._remove_tmp_path(self._connection._shell.tmpdir)
        result = merge_hash(result, answer)
        for name in ("msg", "exception"):
            # Ansible shows these as they are, and they quote what BMCs and API servers say.
            if isinstance(result.get(name), str):
                result[name] = plain(result[name], keep_lines=True)
        self.finished(result)
        return result

    def finished(self, result):
        """Hook for subclasses: called with the module's result when it has ended."""

    def show(self, text):
        """Print one line at once; what comes from outside can't steer the terminal."""
        Display().display(plain(str(text)), stderr=True)

    def _become_user(self):
        return self.get_become_option("become_user") if self._connection.become else ""

    def shows_progress(self):
        """True when this run may print: on the controller, in the foreground, without ``no_log``."""
        local = self._connection.transport in ("local", "ansible.builtin.local")
        return local and not self._task.async_val and not self._task.no_log

    def _execute_with_progress(self, task_vars):
        descriptor, path = tempfile.mkstemp(prefix="metal3-progress-", dir=C.DEFAULT_LOCAL_TMP)
        os.close(descriptor)
        pace = Pace(lambda text: self.show(f"{_INDENT}{text}"), time.monotonic,
                    TERMINAL_COLUMNS and max(1, TERMINAL_COLUMNS - len(_INDENT)))
        tail = _Tail(path, pace)
        environment = self._task.environment
        reporting = {PROGRESS_FILE_VARIABLE: path}
        if TERMINAL_COLUMNS:
            reporting[terminal.COLUMNS_VARIABLE] = str(TERMINAL_COLUMNS)
        self._task.environment = list(environment or []) + [reporting]
        tail.start()
        try:
            return self._execute_module(task_vars=task_vars)
        finally:
            tail.stop()
            self._task.environment = environment
            os.unlink(path)
