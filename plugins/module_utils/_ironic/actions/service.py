# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One action on many nodes: read once, plan all, send side by side, wait for all by one bulk request at an interval."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.waiting.wait_loop import WaitLoop
from ..._common.waiting.wait_report import FAILED, REACHED
from ..api import answers, bulk, info_service, states
from ..api.client import path_of
from ..api.errors import IronicError
from ..api.follow import follow
from ..api.goals import POLL_FIELDS, NodeHistory
from ..nodes import ownership
from ..nodes import validation as node_validation
from ..nodes.delivery import Delivery
from ..nodes.node_run import NodeRun
from . import config_drive, deploy_image, one_disk
from . import plan as action_plan

# Actions that change nothing, so that any node may be asked.
_READING = ("vendor_passthru",)


class Item:
    """What becomes of one node of the list."""

    def __init__(self, name: str, node: dict[str, Any]) -> None:
        self.name = name
        self.node = node
        self.stored: dict[str, Any] | None = node
        self.plan: Any = None
        self.left = []
        self.delivery: Any = None
        self.history: Any = None
        self.answer = None
        self.changed = False
        self.error = ""
        self.seconds = 0.0

    def result(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        node = self.stored or {}
        return {
            "name": self.name, "uuid": self.node["uuid"], "changed": self.changed, "failed": bool(self.error),
            "error": self.error, "provision_state": node.get("provision_state") or "",
            "power_state": node.get("power_state") or "", "last_error": node.get("last_error") or "",
            "seconds": round(self.seconds, 1), "answer": self.answer,
            "at_risk": self.plan.loses or self.plan.interrupts if self.plan else "",
        }


class ActionService(NodeRun):
    """One run of an action over nodes."""

    def __init__(self, client: Any, params: dict[str, Any], *arguments: Any, **options: Any) -> None:
        super().__init__(client, params, *arguments, **options)
        self.action = params["action"]
        self.options = params
        self.warnings: list[str] = []

    def run(self) -> dict[str, Any]:
        """Do it all and return the module's result.

        :raises RefusedError: when a node is unknown, or one is where the action can't be taken
        :raises IronicError: when Ironic can't be asked
        """
        items = self._planned()
        for item in items:
            item.changed = bool(item.plan.requests)
            item.left = list(item.plan.requests)
        if not self.check_mode:
            self._send([item for item in items if item.left])
            waiting = [item for item in items if not item.error and (item.history or item.plan.goal)]
            if self.options["wait"] and waiting:
                self._wait(waiting)
            self._make_good(items)
            if any(item.changed for item in items):
                self._read_again(items)
        results = [item.result() for item in items]
        self.diffs = [{"before_header": f"node {item.name}", "before": item.plan.before,
                       "after_header": f"node {item.name}", "after": item.plan.after, "host": item.name}
                      for item in items if item.plan.requests]
        return {"changed": any(item.changed for item in items), "nodes": results, "diff": self.diffs,
                "warnings": self.warnings,
                "seconds": round(self.clock() - self.began_at, 3)}

    # Reading and planning

    def _planned(self) -> list[Item]:
        names = self.options["nodes"]
        problems = node_validation.check_traits("traits", self.options.get("traits") or [])
        nodes = self._read()
        found = [(name, nodes.get(node_validation.key_of(name))) for name in names]
        problems += [Problem("node-action", f"node {name}", "", None, "name or UUID of a node of this Ironic",
                             "register it with ironic_node") for name, node in found if node is None]
        problems += node_validation.check_named_once("nodes", found)
        items = [Item(name, node) for name, node in found if node is not None]
        problems += config_drive.problems(self.options, [item.node for item in items])
        problems += deploy_image.problems(self.options, [item.node for item in items])
        problems += one_disk.problems(self.options, [item.node for item in items])
        if self.action not in _READING:
            refusals = [(item, ownership.refusal(item.node["name"], self.forced | self._forced_by_uuid(item)))
                        for item in items]
            problems += [
                Problem(
                    "node-action", f"node {item.name}", "", "a node of the operator", "a node without another owner",
                    text)
                for item, text in refusals
                if text
            ]
        if problems:
            raise RefusedError(problems)
        answers = self._ask(items)
        for item, answer in zip(items, answers):
            item.plan = action_plan.plan(self.action, self.options, item.node, self.client.minor, answer)
            if self.action in _READING:
                item.answer = answer
        self.warnings = confirmation.required_by(
            self._unconfirmed(items), self.check_mode, beside=self._unfit(items))
        return items

    def _unfit(self, items: list[Item]) -> list[Problem]:
        """Return why nodes cannot take the action, or not without a wait."""
        refused = [
            Problem(
                "node-action", f"node {item.name}", "", item.node["provision_state"], f"a node to {self.action}",
                item.plan.refusal)
            for item in items
            if item.plan.refusal
        ]
        return refused + [
            Problem(
                "node-action", f"node {item.name}", "wait", "false",
                f"true: {len(_goals(item.plan.requests))} requests, one after the other, lead to the goal",
                f"wait, or run {self._verb(item.plan.requests)} first")
            for item in items
            if not self.options["wait"] and len(_goals(item.plan.requests)) > 1
        ]

    def _unconfirmed(self, items: list[Item]) -> list[Any]:
        losing = [item for item in items if (item.plan.loses or item.plan.interrupts) and not item.plan.refusal]
        names = [item.name for item in losing]
        reasons = ", ".join(f"{item.name} ({item.plan.loses or item.plan.interrupts})" for item in losing)
        effect = "gives up the systems that may be deployed on" if any(
            item.plan.loses for item in losing) else "interrupts what may run on"
        if any(item.plan.amends for item in losing):
            effect = "erases what is on disks of"
        given, among = self.options.get("confirm"), self.options["confirm_among"]
        if not losing or confirmation.confirmed(given, names, among):
            return []
        return [Problem("confirmation-missing", "nodes", "confirm", given or None,
                        confirmation.expected(names, among),
                        f"{self.action} {effect} {reasons}; to continue "
                        f"{confirmation.way(names, among)} (module option confirm)")]

    def _forced_by_uuid(self, item: Item) -> frozenset[str]:
        return frozenset([item.node["name"]] if item.node["uuid"] in self.forced else [])

    def _read(self) -> dict[str, Any]:
        found = {}
        for node in self.client.list_nodes(POLL_FIELDS + action_plan.PLAN_FIELDS):
            found[node["uuid"]] = node
            if node.get("name"):
                found[node["name"]] = node
        return found

    def _ask(self, items: list[Item]) -> list[Any]:
        path = action_plan.question(self.action, self.options)
        if path is None:
            return [None] * len(items)
        outcomes = bulk.persist([self._getter(item, path) for item in items], self.progress.event, self.sleep)
        problems = [outcome.error.message for outcome in outcomes if outcome.error is not None]
        if problems:
            raise IronicError("%d of %d nodes could not be asked:\n%s" % (
                len(problems), len(items), "\n".join("- " + line for line in problems)))
        return [outcome.value for outcome in outcomes]

    def _getter(self, item: Item, path: str) -> Callable[..., Any]:
        def call() -> dict[str, Any]:
            subject = f"node {item.name}"
            if path == action_plan.INVENTORY:
                # Of a node that was never inspected the plan says so.
                return info_service.part(self.client, item.node["uuid"], path, subject)
            answer = self.client.request("GET", path_of("nodes", item.node["uuid"], path), subject=subject)
            return answer if self.action in _READING or answer is None else answers.dictionary(answer, subject)
        return call

    # Sending and waiting

    def _send(self, items: list[Item]) -> None:
        """Send each node's next requests up to the first that is to be waited for."""
        for verb, count in sorted(Counter(self._verb(item.left) for item in items).items()):
            self.progress.event(f"{verb}: {count} of {len(self.options['nodes'])} nodes")
        outcomes = bulk.persist([self._sender(item) for item in items], self.progress.event, self.sleep)
        now = self.clock()
        for item, outcome in zip(items, outcomes):
            if outcome.error is not None:
                item.error = outcome.error.message
                if item.history:
                    item.history.fail(item.error, now)
            elif outcome.value is not None:
                if item.history is None:
                    item.history = NodeHistory(outcome.value, item.node, now)
                else:
                    item.history.aim(outcome.value, now)

    def _verb(self, requests: list[action_plan.Request]) -> str:
        """Return the action that the first of a node's requests belongs to: manage or undeploy may go before."""
        goals = _goals(requests)
        if len(goals) < 2:
            return self.action
        return "undeploy" if goals[0].goal.value == states.AVAILABLE else "manage"

    def _sender(self, item: Item) -> Callable[..., Any]:
        def call() -> Any:
            while item.left:
                request = item.left[0]
                before = item.history.node if item.history else item.node
                item.delivery = item.delivery or Delivery(
                    self.client, before, request, f"node {item.name}: {self.action}", self.sleep)
                item.delivery.send()
                item.delivery = None
                item.left.pop(0)
                if request.goal is not None:
                    return request.goal
            return None
        return call

    def _wait(self, items: list[Item]) -> None:
        now = self.clock()
        for item in items:
            item.history = item.history or NodeHistory(item.plan.goal, item.node, now)
        nodes = dict((item.name, item.node["uuid"]) for item in items)
        loop = WaitLoop(f"Ironic {self.client.server}", self.progress, self.clock)
        loop.run(dict((item.name, item.history) for item in items),
                 follow(self.client, now + self.options["wait_timeout_seconds"],
                        self.options["poll_interval_seconds"], self.clock, self.sleep),
                 lambda objects, name: objects.get(nodes[name]), looked=lambda: self._send_next(items))
        self._conclude(items, loop.silence())

    def _send_next(self, items: list[Item]) -> None:
        due = [item for item in items if item.left and item.history.verdict.outcome == REACHED]
        if due:
            self._send(due)

    def _make_good(self, items: list[Item]) -> None:
        """Take back what was changed for the time of the action, unless Ironic is still at it."""
        due = [item for item in items if item.plan.amends and item.plan.amends.after not in item.left]
        ended = [item for item in due if item.history is None or item.history.verdict.outcome in (REACHED, FAILED)]
        for item in ended:
            # What was not taken is given up.
            item.left, item.delivery = [item.plan.amends.request], None
        undone = [item for item, outcome in zip(ended, bulk.persist(
            [self._sender(item) for item in ended], self.progress.event, self.sleep)) if outcome.error is None]
        for item in due:
            if item not in undone:
                item.error = "; ".join(text for text in (item.error, item.plan.amends.missing) if text)

    def _conclude(self, items: list[Item], silence: str) -> None:
        now = self.clock()
        for item in items:
            item.stored = item.history.node
            item.seconds = item.history.seconds_taken(now)
            item.error = item.error or item.history.error(self.options["wait_timeout_seconds"], now, silence)

    def _read_again(self, items: list[Item]) -> None:
        """Read the nodes' states after the action: one request, whatever their number.

        An Ironic that is away takes nothing of what was read before.
        """
        try:
            nodes = dict((node["uuid"], node) for node in self.client.list_nodes(POLL_FIELDS))
        except IronicError as exc:
            if not exc.retriable:
                raise
            self.warnings.append(f"the states of nodes are those that were read last: {exc.message}")
            return
        for item in items:
            item.stored = nodes.get(item.node["uuid"])


def _goals(requests: list[action_plan.Request]) -> list[action_plan.Request]:
    return [request for request in requests if request.goal is not None]


def failure(results: list[dict[str, Any]], action: str) -> str:
    """Return the text of a failure, a line for each failed node; empty when there is none.

    :param results: the results of all nodes
    :param action: what was to be done
    """
    failed = [result for result in results if result["failed"]]
    if not failed:
        return ""
    lines = [f"{len(failed)} of {len(results)} nodes failed to {action}:"]
    lines += [f"- {result['name']} ({result.get('provision_state') or 'unknown'}): {result['error']}"
              for result in failed]
    return "\n".join(lines)
