# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every run over nodes or ports of Ironic works with."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


class NodeRun:
    """One run over a list of nodes or ports.

    :param client: an IronicClient
    :param params: the module's parameters
    :param check_mode: only report what would be done
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep) -> None:
        self.client = client
        self.forced = frozenset(params["force_nodes"])
        self.check_mode = check_mode
        self.progress = progress
        self.clock = clock
        self.sleep = sleep
        self.began_at = clock()
        self.diffs: list[dict[str, Any]] = []
