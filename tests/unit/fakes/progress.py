# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Progress that keeps its lines."""
from __future__ import annotations


class Reports:
    """Keeps the lines of live progress."""

    def __init__(self):
        self.lines = []
        self.written = []

    def wrote(self, subject, action):
        self.written.append({"object": subject, "action": action})

    def event(self, text):
        self.lines.append(text)

    def status(self, state, detail=""):
        self.lines.append(f"{state}; {detail}" if detail else state)
