# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which errors end a wait, and which one goes on in spite of."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

# A token is renewed, or an authentication webhook restarts, within a minute.
UNAUTHORIZED_SECONDS = 60
_UNAUTHORIZED = 401
_FINAL_STATUS = (400, 403)
_FINAL_REASONS = ("Configuration", "Certificate")


class Patience:
    """Remembers for one wait how long credentials have been refused.

    :param clock: monotonic clock, in seconds
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._refused_at: float | None = None
        self._last_refused_at = 0.0

    def answered(self) -> None:
        """Note that the server has accepted the credentials."""
        self._refused_at = None

    def is_final(self, error: Any) -> bool:
        """Say whether an error ends the wait.

        :param error: a KubeError
        """
        if error.status != _UNAUTHORIZED:
            return error.status in _FINAL_STATUS or error.reason in _FINAL_REASONS
        now = self._clock()
        # A watch may be silent and then cut off by a proxy: no answer is noted, but no refusal either.
        if self._refused_at is None or now - self._last_refused_at > 2 * UNAUTHORIZED_SECONDS:
            self._refused_at = now
        self._last_refused_at = now
        return now - self._refused_at >= UNAUTHORIZED_SECONDS
