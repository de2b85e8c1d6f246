# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The NetworkPolicies of a part: who connects to its pods, on which ports, and where they connect to; pure."""
from __future__ import annotations

from typing import Any

from ..._kube.kinds.resources import KNOWN
from ..parts.catalogue import Part
from . import objects

Object = dict[str, Any]

POLICIES = KNOWN["NetworkPolicy"]


def name_of(deployment: str) -> str:
    """Return the name of a Deployment's NetworkPolicy, which upstream's manifests have none of."""
    return deployment + "-network"


def added(part: Part, given: Object, items: list[Object]) -> list[Object]:
    """Return a part's objects with a NetworkPolicy for each Deployment.

    Its pods are reached on the ports that Services lead to, since the API server calls webhooks from addresses that no
    selector describes. Probes need no rule: a node always reaches its own pods.

    :param part: a Part
    :param given: its settings, see ``settings.py``
    :param items: from ``objects.desired``, or ``monitor.added``
    """
    return items + [_policy(part, given, item, items) for item in items if item["kind"] == "Deployment"]


def _policy(part: Part, given: Object, deployment: Object, items: list[Object]) -> Object:
    metadata = deployment["metadata"]
    ports = _ports(part, bool(given.get("monitor")), deployment, items)
    spec: Object = {
        "podSelector": {"matchLabels": dict(deployment["spec"]["selector"]["matchLabels"])},
        "policyTypes": ["Ingress"],
        # A rule without ports would let everything in, no rule lets nothing in.
        "ingress": [{"ports": [{"protocol": protocol, "port": port} for port, protocol in ports]}] if ports else []}
    if given.get("network_policy_egress"):
        spec.update(policyTypes=["Ingress", "Egress"], egress=list(given["network_policy_egress"]))
    return {"apiVersion": POLICIES.api_version, "kind": POLICIES.kind, "spec": spec, "metadata": {
        "name": name_of(metadata["name"]), "namespace": metadata["namespace"],
        "labels": dict([objects.OWNER_LABEL])}}


def _ports(part: Part, monitored: bool, deployment: Object, items: list[Object]) -> list[tuple[int, str]]:
    """Return number and protocol of each port that Services lead to, without that of metrics that nobody asked for."""
    template = deployment["spec"]["template"]
    named = dict((port["name"], port["containerPort"]) for container in template["spec"]["containers"]
                 for port in container.get("ports") or [] if port.get("name"))
    metrics = None if monitored or part.metrics is None else named.get(part.metrics.port)
    labels = (template.get("metadata") or {}).get("labels") or {}
    found = set()
    for service in items:
        selector = service["kind"] == "Service" and (service.get("spec") or {}).get("selector")
        if not selector or not selector.items() <= labels.items():
            continue
        for port in service["spec"].get("ports") or []:
            target = port.get("targetPort", port["port"])
            number = named.get(target, target)
            if number != metrics:
                found.add((number, port.get("protocol", "TCP")))
    return sorted(found)
