# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find what is out of step with Ironic, and delete what was asked to be repaired."""
from __future__ import annotations

import time

from ..metal3.problem import problem
from . import audit, bulk
from .errors import RefusedError
from .node_service import delete_node, delete_port

REPAIRS = (audit.NODE_WITHOUT_HOST, audit.MAC_OF_OTHER_NODE, audit.PORT_WITHOUT_NODE)
_NODE_FIELDS = ("uuid", "name", "provision_state", "driver_info", "maintenance")
_PORT_FIELDS = ("uuid", "address", "node_uuid")


def run(client, params, check_mode, tell=lambda text: None, sleep=time.sleep):
    """Return the module's result.

    :param client: an IronicClient
    :param params: the module's parameters
    :param check_mode: only tell what would be repaired
    :param tell: callable that takes one line of text, for live progress
    :param sleep: callable that waits a number of seconds
    :raises RefusedError: when what was asked for needs hosts, or an earlier look, and they were not given
    :raises IronicError: when Ironic can't be asked
    """
    problems = _problems(params)
    if problems:
        raise RefusedError(problems)
    repair, earlier = params["repair"], params["earlier_findings"]
    # Nodes last: each port was made after its node.
    ports, portgroups = client.list_ports(_PORT_FIELDS), client.list_portgroups(_PORT_FIELDS)
    nodes = client.list_nodes(_NODE_FIELDS)
    found = audit.findings(nodes, ports, portgroups, params["hosts"], params["namespaces"], params["all_namespaces"])
    if earlier is not None:
        found = audit.confirmed(found, earlier)
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


def _problems(params):
    by_hosts = ", ".join(sorted(set(params["repair"]) - {audit.PORT_WITHOUT_NODE}))
    needing = (("all_namespaces", "true" if params["all_namespaces"] else ""),
               ("namespaces", ", ".join(params["namespaces"] or [])), ("repair", by_hosts))
    if params["hosts"] is None:
        return [problem(option, "", "%s without hosts" % seen, "hosts: what baremetal_host_info returns")
                for option, seen in needing if seen]
    if by_hosts and params["earlier_findings"] is None:
        return [problem("repair", "", "%s without earlier_findings" % by_hosts,
                        "findings of a run without repair, after which hosts were read again", "see the examples")]
    return []


def _result(item, repaired, error):
    return {"kind": item.kind, "subject": item.subject, "cause": item.cause, "next_step": item.next_step,
            "object": audit.object_of(item), "repaired": repaired and not error, "error": error}


def _deleter(client, item):
    kind, thing = item.repair
    if kind == "node":
        return lambda: delete_node(client, thing, True, "ironic_audit: its BareMetalHost is not there")
    return lambda: delete_port(client, thing, item.subject)
