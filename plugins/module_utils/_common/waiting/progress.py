# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module's side of live progress: lines that the controller prints while the module still runs."""
from __future__ import annotations

import json
import os
import threading
from typing import Any

from ..redaction.redaction import redacted

# The action plugin (plugin_utils/_progress.py) names a file of its own here, and only when the module runs on the
# controller; everywhere else reporting is a no-op.
PROGRESS_FILE_VARIABLE = "METAL3_PROGRESS_FILE"


class Progress:
    """Reports what a module is doing, one JSON line for each report.

    Reports never change a module's outcome: when the file can't be written (for example because the module became
    another user), reporting stops.

    :param path: the file to append to; taken from the environment when left out, None for no reports
    """

    def __init__(self, path: str | None = None) -> None:
        self._path = path or os.environ.get(PROGRESS_FILE_VARIABLE)
        self._lock = threading.Lock()
        # What this run has stored so far, for the result of a run that fails later.
        self.written: list[dict[str, str]] = []

    def wrote(self, subject: str, action: str) -> None:
        """Keep that an object was stored; nothing is printed.

        :param subject: the object as messages name it, without secrets
        :param action: what became of it: ``created``, ``updated`` or ``deleted``
        """
        entry = {"object": subject, "action": action}
        with self._lock:
            if entry not in self.written:
                self.written.append(entry)

    def status(self, state: Any, detail: str = "") -> None:
        """Report the state of the whole; ``progress_pace.Pace`` decides which of these reports are printed.

        :param state: one line without secrets; a change of it is printed soon
        :param detail: what follows it on the line and changes all the time, such as seconds; empty for nothing
        """
        self._write("status", state, detail)

    def event(self, text: str) -> None:
        """Report that something happened; the controller prints each of them at once.

        :param text: one line without secrets
        """
        self._write("event", text)

    def _write(self, kind: str, text: str, detail: str = "") -> None:
        if not self._path:
            return
        report = {"kind": kind, "text": redacted(" ".join(str(text).split("\n")))}
        if detail:
            report["detail"] = redacted(" ".join(str(detail).split("\n")))
        line = json.dumps(report) + "\n"
        try:
            with self._lock, open(self._path, "a", encoding="utf-8") as stream:
                stream.write(line)
        except OSError:
            self._path = None
