# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow many nodes by one bulk request at an interval: Ironic has no watch."""
from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any

from ..._common.waiting.wait_loop import Step, poll
from .goals import POLL_FIELDS


def follow(client: Any, deadline: float, interval_seconds: float, clock: Callable[[], float] = time.monotonic,
           sleep: Callable[[float], Any] = time.sleep) -> Generator[Step, None, None]:
    """Yield Steps whose ``objects`` is ``{uuid: node}`` of all nodes, at once and then at each interval.

    The request is for all nodes with few fields: the same one whether one node is waited for or a thousand.

    :param client: an IronicClient
    :param deadline: reading of ``clock`` at which to stop
    :param interval_seconds: from the end of one request to the next
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :raises IronicError: when Ironic refuses for good
    """
    return poll(lambda: dict((node["uuid"], node) for node in client.list_nodes(POLL_FIELDS)), deadline,
                interval_seconds, clock, sleep, is_passing=lambda error: error.retriable)
