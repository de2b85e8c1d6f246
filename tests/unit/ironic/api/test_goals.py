# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits for nodes: what ends one, and what is reported of it."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_report import (
    FAILED,
    REACHED,
    WAITING,
    status_texts,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.goals import Goal, NodeHistory, verdict_on

ACTIVE = Goal("provision", "active")


def node(state="available", **values):
    return dict({"uuid": "1", "name": "a", "provision_state": state, "power_state": "power on"}, **values)


@pytest.mark.parametrize(("goal", "seen", "outcome"), [
    (ACTIVE, node("active"), REACHED),
    (ACTIVE, node("deploying"), WAITING),
    (ACTIVE, node("wait call-back"), WAITING),
    (ACTIVE, node("deploy failed", last_error="no disk"), FAILED),
    (ACTIVE, node("deploy hold"), FAILED),
    (ACTIVE, node("available"), FAILED),
    (ACTIVE, None, FAILED),
    (Goal("provision", "manageable"), node("enroll", last_error="401"), FAILED),
    (Goal("provision", "clean failed"), node("clean failed"), REACHED),
    (Goal("power", "power on"), node(), REACHED),
    (Goal("power", "power on"), node(target_power_state="power on"), WAITING),
    (Goal("power", "power off"), node(reservation="conductor"), WAITING),
    (Goal("power", "power off"), node(last_error="BMC gone"), FAILED),
    (Goal("secure_boot", True), node(secure_boot=True), REACHED),
    (Goal("secure_boot", True), node(secure_boot=False, reservation="conductor"), WAITING),
    (Goal("secure_boot", True), node(secure_boot=False), FAILED),
])
def test_verdicts(goal, seen, outcome):
    assert verdict_on(goal, seen).outcome == outcome


def test_a_failure_is_reported_once_ironic_has_written_its_error():
    failing = node("clean failed", reservation="conductor")
    assert verdict_on(Goal("provision", "manageable"), failing).outcome == WAITING
    verdict = verdict_on(Goal("provision", "manageable"), node("clean failed", last_error="step x\n  failed"))
    assert "last_error: step x failed" in verdict.cause


def test_the_reason_for_maintenance_stands_in_for_a_lost_error():
    verdict = verdict_on(ACTIVE, node("clean failed", maintenance_reason="step x failed"))
    assert "step x failed" in verdict.cause
    assert "conductor's log" in verdict.next_step


def test_a_hold_that_ironic_left_out_is_reported():
    verdict = verdict_on(Goal("provision", "clean hold"), node("manageable"))
    assert verdict.outcome == FAILED
    assert "left the step out" in verdict.cause


def test_a_timeout_names_state_step_and_error():
    history = NodeHistory(ACTIVE, node("available"), 100)
    assert history.update(node("deploying", deploy_step={"step": "write_image"}), 110) == []
    assert history.timeout_cause(170) == "still deploying (write_image) after 1 min; last_error: none"
    assert status_texts({"a": history}, 170) == (
        "0/1 active, 1 deploying", "longest: a deploying 1 min (write_image)")


def test_a_history_goes_on_to_the_next_goal():
    history = NodeHistory(Goal("provision", "manageable"), node("enroll"), 0)
    history.update(node("manageable"), 5)
    assert (history.verdict.outcome, history.seconds_taken(9)) == (REACHED, 5)
    history.aim(Goal("provision", "available"), 6)
    assert history.waiting
    assert history.update(node("clean failed", last_error="x"), 20)
    assert (history.verdict.outcome, history.seconds_taken(99)) == (FAILED, 20)
