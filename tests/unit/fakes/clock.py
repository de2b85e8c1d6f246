# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time for tests of what waits."""
from __future__ import annotations


class Clock:
    """A clock that only pauses move: call it for the time in seconds, and give ``sleep`` in place of ``time.sleep``.

    :param now: where it begins
    """

    def __init__(self, now=0.0):
        self.now = now

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
