# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic's provision states: which verb is taken in which state, where it leads, and what is a failure; pure.

The source is Ironic's ``common/state_machine.py``.
"""
from __future__ import annotations

from collections import namedtuple
from typing import Any

ENROLL, MANAGEABLE, AVAILABLE, ACTIVE, RESCUE = "enroll", "manageable", "available", "active", "rescue"
ADOPT_FAILED = "adopt failed"
HOLDS = frozenset(["clean hold", "deploy hold", "service hold"])
FAILURES = frozenset([ADOPT_FAILED, "clean failed", "deploy failed", "error", "inspect failed", "rescue failed",
                      "service failed", "unrescue failed"])
STABLE = frozenset([ENROLL, MANAGEABLE, AVAILABLE, ACTIVE, RESCUE]) | FAILURES
# Where Ironic deletes a node that is not in maintenance (allow_deleting_available_nodes is its default). It would take
# ADOPT_FAILED too: but what is registered again after that is a new node, and nothing says what is on its disks.
DELETABLE = frozenset([ENROLL, MANAGEABLE, AVAILABLE])

# target: what the API calls the verb. accepted: states in which Ironic takes it. goal: where it leads. done: states in
# which there is nothing to do, empty for verbs that act each time. passing: states on the way.
Verb = namedtuple("Verb", ["target", "accepted", "goal", "done", "passing"])


def _verb(target: Any, accepted: Any, goal: Any, done: Any = (), passing: Any = ()) -> Any:
    return Verb(target, frozenset(accepted), goal, frozenset(done), frozenset(passing))


_CLEANING = ("cleaning", "clean wait")
_DEPLOYING = ("deploying", "wait call-back")

VERBS = {
    "manage": _verb("manage", [ENROLL, AVAILABLE, "inspect failed", "clean failed", ADOPT_FAILED], MANAGEABLE,
                    [MANAGEABLE], ["verifying", "inspecting", "inspect wait", "cleaning", "clean wait"]),
    "inspect": _verb("inspect", [MANAGEABLE, "inspect failed"], MANAGEABLE, [], ["inspecting", "inspect wait"]),
    "provide": _verb("provide", [MANAGEABLE], AVAILABLE, [AVAILABLE], ("deleting",) + _CLEANING),
    "clean": _verb("clean", [MANAGEABLE], MANAGEABLE),
    "deploy": _verb("active", [AVAILABLE, "deploy failed"], ACTIVE, [ACTIVE], _DEPLOYING),
    "rebuild": _verb("rebuild", [ACTIVE, "deploy failed", "error"], ACTIVE),
    "undeploy": _verb("deleted", [ACTIVE, "deploy failed", "wait call-back", "error", RESCUE, "rescue failed",
                                  "rescue wait", "unrescue failed", "service failed", "service wait"], AVAILABLE,
                      [AVAILABLE, MANAGEABLE, ENROLL], ("deleting",) + _CLEANING),
    "rescue": _verb("rescue", [ACTIVE, "rescue failed", "unrescue failed", "service failed"], RESCUE, [RESCUE],
                    ["rescuing", "rescue wait"]),
    "unrescue": _verb("unrescue", [RESCUE, "rescue failed", "unrescue failed"], ACTIVE, [ACTIVE], ["unrescuing"]),
    "adopt": _verb("adopt", [MANAGEABLE, ADOPT_FAILED], ACTIVE, [ACTIVE], ["adopting"]),
    "service": _verb("service", [ACTIVE, "service failed", "service hold"], ACTIVE),
}
# What an abort makes of each state that can be aborted.
ABORTS = {
    "inspect wait": "inspect failed", "clean wait": "clean failed", "clean hold": "clean failed",
    "wait call-back": "deploy failed", "deploy hold": "deploy failed", "rescue wait": "rescue failed",
    "service wait": "service failed", "service hold": "service failed", "service failed": ACTIVE,
}
# API versions that brought an abort later than the others.
ABORT_MINORS = {"wait call-back": 110, "deploy hold": 110}
# Verbs that take a node from where manage leads: they are preceded by it, in states in which there is nothing to lose.
_AFTER_MANAGE = ("inspect", "provide", "clean", "adopt")
_MANAGED_UNASKED = VERBS["manage"].accepted - {ADOPT_FAILED}
# Verbs that may be sent again while the node is where it was: once one is taken, Ironic refuses the next.
GUARDED = frozenset(name for name, verb in VERBS.items() if verb.goal not in verb.accepted) | {"abort", "unhold"}

# What an action that is advised costs.
_COSTS = {"undeploy": ", which erases what is deployed", "provide": ", which erases its disks"}

# outcome: "act" (send verbs), "join" (on its way there already), "none" (there already) or "refuse".
# verbs: names in VERBS, or "abort" and "unhold", in the order in which they are to be sent.
# goal: the state at the end. reason: why it is refused, or what is to be known.
Route = namedtuple("Route", ["outcome", "verbs", "goal", "reason"])


def route(action: str, state: str, target: str | None, minor: int | None = None) -> Route:
    """Return how a node gets where an action leads.

    :param action: a key of :data:`VERBS`, ``abort`` or ``unhold``
    :param state: the node's provision state
    :param target: the node's target provision state, or None
    :param minor: minor API version that is spoken, or None
    :returns: a :class:`Route`
    """
    if action == "abort":
        return _abort(state, minor)
    if action == "unhold":
        if state not in HOLDS:
            return Route("none", [], state, "")
        return Route("act", ["unhold"], target or ACTIVE, "")
    verb = VERBS[action]
    if state in verb.done:
        return Route("none", [], state, "")
    if state in verb.accepted:
        return Route("act", [action], verb.goal, "")
    if state in verb.passing and target == verb.goal:
        return Route("join", [], verb.goal, "")
    if action in _AFTER_MANAGE and state in _MANAGED_UNASKED:
        return Route("act", ["manage", action], verb.goal, "")
    return Route("refuse", [], verb.goal, _reason(action, state, target))


def _abort(state: str, minor: int | None) -> Route:
    if state in STABLE and state not in ABORTS:
        return Route("none", [], state, "")
    needed = ABORT_MINORS.get(state, 0)
    if state not in ABORTS:
        return Route("refuse", [], state, f"it is {state}, which Ironic aborts only while it waits for the agent")
    if minor is not None and minor < needed:
        return Route("refuse", [], state, f"it is {state}, which only API version 1.{needed} and newer abort; undeploy "
                                          "it")
    return Route("act", ["abort"], ABORTS[state], "")


def _reason(action: str, state: str, target: str | None) -> str:
    verb = VERBS[action]
    if state in HOLDS:
        return f"it is held ({state}); unhold or abort it first"
    if state not in STABLE:
        return f"it is {state} on its way to {target or 'another state'}; wait for the end of that, or abort it"
    expected = f"it is {state}, and {action} needs {' or '.join(sorted(verb.accepted))}"
    if state == ADOPT_FAILED:
        return (f"{expected}; correct the cause (last_error) and adopt it again: the system on its disks is not to be "
                "lost")
    leading = first_action(state, verb.accepted)
    return f"{expected}; {leading} it first{_COSTS.get(leading, '')}" if leading else expected


def first_action(state: str, wanted: frozenset[str]) -> str | None:
    """Return the action that leads from a state to one of the wanted ones, None when no single one does.

    :param state: a provision state
    :param wanted: set of provision states
    """
    def accepted(name: str) -> frozenset[str]:
        return VERBS[name].accepted | (_MANAGED_UNASKED if name in _AFTER_MANAGE else frozenset())

    return next((name for name in ("provide", "undeploy", "deploy", "manage")
                 if VERBS[name].goal in wanted and state in accepted(name)), None)
