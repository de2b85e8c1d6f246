# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many requests at once: outcomes in order, and what an unanswered request gets."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting import parallel
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import bulk
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError


def scripted(*answers):
    """Return a callable that gives one answer after the other, raising those that are exceptions."""
    left = list(answers)

    def call():
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer
    return call


def test_outcomes_come_in_the_order_of_the_calls():
    outcomes = bulk.run([scripted(1), scripted(KubeError("refused", 422)), scripted(3)])
    assert [outcome.value for outcome in outcomes] == [1, None, 3]
    assert outcomes[1].error.status == 422


def test_a_defect_is_raised():
    with pytest.raises(TypeError):
        bulk.run([scripted(1), scripted(TypeError("defect"))])


def test_only_unanswered_requests_are_sent_again():
    events, slept = [], []
    outcomes = bulk.persist(
        [scripted(KubeError("no answer"), KubeError("busy", 503), "there"), scripted(KubeError("refused", 422)),
         scripted("at once")], events.append, slept.append)
    assert [outcome.value for outcome in outcomes] == ["there", None, "at once"]
    assert slept == [1, 2]
    assert "no answer" in events[0] and "busy" in events[1]


def test_it_gives_up_with_the_last_error():
    failures = [KubeError(f"failure {number}") for number in range(len(parallel.RETRY_DELAYS_SECONDS) + 1)]
    slept = []
    outcome, = bulk.persist([scripted(*failures)], str, slept.append)
    assert outcome.error is failures[-1]
    assert slept == list(parallel.RETRY_DELAYS_SECONDS)


def test_values_are_those_of_calls_that_all_succeeded():
    assert parallel.values(bulk.run([scripted(1), scripted(None)])) == [1, None]
    with pytest.raises(KubeError, match="refused"):
        parallel.values(bulk.run([scripted(1), scripted(KubeError("refused", 422)), scripted(KubeError("later"))]))
