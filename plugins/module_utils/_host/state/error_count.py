# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many of the errors that BMO has counted on a host are from before a wait; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def error_count(bmh: Mapping[str, Any] | None) -> int:
    """Return how many errors BMO has counted since the last step that was done, those that are over included."""
    return ((bmh or {}).get("status") or {}).get("errorCount") or 0


class ErrorCount:
    """BMO's count of a host's errors during a wait.

    BMO counts on when it tries again (``clearError``), and from 0 when a step is done.

    :param bmh: the host as it was before the wait, None when it was not there
    """

    def __init__(self, bmh: Mapping[str, Any] | None) -> None:
        # How much of the count is from before the wait.
        self.old = self._last = error_count(bmh)

    def look(self, bmh: Mapping[str, Any] | None) -> None:
        """Take the host's newest state."""
        count = error_count(bmh)
        if count < self._last:
            self.old = 0
        self._last = count
