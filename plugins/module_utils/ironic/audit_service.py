# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find what is out of step with Ironic, and delete what was asked to be repaired."""
from __future__ import annotations

import time

from . import audit, bulk
from .errors import RefusedError
from .node_service import delete_node

REPAIRS = (audit.NODE_WITHOUT_HOST, audit.MAC_OF_OTHER_NODE, audit.PORT_WITHOUT_NODE)
_NODE_FIELDS = ("uuid", "name", "provision_state", "driver_info", "maintenance")


def run(client, params, check_mode, tell=lambda text: None, sleep=time.sleep):
    """Return the module's result.

    :param client: an IronicClient
    :param params: the module's parameters
    :param check_mode: only tell what would be repaired
    :param tell: callable that takes one line of text, for live progress
    :param sleep: callable that waits a number of seconds
    :raises RefusedError: when a repair needs the hosts and they were not given
    :raises IronicError: when Ironic can't be asked
    """
    hosts, repair = params["hosts"], params["repair"]
    if hosts is None and set(repair) - {audit.PORT_WITHOUT_NODE}:
        raise RefusedError(["repair: seen %s without hosts, expected hosts: what baremetal_host_info returns" %
                            ", ".join(sorted(repair))])
    outcomes = bulk.run([
        lambda: client.list_nodes(_NODE_FIELDS), lambda: client.list_ports(("uuid", "address", "node_uuid")),
        lambda: client.list_portgroups(("uuid", "address", "node_uuid"))])
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    nodes, ports, portgroups = [outcome.value for outcome in outcomes]
    found = audit.findings(nodes, ports, portgroups, hosts, params["namespaces"])
    due = [item for item in found if item.kind in repair and item.repair]
    answers = [] if check_mode else bulk.persist([_deleter(client, item) for item in due], tell, sleep)
    errors = dict((position, answer.error.message) for position, answer in enumerate(answers) if answer.error)
    results = [_result(item, item in due, errors.get(due.index(item), "") if item in due else "") for item in found]
    return {
        "changed": any(result["repaired"] for result in results),
        "findings": results,
        "diff": [{"before_header": result["subject"], "before": {"kind": result["kind"], "cause": result["cause"]},
                  "after_header": "", "after": {}} for result in results if result["repaired"]],
    }


def _result(item, repaired, error):
    return {"kind": item.kind, "subject": item.subject, "cause": item.cause, "next_step": item.next_step,
            "object": item.repair[1]["uuid"] if item.repair else "", "repaired": repaired and not error, "error": error}


def _deleter(client, item):
    kind, thing = item.repair
    if kind == "node":
        return lambda: delete_node(client, thing, True, "ironic_audit: its BareMetalHost is not there")
    return lambda: client.request("DELETE", "/ports/" + thing["uuid"], subject=item.subject)
