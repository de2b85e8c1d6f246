# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which errors end a wait, and which one goes on in spite of."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

# A token is renewed, or an authentication webhook restarts, within a minute. An API server that has started reads its
# roles within it; until then it forbids what it has allowed before (github.com/kubernetes/kubernetes/issues/121635).
UNAUTHORIZED_SECONDS = 60
_BAD_REQUEST, _UNAUTHORIZED, _FORBIDDEN = 400, 401, 403
# What may pass by itself, for as long as Patience.is_final says that it may.
REFUSALS = (_UNAUTHORIZED, _FORBIDDEN)
_FINAL_REASONS = ("Configuration", "Certificate")


class Patience:
    """Remembers for one wait how long it has been refused, and whether it was allowed before.

    :param clock: monotonic clock, in seconds
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._refused_at: float | None = None
        self._last_refused_at = 0.0
        self._was_answered = False

    def answered(self) -> None:
        """Note that the server has accepted the credentials, and allowed what is asked for."""
        self._refused_at = None
        self._was_answered = True

    def is_final(self, error: Any, was_allowed: bool = False) -> bool:
        """Say whether an error ends the wait.

        :param error: a KubeError
        :param was_allowed: whether the same request was answered in this wait, where :meth:`answered` has not said so
        """
        passes = error.status == _UNAUTHORIZED or (
            error.status == _FORBIDDEN and (was_allowed or self._was_answered))
        if not passes:
            return error.status in (_BAD_REQUEST, _FORBIDDEN) or error.reason in _FINAL_REASONS
        now = self._clock()
        # A watch may be silent and then cut off by a proxy: no answer is noted, but no refusal either.
        if self._refused_at is None or now - self._last_refused_at > 2 * UNAUTHORIZED_SECONDS:
            self._refused_at = now
        self._last_refused_at = now
        return now - self._refused_at >= UNAUTHORIZED_SECONDS
