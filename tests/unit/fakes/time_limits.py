# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits for what may never end, or needs the square of a length: not for how fast something is.

A machine that is busy with other things, as one that emulates servers is, makes each second several times as long.
"""
from __future__ import annotations

import contextlib
import signal
import time

import pytest

# What waits for something that never comes needs for ever, so that any limit finds it.
ENDLESS_SECONDS = 300
ATTEMPTS = 5


@contextlib.contextmanager
def ends(limit_seconds=ENDLESS_SECONDS):
    """Fail the test when the block does not end by itself, even one that waits in a system call."""
    def fail(*dummy):
        pytest.fail(f"did not end within {limit_seconds} s")
    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, limit_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def within_processor_time(limit_seconds, call, *args):
    """Return what a call returns that needs less processor time than a limit; the least of several attempts counts.

    Args:
        limit_seconds: more than what is in proportion to the length needs, and less than what is not.
        call: a function that may be called again, with ``args``.
    """
    needed = []
    while len(needed) < ATTEMPTS:
        began = time.process_time()
        result = call(*args)
        needed.append(time.process_time() - began)
        if needed[-1] < limit_seconds:
            return result
    pytest.fail(f"needed at least {min(needed):.1f} s of a processor for {str(args)[:100]}, expected less than "
                f"{limit_seconds} s")
