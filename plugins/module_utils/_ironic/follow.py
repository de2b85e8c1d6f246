# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow many nodes by one bulk request at an interval, through lost connections, until a deadline."""
from __future__ import annotations

import time
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

from .errors import IronicError
from .goals import POLL_FIELDS

# nodes: {uuid: node} of all nodes. unreachable_seconds: how long Ironic has not answered, None when it does.
Step = namedtuple("Step", ["nodes", "unreachable_seconds", "error"])


def follow(client: Any, deadline: float, interval_seconds: float, clock: Callable[[], float] = time.monotonic,
           sleep: Callable[[float], Any] = time.sleep) -> Iterator[Step]:
    """Yield a Step at once and then at each interval, the last one at the deadline.

    The request is for all nodes with few fields: the same one whether one node is waited for or a thousand.

    :param client: an IronicClient
    :param deadline: reading of ``clock`` at which to stop
    :param interval_seconds: from the end of one request to the next
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :raises IronicError: when Ironic refuses for good
    """
    lost_at, nodes, error = None, {}, None
    while True:
        try:
            nodes = dict((node["uuid"], node) for node in client.list_nodes(POLL_FIELDS))
            lost_at, error = None, None
        except IronicError as exc:
            if not exc.retriable:
                raise
            lost_at, error = (clock() if lost_at is None else lost_at), exc
        yield Step(nodes, None if lost_at is None else clock() - lost_at, error)
        left = deadline - clock()
        if left <= 0:
            return
        sleep(min(interval_seconds, left))
