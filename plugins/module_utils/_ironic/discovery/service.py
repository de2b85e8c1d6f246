# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the nodes that Ironic made by itself, and delete those that are named."""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ..._common.addresses.mac_address import normal
from ..._common.options.field_checks import shown
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import shortened
from ..api import bulk, info_service
from ..nodes.service import delete_node
from . import discovered

ABSENT = "absent"


def run(client: Any, params: dict[str, Any], check_mode: bool, report: Callable[[str], Any] = lambda text: None,
        sleep: Callable[[float], Any] = time.sleep) -> dict[str, Any]:
    """Return the module's result.

    :param client: an IronicClient
    :param params: the module's parameters
    :param check_mode: only report what would be deleted
    :param report: callable that takes one line of text, for live progress
    :param sleep: callable that waits a number of seconds
    :raises RefusedError: for a MAC address that is none, or more nodes than ``node_limit``
    :raises IronicError: when Ironic can't be asked
    """
    macs = _macs(params["macs"] or ())
    nodes = [node for node in client.list_nodes(discovered.FIELDS, provision_state=discovered.STATE)
             if discovered.is_made_by_ironic(node)]
    if len(nodes) > params["node_limit"]:
        raise RefusedError([Problem(
            "ironic-discovery", "Ironic", "node_limit", f"{len(nodes)} nodes without a name and a BMC",
            f"{params['node_limit']} at most", "raise it if so many machines are new; else see who makes nodes: "
            "anybody on the provisioning network can, while automatic discovery is on")])
    details = [{"uuid": node["uuid"]} for node in nodes]
    info_service.add(client, details, "inventory", "/inventory")
    found = [(node, discovered.machine(node, detail["inventory"])) for node, detail in zip(nodes, details)]
    machines = [machine for dummy, machine in found if machine]
    machines.sort(key=lambda machine: machine["node"])
    result = {"changed": False, "machines": machines, "deleted": [], "failed_nodes": [],
              "lines": [discovered.line(machine) for machine in machines] + _unread(found)}
    if params["state"] != ABSENT:
        return result
    due = [node for node, machine in found if machine and _is_due(machine, params["nodes"] or (), macs)]
    answers = [] if check_mode else bulk.persist([_deleter(client, node) for node in due], report, sleep)
    failed = [{"node": node["uuid"], "error": answer.error.message}
              for node, answer in zip(due, answers) if answer.error]
    deleted = [node["uuid"] for node in due if node["uuid"] not in [failure["node"] for failure in failed]]
    return dict(result, changed=bool(deleted), deleted=deleted, failed_nodes=failed)


def _macs(texts: Sequence[str]) -> set[str]:
    found, problems = set(), []
    for number, text in enumerate(texts):
        try:
            found.add(normal(text))
        except ValueError:
            problems.append(Problem("ironic-discovery", f"macs[{number}]", "", shown(text), "a MAC address"))
    if problems:
        raise RefusedError(problems)
    return found


def _is_due(machine: dict[str, Any], nodes: Sequence[str], macs: set[str]) -> bool:
    return machine["node"] in nodes or bool(macs & set(nic["mac"] for nic in machine["nics"]))


def _unread(found: Sequence[tuple[dict[str, Any], Any]]) -> list[str]:
    """Return a line of each node that has no report: it was not of an unknown machine, or was not kept."""
    return [f"node {node['uuid']}: no report of a machine" + (
        f"; Ironic: {shortened(node['last_error'])}" if node.get("last_error") else "")
        for node, machine in found if machine is None]


def _deleter(client: Any, node: dict[str, Any]) -> Callable[[], None]:
    def call() -> None:
        # With driver_info: the operator that takes it over in this moment gives it a name and a BMC.
        delete_node(client, node, False, "", f"node {node['uuid']}", ("driver_info",))
    return call
