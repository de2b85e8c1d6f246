# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find what is out of step with Ironic, and repair what was asked for."""
from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..api import bulk, states
from ..api.errors import IronicError
from ..nodes import ownership
from ..nodes.delivery import PORT_BASIS, changed, create, unchanged
from ..nodes.service import delete_node, delete_port
from . import findings as audit

REPAIRS = (audit.NODE_WITHOUT_HOST, audit.MAC_OF_OTHER_NODE, audit.PORT_WITHOUT_NODE, audit.HOST_WITHOUT_PORTS)
_NODE_FIELDS = ("uuid", "name", "driver", "provision_state", "target_provision_state", "reservation", "driver_info",
                "instance_uuid", "maintenance", "protected", "raid_config")
# What of a host is read here; the rest of its summary may be missing.
_HOST_TEXTS = ("namespace", "name", "state")
_HOST_OPTIONAL_TEXTS = ("node_id", "boot_mac_address", "operational_status")
_FINDING_TEXTS = ("kind", "subject", "object")


def run(client: Any, params: dict[str, Any], check_mode: bool, report: Callable[[str], Any] = lambda text: None,
        sleep: Callable[[float], Any] = time.sleep, kube: Any = None) -> dict[str, Any]:
    """Return the module's result.

    :param client: an IronicClient
    :param params: the module's parameters
    :param check_mode: only report what would be repaired
    :param report: callable that takes one line of text, for live progress
    :param sleep: callable that waits a number of seconds
    :param kube: a KubeClient of the cluster that the hosts were read from, which is asked for the host of each node
        right before this is deleted; None to rely on what was read
    :raises RefusedError: when what was asked for needs hosts, or an earlier look, and they were not given; when what
        was read does not fit together; when the number of what would be deleted is not repeated
    :raises IronicError: when Ironic can't be asked
    """
    problems = _problems(params)
    if problems:
        raise RefusedError(problems)
    repair, earlier = params["repair"], params["earlier_findings"]
    # Nodes last: each port was made after its node.
    ports, portgroups = client.list_ports(PORT_BASIS), client.list_portgroups(PORT_BASIS)
    nodes = client.list_nodes(_NODE_FIELDS)
    found = audit.findings(nodes, ports, portgroups, params["hosts"], params["namespaces"], params["all_namespaces"])
    if earlier is not None:
        found = audit.confirmed(found, earlier)
    due = [item for item in found if item.kind in repair and item.repair]
    problems, unconfirmed = _implausible(due, nodes, params), _unconfirmed(due, nodes, params)
    if problems or (unconfirmed and not check_mode):
        raise RefusedError(problems + unconfirmed)
    calls = [] if check_mode else [_repairer(client, item, params["hosts"], kube) for item in due]
    answers = bulk.persist(calls, report, sleep)
    errors = dict((position, answer.error.message) for position, answer in enumerate(answers) if answer.error)
    results = [_result(item, item in due, errors.get(due.index(item), "") if item in due else "") for item in found]
    return {
        "changed": any(result["repaired"] for result in results),
        "findings": results,
        "diff": [_difference(item, result) for item, result in zip(found, results) if result["repaired"]],
        "warnings": confirmation.asked_later(unconfirmed),
    }


def _problems(params: dict[str, Any]) -> list[Any]:
    by_hosts = ", ".join(sorted(set(params["repair"]) - {audit.PORT_WITHOUT_NODE}))
    needing = (("all_namespaces", "true" if params["all_namespaces"] else ""),
               ("namespaces", ", ".join(params["namespaces"] or [])), ("repair", by_hosts))
    found = _malformed("hosts", params["hosts"] or [], _HOST_TEXTS, _HOST_OPTIONAL_TEXTS)
    found += _malformed("earlier_findings", params["earlier_findings"] or [], _FINDING_TEXTS, ())
    if params["hosts"] is None:
        return found + [
            Problem("node-audit", option, "", f"{value} without hosts", "hosts: what baremetal_host_info returns")
            for option, value in needing
            if value
        ]
    if by_hosts and params["earlier_findings"] is None:
        found.append(Problem("node-audit", "repair", "", f"{by_hosts} without earlier_findings",
                             "findings of a run without repair, after which hosts were read again", "see the examples"))
    return found


def _malformed(option: str, entries: list[Any], texts: tuple[str, ...],
               optional: tuple[str, ...]) -> list[Any]:
    """Return a problem of the first entry that a module of this collection has not returned so, in a list."""
    module = "baremetal_host_info" if option == "hosts" else "ironic_audit"
    for number, entry in enumerate(entries):
        wrong = [name for name in texts if not isinstance(entry.get(name), str)]
        wrong += [name for name in optional if not isinstance(entry.get(name, ""), (str, type(None)))]
        if wrong:
            return [Problem("node-audit", f"{option}[{number}]", wrong[0], "no text", f"what {module} returns")]
    return []


def _implausible(due: list[audit.Finding], nodes: list[dict[str, Any]], params: dict[str, Any]) -> list[Any]:
    """Return why what is due is not to be deleted: what was read contradicts it."""
    by_host = [item for item in due if item.kind != audit.PORT_WITHOUT_NODE]
    owned = [node for node in nodes if ownership.host_of(node.get("name"))]
    found = []
    if by_host and not audit.belong_together(nodes, params["hosts"]):
        found.append(Problem(
            "node-audit", "repair", "",
            f"{len(by_host)} of the operator's {len(owned)} nodes to delete or whose ports to change, and not one that "
            f"is the node of one of the {len(params['hosts'])} hosts",
            "at least one node whose UUID a host has as its node_id",
            "these look like the hosts of another cluster or namespace, or like no hosts at all: check the kubeconfig "
            "(playbook: ironic_audit_kubeconfig) and the endpoint of Ironic; to delete nodes nevertheless, name each "
            "in nodes and force_nodes of ironic_node with state absent"))
    by_uuid = dict((node["uuid"], node) for node in nodes)
    for item in due:
        target = item.repair[1]
        if item.kind == audit.MAC_OF_OTHER_NODE:
            # What it boots for is lost without the port that it boots from.
            target = by_uuid[target["node_uuid"]]
        if item.kind in (audit.NODE_WITHOUT_HOST, audit.MAC_OF_OTHER_NODE) and _is_worked_with(target):
            locked = ", locked by a conductor" if target.get("reservation") else ""
            found.append(Problem(
                "node-audit", item.subject, "", target["provision_state"] + locked, "a node without an operation",
                "wait for the end of that, or abort it with ironic_node_action"))
    return found


def _is_worked_with(node: dict[str, Any]) -> bool:
    return bool(node.get("reservation")) or node["provision_state"] not in states.STABLE


def _unconfirmed(due: list[audit.Finding], nodes: list[dict[str, Any]], params: dict[str, Any]) -> list[Any]:
    """Return the Problem when the number of what would be deleted was not repeated, in a list."""
    due = [item for item in due if item.repair[0] != "ports"]
    subjects = [_label(item) for item in due]
    if not subjects or confirmation.confirmed(params.get("confirm"), subjects):
        return []
    owned = [node for node in nodes if ownership.host_of(node.get("name"))]
    return [Problem(
        "confirmation-missing", "repair", "confirm", params.get("confirm") or None, confirmation.expected(subjects),
        f"so many nodes and ports would be deleted ({len([item for item in due if item.repair[0] == 'node'])} of the "
        f"operator's {len(owned)} nodes); look at each, then repeat how many in confirm (playbook: set "
        f"metal3_confirm={len(subjects)})")]


def _label(item: audit.Finding) -> str:
    """Return the name of what is deleted, as a confirmation has it."""
    kind, target = item.repair
    return target.get("name") or target["uuid"] if kind == "node" else target["address"]


def _result(item: audit.Finding, repaired: bool, error: str) -> dict[str, Any]:
    return {"kind": item.kind, "subject": item.subject, "cause": item.cause, "next_step": item.next_step,
            "object": audit.object_of(item), "repaired": repaired and not error, "error": error}


def _difference(item: audit.Finding, result: dict[str, Any]) -> dict[str, Any]:
    if item.repair[0] == "ports":
        return {"before_header": result["subject"], "before": {"ports": []}, "after_header": result["subject"],
                "after": {"ports": item.repair[1]["ports"]}}
    return {"before_header": result["subject"], "before": {"kind": result["kind"], "cause": result["cause"]},
            "after_header": "", "after": {}}


def _repairer(client: Any, item: audit.Finding, hosts: list[dict[str, Any]] | None, kube: Any) -> Callable[..., Any]:
    kind, target = item.repair
    if kind == "ports":
        # Chosen here, so that a repeated request can't make a second port.
        bodies = [dict(port, node_uuid=target["uuid"], uuid=str(uuid.uuid4())) for port in target["ports"]]
        return lambda: _create_ports(client, target, bodies, item.subject)
    if kind == "node":
        return lambda: _delete_node(client, target, item.subject, kube)
    return lambda: _delete_port(client, item, target, hosts, kube)


def _create_ports(client: Any, node: dict[str, Any], bodies: list[dict[str, Any]], subject: str) -> None:
    """Create the ports of a node that is still what it was found to be, and that still has none of somebody else's."""
    now = client.node(node["uuid"], _NODE_FIELDS)
    for field in ("name", "provision_state"):
        if now is None or now.get(field) != node.get(field):
            raise changed(subject, field, str(node.get(field)), str(now and now.get(field)))
    # Of a request before, whose answer was lost, some may be there.
    there = set(port["uuid"] for port in client.list_ports(PORT_BASIS) if port["node_uuid"] == node["uuid"])
    if there - set(body["uuid"] for body in bodies):
        raise changed(subject, "ports", "none", f"{len(there)} ports")
    for body in bodies:
        if body["uuid"] in there:
            continue
        create(client, "ports", body, f"port {body['address']} of {subject}")


def _delete_node(client: Any, node: dict[str, Any], subject: str, kube: Any) -> None:
    """Delete a node that is still what it was found to be; Ironic takes no precondition, so it is read once more."""
    # A lock is no part of what was decided, but the sign of somebody who works on it.
    delete_node(client, dict(node, reservation=None), True, "ironic_audit: its BareMetalHost is not there", subject,
                ("reservation",), None if kube is None else lambda: _refuse_enrolled(kube, node, subject))


def _refuse_enrolled(kube: Any, node: dict[str, Any], subject: str) -> None:
    """Keep a node whose host was enrolled since the hosts were read: the operator goes on with it as its own.

    :raises IronicError: when it was, or nobody can say it
    """
    owner = ownership.host_of(node["name"])
    if owner is None:
        return
    namespace, name = owner
    if _host_now(kube, namespace, name, subject, "node") is not None:
        raise IronicError(f"{subject}: BareMetalHost {namespace}/{name} is there by now, enrolled since the hosts were "
                          "read, so the node was left; run again")


def _host_now(kube: Any, namespace: str, name: str, subject: str, what: str) -> dict[str, Any] | None:
    """Return a BareMetalHost as it is right before something is deleted, None when it is not there.

    :param subject: what errors name
    :param what: what is deleted
    :raises IronicError: when nobody can say it
    """
    try:
        # A LIST of one: who may list the hosts of all namespaces, as the hosts were read, may not be allowed a GET.
        found = kube.list(KNOWN["BareMetalHost"], namespace, field_selector=f"metadata.name={name}")[0]
    except KubeError as exc:
        raise IronicError(f"{subject}: whether BareMetalHost {namespace}/{name} is there by now could not be read "
                          f"({exc.message}), so the {what} was left; run again", None,
                          "Unreachable" if exc.retriable else None) from exc
    there: dict[str, Any] | None = next((item for item in found if item["metadata"]["name"] == name), None)
    return there


def _refuse_corrected(kube: Any, item: audit.Finding, port: dict[str, str], node: dict[str, Any],
                      hosts: list[dict[str, Any]] | None) -> None:
    """Keep a port that is right where it is by now: its address was corrected, or is that of its own node's host.

    :raises IronicError: when it is, or nobody can say it
    """
    def refuse(namespace: str, name: str, what: str) -> None:
        raise IronicError(f"{item.subject}: BareMetalHost {namespace}/{name}{what}, so the port was left; run again")

    for host in hosts or ():
        namespace, name = host["namespace"], host["name"]
        if f"BareMetalHost {namespace}/{name}" != item.subject:
            continue
        wanting = _host_now(kube, namespace, name, item.subject, "port")
        if wanting is None:
            refuse(namespace, name, " is not there any more")
        elif not _boots_from(wanting, port):
            refuse(namespace, name, " has another boot MAC address by now")
    owner = ownership.host_of(node.get("name"))
    having = _host_now(kube, *owner, item.subject, "port") if owner else None
    if owner and having is not None and _boots_from(having, port):
        refuse(*owner, ", whose node has the port, has this boot MAC address by now, too")


def _boots_from(host: dict[str, Any], port: dict[str, str]) -> bool:
    return str((host.get("spec") or {}).get("bootMACAddress") or "").lower() == port["address"].lower()


def _delete_port(client: Any, item: audit.Finding, port: dict[str, str], hosts: list[dict[str, Any]] | None,
                 kube: Any) -> None:
    """Delete a port that is still what it was found to be, of a node that still is not its owner."""
    now = unchanged(client, "ports", port, PORT_BASIS, item.subject)
    if now is None:
        return
    node = client.node(port["node_uuid"], _NODE_FIELDS)
    if item.kind == audit.PORT_WITHOUT_NODE and node is not None:
        raise changed(item.subject, "node_uuid", "no node", f"node {node.get('name') or node['uuid']}")
    if item.kind == audit.MAC_OF_OTHER_NODE and (node is None or (item.kind, item.subject) not in [
            (found.kind, found.subject) for found in audit.findings([node], [now], [], hosts, [])]):
        raise changed(item.subject, "node_uuid", "another host's node", "what it is not any more")
    if item.kind == audit.MAC_OF_OTHER_NODE and node is not None:
        if _is_worked_with(node):
            raise changed(item.subject, "its node's operation", "none",
                          "a lock" if node.get("reservation") else node["provision_state"])
        if kube is not None:
            _refuse_corrected(kube, item, port, node, hosts)
    # Which reads the port once more, last of all.
    delete_port(client, now, item.subject)
