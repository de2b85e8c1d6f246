# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's side of live progress: run a module and print what it reports while it runs."""
from __future__ import annotations

import json
import os
import tempfile
import threading
import time

from ansible import constants as C
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible.utils.vars import merge_hash

from ansible_collections.metal3.baremetal.plugins.module_utils._common.plain_text import plain
from ansible_collections.metal3.baremetal.plugins.module_utils._common.progress import PROGRESS_FILE_VARIABLE

STATUS_INTERVAL_SECONDS = 3
POLL_INTERVAL_SECONDS = 0.2


class Throttle:
    """Decides which reports are shown: events at once, the newest changed status at most every few seconds.

    :param show: callable that takes one line of text
    :param clock: callable that returns seconds
    :param interval_seconds: least time between two status lines
    """

    def __init__(self, show, clock=time.monotonic, interval_seconds=STATUS_INTERVAL_SECONDS):
        self._show = show
        self._clock = clock
        self._interval_seconds = interval_seconds
        self._pending = None
        self._overtaken = False
        self._shown = None
        self._shown_at = None

    def feed(self, line):
        """Take one line as the module wrote it; what is no report is dropped."""
        try:
            report = json.loads(line)
            kind, text = report["kind"], report["text"]
        except (ValueError, KeyError, TypeError):
            return
        if kind == "event":
            self._show(text)
            self._overtaken = True
        else:
            self._pending, self._overtaken = text, False
            self.tick()

    def tick(self, last=False):
        """Show the waiting status if its time has come.

        :param last: the module has ended: show it whatever the time, unless an event has told more since
        """
        if self._pending is None or self._pending == self._shown or (last and self._overtaken):
            return
        now = self._clock()
        if last or self._shown_at is None or now - self._shown_at >= self._interval_seconds:
            self._show(self._pending)
            self._shown, self._shown_at = self._pending, now


class _Tail(threading.Thread):
    """Follows the progress file until told to stop, then reads what is left."""

    def __init__(self, path, throttle):
        super().__init__(name="metal3-progress", daemon=True)
        self._path = path
        self._throttle = throttle
        self._ended = threading.Event()

    def run(self):
        with open(self._path, encoding="utf-8", errors="replace") as stream:
            unfinished = ""
            while True:
                # Asked before reading, so that what was written up to the end is still read.
                ended = self._ended.wait(POLL_INTERVAL_SECONDS)
                *lines, unfinished = (unfinished + stream.read()).split("\n")
                for line in lines:
                    self._throttle.feed(line)
                self._throttle.tick(last=ended)
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
        """Print one line at once; what comes from outside can't steer the terminal by it."""
        Display().display(plain(str(text)), stderr=True)

    def shows_progress(self):
        """True when this run may print: on the controller, in the foreground, without ``no_log``."""
        local = self._connection.transport in ("local", "ansible.builtin.local")
        return local and not self._task.async_val and not self._task.no_log

    def _execute_with_progress(self, task_vars):
        descriptor, path = tempfile.mkstemp(prefix="metal3-progress-", dir=C.DEFAULT_LOCAL_TMP)
        os.close(descriptor)
        throttle = Throttle(lambda text: self.show(f"  {text}"))
        tail = _Tail(path, throttle)
        environment = self._task.environment
        self._task.environment = list(environment or []) + [{PROGRESS_FILE_VARIABLE: path}]
        tail.start()
        try:
            return self._execute_module(task_vars=task_vars)
        finally:
            tail.stop()
            self._task.environment = environment
            os.unlink(path)
