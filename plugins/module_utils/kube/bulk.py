# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many requests side by side, one outcome for each."""
from __future__ import annotations

from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

from .client import WORKERS
from .errors import KubeError

Outcome = namedtuple("Outcome", ["value", "error"])


def run(calls, workers=WORKERS):
    """Run callables on threads and return their outcomes in the given order.

    A :class:`KubeError` becomes the ``error`` of that call's outcome, so that one refusal does not hide what
    happened to the others; any other exception is a defect and is raised.

    :param calls: list of callables without arguments
    :param workers: how many run at once
    :returns: list of :class:`Outcome`
    """
    def guarded(call):
        try:
            return Outcome(call(), None)
        except KubeError as exc:
            return Outcome(None, exc)

    if len(calls) <= 1:
        return [guarded(call) for call in calls]
    with ThreadPoolExecutor(max_workers=min(workers, len(calls))) as pool:
        return list(pool.map(guarded, calls))
