# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a list of nodes to Ironic's nodes and ports: read once, check all, write what differs side by side."""
from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from ..._common.problems.errors import RefusedError
from ..api import bulk, states
from ..api.client import path_of
from ..api.errors import IronicError
from . import delivery
from . import diff as node_diff
from . import validation as node_validation
from .known import Known
from .node_run import NodeRun


class Registry:
    """Ironic's nodes and ports, as read at one time.

    :param client: an IronicClient
    :param drivers: whether to read the names of the enabled drivers too
    :raises IronicError: when they can't be read
    """

    def __init__(self, client: Any, drivers: bool = True) -> None:
        calls = [client.list_nodes, client.list_ports] + ([client.list_drivers] if drivers else [])
        outcomes = bulk.run(calls)
        for outcome in outcomes:
            if outcome.error is not None:
                raise outcome.error
        self.known = Known(outcomes[0].value, outcomes[1].value)
        self.drivers = outcomes[2].value if drivers else []


class Item:
    """What becomes of one node or port of the list."""

    def __init__(self, name: str, option: dict[str, Any], current: Any) -> None:
        self.name = name
        self.option = option
        self.current = current
        self.stored = current
        self.action = "unchanged"
        self.error = ""
        self.ports = []

    def result(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {"name": self.name, "uuid": (self.stored or {}).get("uuid") or "", "action": self.action,
                "changed": self.action != "unchanged", "failed": bool(self.error), "error": self.error}


def counts(results: list[dict[str, Any]]) -> dict[str, int]:
    """Return how many results were created, updated, deleted and how many failed."""
    return {
        "total": len(results),
        "created": sum(1 for result in results if result["action"] == "created"),
        "updated": sum(1 for result in results if result["action"] == "updated"),
        "deleted": sum(1 for result in results if result["action"] == "deleted"),
        "failed": sum(1 for result in results if result["failed"]),
    }


class NodeService(NodeRun):
    """One run over a list of nodes."""

    def __init__(self, client: Any, params: dict[str, Any], *arguments: Any, **options: Any) -> None:
        super().__init__(client, params, *arguments, **options)
        self.options = params["nodes"]
        self.update_secrets = params["update_secrets"]

    def run(self) -> dict[str, Any]:
        """Do it all and return the module's result.

        :raises RefusedError: when the list has faults
        :raises IronicError: when Ironic can't be asked
        """
        registry = Registry(self.client)
        problems = node_validation.check_nodes(self.options, registry.known, registry.drivers,
                                               self.forced, self.client.minor)
        if problems:
            raise RefusedError(problems)
        items = [Item(option["name"], option, registry.known.node(option))
                 for option in self.options]
        self._delete([item for item in items if item.option["state"] == "absent" and item.current])
        present = [item for item in items if item.option["state"] == "present"]
        self._create([item for item in present if item.current is None])
        self._change([item for item in present if item.current is not None])
        self._trait([item for item in present if item.option.get("traits") is not None and not item.error])
        self._write_ports([item for item in present if not item.error], registry)
        results = [dict(item.result(), provision_state=(item.stored or {}).get("provision_state") or "absent",
                        power_state=(item.stored or {}).get("power_state") or "",
                        last_error=(item.stored or {}).get("last_error") or "") for item in items]
        return {"changed": any(result["changed"] for result in results), "nodes": results, "counts": counts(results),
                "diff": self.diffs, "seconds": round(self.clock() - self.began_at, 3)}

    # Writing

    def _execute(self, items: list[Item], call_of: Callable[..., Any], action: str, stored: bool = True) -> None:
        """Send a request for each item; note what came of it."""
        if items and not self.check_mode:
            self.progress.event(f"{action} {len(items)} of {len(self.options)} nodes")
        calls = [] if self.check_mode else [call_of(item) for item in items]
        outcomes = bulk.persist(calls, self.progress.event, self.sleep)
        for item, outcome in zip(items, outcomes or [bulk.parallel.Outcome(None, None)] * len(items)):
            if outcome.error is not None:
                item.error = outcome.error.message
                continue
            if item.action == "unchanged":
                item.action = action
            if stored and outcome.value is not None:
                item.stored = outcome.value

    def _diff(self, name: str, before: dict[str, Any], after: dict[str, Any]) -> None:
        self.diffs.append({"before_header": f"node {name}" if before else "", "before": before,
                           "after_header": f"node {name}" if after else "", "after": after, "host": name})

    def _create(self, items: list[Item]) -> None:
        for item in items:
            self._diff(item.name, {}, node_diff.shown_creation(item.option))
        self._execute(items, self._creator, "created")
        later = [item for item in items if item.stored and not item.error]
        self._patch(later, dict((item.name, node_diff.node_change(item.option, item.stored, node_diff.ON_CREATE))
                                for item in later))

    def _creator(self, item: Item) -> Callable[..., Any]:
        # Chosen here, so that a repeated request can't make a second node.
        body = dict({"uuid": str(uuid.uuid4())}, **node_diff.create_body(item.option))
        return lambda: delivery.create(self.client, "nodes", body, f"node {item.name}")

    def _change(self, items: list[Item]) -> None:
        changes = dict((item.name, node_diff.node_change(item.option, item.current, self.update_secrets))
                       for item in items)
        for item in items:
            if changes[item.name].patch:
                self._diff(item.name, changes[item.name].before, changes[item.name].after)
        self._patch(items, changes)

    def _patch(self, items: list[Item], changes: dict[str, node_diff.Change]) -> None:
        def call(item: Item) -> Callable[..., Any]:
            patch = changes[item.name].patch
            # A driver's interfaces are of no use to another driver, unless they are given again.
            query = {"reset_interfaces": "True"} if any(step["path"] == "/driver" for step in patch) else None
            return lambda: delivery.patch(self.client, "nodes", self._unchanged(item)["uuid"], patch,
                                          f"node {item.name}", query)
        self._execute([item for item in items if changes[item.name].patch], call, "updated")

    def _unchanged(self, item: Item) -> dict[str, Any]:
        """Return a node that is still as its last change left it.

        :raises IronicError: when it is not
        """
        if delivery.unchanged(self.client, "nodes", item.stored, delivery.NODE_BASIS, f"node {item.name}") is None:
            raise IronicError(f"node {item.name}: it was deleted by somebody else; run again")
        return item.stored

    def _trait(self, items: list[Item]) -> None:
        due = [item for item in items
               if sorted((item.stored or {}).get("traits") or []) != sorted(set(item.option["traits"]))]
        for item in due:
            if item.current is not None:
                self._diff(item.name, {"traits": sorted(item.current.get("traits") or [])},
                           {"traits": sorted(item.option["traits"])})
        self._execute(due, lambda item: lambda: self.client.request(
            "PUT", path_of("nodes", self._unchanged(item)["uuid"], "/traits"),
            body={"traits": sorted(set(item.option["traits"]))}, subject=f"node {item.name}: traits",
            repeatable=True), "updated", stored=False)

    def _delete(self, items: list[Item]) -> None:
        for item in items:
            self._diff(item.name, {"provision_state": item.current["provision_state"],
                                   "driver": item.current.get("driver")}, {})

        def call(item: Item) -> Callable[..., Any]:
            return lambda: delete_node(self.client, item.current, item.name in self.forced,
                                       "forced deletion by ironic_node", f"node {item.name}")
        self._execute(items, call, "deleted")
        for item in items:
            if item.action == "deleted" and not self.check_mode:
                item.stored = None

    def _write_ports(self, items: list[Item], registry: Registry) -> None:
        plans = []
        for item in items:
            for option in item.option.get("ports") or []:
                plan = PortPlan(self.client, option, registry.known.port(option["address"]),
                                (item.stored or {}).get("uuid"), item.name)
                if plan.needed:
                    plans.append((item, plan))
                    self.diffs.append(dict(plan.diff(), host=item.name))
        outcomes = [] if self.check_mode else bulk.persist([plan.call for dummy, plan in plans], self.progress.event,
                                                           self.sleep)
        for position, (item, dummy) in enumerate(plans):
            if outcomes and outcomes[position].error is not None:
                item.error = outcomes[position].error.message
            elif item.action == "unchanged":
                item.action = "updated"


def delete_node(client: Any, node: dict[str, Any], force: bool, reason: str, subject: str,
                more: tuple[str, ...] = (), look: Callable[[], None] | None = None) -> None:
    """Delete a node that is still as it was read, in any state when ``force``: Ironic asks for maintenance then.

    :param client: an IronicClient
    :param node: the node
    :param force: set maintenance first where its state forbids the deletion
    :param reason: why, for the node's maintenance
    :param subject: what errors name
    :param more: fields that must be as they were, too
    :param look: called last of all before the deletion; raises an IronicError when something speaks against it by now
    :raises IronicError: when it is no longer the same, or Ironic refuses
    """
    now = delivery.unchanged(client, "nodes", node, (*delivery.NODE_BASIS, *more), subject)
    if now is None:
        return
    if look is not None:
        look()
    path = path_of("nodes", node["uuid"])
    free = node["provision_state"] in states.DELETABLE and not node.get("instance_uuid")
    maintained = force and not free and not node.get("maintenance")
    try:
        if maintained:
            client.request("PUT", path + "/maintenance", body={"reason": reason}, subject=subject, repeatable=True)
        client.request("DELETE", path, subject=subject)
    except IronicError as exc:
        if exc.status == 404:
            return
        if maintained and not exc.retriable:
            _leave_maintenance(client, path, subject)
        raise


def _leave_maintenance(client: Any, path: str, subject: str) -> None:
    try:
        client.request("DELETE", path + "/maintenance", subject=subject)
    except IronicError as exc:
        raise IronicError(f"{exc.message}; it was put into maintenance for its deletion and is still in it: take it "
                          "out with ironic_node_action (maintenance_off)", exc.status) from exc


def delete_port(client: Any, port: dict[str, Any], subject: str) -> None:
    """Delete a port that is still as it was read; one that is gone already is as good.

    :param client: an IronicClient
    :param port: the port
    :param subject: what errors name
    :raises IronicError: when it is no longer the same, or Ironic refuses
    """
    if delivery.unchanged(client, "ports", port, delivery.PORT_BASIS, subject) is None:
        return
    try:
        client.request("DELETE", path_of("ports", port["uuid"]), subject=subject)
    except IronicError as exc:
        if exc.status != 404:
            raise


class PortPlan:
    """What is to be done for one port that is to be there.

    :param client: an IronicClient
    :param option: the port's options
    :param current: the port as Ironic has it, or None
    :param node_uuid: UUID of its node; None in check mode, when that is still to be made
    :param node_name: name of its node, for errors
    """

    def __init__(self, client: Any, option: dict[str, Any], current: Any, node_uuid: Any,
                 node_name: str) -> None:
        self._client = client
        self._option = option
        self._current = current
        self._node_uuid = node_uuid
        self._subject = f"port {option['address'].lower()} of node {node_name}"
        self._change = node_diff.port_change(option, current, node_uuid) if current else node_diff.UNCHANGED
        # Chosen here, so that a repeated request can't make a second port.
        self._new_uuid = str(uuid.uuid4())

    @property
    def needed(self) -> bool:
        """True when there is something to write."""
        return self._current is None or bool(self._change.patch)

    def diff(self) -> dict[str, Any]:
        """Return the change for Ansible's diff."""
        if self._current is None:
            after = node_diff.port_body(self._option, self._node_uuid)
            # In check mode a new node has no UUID yet; the subject names it.
            after.pop("node_uuid")
            return {"before_header": "", "before": {}, "after_header": self._subject, "after": after}
        return {"before_header": self._subject, "before": self._change.before, "after_header": self._subject,
                "after": self._change.after}

    def call(self) -> dict[str, Any]:
        """Write it and return the port as Ironic has it then."""
        if self._current is None:
            return self._create(node_diff.port_body(self._option, self._node_uuid))
        if self._current["node_uuid"] != self._node_uuid:
            return self._move()
        if delivery.unchanged(self._client, "ports", self._current, delivery.PORT_BASIS, self._subject) is None:
            raise IronicError(f"{self._subject}: it was deleted by somebody else; run again")
        return delivery.patch(self._client, "ports", self._current["uuid"], self._change.patch, self._subject)

    def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        return delivery.create(self._client, "ports", dict(body, uuid=self._new_uuid), self._subject)

    def _move(self) -> dict[str, Any]:
        """Create it again: Ironic 39.0 answers a change of node_uuid with an error of its database."""
        delete_port(self._client, self._current, self._subject)
        try:
            return self._create(node_diff.moved_port_body(self._option, self._current, self._node_uuid))
        except IronicError as exc:
            raise IronicError(f"{exc.message}; it is deleted at its node, and not made here: run again", exc.status,
                              exc.reason) from exc
