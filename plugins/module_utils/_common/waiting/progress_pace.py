# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a report of a running module is printed: at once, later, again, or not at all; pure, with an injected clock."""
from __future__ import annotations

from typing import Callable

from ..documents.document_text import from_json
from ..texts.formats import duration
from ..texts.text_table import shortened_at_the_end

# Least time between two lines about the state: many hosts change theirs within a second.
LEAST_SECONDS = 3
# How long the same state is not printed again: after the first line, after the second one and so on; the last one
# holds for all that follow, so that nobody has to wonder for longer whether the run still works.
PAUSES_SECONDS = (5, 10, 20, 40, 60)


class Pace:
    """Decides which reports are printed.

    An event is printed at once. A status is printed when its state has changed; the same state again after pauses
    that grow. A run that reports nothing repeats its last line with the time that has passed.

    :param show: callable that takes one line of text
    :param clock: callable that returns seconds
    :param width: columns for a line; a status is shortened to it, though never its state; None for any number
    """

    def __init__(self, show: Callable[[str], None], clock: Callable[[], float],
                 width: int | None = None) -> None:
        self._show = show
        self._clock = clock
        self._width = width
        self._began_at = self._shown_at = clock()
        self._pauses = 0
        # The newest status and the one that was printed last, each as (state, line).
        self._newest: tuple | None = None
        self._shown: tuple | None = None
        self._last_line = ""
        self._overtaken = False

    def feed(self, line: str) -> None:
        """Take one line as the module wrote it; what is no report is dropped.

        :param line: JSON with ``kind`` (``event`` or ``status``), ``text`` and, of a status, ``detail``
        """
        try:
            report = from_json(line)
            kind, text, detail = report["kind"], report["text"], report.get("detail") or ""
        except (ValueError, KeyError, TypeError, AttributeError):
            return
        if kind == "event":
            self._overtaken = True
            self._print(text)
        else:
            line = f"{text}; {detail}" if detail else text
            width = max(self._width, len(text) + len("...")) if self._width else None
            self._newest, self._overtaken = (text, shortened_at_the_end(line, width)), False
            self.tick()

    def tick(self, last: bool = False) -> None:
        """Print what is due.

        :param last: the module has ended: print the newest status, unless an event came after it
        """
        changed = self._newest is not None and (self._shown is None or self._newest[0] != self._shown[0])
        silent_seconds = self._clock() - self._shown_at
        if last:
            if self._newest != self._shown and not self._overtaken:
                self._print_status()
        elif changed:
            if self._shown is None or silent_seconds >= LEAST_SECONDS:
                self._print_status()
        elif silent_seconds >= PAUSES_SECONDS[-1 if self._overtaken or self._newest is None else self._pauses]:
            self._pauses = min(self._pauses + 1, len(PAUSES_SECONDS) - 1)
            self._repeat()

    def _print_status(self) -> None:
        self._pauses = 0
        self._shown = self._newest
        self._print(self._newest[1] if self._newest else "")

    def _repeat(self) -> None:
        before = self._last_line or "still running"
        line = before if self._overtaken or self._newest is None else self._newest[1]
        passed = duration(self._clock() - self._began_at)
        self._print(f"{line} (after {passed})" if line == before else line)
        # The next repetition is of the line, not of the time that was added to it.
        self._last_line = line

    def _print(self, text: str) -> None:
        self._show(text)
        self._last_line = text
        self._shown_at = self._clock()
