# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many requests to an API server side by side, one outcome for each."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._common.waiting import parallel
from ..connection.connection import WORKERS
from ..responses.errors import KubeError

Outcome = parallel.Outcome


def run(calls: list[Callable[..., Any]], workers: int = WORKERS) -> list[parallel.Outcome]:
    """Run callables on threads, with a :class:`KubeError` as an outcome; see :func:`parallel.run`."""
    return parallel.run(calls, workers, KubeError)


def persist(calls: list[Callable[..., Any]], report: Callable[[str], Any],
            sleep: Callable[[float], Any]) -> list[parallel.Outcome]:
    """Run callables, and those that an API server did not answer again; see :func:`parallel.persist`."""
    return parallel.persist(calls, WORKERS, KubeError, report, sleep)
