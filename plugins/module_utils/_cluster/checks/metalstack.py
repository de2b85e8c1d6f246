# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for a cluster on metal-stack that need nothing but the description; pure.

Options that only Metal³ has a place for are refused rather than ignored.
"""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..._common.addresses.ip_texts import is_network, is_shortest_address
from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..description.model import ClusterDescription, Group
from ..description.providers import provider_of_cluster
from ..description.spec import METALSTACK

CODE = "metalstack-cluster"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
# Of the whole cluster: nothing in the provider's resources takes them.
_NO_PLACE = ("networks", "failure_domains", "label_sync_prefixes", "node_ip_network", "supported_links",
             "provider_id_by_kubelet")
_NO_PLACE_OF_GROUPS = (
    "image", "custom_deploy", "host_selector", "host_selector_expressions", "automated_cleaning_mode",
    "attached_networks", "network_data", "metadata", "node_reuse", "failure_domain", "minimum_memory_mebibytes",
    "minimum_root_disk_gigabytes")
_INSTEAD = {
    "image": "set metalstack_image, the id of an image of metal-stack",
    "custom_deploy": "set metalstack_image, the id of an image of metal-stack",
    "host_selector": "set metalstack_size: metal-stack chooses a machine by its size",
    "host_selector_expressions": "set metalstack_size: metal-stack chooses a machine by its size",
    "networks": "set metalstack.node_network, and metalstack.firewall.networks for those outside",
    "failure_domains": "a cluster is in one partition: metalstack.partition",
    "provider_id_by_kubelet": "remove it: the cloud controller of metal-stack gives nodes their provider IDs",
    "failure_domain": "a cluster is in one partition: metalstack.partition",
}
_ONLY_METALSTACK = ("metalstack_size", "metalstack_image")


def metalstack_problems(subject: str, description: ClusterDescription) -> list[Problem]:
    """Return the problems of what concerns metal-stack, for a cluster of either provider.

    :param subject: the cluster, for the problems
    :param description: its description
    """
    if description.provider != METALSTACK:
        return _unused(subject, description)
    found = []
    for option in _NO_PLACE:
        if getattr(description, option):
            found.append(_no_place(subject, option))
    if description.node_name != "machine":
        found.append(_no_place(subject, "node_name"))
    if description.api_version != "v1beta2":
        found.append(Problem(CODE, subject, "api_version", shown(description.api_version),
                             "v1beta2, the contract of cluster-api-provider-metal-stack 0.8",
                             "leave api_version out"))
    if description.standalone_machines or description.absent_standalone_machines:
        found.append(_no_place(subject, "standalone_machines"))
    for group in description.groups:
        found += _group(subject, description, group)
    found += _endpoint(subject, description)
    if not description.metalstack:
        return found + [Problem(CODE, subject, "metalstack", None, "project, partition and firewall",
                                "set metalstack (variable cluster_metalstack)")]
    return found + _about(subject, description.metalstack)


def _unused(subject: str, description: ClusterDescription) -> list[Problem]:
    paths = ["metalstack"] if description.metalstack else []
    paths += [description.option_path(group, option) for group in description.groups for option in _ONLY_METALSTACK
              if group.get(option) is not None]
    return [Problem(CODE, subject, path, "a value", "nothing with provider: metal3",
                    "remove it, or set provider to metalstack") for path in dict.fromkeys(paths)]


def _no_place(subject: str, path: str) -> Problem:
    option = path.rpartition(".")[2]
    return Problem(CODE, subject, path, "a value", "nothing with provider: metalstack, whose resources have no place "
                   "for it", _INSTEAD.get(option, "remove it"))


def _group(subject: str, description: ClusterDescription, group: Group) -> list[Problem]:
    found = [_no_place(subject, description.option_path(group, option)) for option in _NO_PLACE_OF_GROUPS
             if group.get(option) not in (None, [], {}, False)]
    for option in _ONLY_METALSTACK:
        found += _id(subject, description.option_path(group, option), group.get(option))
    if (group.get("health_check") or {}).get("reboot_retry_limit"):
        found.append(_no_place(subject, f"{description.option_path(group, 'health_check')}.reboot_retry_limit"))
    for option in ("init_configuration", "join_configuration"):
        if ((group.get(option) or {}).get("nodeRegistration") or {}).get("name"):
            found.append(Problem(
                CODE, subject, f"{description.option_path(group, option)}.nodeRegistration.name", "a name",
                "nothing: metal-stack's cloud controller finds a node by its host name", "remove it"))
    return found


def _endpoint(subject: str, description: ClusterDescription) -> list[Problem]:
    endpoint = description.endpoint or {}
    found = []
    if endpoint and not is_shortest_address(endpoint["host"]):
        found.append(Problem(CODE, subject, "endpoint.host", shown(endpoint["host"]),
                             "an address of the project in metal-stack",
                             "allocate it first (module metalstack_ip, role metalstack)"))
    if endpoint.get("holder") == "keepalived":
        found.append(Problem(CODE, subject, "endpoint.holder", shown("keepalived"), "kube-vip or none",
                             "machines of metal-stack share no network segment: kube-vip announces the address by BGP"))
    for option in ("interface", "virtual_router_id"):
        if endpoint.get(option) is not None:
            found.append(_no_place(subject, f"endpoint.{option}"))
    return found


def _about(subject: str, about: dict[str, Any]) -> list[Problem]:
    found = _id(subject, "metalstack.project", about.get("project"))
    found += _id(subject, "metalstack.partition", about.get("partition"))
    if about.get("node_network") is not None:
        found += _id(subject, "metalstack.node_network", about["node_network"])
    firewall = about.get("firewall")
    if not firewall:
        return found + [Problem(CODE, subject, "metalstack.firewall", None, "size, image, networks and rules",
                                "without a firewall the provider crashes when the cluster is deleted")]
    for option in ("size", "image"):
        found += _id(subject, f"metalstack.firewall.{option}", firewall.get(option))
    networks = firewall.get("networks") or []
    if not networks:
        found.append(Problem(CODE, subject, "metalstack.firewall.networks", None, "at least one network outside",
                             "name the network of the endpoint's address"))
    for position, network in enumerate(networks):
        found += _id(subject, f"metalstack.firewall.networks[{position}]", network)
    if about.get("node_network") in networks and about.get("node_network"):
        found.append(Problem(CODE, subject, "metalstack.firewall.networks", shown(about["node_network"]),
                             "networks outside alone", "remove it: the provider adds the node network itself"))
    return found + _rules(subject, firewall.get("rules") or {})


def _rules(subject: str, rules: dict[str, Any]) -> list[Problem]:
    found = []
    if not any(rules.get(side) for side in ("egress", "ingress")):
        found.append(Problem(CODE, subject, "metalstack.firewall.rules", None, "at least one rule",
                             "without rules the firewall lets nothing through: allow what nodes must reach"))
    for side, peers in (("egress", "to"), ("ingress", "from")):
        for position, rule in enumerate(rules.get(side) or []):
            path = f"metalstack.firewall.rules.{side}[{position}]"
            for port in rule.get("ports") or []:
                if not 1 <= port <= 65535:
                    found.append(Problem(CODE, subject, f"{path}.ports", shown(port), "1 to 65535", "correct it"))
            for field in ("ports", peers):
                if not rule.get(field):
                    found.append(Problem(CODE, subject, f"{path}.{field}", None, "at least one",
                                         "remove the rule if it is for nothing"))
            for network in rule.get(peers) or []:
                if not is_network(network):
                    found.append(Problem(CODE, subject, f"{path}.{peers}", shown(network),
                                         "a network such as 0.0.0.0/0", "correct it"))
    return found


def _id(subject: str, path: str, value: Any) -> list[Problem]:
    if isinstance(value, str) and _ID.fullmatch(value):
        return []
    return [Problem(CODE, subject, path, shown(value) if value else None,
                    "an id of metal-stack: letters, digits, dots, dashes and underscores",
                    "list them with metalstack_info")]


def provider_problems(description: ClusterDescription, cluster: dict[str, Any] | None) -> list[Problem]:
    """Return the problem of a stored cluster whose machines another provider gives.

    :param cluster: the stored Cluster, or None
    """
    if cluster is None:
        return []
    stored = provider_of_cluster(cluster).name
    if stored == description.provider:
        return []
    return [Problem(CODE, description.subject, "provider", shown(description.provider), stored,
                    f"the cluster has its machines from {stored} already: choose another name, or delete it first")]


def firewall_warnings(description: ClusterDescription, entries: Iterable[Any]) -> list[str]:
    """Return a warning when the description of a firewall changes that is there already.

    :param entries: ``kube.plan.Entry`` list
    """
    return [f"{description.subject}: metalstack.firewall: the provider does not change a firewall that is there; to "
            f"replace it, take spec.managedResourceRef out of MetalStackFirewallDeployment {entry.name}, wait until "
            "the new one has phoned home, and free the old one (module metalstack_firewall)"
            for entry in entries if entry.resource.kind == "MetalStackFirewallTemplate" and entry.action == "update"]
