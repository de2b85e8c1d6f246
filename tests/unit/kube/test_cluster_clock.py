# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The time as an API server has it."""
from __future__ import annotations

import time

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.cluster_clock import clock_of


class Client:
    ahead_seconds = 0.0


def test_the_clock_follows_what_the_newest_answer_said():
    client = Client()
    clock = clock_of(client)
    assert abs(clock() - time.time()) < 60
    client.ahead_seconds = -1000.0
    assert abs(clock() - time.time() + 1000) < 60
