# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a list of ports to Ironic's ports: read once, check all, write what differs side by side."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ..._common.options.field_checks import shown
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..api import bulk
from . import ownership
from . import validation as node_validation
from .node_run import NodeRun
from .service import Item, PortPlan, Registry, counts, delete_port


class PortService(NodeRun):
    """One run over a list of ports."""

    def __init__(self, client: Any, params: dict[str, Any], *arguments: Any, **options: Any) -> None:
        super().__init__(client, params, *arguments, **options)
        self.options = [dict(option, address=option["address"].lower()) for option in params["ports"]]

    def run(self) -> dict[str, Any]:
        """Do it all and return the module's result.

        :raises RefusedError: when the list has faults
        :raises IronicError: when Ironic can't be asked
        """
        registry = Registry(self.client, drivers=False)
        owners = dict((option["address"], registry.known.node_called(option.get("node"))) for option in self.options)
        problems = self._problems(registry, owners)
        if problems:
            raise RefusedError(problems)
        items = [Item(option["address"], option, registry.known.port(option["address"])) for option in self.options]
        self._write([(item, self._call(item, owners[item.name])) for item in items])
        results = [dict(item.result(), address=item.name) for item in items]
        return {"changed": any(result["changed"] for result in results), "ports": results, "counts": counts(results),
                "diff": self.diffs}

    def _problems(self, registry: Registry, owners: dict[str, Any]) -> list[Any]:
        found = [Problem("port", "ports", "address", f"{address} {count} times", "once", "remove the others")
                 for address, count in Counter(option["address"] for option in self.options).items() if count > 1]
        for option in self.options:
            subject, owner = f"port {option['address']}", owners[option["address"]]
            if option["state"] == "present" and owner is None:
                found.append(Problem(
                    "port", subject, "node", option.get("node") and shown(option["node"]),
                    "name or UUID of a node that is there",
                    "register it with ironic_node"))
                continue
            found += node_validation.check_port(option, registry.known, owner and owner["uuid"],
                                                bool(option.get("move")), self.client.minor)
            there = registry.known.port(option["address"])
            touched = [owner, registry.known.node_of(there)]
            texts = [ownership.refusal(node.get("name"), self.forced) for node in touched if node]
            text = next((text for text in texts if text), None)
            if text:
                found.append(
                    Problem("port", subject, "node", "a node of the operator", "a node without another owner", text)
                )
        return found

    def _call(self, item: Item, owner: Any) -> Callable[..., Any] | None:
        """Return the request that an item needs, None when it needs none; note its diff."""
        if item.option["state"] == "absent":
            if item.current is None:
                return None
            subject = f"port {item.name}"
            self.diffs.append({"before_header": subject, "after_header": "", "after": {},
                               "before": {"address": item.name, "node_uuid": item.current["node_uuid"]}})
            return lambda: delete_port(self.client, item.current, subject)
        plan = PortPlan(self.client, item.option, item.current, owner["uuid"], owner.get("name") or owner["uuid"])
        if not plan.needed:
            return None
        self.diffs.append(plan.diff())
        return plan.call

    def _write(self, pairs: list[Any]) -> None:
        due = [(item, call) for item, call in pairs if call is not None]
        calls = [] if self.check_mode else [call for dummy, call in due]
        outcomes = bulk.persist(calls, self.progress.event, self.sleep)
        for position, (item, dummy) in enumerate(due):
            outcome = outcomes[position] if outcomes else None
            if outcome is not None and outcome.error is not None:
                item.error = outcome.error.message
                continue
            absent = item.option["state"] == "absent"
            item.action = "deleted" if absent else "updated" if item.current else "created"
            if outcome is not None:
                item.stored = outcome.value
