# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of metal-stack's provider for a cluster; pure.

Source: cluster-api-provider-metal-stack 0.8, ``api/v1alpha1`` and its controllers, whose known faults are avoided:
without ``firewallDeploymentRef`` the deletion of a cluster crashes the provider, an address that it allocates itself
is never freed, and a firewall without ``initialRuleSet`` is never allocated. So all three are always written.
"""
from __future__ import annotations

from typing import Any

from ..description.model import ClusterDescription, Group

VERSION = "v1alpha1"


def cluster_spec(description: ClusterDescription) -> dict[str, Any]:
    """Return the spec of the MetalStackCluster.

    :param description: the cluster's description, of provider metalstack
    """
    about, endpoint = description.metalstack or {}, description.endpoint or {}
    spec = {
        "projectID": about["project"], "partition": about["partition"], "controlPlaneIP": endpoint["host"],
        "controlPlaneEndpoint": {"host": endpoint["host"], "port": endpoint["port"]},
        "firewallDeploymentRef": {"name": description.name}}
    if about.get("node_network"):
        spec["nodeNetworkID"] = about["node_network"]
    return spec


def firewall_deployment_spec(description: ClusterDescription) -> dict[str, Any]:
    """Return the spec of the MetalStackFirewallDeployment; parameter as above."""
    firewall = (description.metalstack or {})["firewall"]
    return {"firewallTemplateRef": {"name": description.name},
            "autoUpdate": {"machineImage": bool(firewall.get("auto_update"))}}


def firewall_template_spec(description: ClusterDescription) -> dict[str, Any]:
    """Return the spec of the MetalStackFirewallTemplate; parameter as above."""
    about = description.metalstack or {}
    firewall = about["firewall"]
    rules = firewall.get("rules") or {}
    return {"project": about["project"], "partition": about["partition"], "size": firewall["size"],
            "image": firewall["image"], "networks": list(firewall["networks"]),
            "initialRuleSet": {side: [_rule(rule, peers) for rule in rules.get(side) or []]
                               for side, peers in (("egress", "to"), ("ingress", "from"))}}


def _rule(rule: dict[str, Any], peers: str) -> dict[str, Any]:
    # metal-api takes capitals and small letters; upstream's templates write capitals.
    result = {"protocol": rule["protocol"].upper(), "ports": list(rule["ports"]), peers: list(rule[peers])}
    return dict(result, comment=rule["comment"]) if rule.get("comment") else result


def machine_template_spec(group: Group) -> dict[str, Any]:
    """Return the spec of a group's MetalStackMachineTemplate.

    :param group: one of ``description.groups``
    """
    return {"template": {"spec": {"size": group.get("metalstack_size"), "image": group.get("metalstack_image")}}}
