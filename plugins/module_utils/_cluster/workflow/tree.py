# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree of a cluster, from the Cluster down to hosts and nodes, with conditions; pure."""
from __future__ import annotations

from ..._kube.objects.conditions import conditions
from ..._kube.objects.finalizers import is_going
from .remediations import remediation_text
from .steps import LAST_STEP, machine_steps


def tree(snapshot):
    """Return a cluster as nested dicts, each with ``kind``, ``name``, ``conditions`` and ``children``.

    Machines also have ``workflow``: where they are, as ``workflow_steps.machine_steps`` says.
    """
    steps = dict((step["machine"], step) for step in machine_steps(snapshot))
    root = _node(snapshot.cluster) if snapshot.cluster else {
        "kind": "Cluster", "name": snapshot.cluster_name, "conditions": [], "children": []}
    if snapshot.infrastructure:
        root["children"].append(_node(snapshot.infrastructure))
    root["children"] += [_node(firewall) for firewall in snapshot.mine("MetalStackFirewallDeployment")]
    for owner in snapshot.owners():
        if owner["kind"] == "Machine":
            root["children"].append(_machine(snapshot, owner, steps[owner["metadata"]["name"]]))
            continue
        branch = _node(owner)
        status = owner.get("status") or {}
        branch["replicas"] = dict((key, status.get(key) or 0) for key in (
            "replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"))
        branch["replicas"]["wanted"] = (owner.get("spec") or {}).get("replicas")
        for machine in snapshot.machines_of(owner):
            branch["children"].append(_machine(snapshot, machine, steps[machine["metadata"]["name"]]))
        root["children"].append(branch)
    return root


def _machine(snapshot, machine, step):
    node = _node(machine)
    node["workflow"] = step
    node["version"] = machine["spec"].get("version")
    config = snapshot.bootstrap_config(machine)
    if config:
        node["children"].append(_node(config))
    infrastructure = snapshot.infrastructure_machine(machine)
    if infrastructure:
        branch = _node(infrastructure)
        host = snapshot.host(infrastructure)
        if host:
            leaf = _node(host)
            status = host.get("status") or {}
            leaf["state"] = (status.get("provisioning") or {}).get("state")
            leaf["powered_on"] = status.get("poweredOn")
            leaf["error"] = status.get("errorMessage") or None
            branch["children"].append(leaf)
        node["children"].append(branch)
    remediation = snapshot.remediation(machine)
    if remediation:
        node["children"].append(dict(_node(remediation), text=remediation_text(remediation)))
    if step["node"]:
        node["children"].append({"kind": "Node", "name": step["node"], "conditions": [], "children": []})
    return node


def _node(obj):
    fields = ("type", "status", "reason", "message", "lastTransitionTime")
    return {"kind": obj["kind"], "name": obj["metadata"]["name"], "children": [],
            "deleting": is_going(obj),
            "conditions": [dict((key, entry[key]) for key in fields if entry.get(key))
                           for entry in conditions(obj)]}


def lines(node, prefix="", last=True, root=True):
    """Return a tree as lines of text for users."""
    text = f"{node['kind']} {node['name']}{_remark(node)}"
    result = [text if root else f"{prefix}{'└─' if last else '├─'} {text}"]
    below = "" if root else prefix + ("   " if last else "│  ")
    for number, child in enumerate(node["children"]):
        result += lines(child, below, number == len(node["children"]) - 1, False)
    return result


def _remark(node):
    parts = []
    if node.get("replicas"):
        parts.append(f"{node['replicas']['readyReplicas']}/{node['replicas']['wanted']} ready")
    if node.get("workflow"):
        step = node["workflow"]
        if step["complete"]:
            parts.append("complete")
        elif step["deleting"]:
            parts.append(f"being deleted, waits for {step['waits_for']}")
        else:
            parts.append(f"step {step['step']} of {LAST_STEP} since {step['since']}, waits for {step['waits_for']}")
    elif node.get("text"):
        parts.append(node["text"])
    elif node.get("state"):
        parts.append(node["state"] + (", on" if node.get("powered_on") else ", off"))
        if node.get("error"):
            parts.append(" ".join(node["error"].split()))
    else:
        head = [entry for entry in node["conditions"] if entry.get("type") in ("Available", "Ready")]
        if head:
            parts.append(f"{head[0]['type']} {head[0].get('status')}")
    return ": " + "; ".join(parts) if parts else ""
