# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many requests to Ironic side by side, one outcome for each."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._common.waiting import parallel
from .client import WORKERS
from .errors import IronicError


def run(calls: list[Callable[..., Any]]) -> list[parallel.Outcome]:
    """Run callables, with an :class:`IronicError` as an outcome; see :func:`parallel.run`."""
    return parallel.run(calls, WORKERS, IronicError)


def persist(calls: list[Callable[..., Any]], report: Callable[[str], Any],
            sleep: Callable[[float], Any]) -> list[parallel.Outcome]:
    """Run callables, and those that met a locked node or no answer again; see :func:`parallel.persist`."""
    return parallel.persist(calls, WORKERS, IronicError, report, sleep)
