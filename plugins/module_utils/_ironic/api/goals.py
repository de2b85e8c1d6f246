# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a wait for a node is for, what ends it early, and what a node went through meanwhile; pure."""
from __future__ import annotations

from collections import namedtuple
from typing import Any

from ..._common.texts.formats import duration
from ..._common.waiting.wait_report import FAILED, REACHED, WAITING, Awaited, Verdict
from . import states

# What a poll asks for: enough to decide, to name the step that runs, and to report why it does not continue.
POLL_FIELDS = ("uuid", "name", "provision_state", "target_provision_state", "power_state", "target_power_state",
               "last_error", "reservation", "maintenance", "maintenance_reason", "boot_mode", "secure_boot",
               "provision_updated_at",
               "clean_step", "deploy_step", "service_step")

# kind: "provision" (value: a provision state), "power" (value: a power state) or the name of a node's field that
# Ironic sets when a request is done (value: what it is to be).
Goal = namedtuple("Goal", ["kind", "value"])


def goal_text(goal: Goal) -> str:
    """Return a goal in words."""
    return goal.value if goal.kind in ("provision", "power") else f"{goal.kind} {goal.value}"


def verdict_on(goal: Any, node: Any) -> Any:
    """Return how a node stands to a goal.

    It is asked only after Ironic has accepted the request: by then the node has left the state it was in, so that any
    state that holds by itself is the end of the way, and one that is not the goal is a failure.

    :param goal: a :class:`Goal`
    :param node: the node with :data:`POLL_FIELDS`, or None when there is none
    :returns: a Verdict
    """
    if node is None:
        return Verdict(FAILED, "the node was deleted by somebody else", "register it again")
    if goal.kind == "provision":
        return _provision_verdict(goal.value, node)
    busy = node.get("reservation") or (goal.kind == "power" and node.get("target_power_state"))
    actual = node.get("power_state" if goal.kind == "power" else goal.kind)
    if not busy and actual == goal.value:
        return Verdict(REACHED, "", "")
    if not busy:
        return Verdict(FAILED, f"it is {actual}, expected {goal.value}; last_error: {_error(node)}",
                       "look at the BMC, then run again")
    return Verdict(WAITING, "", "")


def _provision_verdict(wanted: Any, node: Any) -> Any:
    state = node["provision_state"]
    if state == wanted:
        return Verdict(REACHED, "", "")
    if node.get("reservation"):
        # Ironic works on it still: the error follows the state.
        return Verdict(WAITING, step_text(node), "")
    if state in states.HOLDS:
        return Verdict(FAILED, f"it is held ({state})", "let it go on with the action unhold, or abort it")
    if state in states.FAILURES or state == states.ENROLL:
        advice = _advice(state)
        if not node.get("last_error"):
            advice = f"see the conductor's log, {advice}"
        return Verdict(FAILED, f"it is {state}; last_error: {_error(node)}", advice)
    if wanted in states.HOLDS and state in states.STABLE:
        return Verdict(FAILED, f"its steps ended (it is {state}) without a hold: Ironic left the step out, as version "
                               "39.0 does with all steps of its conductor", "use another version of Ironic")
    if state in states.STABLE:
        return Verdict(FAILED, f"it is {state}, so that another client or Ironic stopped it; last_error: "
                               f"{_error(node)}", "run again")
    return Verdict(WAITING, step_text(node), "")


def _error(node: dict[str, Any]) -> str:
    # Powering off after a failed cleaning (poweroff_in_cleanfail) empties last_error; the reason for maintenance, if
    # Ironic has set one, stays.
    return " ".join((node.get("last_error") or node.get("maintenance_reason") or "none").split())


def _advice(state: str) -> str:
    if state == states.ENROLL:
        return "correct driver_info (address, user name, password) with ironic_node, then run again"
    if state == states.ADOPT_FAILED:
        return "correct the cause, then adopt it again: the system that it ran before is still on its disks"
    if state in ("clean failed", "inspect failed"):
        return "mend the cause, then run again (manage takes the node out of this state)"
    return "mend the cause, then run again, or undeploy it, which erases its disks"


def step_text(node: dict[str, Any]) -> Any:
    """Return the step that a node is at, for example ``write_image``; empty when it is at none."""
    for field in ("clean_step", "deploy_step", "service_step"):
        step = (node.get(field) or {}).get("step")
        if step:
            return step
    return ""


class NodeHistory(Awaited):
    """What one node went through during a wait.

    :param goal: a :class:`Goal`
    :param node: the node as it was before
    :param now: reading of the caller's clock, in seconds
    """

    def __init__(self, goal: Goal, node: dict[str, Any], now: float) -> None:
        super().__init__(goal_text(goal), now, advice="raise wait_timeout_seconds or look at the server's console")
        self.target = goal
        # Whether it was read since the request: before, its state says nothing about that.
        self._is_read = False
        self._take(node)

    @property
    def is_read(self) -> bool:
        """Whether it was read during the wait."""
        return self._is_read

    def _take(self, node: dict[str, Any] | None) -> None:
        self.node = node
        field = "provision_state" if self.target.kind == "provision" else "power_state"
        # In the goal's terms.
        self.state = "deleted" if node is None else node.get(field) or "unknown"

    def update(self, observed: dict[str, Any] | None, now: float) -> list[str]:
        """Evaluate the node's newest state.

        :param observed: the node with :data:`POLL_FIELDS`, or None when it is gone
        :param now: reading of the caller's clock, in seconds
        :returns: texts of what happened, for live progress
        """
        before, self._is_read = self.state, True
        self._take(observed)
        if self.state != before:
            self.state_since = now
        return self.settle(verdict_on(self.target, observed), now)

    def aim(self, goal: Goal, now: float) -> None:
        """Go on to another goal: a further request was accepted."""
        self.target, self.goal = goal, goal_text(goal)
        self._take(self.node)
        self._is_read = False
        self.state_since = now
        self.settled_at = None
        self.verdict = Verdict(WAITING, "", "")

    def fail(self, cause: str, now: float) -> None:
        """Note that a further request was refused."""
        self.verdict = Verdict(FAILED, cause, "mend the cause, then run again")
        self.settled_at = now

    def timeout_cause(self, now: float) -> str:
        """Return the last state and error of a node that did not get to its goal in time."""
        step = step_text(self.node or {})
        where = self.state + (f" ({step})" if step else "")
        return f"still {where} after {duration(self.seconds_in_state(now))}; last_error: {_error(self.node or {})}"
