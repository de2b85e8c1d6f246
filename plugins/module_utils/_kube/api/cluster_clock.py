# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The time as an API server has it, by which what is stored there is read; this machine's clock may be another."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def ahead_seconds_of(client: Any) -> float:
    """Return how far the clock of a client's API server is ahead of this machine's, by its newest answer.

    :param client: a KubeClient; before its first answer both clocks count as the same
    """
    return float(getattr(client, "ahead_seconds", 0.0))


def clock_of(client: Any) -> Callable[[], float]:
    """Return a clock that goes by that of a client's API server: seconds since 1970.

    :param client: as for :func:`ahead_seconds_of`, which is asked each time
    """
    return lambda: time.time() + ahead_seconds_of(client)
