# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways through Ironic's provision states: which verbs are sent, what needs none, what is refused and why."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api import states


@pytest.mark.parametrize(("action", "state", "verbs", "goal"), [
    ("manage", "enroll", ["manage"], "manageable"),
    ("manage", "available", ["manage"], "manageable"),
    ("inspect", "manageable", ["inspect"], "manageable"),
    ("inspect", "enroll", ["manage", "inspect"], "manageable"),
    ("inspect", "inspect failed", ["inspect"], "manageable"),
    ("provide", "clean failed", ["manage", "provide"], "available"),
    ("clean", "available", ["manage", "clean"], "manageable"),
    ("deploy", "available", ["deploy"], "active"),
    ("deploy", "deploy failed", ["deploy"], "active"),
    ("rebuild", "active", ["rebuild"], "active"),
    ("undeploy", "error", ["undeploy"], "available"),
    ("undeploy", "wait call-back", ["undeploy"], "available"),
    ("adopt", "manageable", ["adopt"], "active"),
    ("rescue", "active", ["rescue"], "rescue"),
    ("unrescue", "rescue", ["unrescue"], "active"),
    ("service", "service hold", ["service"], "active"),
    ("abort", "clean wait", ["abort"], "clean failed"),
    ("abort", "service failed", ["abort"], "active"),
])
def test_verbs_that_lead_on(action, state, verbs, goal):
    assert states.route(action, state, None, 110) == states.Route("act", verbs, goal, "")


@pytest.mark.parametrize(("action", "state"), [
    ("manage", "manageable"), ("provide", "available"), ("deploy", "active"), ("undeploy", "available"),
    ("undeploy", "enroll"), ("adopt", "active"), ("rescue", "rescue"), ("unrescue", "active"), ("abort", "manageable"),
    ("unhold", "active"),
])
def test_nothing_is_sent_where_the_action_leads(action, state):
    found = states.route(action, state, None, 110)
    assert (found.outcome, found.verbs) == ("none", [])


@pytest.mark.parametrize("action", ["inspect", "clean", "rebuild", "service"])
def test_some_actions_act_each_time(action):
    there = states.VERBS[action].goal
    assert states.route(action, there, None).outcome == "act"


@pytest.mark.parametrize(("action", "state", "target", "outcome"), [
    ("provide", "clean wait", "available", "join"),
    ("provide", "clean wait", "manageable", "refuse"),
    ("clean", "clean wait", "manageable", "refuse"),
    ("deploy", "deploying", "active", "join"),
    ("rebuild", "deploying", "active", "refuse"),
    ("undeploy", "deleting", "available", "join"),
    ("inspect", "inspect wait", "manageable", "join"),
    ("manage", "verifying", "manageable", "join"),
])
def test_a_node_on_its_way_is_joined_only_when_it_goes_there(action, state, target, outcome):
    assert states.route(action, state, target).outcome == outcome


@pytest.mark.parametrize(("action", "state", "text"), [
    ("deploy", "manageable", "provide it first"),
    ("deploy", "clean failed", "provide it first"),
    ("provide", "active", "needs manageable"),
    ("manage", "active", "undeploy it first"),
    ("rescue", "available", "deploy it first"),
    ("deploy", "clean hold", "unhold or abort it"),
    ("abort", "cleaning", "only while it waits"),
])
def test_a_refusal_says_what_leads_on(action, state, text):
    found = states.route(action, state, None, 110)
    assert found.outcome == "refuse"
    assert text in found.reason


def test_an_old_ironic_does_not_abort_a_deployment():
    assert states.route("abort", "wait call-back", "active", 109).outcome == "refuse"
    assert states.route("abort", "wait call-back", "active", 110).outcome == "act"


def test_unhold_leads_where_the_node_was_going():
    assert states.route("unhold", "clean hold", "manageable").goal == "manageable"
    assert states.route("unhold", "deploy hold", "active").goal == "active"


@pytest.mark.parametrize("name", sorted(states.VERBS))
def test_no_goal_is_a_failure_and_no_state_is_both_taken_and_done(name):
    verb = states.VERBS[name]
    assert verb.goal in states.STABLE - states.FAILURES
    assert not verb.accepted & verb.done
    assert not verb.passing & states.STABLE
