# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Something that goes on beside a block of a test, and ends with it."""
from __future__ import annotations

import contextlib
import threading


@contextlib.contextmanager
def running(name, function, *arguments, join_seconds=10):
    """Run a function in a thread of its own while the block runs.

    :param name: of the thread
    :param function: takes the arguments and a threading.Event, and ends soon after that is set
    :param join_seconds: how long to wait at most for its end
    """
    ended = threading.Event()
    thread = threading.Thread(target=function, args=(*arguments, ended), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(join_seconds)
