# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks an API server again and again, in spite of errors that may pass."""
from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from ..._common.waiting import wait_loop
from .errors import KubeError
from .patience import Patience


def poll(read: Callable[[], Any], deadline: float, interval_seconds: float, clock: Callable[[], float],
         sleep: Callable[[float], Any]) -> Generator[wait_loop.Step, None, None]:
    """Yield a Step at once and then at each interval, as ``wait_loop.poll`` does, also after errors that may pass.

    :param read: callable that asks the API server and returns the state of everything
    :param deadline: reading of ``clock`` at which to stop
    :param interval_seconds: from the end of one question to the next
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :raises KubeError: of ``read``, when it is final: see Patience
    """
    patience = Patience(clock)

    def asked() -> Any:
        found = read()
        patience.answered()
        return found

    return wait_loop.poll(asked, deadline, interval_seconds, clock, sleep,
                          lambda error: isinstance(error, KubeError) and not patience.is_final(error))
